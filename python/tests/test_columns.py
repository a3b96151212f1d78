"""Columns, and the same numbers as the Rust library."""

import numpy as np
import pytest

import backsweep
from backsweep._backsweep import rust_loop


def columns(steps=3000, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.integers(n, size=steps), rng.integers(3, size=steps), rng.normal(size=steps), rng.integers(n, size=steps),
        rng.random(steps) < 0.1,
    )  # fmt: skip


def one_by_one(data, cycles, **settings):
    agent = backsweep.Agent(discount=0.97, **{"seed": 0, **settings})
    total = 0
    for state, action, reward, next_state, terminated in zip(*(column.tolist() for column in data)):
        agent.observe(state, action, reward, next_state, terminated)
        if cycles:
            agent.plan(cycles=cycles)
        if settings:
            total += agent.act(state if terminated else next_state)
    return agent, total


@pytest.mark.parametrize("cycles", [0, 1, 3, 40])
def test_the_same_numbers_as_rust(cycles):
    data = columns()
    agent, total = one_by_one(data, cycles, actions=3, seed=9)
    _, values, rust_total = rust_loop(*data, n_actions=3, cycles=cycles, act=True, discount=0.97, seed=9)
    assert list(agent.values().values()) == values.tolist()  # bit for bit
    assert total == rust_total


@pytest.mark.parametrize("cycles", [0, 1, 40])
@pytest.mark.parametrize("declared", [{"actions": 3}, {}])
def test_columns_are_the_same_as_rows(cycles, declared):
    data = columns(6000, n=400)
    expected, _ = one_by_one(data, cycles, **declared)
    many = backsweep.Agent(discount=0.97, seed=0, **declared)
    assert many.observe_many(*data, cycles=cycles) == 6000
    assert many.values() == expected.values() and many.states == expected.states
    if not declared:
        assert many.to_bytes() == expected.to_bytes()
    lists = backsweep.Agent(discount=0.97, **declared)
    lists.observe_many(*(column.tolist() for column in data), cycles=cycles)
    assert lists.values() == expected.values()


def test_any_kind_of_column():
    agent = backsweep.Agent(0.5)
    agent.observe_many(["a", "b"], ["x", "x"], [0, 2], ["b", "c"], [False, True])
    agent.plan(until=0)
    assert agent.values() == {"a": 1.0, "b": 2.0}
    agent.observe_many(np.array([[1, 2], [3, 4]]), [0, 0], [0.0, 0.0], np.array([[3, 4], [1, 2]]))
    assert (3, 4) in agent
    agent.observe_many(np.array([1, 2], np.int8), np.array([0, 1], np.uint16), np.array([1, 1]), np.array([2, 1])[::-1])
    agent.observe_many(np.array([2**63], np.uint64), np.array([0]), np.array([1.0]), np.array([5]))
    assert 2**63 in agent
    agent.observe_many(np.array([-1, 10**15]), np.array([7, 8]), np.array([1.0, 1.0]), np.array([10**15, -1]))
    assert 10**15 in agent and agent.actions(-1) == [7]
    assert agent.observe_many([], [], [], []) == 0
    assert agent.audit().relation < 1e-12


def test_columns_that_do_not_fit():
    agent = backsweep.Agent(actions=2)
    good = np.zeros(3, int)
    with pytest.raises(ValueError, match="rewards has 2 rows and states has 3"):
        agent.observe_many(good, good, np.zeros(2), good)
    with pytest.raises(ValueError, match="row 1: reward is NaN; expected a finite number.*nothing was learned"):
        agent.observe_many(good, good, np.array([0, np.nan, 0]), good)
    assert len(agent) == 0
    with pytest.raises(TypeError, match="states is 5"):
        agent.observe_many(5, good, good, good)
    with pytest.raises(KeyError, match="action 9 is not one of the declared"):
        agent.observe_many(good, good + 9, np.zeros(3), good)
    with pytest.raises(ValueError, match="cycles is -1"):
        agent.observe_many(good, good, np.zeros(3), good, cycles=-1)


def test_columns_that_lie_about_their_length():
    class Liar(list):
        def __len__(self):
            return 2

    agent = backsweep.Agent()
    with pytest.raises(ValueError, match="a different number of rows"):
        agent.observe_many(["a", "b"], ["x", "x"], Liar([1.0]), ["b", "c"])
    with pytest.raises(ValueError, match="a different number of rows"):
        agent.observe_many(["a", "b"], ["x", "x"], [1.0, 2.0], ["b", "c"], Liar([True]))
    assert len(agent) == 0


def test_truncated_and_terminated_columns():
    agent = backsweep.Agent(0.5)
    states, nexts = np.array([1, 0, 0]), np.array([9, 1, 1])
    agent.observe_many(states, np.array([0, 0, 1]), np.array([8.0, 0, 0]), nexts, np.array([1, 0, 1]), np.array([0, 1, 1]))
    agent.plan(until=0)
    assert agent.action_values(0) == {0: 4.0, 1: 0.0} and agent.value(9) == 0.0


def test_texts_of_fixed_width_are_those_that_numpy_gives():
    """Of either byte order, with zeros inside, bytes, and half of a surrogate pair."""
    for column in (
        np.array(["a", "", "ab\0c", "ü€😀", "a"]),
        np.array(["a", "", "ab", "ü€😀", "a"]).astype(">U5"),
        np.array([b"a", b"", b"ab\0c", b"\xff", b"a"]),
        np.array(["a", "\ud83d", "b"]),
    ):
        agent = backsweep.Agent(0.9, actions=1)
        n = len(column)
        agent.observe_many(column, np.zeros(n, int), np.ones(n), column)
        assert agent.states == list(dict.fromkeys(item.item() for item in column))
