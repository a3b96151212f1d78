"""Ctrl-C stops every long call, and the agent can continue. The delay is printed; 200 ms are asserted if BACKSWEEP_TIMED is 1."""

import faulthandler
import os
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import TIMED

import backsweep


def endless():
    """An agent that always has work to do: without discount its value grows forever."""
    agent = backsweep.Agent(discount=1.0, actions=1)
    for state in range(1000):
        agent.observe(state, 0, 1.0, (state + 1) % 1000)
    return agent


def slow_sweeps():
    agent = backsweep.Agent(discount=1.0, actions=1, planner="value_iteration")
    states = np.arange(100_000)
    agent.observe_many(states, 0 * states, 1.0 + 0 * states, (states + 1) % 100_000)
    return agent


def columns(cycles):
    states = np.ones(2_000_000, np.int64)
    return lambda agent: agent.observe_many(states, 0 * states, states, states, cycles=cycles)


def wide_world():
    """5,000 states at discount 0.9999: the intervals take some time."""
    agent = backsweep.Agent(0.9999, explore=backsweep.CountBonus(), reward_range=(0, 1), actions=4, seed=0)
    rng = np.random.default_rng(0)
    states, actions = np.repeat(np.arange(5000), 40), np.tile(np.arange(4), 50_000)
    agent.observe_many(states, actions, rng.random(200_000), rng.integers(0, 5000, 200_000))
    return agent


def all_intervals(agent):
    while True:
        agent.intervals()


def texts(kind):
    """Millions of different texts, as a column that has to be read before anything is learned."""
    numbers = np.arange(2_000_000)
    columns = numbers.astype("U9") if kind == "U" else numbers.astype("U9").astype(object) if kind == "O" else list(map(str, numbers))
    return lambda agent: agent.observe_many(columns, 0 * numbers, 0 * numbers, columns)


CALLS = {
    "intervals": (wide_world, all_intervals),
    "observe_many, texts": (endless, texts("U")),
    "observe_many, text objects": (endless, texts("O")),
    "observe_many, a list of texts": (endless, texts("list")),
    "until": (endless, lambda agent: agent.plan(until=1e-9)),
    "cycles": (endless, lambda agent: agent.plan(cycles=10**18)),
    "microseconds": (endless, lambda agent: agent.plan(microseconds=1e9)),
    "sweeps": (slow_sweeps, lambda agent: agent.plan(cycles=10**18)),
    "observe_many": (endless, columns(200)),
    "observe_many, much planning": (endless, columns(10**18)),
    "observe_many, sweeps": (slow_sweeps, columns(10)),
    "simulate": (endless, lambda agent: agent.mdp().simulate(dict.fromkeys(range(1000), 0), max_steps=10**18)),
}


@pytest.fixture(autouse=True)
def listening():
    """Makes Ctrl-C work even if the tests were started in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(call, agent):
    """Presses Ctrl-C during a call; returns how long it took to stop, in seconds. The signal comes from another process, as
    from a terminal: a thread of this one would have to wait for calls that hold the interpreter."""
    press = f"sleep 0.25; date +%s.%N; kill -INT {os.getpid()}"
    # Most of the calls would run forever: if the signal is not noticed, the tests end after two minutes.
    faulthandler.dump_traceback_later(120, exit=True)
    with subprocess.Popen(["sh", "-c", press], stdout=subprocess.PIPE, text=True) as other:
        try:
            with pytest.raises(KeyboardInterrupt):
                call(agent)
            return time.time() - float(other.communicate()[0])
        finally:
            faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c(name, capsys):
    make, call = CALLS[name]
    agent = make()
    delays = []
    with capsys.disabled():
        for _ in range(3):
            delays.append(interrupted(call, agent))
        print(f"\n{name}: stopped after {', '.join(f'{1000 * delay:.0f}' for delay in delays)} ms", end="")
    if TIMED:
        # The median: the system itself may be late once.
        assert sorted(delays)[1] < 0.2, delays
    # The agent is consistent and can continue.
    if agent.explore is not None:
        agent.recommend(cycles=1)
        return
    assert np.isfinite(agent.value(0))
    agent.plan(cycles=5)
    assert agent.audit().relative_relation < 1e-9
