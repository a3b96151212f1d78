"""The command that comes with the package: run as a user runs it, from where it was installed."""

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import backsweep

COMMAND = Path(sysconfig.get_path("scripts")) / ("backsweep.exe" if os.name == "nt" else "backsweep")
TABLE = "state,action,next_state,probability,reward,terminated\nhall,go,kitchen,0.5,1,false\nhall,go,hall,0.5,0,false\nkitchen,cook,,1,-8,true\n"


def run(*arguments, program=(COMMAND,)):
    return subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("program", [(COMMAND,), (sys.executable, "-m", "backsweep")], ids=["script", "module"])
def test_the_version_is_that_of_the_package(program):
    done = run("--version", program=program)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"backsweep {backsweep.__version__}\n", "")


def test_it_solves_what_python_solves(tmp_path):
    table = tmp_path / "rooms.csv"
    table.write_text(TABLE)
    done = run("solve", table, "--discount", 0.9, "--tolerance", "1e-9", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    solution = backsweep.MDP.read(table, discount=0.9).solve(1e-9)
    assert result["converged"] and result["lower"] == solution.lower.tolist() and result["upper"] == solution.upper.tolist()
    assert run("convert", table, tmp_path / "rooms.umb").returncode == 0
    assert backsweep.MDP.read(tmp_path / "rooms.umb", discount=0.9).solve().converged
    people = run("solve", table, "--discount", 0.9)
    assert people.returncode == 0 and "proven: every value is within 1e-6 of the truth" in people.stdout


def test_errors_are_one_line_and_exit_code_2(tmp_path):
    done = run("solve", tmp_path / "none.csv", "--discount", 0.9)
    assert done.returncode == 2 and done.stdout == "" and re.fullmatch(r"backsweep: .*none\.csv: .*\n", done.stderr)
    done = run("solve", "--magic")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--magic" in done.stderr
    assert run("--help").returncode == 0 and "solve" in run("--help").stdout


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_it():
    """Python's own handler would wait until the command has ended."""
    process = subprocess.Popen([COMMAND, "watch"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert "http" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130, -signal.SIGINT)
    finally:
        process.kill()
        process.communicate()
