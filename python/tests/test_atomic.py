"""observe_many learns from all rows or from none, and says so."""

import math
import signal
import threading
import time

import numpy as np
import pytest

import backsweep

N = 50


def columns(kind):
    rng = np.random.default_rng(1)
    states, next_states = rng.integers(9, size=N), rng.integers(9, size=N)
    actions, rewards = rng.integers(3, size=N), rng.normal(size=N)
    terminated = rng.random(N) < 0.2
    match kind:
        case "numbers":
            return [states, actions, rewards, next_states, terminated]
        case "text":
            names = np.array([f"state {i}" for i in range(9)])
            return [names[states], np.array(["a", "bb", "ccc"])[actions], rewards, names[next_states], terminated]
        case "bytes":
            return [states.astype("S3"), actions.astype("S1"), rewards, next_states.astype("S2"), terminated]
        case "lists":
            return [[("s", s) for s in states.tolist()], actions.tolist(), rewards.tolist(), [("s", s) for s in next_states.tolist()],
                    terminated.tolist()]  # fmt: skip


KINDS = ["numbers", "text", "bytes", "lists"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cycles", [0, 2])
def test_all_kinds_of_columns_are_the_same_as_rows(kind, cycles):
    data = columns(kind)
    many, one = backsweep.Agent(0.9, seed=0), backsweep.Agent(0.9, seed=0)
    many.observe_many(*data, cycles=cycles)
    for row in zip(*(column.tolist() if isinstance(column, np.ndarray) else column for column in data)):
        one.observe(*row)
        if cycles:
            one.plan(cycles=cycles)
    assert many.to_bytes() == one.to_bytes()
    assert {type(state) for state in many.states} == {type(state) for state in one.states}
    # Again, now that all names are known.
    many.observe_many(*data, cycles=cycles)
    assert many.stats.n_states == one.stats.n_states


WRONG = [
    ("rewards", 2, math.nan, "reward is NaN"),
    ("rewards", 2, -math.inf, "reward is -inf"),
    ("rewards", 2, "much", "reward is 'much'"),
    ("states", 0, [], "cannot be a name"),
    ("states", 0, math.nan, "not equal to itself"),
    ("actions", 1, {}, "cannot be a name"),
    ("next_states", 3, (1, math.nan), "not equal to itself"),
    ("terminated", 4, "no", "terminated is 'no'"),
    ("truncated", 5, 3, "truncated is 3"),
    ("actions", 1, "undeclared", "not one of the declared actions"),
]


@pytest.mark.parametrize(("name", "column", "value", "problem"), WRONG)
@pytest.mark.parametrize("row", [0, 17, N - 1])
def test_one_wrong_row_and_nothing_is_learned(name, column, value, problem, row):
    agent = backsweep.Agent(0.9, seed=0, actions=3 if value == "undeclared" else None)
    agent.observe(("s", 1), 0, 1.0, ("s", 2))
    before = agent.to_bytes()
    data = [*columns("lists"), [False] * N]
    right = data[column][row]
    data[column][row] = value
    with pytest.raises((TypeError, ValueError, KeyError), match=f"^row {row}: .*{problem}.*; nothing was learned$"):
        agent.observe_many(*data, cycles=1)
    assert agent.to_bytes() == before
    # A second attempt, with the row corrected, counts nothing twice.
    data[column][row] = right
    agent.observe_many(*data)
    assert agent.model.visits.sum() == N + 1


@pytest.mark.parametrize("row", [0, 17, N - 1])
def test_one_wrong_number_and_nothing_is_learned(row):
    agent = backsweep.Agent(0.9, seed=0, actions=3)
    before = agent.to_bytes()
    for column, value, problem in [(1, 5, "action 5 is not one of"), (2, np.nan, "reward is NaN"), (2, 1e200, "reward is 1e200")]:
        data = [part.copy() for part in columns("numbers")]
        data[column][row] = value
        with pytest.raises((ValueError, KeyError), match=f"^row {row}: {problem}.*; nothing was learned$"):
            agent.observe_many(*data)
        assert agent.to_bytes() == before and len(agent) == 0


def test_an_action_that_is_known_but_not_declared():
    """Known from before the others were declared: states that have it may take it, others may not."""
    agent = backsweep.Agent()
    agent.observe("s", "old", 0.0, "s")
    agent.declare_actions(["new"])
    agent.observe_many(["s"], ["old"], [0.0], ["s"])
    with pytest.raises(KeyError, match="row 1: action 'old' is not one of the declared"):
        agent.observe_many(["s", "t"], ["old", "old"], [0.0, 0.0], ["s", "s"])
    assert agent.states == ["s"] and agent.model.visits.tolist() == [2, 0]


def test_exceptions_of_names_are_passed_on_with_a_note():
    class Angry:
        def __hash__(self):
            raise ZeroDivisionError("no hash")

    agent = backsweep.Agent()
    with pytest.raises(ZeroDivisionError) as raised:
        agent.observe_many(["a", Angry()], [0, 0], [0.0, 0.0], ["b", "b"])
    assert raised.value.__notes__ == ["row 1", "nothing was learned"]
    assert len(agent) == 0


def test_ctrl_c_says_how_much_was_learned():
    agent = backsweep.Agent(1.0, actions=1)
    agent.observe(1, 0, 1.0, 1)
    states = np.ones(2_000_000, np.int64)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=lambda: (time.sleep(0.3), signal.raise_signal(signal.SIGINT)))
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt) as raised:
            agent.observe_many(states, 0 * states, states, states, cycles=200)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    learned = int(agent.model.visits[0]) - 1
    assert 0 < learned < len(states)
    assert raised.value.__notes__ == [f"rows 0 to {learned - 1} of 2000000 were learned, the rest were not"]


def test_pandas_columns():
    import pandas

    data = columns("numbers")
    frame = pandas.DataFrame(dict(zip(["s", "a", "r", "t", "end"], data)))
    one, other = backsweep.Agent(0.9, seed=0), backsweep.Agent(0.9, seed=0)
    one.observe_many(*data)
    other.observe_many(frame.s, frame.a, frame.r, frame.t, frame.end)
    assert one.to_bytes() == other.to_bytes()
    with pytest.raises(TypeError, match="row 0: terminated is <NA>"):
        other.observe_many(frame.s, frame.a, frame.r, frame.t, pandas.array([None] * N, dtype="boolean"))


def test_text_columns_cost_less_than_objects(capsys):
    """Printed, not asserted (docs/testing.md says why), except that text must no longer be the slowest."""
    rng = np.random.default_rng(0)
    n = 200_000
    names = np.array([f"state {i}" for i in range(1000)])
    states, next_states = names[rng.integers(1000, size=n)], names[rng.integers(1000, size=n)]
    actions, rewards = np.array(["left", "right"])[rng.integers(2, size=n)], rng.normal(size=n)
    took = {}
    for kind, convert in [("objects", lambda column: column.astype(object)), ("text", lambda column: column)]:
        data = convert(states), convert(actions), rewards, convert(next_states)
        times = []
        for _ in range(3):
            agent = backsweep.Agent()
            start = time.process_time()
            agent.observe_many(*data)
            times.append(time.process_time() - start)
        took[kind] = 1e9 * min(times) / n
    with capsys.disabled():
        print(f"\nobserve_many, ns per row: objects {took['objects']:.0f}, fixed-width text {took['text']:.0f}", end="")
    assert took["text"] < took["objects"]
