"""Problems from functions and simulators, and policies that are judged."""

from __future__ import annotations

import itertools
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backsweep


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


def test_a_limit_keeps_what_there_is() -> None:
    def outcomes(state: int, action: int) -> Any:
        return [(1.0, state + 1, 1.0)]

    with pytest.warns(UserWarning, match="the limit ended the enumeration: 1 states were met and not expanded"):
        mdp = backsweep.MDP.from_function(0, lambda state: [0], outcomes, discount=0.9, limit=100)
    assert len(mdp) == 101 and mdp.labels["frontier"] == [100] and mdp.actions(100) == []

    def interrupted(state: int, action: int) -> Any:
        if state == 40:
            raise KeyboardInterrupt
        return outcomes(state, action)

    with pytest.warns(UserWarning, match="Ctrl-C ended the enumeration"):
        mdp = backsweep.MDP.from_function(0, lambda state: [0], interrupted, discount=0.9)
    assert len(mdp) == 41


def test_the_start_is_answered_before_the_end() -> None:
    """An endless walk with a pull to where it began."""

    def outcomes(state: int, action: int) -> Any:
        return [(0.5, state + action, 1.0 if state == 3 else 0.0), (0.3, 0, 0.1), (0.2, 0, 0.1, True)]

    mdp = backsweep.MDP.from_function(0, lambda state: [1, -1], outcomes, discount=0.9, value_range=(0.0, 10.0))
    solution = mdp.solve(until=1e-6, at=0)
    assert solution.converged and solution.upper[0] - solution.lower[0] <= 2e-6
    assert len(solution.states) < 300 and mdp.best_action(0) in (1, -1)
    assert 0 <= solution.lower[0] <= solution.values[0] <= solution.upper[0] <= 10
    with pytest.raises(ValueError, match="at is 7; expected a state in which episodes begin"):
        mdp.solve(until=1e-3, at=7)
    with pytest.raises(ValueError, match="need a problem from a function with a value_range"):
        backsweep.MDP(discount=0.9).solve(until=1e-3)


def perishable(m: int, fifo: bool) -> tuple[Any, Any, Any]:
    """Perishable stock of m ages, lead time 1: as the definition of De Moor et al. has it, vectorized and plain."""
    # Gamma with shape 4 and rate 1: P(X <= x) = 1 - exp(-x) (1 + x + x^2 / 2 + x^3 / 6).
    below = [1 - math.exp(-x) * (1 + x + x**2 / 2 + x**3 / 6) for x in (d + 0.5 for d in range(101))]
    demand = np.diff([0.0, *below])
    demand[-1] += 1 - demand.sum()

    def step(stock: tuple[int, ...], order: int, d: int) -> tuple[tuple[int, ...], float]:
        left, need = list(stock), d
        for age in range(m - 1, -1, -1) if fifo else range(m):
            used = min(left[age], need)
            left[age] -= used
            need -= used
        expired, kept = left[-1], left[:-1]
        cost = 3 * order + 5 * need + 7 * expired + sum(kept)
        return (order, *kept), float(cost)

    def outcomes(stock: tuple[int, ...], order: int) -> Any:
        return [(p, *step(stock, order, d)) for d, p in enumerate(demand)]

    def vectorized(states: Any, order: int) -> Any:
        d = np.arange(101)[None, :]
        left = np.repeat(states[:, None, :], 101, axis=1)
        need = np.repeat(d, len(states), axis=0)
        for age in range(m - 1, -1, -1) if fifo else range(m):
            used = np.minimum(left[:, :, age], need)
            left[:, :, age] -= used
            need = need - used
        cost = 3 * order + 5 * need + 7 * left[:, :, -1] + left[:, :, :-1].sum(axis=2)
        following = np.concatenate([np.full((*need.shape, 1), order), left[:, :, :-1]], axis=2)
        return np.broadcast_to(demand, need.shape), following, cost

    return outcomes, vectorized, demand


@pytest.mark.parametrize("fifo", [False, True])
def test_arrays_and_plain_functions_agree(fifo: bool) -> None:
    outcomes, vectorized, _ = perishable(2, fifo)
    plain = backsweep.MDP.from_function((0, 0), lambda stock: range(11), outcomes, discount=0.99)
    arrays = backsweep.MDP.from_function((0, 0), 11, vectorized, discount=0.99, vectorized=True)
    assert set(plain.states) == set(arrays.states) and len(plain) == 121
    first, second = plain.solve(1e-6, minimize=True), arrays.solve(1e-6, minimize=True)
    values = dict(zip(second.states, second.values))
    assert first.converged and second.converged
    assert all(abs(value - values[state]) < 1e-5 for state, value in zip(first.states, first.values))
    assert arrays.labels["init"] == [(0, 0)]


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


@pytest.mark.parametrize("name", ["FrozenLake", "Taxi"])
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
    with pytest.raises(ValueError, match="sum to 0.5"):
        mdp.evaluate({state: {1: 0.5} for state in mdp.states})


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


def test_a_tree_is_refused_where_states_are_no_numbers() -> None:
    mdp = backsweep.MDP(discount=0.9)
    mdp.set_outcomes("hall", "stay", [(1.0, "hall", 1.0, False)])
    with pytest.raises(TypeError, match="state 'hall' is no tuple of some numbers"):
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
