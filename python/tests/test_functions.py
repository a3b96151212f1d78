"""Problems from functions and simulators, and policies that are judged."""

from __future__ import annotations

import hashlib
import io
import itertools
import math
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import backsweep

sys.path.insert(0, str(ROOT / "examples"))
from known_answers import cube, perishable, sliding  # noqa: E402


def gambler(goal: int = 10) -> Any:
    """Bets on a coin: from 1 to goal - 1, win with 0.4."""

    def actions(capital: int) -> Any:
        return range(1, min(capital, goal - capital) + 1)

    def outcomes(capital: int, bet: int) -> Any:
        won = (0.4, "rich", 1.0, True) if capital + bet == goal else (0.4, capital + bet, 0.0)
        lost = (0.6, "poor", 0.0, True) if capital == bet else (0.6, capital - bet, 0.0)
        return [won, lost]

    return actions, outcomes


def test_a_function_is_enumerated() -> None:
    actions, outcomes = gambler()
    mdp = backsweep.MDP.from_function(5, actions, outcomes, discount=1.0)
    assert sorted(mdp.states) == list(range(1, 10))
    assert mdp.labels["init"] == [5]
    assert mdp.solve().converged
    assert math.isclose(mdp.value(5), 0.4, abs_tol=1e-9)
    # Bold play, by the recursion of Dubins and Savage.
    assert math.isclose(mdp.value(8), 0.4 + 0.6 * mdp.value(6), abs_tol=1e-9)


def test_functions_are_refused_with_their_state() -> None:
    def actions(state: int) -> Any:
        return ["go"]

    with pytest.raises(ValueError, match=r"outcomes of action 'go' in state 3: the probabilities sum to 0\.5; expected 1"):
        backsweep.MDP.from_function(3, actions, lambda state, action: [(0.5, 4, 0.0)], discount=0.9)
    with pytest.raises(KeyError) as raised:
        backsweep.MDP.from_function(3, actions, lambda state, action: {}[state], discount=0.9)
    assert any("outcomes of action 'go' in state 3" in note for note in raised.value.__notes__)
    with pytest.raises(TypeError, match="action 'go' in state 3"):
        backsweep.MDP.from_function(3, actions, lambda state, action: [(1.0, 4)], discount=0.9)
    with pytest.raises(ValueError, match="start is empty"):
        backsweep.MDP.from_function([], actions, lambda state, action: [], discount=0.9)
    for wrong in (lambda state, action: None, lambda state, action: ((1 / (1 - i), 0, 0.0) for i in range(3)), lambda state, action: [(1.0, [4], 0.0)]):
        with pytest.raises((TypeError, ZeroDivisionError)) as found:
            backsweep.MDP.from_function(3, actions, wrong, discount=0.9)
        assert "outcomes of action 'go' in state 3" in "".join([str(found.value), *getattr(found.value, "__notes__", [])])
    with pytest.raises(ValueError, match="limit is -1; expected a number of states"):
        backsweep.MDP.from_function(3, actions, lambda state, action: [(1.0, 3, 0.0)], discount=0.9, limit=-1)


@pytest.mark.parametrize("vectorized", [False, True])
def test_probabilities_are_divided_by_their_sum_on_request(vectorized: bool) -> None:
    def plain(state: int, action: str) -> Any:
        return [(0.333, state, 3.0), (0.333, state, 0.0), (0.333, state, 0.0)]

    def arrays(states: Any, action: str) -> Any:
        return np.full((len(states), 3), 0.333), np.repeat(states[:, None, :], 3, axis=1), np.array([[3.0, 0.0, 0.0]] * len(states))

    start, outcomes = ((7,), arrays) if vectorized else (7, plain)
    options = {"discount": 0.5, "vectorized": vectorized}
    with pytest.raises(ValueError, match=r"sum to 0\.999.*normalize=True"):
        backsweep.MDP.from_function(start, ["go"], outcomes, **options)
    # The actions of all states may be a list.
    mdp = backsweep.MDP.from_function(start, ["go"], outcomes, normalize=True, **options)
    assert mdp.solve().values == pytest.approx([2.0]) and mdp.policy() == {start: "go"}


