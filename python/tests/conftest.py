"""Shared by the tests: tables of test problems, references, and the switch for timed tests."""

import csv
import os
from collections import defaultdict
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
# Whether times are asserted and not only printed (docs/testing.md).
TIMED = os.environ.get("BACKSWEEP_TIMED") == "1"
DATA = ROOT / "crates" / "backsweep" / "tests" / "testdata"


def table(name):
    """{(state, action): [(probability, next state, reward, terminated)]} of a test problem."""
    rows = defaultdict(list)
    with open(DATA / f"{name}.csv", newline="") as file:
        for row in csv.DictReader(file):
            outcome = float(row["prob"]), int(row["next_state"]), float(row["reward"]), row["terminated"] == "1"
            rows[int(row["state"]), int(row["action"])].append(outcome)
    return rows


def reference(name):
    """{discount: optimal values} of a test problem: policy iteration in exact arithmetic, agreeing with a linear program."""
    values = defaultdict(list)
    with open(DATA / f"{name}.ref.csv", newline="") as file:
        for row in csv.DictReader(file):
            values[float(row["discount"])].append(float(row["value"]))
    return {discount: np.array(v) for discount, v in values.items()}


def walk(agent, steps, seed=0, n=7, plan=1):
    """Lets an agent act in a ring of states; returns its actions and values, bit for bit."""
    rng = np.random.default_rng(seed)
    state, trace = 0, []
    for hop, ends in zip(rng.integers(1, 3, steps).tolist(), (rng.random(steps) < 0.05).tolist()):
        action = agent.act(state)
        next_state = (state + (hop if action else -hop)) % n
        agent.observe(state, action, 1.0 if ends else -0.1 * (next_state % 3), next_state, ends)
        agent.plan(cycles=plan)
        trace.append((action, agent.value(state).hex()))
        state = 0 if ends else next_state
    return trace


@pytest.fixture
def agent():
    import backsweep

    return backsweep.Agent(discount=0.9, seed=1)
