"""Without discount, the policy that is returned reaches what the values promise."""

import gymnasium as gym
import numpy as np
import pytest

import backsweep


def steps_to_end(mdp, start, limit=10_000, seed=0):
    """Follows the policy of an MDP by its own model: (return, ended)."""
    rng = np.random.default_rng(seed)
    policy = mdp.policy()
    state, total = start, 0.0
    for _ in range(limit):
        outcomes = OUTCOMES[id(mdp)][state, policy[state]]
        probability, next_state, reward, ended = outcomes[rng.choice(len(outcomes), p=[o[0] for o in outcomes])]
        total += reward
        if ended:
            return total, True
        state = next_state
    return total, False


OUTCOMES = {}


def built(table, discount=1.0):
    """An MDP whose table is remembered."""
    mdp = backsweep.MDP(discount)
    for (state, action), outcomes in table.items():
        mdp.set_outcomes(state, action, outcomes)
    OUTCOMES[id(mdp)] = table
    return mdp


PLANNERS = ["reversed_full_backups", "small_backups", "moore_atkeson", "peng_williams", "wiering_schmidhuber", "value_iteration"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_staying_for_nothing_does_not_tie_with_going(planner):
    """The smallest case: stay is worth as much as go, because go is still there afterwards."""
    table = {("s", "stay"): [(1.0, "s", 0.0, False)], ("s", "go"): [(1.0, "t", 1.0, True)]}
    agent = backsweep.Agent(1.0, planner=planner)
    agent.observe("s", "stay", 0.0, "s")
    agent.observe("s", "go", 1.0, "t", terminated=True)
    agent.plan(until=1e-9)
    assert agent.action_values("s") == {"stay": 1.0, "go": 1.0} and agent.best_action("s") == "go"
    mdp = built(table)
    solution = mdp.solve()
    assert solution.values.tolist() == [1.0] and mdp.action_values("s") == {"stay": 1.0, "go": 1.0}
    assert solution.policy.tolist() == ["go"] and mdp.best_action("s") == "go" and mdp.policy() == {"s": "go"}


def test_frozen_lake_without_slipping_reaches_the_goal():
    env = gym.make("FrozenLake-v1", is_slippery=False)
    mdp = backsweep.MDP.from_gymnasium(env, discount=1.0)
    assert mdp.solve().values[0] == 1.0
    result = backsweep.evaluate(env, mdp, 5, seed=0)
    assert result.returns == [1.0] * 5 and result.lengths == [6] * 5


@pytest.mark.parametrize("map_name", ["4x4", "8x8"])
def test_frozen_lake_with_slipping_gets_what_the_values_promise(map_name):
    """The chain of the policy is solved exactly, not sampled."""
    env = gym.make("FrozenLake-v1", map_name=map_name)
    mdp = backsweep.MDP.from_gymnasium(env, discount=1.0)
    solution = mdp.solve(1e-10)
    table, n = env.unwrapped.P, len(solution.states)
    p, r = np.zeros((n, n)), np.zeros(n)
    for state in range(n):
        for probability, next_state, reward, ended in table[state][solution.policy[state]]:
            r[state] += probability * reward
            p[state, next_state] += 0.0 if ended else probability
    values = np.linalg.solve(np.eye(n) - p, r)
    assert np.abs(values - solution.values).max() < 1e-8


def test_ties_that_rounding_breaks():
    """The way on is worth a little less than going round, by rounding: the policy must still take it."""
    ring = {}
    for i in range(10):
        ring[i, "round"] = [(1.0, (i + 1) % 10, 0.0, False)]
        ring[i, "try"] = [(0.1, "goal", 1.0, True), (0.3, (i + 3) % 10, 0.0, False), (0.6, (i + 7) % 10, 0.0, False)]
    mdp = built(ring)
    solution = mdp.solve(1e-3)
    assert all(abs(value - 1) < 1e-3 for value in solution.values)
    assert all(steps_to_end(mdp, start)[1] for start in range(10))


def test_a_promise_that_only_some_ways_keep():
    """A tied action that may fall into a pit is not one that attains the value; one that may wait forever is not either."""
    table = {
        ("a", "loop"): [(1.0, "b", 0.0, False)],
        ("a", "risk"): [(0.5, "goal", 1.0, True), (0.5, "pit", 0.0, False)],
        ("b", "back"): [(1.0, "a", 0.0, False)],
        ("b", "wait"): [(1.0, "b", 0.0, False)],
        ("b", "go"): [(0.5, "b", 0.0, False), (0.5, "c", 0.0, False)],
        ("c", "back"): [(1.0, "a", 0.0, False)],
        ("c", "end"): [(1.0, "goal", 1.0, True)],
        ("pit", "stay"): [(1.0, "pit", 0.0, False)],
    }
    mdp = built(table)
    mdp.solve()
    assert mdp.values() == pytest.approx({"a": 1.0, "b": 1.0, "pit": 0.0, "c": 1.0})
    assert mdp.policy() == {"a": "loop", "b": "go", "c": "end", "pit": "stay"}


def test_costs_end_as_soon_as_they_can():
    """With costs, staying at no cost is as good as ending at no cost: ties break toward the end."""
    table = {
        ("s", "rest"): [(1.0, "s", 0.0, False)],
        ("s", "leave"): [(1.0, "out", 0.0, True)],
        ("far", "walk"): [(1.0, "s", -2.0, False)],
        ("far", "around"): [(1.0, "far", -1.0, False)],
    }
    mdp = built(table)
    assert mdp.solve().converged
    assert mdp.policy() == {"s": "leave", "far": "walk"} and mdp.value("far") == -2.0


def random_problem(seed):
    """States with one sign of rewards, loops and ties in plenty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    sign = rng.choice([1.0, -1.0])
    table = {}
    for state in range(n):
        for action in range(int(rng.integers(1, 4))):
            k = int(rng.integers(1, 4))
            p = rng.choice([1.0, 2.0, 1.0], size=k)
            outcomes = []
            for probability in p / p.sum():
                ended = bool(rng.random() < 0.25)
                reward = sign * float(rng.integers(0, 3)) if ended or sign < 0 else 0.0
                outcomes.append((float(probability), int(rng.integers(n)), reward, ended))
            table[state, action] = outcomes
    return table


@pytest.mark.parametrize("seed", range(300))
def test_random_problems(seed):
    """The exact value of the policy is the value that is promised, wherever the problem is solved."""
    table = random_problem(seed)
    mdp = built(table)
    solution = mdp.solve(1e-10)
    assert solution.converged
    states = solution.states
    n = len(states)
    index = {state: i for i, state in enumerate(states)}
    p, r = np.zeros((n, n)), np.zeros(n)
    for state, action in zip(states, solution.policy):
        for probability, next_state, reward, ended in table.get((state, action), []):
            r[index[state]] += probability * reward
            if not ended:
                p[index[state], index[next_state]] += probability
    # Values of a policy by its definition, since it need not end: rewards of one sign add up.
    values = np.zeros(n)
    for _ in range(5000):
        values = r + p @ values
    finite = np.isfinite(solution.values)
    assert np.abs(values - solution.values)[finite].max(initial=0) < 1e-6, (table, solution.values, solution.policy)
    # Costs that no policy can stop.
    assert (solution.values[~finite] == -np.inf).all() and (values[~finite] < -100).all()


def test_agents_too():
    agent = backsweep.Agent(1.0, actions=["stay", "go"])
    agent.observe("s", "stay", 0.0, "s")
    agent.observe("s", "go", 1.0, "t", terminated=True)
    agent.plan(until=0)
    assert agent.action_values("s") == {"stay": 1.0, "go": 1.0}
    assert agent.best_action("s") == "go" and agent.policy() == {"s": "go"}
