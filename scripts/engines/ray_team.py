"""A team on Ray whose workers are killed at random and whose learner is killed once: the model must be, bit for bit, that of one
process that read the same steps. Prints what happened and some rates.

Usage: ray_team.py FOLDER [--workers 8] [--steps 120000] [--kills 6]
"""

import argparse
import os
import random
import signal
import struct
import sys
import threading
import time
from pathlib import Path

import numpy as np

from backsweep import Agent, Optimism
from backsweep.cluster import Team, counts

SIDE, BATCH = 24, 250
STEP = "<qqdq??"


class Slippery:
    """A slippery grid that writes down every step, past any buffer, in a file named by its first seed."""

    def __init__(self, folder: Path) -> None:
        from gymnasium.spaces import Discrete

        self.observation_space, self.action_space = Discrete(SIDE * SIDE), Discrete(4)
        self.folder, self.file = folder, -1
        (folder / "pids" / str(os.getpid())).touch()

    def reset(self, seed: int | None = None):
        if seed is not None:
            self.random = random.Random(seed)
            self.file = os.open(self.folder / str(seed), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self.at, self.steps = 0, 0
        return self.at, {}

    def step(self, action: int):
        before, taken = self.at, int(action)
        move = taken if self.random.random() < 0.8 else self.random.randrange(4)
        row, column = divmod(self.at, SIDE)
        row = min(max(row + (0, 1, 0, -1)[move], 0), SIDE - 1)
        column = min(max(column + (1, 0, -1, 0)[move], 0), SIDE - 1)
        self.at, self.steps = row * SIDE + column, self.steps + 1
        # Tenths have no exact binary form: their sums depend on the order unless they are kept with care.
        terminated, reward = self.at == SIDE * SIDE - 1, round(-0.1 * (1 + taken), 1)
        truncated = self.steps == 400 and not terminated
        os.write(self.file, struct.pack(STEP, before, taken, reward, self.at, terminated, truncated))
        return self.at, reward, terminated, truncated, {}


def new_agent() -> Agent:
    return Agent(0.99, optimism=Optimism(0.0, min_visits=2), seed=0)


def kill_some(team: Team, steps_folder: Path, kills: int, log: list[str], over: threading.Event) -> None:
    """Kills workers at random and, in the middle, the learner, with a signal that no process can catch."""
    import ray

    chance = random.Random(1)
    while len(log) <= kills and not over.wait(1.0):
        try:
            if len(log) == kills // 2:
                os.kill(ray.get(team.learner.pid.remote()), signal.SIGKILL)
                log.append("learner")
                continue
            pids = [int(path.name) for path in sorted((steps_folder / "pids").iterdir())]
            acting = [pid for pid in pids if Path(f"/proc/{pid}").exists() and pid != os.getpid()]
            os.kill(chance.choice(acting), signal.SIGKILL)
            log.append("worker")
        except (ProcessLookupError, IndexError, ray.exceptions.RayActorError):
            continue


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--steps", type=int, default=120_000)
    parser.add_argument("--kills", type=int, default=6)
    given = parser.parse_args()
    import ray

    steps_folder = (given.folder / "steps").resolve()
    (steps_folder / "pids").mkdir(parents=True)
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    log: list[str] = []
    over = threading.Event()
    with Team(
        lambda: Slippery(steps_folder),
        new_agent,
        workers=given.workers,
        batch=BATCH,
        checkpoint=given.folder / "learner",
        checkpoint_every=20_000,
        cpus=0.2,
    ) as team:
        killer = threading.Thread(target=kill_some, daemon=True, args=(team, steps_folder, given.kills, log, over))
        killer.start()
        start = time.monotonic()
        while len(log) <= given.kills:
            team.learn(given.steps // 8)
            if time.monotonic() - start > 200:
                sys.exit("ray_team: too few processes could be killed")
        over.set()
        killer.join()
        team.learn(BATCH)
        agent, applied, seeds = team.agent(), team.applied(), team.seeds()
        seconds = time.monotonic() - start

    alone = new_agent()
    alone.declare_actions(4)
    total = 0
    for actor, batches in sorted(applied.items(), reverse=True):
        data = (steps_folder / str(seeds[actor])).read_bytes()
        steps = [struct.unpack_from(STEP, data, i * struct.calcsize(STEP)) for i in range(batches * BATCH)]
        alone.observe_many(*(np.array(column) for column in zip(*steps)))
        total += len(steps)
    ours, theirs = counts(agent), counts(alone)
    if ours != theirs:
        sys.exit("ray_team: the model differs from that of one process that read the same steps")
    print(
        f"Ray: the same bits, {total} steps of {len(applied)} actors in {seconds:.0f} s; killed: "
        f"{log.count('worker')} workers, {log.count('learner')} learner"
    )


if __name__ == "__main__":
    main()