def refused_arrays() -> Any:
    one = lambda states: np.ones((len(states), 1))
    yield (0.5, 1), lambda s, a: (one(s), s[:, None], 0.0), "start is an array of float64"
    yield [], lambda s, a: (one(s), s[:, None], 0.0), "start is empty"
    yield (0, 1), lambda s, a: None, "outcomes returned NoneType; expected a tuple of probabilities"
    yield (0, 1), lambda s, a: (np.ones(len(s)), s[:, None], 0.0), r"probabilities of shape \(1,\); expected \[state, outcome\]"
    yield (0, 1), lambda s, a: (one(s), s, 0.0), r"next states of shape \(1, 2\); expected \[state, outcome, column\], here \(1, 1, 2\)"
    yield (0, 1), lambda s, a: (one(s), s[:, None], np.zeros(7)), r"rewards of shape \(7,\)"
    yield (0, 1), lambda s, a: (one(s), s[:, None], float("nan")), r"reward of action 0 in state \(0, 1\) is nan"
    yield (0, 1), lambda s, a: (0.5 * one(s), s[:, None], 0.0), r"probabilities of action 0 in state \(0, 1\) sum to 0\.5"
    yield np.array([2**63], np.uint64), lambda s, a: (one(s), s[:, None], 0.0), "64 bits with a sign"


