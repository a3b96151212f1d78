"""Runs the shards of an experiment on a local HyperQueue cluster and merges them.

    pip install hyperqueue
    python scripts/shards_on_hyperqueue.py target/release/backsweep my.toml --shards 6 --workers 2 --out out/merged

HyperQueue's server runs in this process, each worker in its own process, so that a worker can be lost as on a real cluster:
`--lose-a-worker` kills the one that wrote the first results. HyperQueue gives its shard to another worker, which resumes
where the lost one stopped.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hyperqueue import Client, Job
from hyperqueue.ffi.cluster import Cluster


def work(server: Path) -> None:
    """A worker for a server in another process.

    The Python package starts workers together with its own server; pointed at the access file of the other server, the worker
    registers there instead. (With the `hq` program this is `hq worker start`.)
    """
    own = Path(tempfile.mkdtemp())
    cluster = Cluster(str(own))
    current = own / "hq-current"
    current.unlink()
    current.symlink_to((server / "hq-current").resolve())
    cluster.add_worker(1)
    while os.getppid() != 1:
        time.sleep(0.2)


def has_rows(folder: Path) -> bool:
    rows = folder / "rows.csv"
    return rows.exists() and rows.read_text().count("\n") > 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backsweep", type=Path)
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lose-a-worker", action="store_true")
    options = parser.parse_args()
    backsweep, experiment = options.backsweep.resolve(), options.experiment.resolve()
    parts = [options.out.with_name(f"{options.out.name}-{i}").resolve() for i in range(options.shards)]

    server = Path(tempfile.mkdtemp())
    cluster = Cluster(str(server))
    workers = [subprocess.Popen([sys.executable, __file__, "--worker", str(server)]) for _ in range(options.workers)]
    client = Client(str(server))
    try:
        job = Job()
        for i, part in enumerate(parts):
            shard = f"{i}/{options.shards}"
            command = [str(backsweep), "run", str(experiment), "--shard", shard, "--threads", "1", "--out", str(part)]
            # A worker may start late or have nothing to do, so each task records which worker runs it.
            noting = ["sh", "-c", 'echo $PPID >"$0"; exec "$@"', str(server / f"{i}.worker"), *command]
            job.program(noting, stdout=server / f"{i}.stdout", stderr=server / f"{i}.stderr")
        submitted = client.submit(job)
        if options.lose_a_worker:
            while not (begun := [i for i, part in enumerate(parts) if has_rows(part)]):
                time.sleep(0.01)
            pid = int((server / f"{begun[0]}.worker").read_text())
            lost = next(worker for worker in workers if worker.pid == pid)
            lost.send_signal(signal.SIGKILL)
            lost.wait()
            print(f"lost a worker with shard {begun[0]}; {len(begun)} of {len(parts)} shards have results so far", flush=True)
        if not client.wait_for_jobs([submitted]):
            sys.exit(f"shards failed: {client.get_failed_tasks(submitted)}")
    finally:
        for worker in workers:
            worker.kill()
        cluster.stop()
    subprocess.run([str(backsweep), "merge", *map(str, parts), "--out", str(options.out)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(Path(sys.argv[2]))
    else:
        main()
