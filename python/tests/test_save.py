"""Save and resume, pickle and copy."""

import copy
import math
import os
import pickle
import stat
import struct
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import ROOT, walk
from test_agent import PLANNERS

import backsweep


@dataclass(frozen=True)
class Cell:
    x: int
    y: int


@pytest.mark.parametrize("planner", PLANNERS)
def test_resuming_is_bit_for_bit(planner, tmp_path):
    path = tmp_path / "agent.backsweep"
    agent = backsweep.Agent(0.9, planner=planner, actions=2, epsilon=0.1, seed=3, optimism=backsweep.Optimism(1.0, 2))
    for steps in (0, 1, 50, 300):
        walk(agent, steps)
        agent.save(path)
        resumed = backsweep.Agent.load(path)
        others = [resumed, pickle.loads(pickle.dumps(agent)), copy.copy(agent), copy.deepcopy(agent)]
        others.append(backsweep.Agent.from_bytes(agent.to_bytes()))
        expected = walk(agent, 300, seed=1)
        for other in others:
            assert walk(other, 300, seed=1) == expected
            assert other.to_bytes() == agent.to_bytes()
            assert other.stats == agent.stats and other.epsilon == 0.1


def test_all_plain_names_are_stored():
    names = [0, -1, 2**63 - 1, 2**63, -(2**200), 1.5, -0.5, float("inf"), "", "ü\0", b"\xff", (), (1, (2.5, None, ("x", b""))), None]
    agent = backsweep.Agent()
    for name in names:
        agent.observe(name, name, 1.0, "next")
    agent.observe("next", True, 1.0, ("end", 1), terminated=True)
    back = backsweep.Agent.from_bytes(agent.to_bytes())
    assert back.states == agent.states and list(map(type, back.states)) == list(map(type, agent.states))
    assert back.actions("next") == [True] and back.actions("next")[0] is True
    assert back.value(("end", 1)) == 0.0
    assert back.policy() == agent.policy()


def test_numpy_inside_tuples_is_stored():
    agent = backsweep.Agent()
    agent.observe((np.int64(1), np.float64(0.5)), np.str_("a"), 0.0, (np.bool_(True),))
    back = backsweep.Agent.from_bytes(agent.to_bytes())
    assert back.states == [(1, 0.5), (True,)] and type(back.states[0][0]) is int


def test_other_names_ask_for_an_encoder(tmp_path):
    path = tmp_path / "cells.backsweep"
    agent = backsweep.Agent(0.9)
    agent.observe(Cell(1, 2), "go", 1.0, (Cell(3, 4), "inner"))
    with pytest.raises(TypeError, match=r"name Cell\(x=1, y=2\) of type Cell cannot be saved.*encode="):
        agent.save(path)
    assert not path.exists()
    agent.save(path, encode=lambda cell: (cell.x, cell.y))
    with pytest.raises(TypeError, match=r"saved through an encoder, as \(1, 2\); pass decode="):
        backsweep.Agent.load(path)
    back = backsweep.Agent.load(path, decode=lambda xy: Cell(*xy))
    assert back.states == agent.states
    with pytest.raises(TypeError, match=r"encode\(Cell\(x=1, y=2\)\) returned \{"):
        agent.save(path, encode=lambda cell: {cell.x})
    with pytest.raises(ZeroDivisionError):
        agent.save(path, encode=lambda cell: 1 / 0)
    with pytest.raises(backsweep.FileError, match="occurs twice"):
        other = backsweep.Agent()
        other.observe(Cell(1, 1), 0, 0.0, Cell(2, 2))
        backsweep.Agent.from_bytes(other.to_bytes(encode=lambda cell: cell.x), decode=lambda x: "same")


def test_an_encoder_that_is_not_one_to_one_is_refused(tmp_path):
    """It would overwrite a good file with one that cannot be read."""
    path = tmp_path / "cells.backsweep"
    agent = backsweep.Agent(0.9, seed=0)
    agent.observe(Cell(1, 2), "go", 1.0, Cell(1, 3))
    agent.save(path, encode=lambda cell: (cell.x, cell.y))
    good = path.read_bytes()
    with pytest.raises(ValueError, match=r"states Cell\(x=1, y=2\) and Cell\(x=1, y=3\) would both be saved as 1; .*nothing was saved"):
        agent.save(path, encode=lambda cell: cell.x)
    with pytest.raises(ValueError, match="would both be saved as"):
        agent.to_bytes(encode=lambda cell: "x")
    assert path.read_bytes() == good and list(tmp_path.iterdir()) == [path]
    # The same name as a state and as an action is fine.
    agent.observe(Cell(1, 2), Cell(1, 2), 1.0, Cell(1, 3), terminated=True)
    agent.save(path, encode=lambda cell: (cell.x, cell.y))