@pytest.mark.parametrize("start, outcomes, message", list(refused_arrays()))
def test_wrong_arrays_are_refused(start: Any, outcomes: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        backsweep.MDP.from_function(start, 1, outcomes, discount=0.9, vectorized=True)


def test_an_exception_inside_a_function_of_arrays_names_a_state() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        backsweep.MDP.from_function((4, 5), ["go"], lambda states, action: 1 / 0, discount=0.9, vectorized=True)
    assert raised.value.__notes__ == ["outcomes of action 'go' in state (4, 5)"]


def test_a_limit_keeps_what_there_is() -> None:
    def outcomes(state: int, action: int) -> Any:
        return [(1.0, state + 1, 1.0)]

    with pytest.warns(UserWarning, match="the limit ended the enumeration: 1 state was met and not expanded"):
        mdp = backsweep.MDP.from_function(0, lambda state: [0], outcomes, discount=0.9, limit=100)
    assert len(mdp) == 101 and mdp.labels["frontier"] == [100] and mdp.actions(100) == []

    def interrupted(state: int, action: int) -> Any:
        if state == 40:
            raise KeyboardInterrupt
        return outcomes(state, action)

    with pytest.warns(UserWarning, match="Ctrl-C ended the enumeration"):
        mdp = backsweep.MDP.from_function(0, lambda state: [0], interrupted, discount=0.9)
    assert len(mdp) == 41


def doubling(states: Any, action: int) -> Any:
    return np.ones((len(states), 1)), (2 * states + action)[:, None, :], np.ones(len(states))


def test_a_limit_labels_the_frontier_of_arrays_and_simulators() -> None:
    with pytest.warns(UserWarning, match="the limit ended the enumeration: 11 states were met"):
        mdp = backsweep.MDP.from_function((1,), 2, doubling, discount=0.9, limit=10, vectorized=True)
    assert len(mdp) == 21 and len(mdp.labels["frontier"]) == 11 and all(not mdp.actions(state) for state in mdp.labels["frontier"])
    with pytest.warns(UserWarning, match="the limit ended the enumeration: 1 state was met"):
        mdp = backsweep.MDP.from_simulator(Corridor(), discount=0.9, limit=3)
    assert mdp.labels["frontier"] == [3]

    def interrupted(states: Any, action: int) -> Any:
        if len(states) > 5:
            raise KeyboardInterrupt
        return doubling(states, action)

    with pytest.warns(UserWarning, match="Ctrl-C ended the enumeration"):
        mdp = backsweep.MDP.from_function((1,), 2, interrupted, discount=0.9, vectorized=True)
    assert len(mdp) == 15 and len(mdp.labels["frontier"]) == 8


def test_the_bar_of_an_enumeration_promises_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    backsweep.MDP.from_function((1,), 1, lambda s, a: (np.ones((len(s), 1)), np.minimum(s + 1, 9)[:, None], 0.0), discount=0.9, vectorized=True, progress=True)
    assert "1 states expanded, 1 on the frontier, 0 s elapsed" in shown.getvalue()
    assert "remaining" not in shown.getvalue() and "/1" not in shown.getvalue()


def test_the_start_is_answered_before_the_end() -> None:
    """An endless walk with a pull to where it began."""

    def outcomes(state: int, action: int) -> Any:
        return [(0.5, state + action, 1.0 if state == 3 else 0.0), (0.3, 0, 0.1), (0.2, 0, 0.1, True)]

    mdp = backsweep.MDP.from_function(0, lambda state: [1, -1], outcomes, discount=0.9, value_range=(0.0, 10.0))
    solution = mdp.solve(until=1e-6, at=0)
    assert solution.converged and solution.upper[0] - solution.lower[0] <= 2e-6
    assert len(solution.states) < 300 and mdp.best_action(0) in (1, -1)
    assert 0 <= solution.lower[0] <= solution.values[0] <= solution.upper[0] <= 10
    # The bound is about the start, and the problem keeps the answer.
    assert solution.error_bound is not None and solution.error_bound <= 1e-6 and mdp.value(0) == solution.values[0]
    # All other questions would take the frontier for ends.
    for ask in (mdp.solve, lambda: mdp.evaluate(lambda state: 1), lambda: mdp.what_if({})):
        with pytest.raises(ValueError, match="were not expanded; expected"):
            ask()
    with pytest.raises(ValueError, match="at is 7; expected a state in which episodes begin"):
        mdp.solve(until=1e-3, at=7)
    with pytest.raises(ValueError, match="need a problem from a function with a value_range"):
        backsweep.MDP(discount=0.9).solve(until=1e-3)


def test_a_range_of_values_must_be_true() -> None:
    def pay(state: int, action: str) -> Any:
        return [(1.0, state, 1.0)]

    mdp = backsweep.MDP.from_function(0, ["pay"], pay, discount=0.9, value_range=(0.0, 5.0))
    with pytest.raises(ValueError, match=r"value_range is \(0, 5\), but state 0 is worth 9\.99"):
        mdp.solve(until=1e-3)
    for wrong in (5, (1, 2, 3), (2, 1), (0, float("inf"))):
        with pytest.raises(ValueError, match="value_range is"):
            backsweep.MDP.from_function(0, ["pay"], pay, discount=0.9, value_range=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("life, lead, fifo, n, cost, checksum", [(2, 1, False, 121, 1603.5974, "m2_exp1"), (2, 1, True, 121, 1510.4701, "m2_exp2"), (3, 2, False, 14641, 1576.9121, "m3_exp5")])
def test_policies_of_perishable_stock_are_the_published_ones(life: int, lead: int, fifo: bool, n: int, cost: float, checksum: str) -> None:
    """De Moor, Gijsbrechts and Boute 2022, as a function of arrays. The published policies are known by their checksums."""
    start, outcomes = perishable(life, lead, fifo)
    mdp = backsweep.MDP.from_function(start, 11, outcomes, discount=0.99, vectorized=True)
    assert mdp.solve(1e-4, minimize=True).converged and len(mdp) == n
    assert mdp.value(start) == pytest.approx(cost, abs=1e-3) and mdp.labels["init"] == [start]
    # The tables of two ages end at eight units.
    shown = sorted(state for state in mdp.states if life == 3 or max(state) <= 8)
    orders = bytes(mdp.best_action(state) for state in shown)
    assert hashlib.sha256(orders).hexdigest() == PUBLISHED[checksum]


# Of the orders in the order of states, from the files of mdpax.
PUBLISHED = {
    "m2_exp1": "245307423a08a315edb7eec6d8ec928adf6631f469e72dd753477f83ccb2bad6",
    "m2_exp2": "4d9f9ee4be14f66045db53af3d4c88a140c1ff5d47663c5ed476344ae289ab89",
    "m3_exp5": "09c3b14f4e61e77b147d455332b748f44dd1f80234db7c32efaedfd8e9db497d",
}


def test_arrays_and_plain_functions_agree() -> None:
    start, outcomes = perishable(2, 1, False)

    def plain(state: Any, order: int) -> Any:
        p, following, cost = outcomes(np.array([state]), order)
        return [(x, tuple(row), float(c)) for x, row, c in zip(p[0], following[0].tolist(), cost[0])]

    arrays = backsweep.MDP.from_function(start, 11, outcomes, discount=0.99, vectorized=True)
    mdp = backsweep.MDP.from_function(start, 11, plain, discount=0.99)
    first, second = mdp.solve(1e-6, minimize=True), arrays.solve(1e-6, minimize=True)
    values = dict(zip(second.states, second.values))
    assert first.converged and second.converged and set(first.states) == set(second.states)
    assert all(abs(value - values[state]) < 1e-5 for state, value in zip(first.states, first.values))


@pytest.mark.parametrize("puzzle, n_states, moves", [(sliding(2, 3), 360, 21), (sliding(2, 4), 20_160, 36), (cube(False, "UR"), 29_160, 14), (cube(True, "UR"), 29_160, 17)])
def test_puzzles_have_their_states_and_moves(puzzle: Any, n_states: int, moves: int) -> None:
    """Sliding puzzles, and the 2x2x2 cube turned at two faces, in half and quarter turns."""
    mdp = backsweep.MDP.from_function(*puzzle, discount=1.0, vectorized=True)
    solution = mdp.solve(1e-6)
    assert solution.converged and len(mdp) == n_states and round(-solution.values.min()) == moves


class Corridor:
    """A deterministic environment with its state in an attribute."""

    class _Actions:
        n = 2

    action_space = _Actions()
    observation_space = None

    def __init__(self) -> None:
        self.place = 0

    @property
    def unwrapped(self) -> Any:
        return self

    def reset(self, seed: int | None = None) -> Any:
        self.place = 0
        return self.place, {}

    def step(self, action: int) -> Any:
        self.place = max(self.place + (1 if action else -1), 0)
        return self.place, -1.0, self.place == 5, False, {}


def test_a_simulator_is_enumerated() -> None:
    mdp = backsweep.MDP.from_simulator(Corridor(), discount=1.0)
    mdp.solve()
    assert len(mdp) == 5 and mdp.value(0) == pytest.approx(-5.0)
    assert "estimated" not in repr(mdp)
    sampled = backsweep.MDP.from_simulator(Corridor(), discount=1.0, samples=3)
    assert "estimated from 3 samples" in repr(sampled) and "estimated from 3 samples" in sampled.solve().explanation[-1]
    with pytest.raises(ValueError, match="samples is 0"):
        backsweep.MDP.from_simulator(Corridor(), discount=1.0, samples=0)


class Coin(Corridor):
    """A step that fails half of the time, by a generator that is an attribute of an attribute."""

    class Luck:
        def __init__(self) -> None:
            self.generator = random.Random(5)

    def __init__(self) -> None:
        super().__init__()
        self.luck = self.Luck()

    def step(self, action: int) -> Any:
        return super().step(action) if self.luck.generator.random() < 0.5 else (self.place, -1.0, False, False, {})


def test_samples_of_a_stochastic_simulator_differ() -> None:
    with pytest.raises(ValueError, match=r"action 1 in state 0 led to .* expected a deterministic environment, or samples=n"):
        backsweep.MDP.from_simulator(Coin(), discount=1.0)
    mdp = backsweep.MDP.from_simulator(Coin(), discount=1.0, samples=2000)
    mdp.solve(1e-6)
    assert len(mdp) == 5 and mdp.value(0) == pytest.approx(-10.0, abs=0.5)


def test_sampled_ice_is_near_its_table() -> None:
    gym = pytest.importorskip("gymnasium")
    env = gym.make("FrozenLake-v1")
    table = backsweep.MDP.from_gymnasium(env, discount=0.95)
    found = backsweep.MDP.from_simulator(env, discount=0.95, samples=300)
    table.solve()
    found.solve()
    assert found.value(0) == pytest.approx(table.value(0), abs=0.05)


class Wrapped(Corridor):
    """Counts steps in a wrapper, around a simulator that saves itself and cannot be pickled."""

    class Inner(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.device = iter(int, 1)

        def clone_state(self) -> int:
            return self.place

        def restore_state(self, place: int) -> None:
            self.place = place

    def __init__(self) -> None:
        self.env = self.Inner()
        self.device = self.env.device
        self.n_steps = 0

    @property
    def unwrapped(self) -> Any:
        return self.env

    def reset(self, seed: int | None = None) -> Any:
        self.n_steps = 0
        return self.env.reset(seed)

    def step(self, action: int) -> Any:
        self.n_steps += 1
        place, _, *rest = self.env.step(action)
        return place, -float(self.n_steps), *rest


def test_wrappers_are_saved_with_a_simulator_that_saves_itself() -> None:
    mdp = backsweep.MDP.from_simulator(Wrapped(), discount=1.0)
    # A step costs its number in the shortest run: 1 + 2 + 3 + 4 + 5.
    assert mdp.solve().converged and mdp.value(0) == pytest.approx(-15.0)


def test_a_simulator_that_cannot_be_saved_is_refused() -> None:
    class Stuck(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.device = (i for i in range(3))

    with pytest.raises(TypeError, match="attribute device of .* cannot be saved"):
        backsweep.MDP.from_simulator(Stuck(), discount=1.0)


@pytest.mark.parametrize("name", ["FrozenLake", "CliffWalking", "Taxi"])
def test_simulators_agree_with_their_tables(name: str) -> None:
    gym = pytest.importorskip("gymnasium")
    newest = max(spec.version for spec in gym.registry.values() if spec.name == name)
    env = gym.make(f"{name}-v{newest}", **({"is_slippery": False} if name == "FrozenLake" else {}))
    env.reset(seed=3)
    table = backsweep.MDP.from_gymnasium(env, discount=0.95)
    found = backsweep.MDP.from_simulator(env, discount=0.95, seed=3)
    table.solve(1e-7)
    found.solve(1e-7)
    assert len(found) > 10
    assert all(abs(found.value(state) - table.value(state)) < 1e-5 for state in found.states)


def test_policies_are_judged_and_simulated() -> None:
    actions, outcomes = gambler()
    mdp = backsweep.MDP.from_function(5, actions, outcomes, discount=1.0)
    best = {state: mdp.best_action(state) for state in mdp.states if mdp.solve().converged}
    judged = mdp.evaluate(best)
    assert judged.converged and judged.gap.max() < 1e-8 and judged.losses == []
    timid = mdp.evaluate({state: 1 for state in mdp.states})
    # Timid play on an unfair coin: (r^n - 1) / (r^10 - 1) with r = 0.6 / 0.4.
    expected = {n: (1.5**n - 1) / (1.5**10 - 1) for n in range(1, 10)}
    for state, lower, upper in zip(timid.states, timid.lower, timid.upper):
        assert lower - 1e-12 <= expected[state] <= upper + 1e-12
    assert timid.gap.max() > 0.1 and timid.losses[0][1] > 0
    total = sum(visits * loss for _, visits, loss in timid.losses)
    start = timid.states.index(5)
    assert total == pytest.approx(timid.best[start] - timid.values[start], abs=1e-6)
    mixed = mdp.evaluate(lambda state: {action: 1 / len(mdp.actions(state)) for action in mdp.actions(state)})
    assert mixed.converged and "gap at most" in repr(mixed)
    runs = mdp.simulate(best, episodes=500, seed=1, start=5)
    assert runs == mdp.simulate(best, episodes=500, seed=1, start=5)
    assert all(run[-1][3] is None for run in runs)
    for run in runs:
        assert all(a[3] == b[0] for a, b in itertools.pairwise(run))
    assert abs(sum(step[2] for run in runs for step in run) / 500 - 0.4) < 0.08
    with pytest.raises(ValueError, match="no action for state"):
        mdp.evaluate({5: 1})
    with pytest.raises(KeyError):
        mdp.evaluate({state: 99 for state in mdp.states})
    with pytest.raises(ValueError, match=r"policy in state \d has probabilities that sum to 0\.5"):
        mdp.evaluate({state: {1: 0.5} for state in mdp.states})
    with pytest.raises(ValueError, match="takes action 1 with probability '1'; expected a number from 0 to 1"):
        mdp.evaluate({state: {1: "1"} for state in mdp.states})
    with pytest.raises(TypeError, match=r"such as dict\(zip\(mdp.states, actions\)\)"):
        mdp.evaluate([1] * len(mdp))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="episodes is -1"):
        mdp.simulate(best, episodes=-1)


def test_steps_of_a_policy_are_counted() -> None:
    mdp = backsweep.MDP(discount=1.0)
    mdp.set_outcomes("start", "slow", [(0.25, "done", 0.0, False), (0.75, "start", 0.0, False)])
    mdp.set_outcomes("start", "fast", [(0.5, "done", 0.0, False), (0.5, "start", 0.0, False)])
    mdp.set_label("done", ["done"])
    judged = mdp.evaluate({"start": "slow"}, backsweep.Total(until="done", reward="steps"), minimize=True)
    assert judged.values[0] == pytest.approx(4.0) and judged.best[0] == pytest.approx(2.0) and judged.gap[0] == pytest.approx(2.0)


def test_large_values_converge_relative_to_their_size() -> None:
    mdp = backsweep.MDP(discount=0.99)
    for i in range(20):
        mdp.set_outcomes(i, "go", [(0.3, (i + 1) % 20, 1e9 * (i + 1), False), (0.7, (7 * i) % 20, 1e9, False)])
    assert not mdp.solve(1e-9).converged
    assert mdp.solve(relative=1e-9).converged and mdp.solve().converged
    assert mdp.evaluate(lambda state: "go").converged and not mdp.evaluate(lambda state: "go", tolerance=1e-9).converged
    # Repairs and questions of what would be know it too.
    assert mdp.what_if({(3, "go"): 2e9}).converged
    mdp.set_reward(3, "go", 2e9)
    repaired = mdp.solve()
    assert repaired.converged and repaired.error_bound is not None and repaired.error_bound <= 1e-9 * repaired.lower.min()
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="relative is"):
            mdp.solve(1e-3, relative=wrong)


def test_states_far_apart_are_told_apart() -> None:
    """Columns that do not fit into one number together."""

    def outcomes(states: Any, action: int) -> Any:
        following = np.minimum(states * 1_000_003 + action, 2**60)
        return np.ones((len(states), 1)), following[:, None, :], -np.ones((len(states), 1)), (states.max(axis=1) >= 2**40)[:, None]

    mdp = backsweep.MDP.from_function((1, 2, 3, 4), 2, outcomes, discount=1.0, vectorized=True)
    assert mdp.solve().converged and mdp.value((1, 2, 3, 4)) == pytest.approx(-3.0)
    assert (1_000_003, 2_000_006, 3_000_009, 4_000_012) in mdp


def shop(capacity: int) -> backsweep.MDP:
    """Two stocks; demand empties them one by one."""

    def outcomes(state: Any, order: str) -> Any:
        a, b = state
        a, b = (min(a + 3, capacity), b) if order == "a" else (a, min(b + 3, capacity)) if order == "b" else (a, b)
        cost = 0.3 * (a + b) + (2.0 if order != "none" else 0.0)
        return [
            (0.5, (max(a - 1, 0), b), -cost - (9.0 if a == 0 else 0.0)),
            (0.5, (a, max(b - 1, 0)), -cost - (7.0 if b == 0 else 0.0)),
        ]

    return backsweep.MDP.from_function((0, 0), lambda state: ["none", "a", "b"], outcomes, discount=0.95)


def test_a_policy_becomes_a_tree() -> None:
    mdp = shop(12)
    tree = mdp.policy_tree(columns=["first", "second"])
    # As good as the best in every state, in far fewer leaves than there are states.
    assert tree.n_mismatched == 0 and tree.loss <= 1e-4 and 3 <= tree.n_leaves < len(mdp) / 3
    judged = mdp.evaluate(tree)
    assert judged.gap.max() <= tree.loss + 1e-6
    assert "if first <= " in str(tree) and "leaves" in repr(tree)
    with pytest.raises(ValueError, match="state has 3 columns; expected 2: first, second"):
        tree((1, 2, 3))
    # Cut down, it loses something, which is proven: the policy's own value differs by no more.
    small = mdp.policy_tree(max_leaves=2)
    assert small.n_leaves == 2 and small.n_mismatched > 0 and 1e-3 < small.loss < float("inf")
    best = dict(zip(mdp.states, mdp.solve(1e-8).values))
    own = mdp.evaluate(small, tolerance=1e-8)
    assert max(best[state] - value for state, value in zip(own.states, own.values)) <= small.loss + 1e-6


def test_states_that_are_numbers_have_one_column() -> None:
    mdp = backsweep.MDP(discount=0.9)
    for x in range(6):
        mdp.set_outcomes(x, "left", [(1.0, max(x - 1, 0), float(x == 1), False)])
        mdp.set_outcomes(x, "right", [(1.0, min(x + 1, 5), 2.0 * (x == 4), False)])
    tree = mdp.policy_tree(columns=["x"])
    assert [tree(x) for x in (0, 4)] == [mdp.best_action(0), mdp.best_action(4)] and tree.loss < 1e-4
    assert tree((4,)) == tree(4)
    mdp.set_outcomes((1, 2), "left", [(1.0, 0, 0.0, False)])
    with pytest.raises(TypeError, match=r"state \(1, 2\) does not suit a decision tree; expected 1 column, as in"):
        mdp.policy_tree()


def test_a_tree_is_refused_where_states_are_no_numbers() -> None:
    mdp = backsweep.MDP(discount=0.9)
    mdp.set_outcomes("hall", "stay", [(1.0, "hall", 1.0, False)])
    with pytest.raises(TypeError, match="state 'hall' does not suit a decision tree; expected a number or a tuple"):
        mdp.policy_tree()
    with pytest.raises(ValueError, match="max_leaves is 0"):
        shop(3).policy_tree(max_leaves=0)
    with pytest.raises(ValueError, match="columns has 1 names; expected 2"):
        shop(3).policy_tree(columns=["a"])


def test_a_tree_in_c_takes_the_same_actions(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    mdp = shop(6)
    tree = mdp.policy_tree(columns=["first", "second */"])
    rows = ", ".join(f"{{{a}, {b}}}" for a, b in mdp.states)
    loop = 'for (int i = 0; i < sizeof states / sizeof *states; i++) printf("%d\\n", policy_action(states[i]));'
    program = f"#include <stdio.h>\n{tree.to_c()}\nint main(void) {{ double states[][2] = {{{rows}}}; {loop} return 0; }}\n"
    (tmp_path / "tree.c").write_text(program)
    subprocess.run([compiler, "-Wall", "-Werror", "-Wno-sign-compare", "-o", tmp_path / "tree", tmp_path / "tree.c"], check=True)
    printed = subprocess.run([tmp_path / "tree"], capture_output=True, text=True, check=True).stdout.split()
    assert [tree.actions[int(i)] for i in printed] == [tree(state) for state in mdp.states]