def test_names_that_are_nan_make_a_damaged_file():
    """Such a file cannot be written by this version; one that holds NaN is refused as a file, not as an argument."""
    agent = backsweep.Agent(seed=0)
    agent.observe(1.25, 0, 0.0, (2.5,))
    data = agent.to_bytes()
    for name, problem in [(1.25, "nan cannot be a name"), (2.5, "nan cannot be a name")]:
        spoilt = data.replace(struct.pack("<d", name), struct.pack("<d", math.nan))
        assert spoilt != data
        with pytest.raises(backsweep.FileError, match=problem):
            backsweep.Agent.from_bytes(resealed(spoilt))
    twice = data.replace(struct.pack("<d", 2.5), struct.pack("<d", 3.5))
    assert backsweep.Agent.from_bytes(resealed(twice)).states == [1.25, (3.5,)]
    with pytest.raises(ValueError, match="state nan cannot be a name") as raised:
        backsweep.Agent.from_bytes(agent_bytes_of(Cell(1, 2)), decode=lambda _: math.nan)
    assert not isinstance(raised.value, backsweep.FileError)


def agent_bytes_of(name):
    agent = backsweep.Agent()
    agent.observe(name, 0, 0.0, name)
    return agent.to_bytes(encode=lambda cell: cell.x)


def resealed(data):
    """The same file with checksums that fit (docs/format.md)."""
    data = bytearray(data)
    n_sections, table_bytes = struct.unpack_from("<IQ", data, 12)
    place, section = 32, 32 + table_bytes + 8
    for _ in range(n_sections):
        (length,) = struct.unpack_from("<I", data, place)
        kind, n_items = struct.unpack_from("<IQ", data, place + 4 + length)
        size = -(-n_items * (8, 4, 8, 1)[kind] // 8) * 8
        struct.pack_into("<I", data, place + 16 + length, zlib.crc32(data[section : section + size]))
        place, section = place + 20 + length, section + size
    struct.pack_into("<Q", data, 32 + table_bytes, zlib.crc32(data[: 32 + table_bytes]))
    return bytes(data)


def test_devices_pipes_and_modes(tmp_path):
    pipe, path = tmp_path / "pipe", tmp_path / "agent"
    os.mkfifo(pipe)
    agent = backsweep.Agent(seed=0)
    for odd in (pipe, "/dev/null"):
        with pytest.raises(OSError, match="expected a regular file"):
            agent.save(odd)
        with pytest.raises(OSError, match="expected a regular file"):
            backsweep.Agent.load(odd)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    agent.save(path)
    os.chmod(path, 0o600)
    agent.save(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_errors_name_the_requested_file(tmp_path):
    path = tmp_path / "no" / "agent.backsweep"
    with pytest.raises(FileNotFoundError) as raised:
        backsweep.Agent().save(path)
    assert raised.value.filename == str(path)


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    orphan, other = tmp_path / ".agent.999999-7.backsweep-tmp", tmp_path / ".agent.swp"
    orphan.write_bytes(b"half a file")
    other.write_bytes(b"not ours")
    backsweep.Agent().save(tmp_path / "another")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".agent.swp", "another"]


def test_files_never_hold_a_pickle():
    agent = backsweep.Agent()
    agent.observe(Cell(1, 2), "go", 1.0, "x")
    data = agent.to_bytes(encode=lambda cell: repr(cell))
    assert b"test_save" not in data and b"Cell(x=1, y=2)" in data


def test_pickle_and_copies_with_any_names():
    agent = backsweep.Agent(0.9)
    agent.observe(Cell(1, 2), frozenset({1}), 1.0, Cell(3, 4))
    for other in (pickle.loads(pickle.dumps(agent)), copy.copy(agent), copy.deepcopy(agent)):
        assert other.states == agent.states and other.actions(Cell(1, 2)) == [frozenset({1})]
        other.observe(Cell(9, 9), "new", 1.0, Cell(1, 2))
        assert Cell(9, 9) not in agent
    memo = {}
    pair = copy.deepcopy([agent, agent], memo)
    assert pair[0] is pair[1]


def test_damaged_files_are_refused(tmp_path):
    agent = backsweep.Agent(actions=2)
    walk(agent, 20, n=3)
    data = agent.to_bytes()
    for length in range(0, len(data), 7):
        with pytest.raises(backsweep.FileError):
            backsweep.Agent.from_bytes(data[:length])
    for place in range(0, len(data), 5):
        spoilt = bytearray(data)
        spoilt[place] ^= 4
        with pytest.raises(backsweep.FileError):
            backsweep.Agent.from_bytes(bytes(spoilt))
    path = tmp_path / "file"
    path.write_bytes(data[:-1])
    with pytest.raises(ValueError, match=r"file: the file is damaged: header: expected a file of \d+ bytes, found \d+"):
        backsweep.Agent.load(path)
    newer = bytearray(data)
    newer[8] = 99
    with pytest.raises(backsweep.FileError, match=r"version 99, but this program reads version \d+; upgrade"):
        backsweep.Agent.from_bytes(bytes(newer))


def test_system_errors_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        backsweep.Agent.load(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        backsweep.Agent().save(tmp_path / "no" / "where")
    with pytest.raises(OSError):
        backsweep.Agent.load(tmp_path)
    with pytest.raises(OSError):
        backsweep.Agent().save(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError):
        backsweep.Agent().save(5.5)


def test_the_golden_file():
    golden = ROOT / "crates" / "backsweep" / "tests" / "golden" / "version-3.backsweep"
    agent = backsweep.Agent.load(golden, decode=lambda name: ("decoded", name))
    assert agent.states[:4] == [-4, "Zustand ü1", (1, (0.5, "x")), None]
    assert agent.states[5] == 2**64 and agent.states[7] == ("decoded", ())
    assert agent.declared_actions == ["back", "forth"] and agent.actions("Zustand ü1") == [b"\x00\xff", "forth"]
    assert agent.value("the end") == 0.0 and agent.discount == 0.9 and agent.epsilon == 0.1
    assert agent.audit().relation < 1e-12
    agent.plan(until=1e-9)


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "agent.backsweep"
    script = (
        "import sys, backsweep\n"
        "agent = backsweep.Agent(actions=2)\n"
        "for i in range(10**9):\n"
        "    agent.observe(i % 5000, 0, 1.0, (i + 1) % 5000)\n"
        "    if i % 100 == 0: agent.save(sys.argv[1])\n"
    )
    for round in range(4):
        process = subprocess.Popen([sys.executable, "-c", script, path])
        while not path.exists() and process.poll() is None:
            time.sleep(0.001)
        try:
            process.wait(0.15 + 0.04 * round)
        except subprocess.TimeoutExpired:
            pass
        process.kill()
        process.wait()
        assert backsweep.Agent.load(path).stats.n_states >= 2
        assert os.path.getsize(path) > 0


def test_a_problem_can_be_saved_at_any_moment(tmp_path):
    """A policy with an action that was removed since, and problems without states or without actions, could be saved and not loaded."""
    path = tmp_path / "problem.backsweep"
    mdp = backsweep.MDP(discount=0.5)

    def check():
        mdp.save(path)
        for other in (backsweep.MDP.load(path), pickle.loads(pickle.dumps(mdp)), copy.deepcopy(mdp)):
            assert other.states == mdp.states
            if mdp.states:
                assert other.solve().values.tolist() == pytest.approx(copy.copy(mdp).solve().values.tolist(), abs=1e-8)

    check()
    mdp.set_outcomes("a", "x", [(1.0, "a", 1.0, False)])
    mdp.set_outcomes("a", "y", [(1.0, "b", 0.0, False)])
    mdp.solve()
    check()
    mdp.remove_action("a", "x")
    check()
    mdp.remove_action("a", "y")
    check()
    assert backsweep.MDP.load(path).solve().values.tolist() == [0.0, 0.0]


def test_a_probability_that_no_file_can_hold_leaves_the_old_file(tmp_path):
    path = tmp_path / "problem.backsweep"
    path.write_bytes(b"precious")
    mdp = backsweep.MDP(discount=0.5)
    mdp.set_outcomes("a", "x", [(1e-200, "b", 1.0, False), (1.0, "a", 1.0, False)])
    with pytest.raises(ValueError, match="is 1e-200; expected 0, or a number from 1e-100 to 1"):
        mdp.save(path)
    assert path.read_bytes() == b"precious"
