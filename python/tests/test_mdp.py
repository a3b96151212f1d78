"""Known problems against values of independent solvers."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
import scipy.sparse
from conftest import DATA, reference, table

import backsweep

ENVIRONMENTS = {
    "FrozenLake-4x4-slippery": ("FrozenLake-v1", {"map_name": "4x4"}),
    "FrozenLake-4x4-det": ("FrozenLake-v1", {"map_name": "4x4", "is_slippery": False}),
    "FrozenLake-8x8-slippery": ("FrozenLake-v1", {"map_name": "8x8"}),
    "CliffWalking": ("CliffWalking-v1", {}),
    "CliffWalking-slippery": ("CliffWalking-v1", {"is_slippery": True}),
    "Taxi": ("Taxi-v4", {}),
    "Taxi-rainy": ("Taxi-v4", {"is_rainy": True}),
}
PROBLEMS = sorted(path.name.removesuffix(".ref.csv") for path in DATA.glob("*.ref.csv"))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gymnasium_to_the_optimum(name):
    env_id, arguments = ENVIRONMENTS[name]
    try:
        env = gym.make(env_id, **arguments)
    except gym.error.Error:
        pytest.skip(f"this version of Gymnasium has no {env_id}")
    for discount, values in reference(name).items():
        if discount == 1 and name == "Taxi":
            continue  # rewards of both signs: refused, see below
        mdp = backsweep.MDP.from_gymnasium(env, discount=discount)
        solution = mdp.solve(1e-9)
        assert solution.converged
        assert np.abs(solution.values - values).max() <= 1e-9
        if discount < 1:
            assert np.abs(solution.values - values).max() <= solution.error_bound <= 1e-9
        # The policy is optimal: the value of its action is the state's.
        for state in mdp.states:
            action = solution.policy[state]
            assert mdp.action_values(state)[action] == max(mdp.action_values(state).values()) == mdp.value(state)


def test_frozen_lake_without_discount_is_14_17ths():
    mdp = backsweep.MDP.from_gymnasium(gym.make("FrozenLake-v1", map_name="4x4"), discount=1.0)
    assert abs(mdp.solve(1e-10).values[0] - 14 / 17) < 1e-11


def test_undefined_values_are_refused():
    mdp = backsweep.MDP.from_gymnasium(gym.make("Taxi-v4"), discount=1.0)
    with pytest.raises(ValueError, match="discount is 1, but from state .* a policy can go on for ever"):
        mdp.solve()
    with pytest.raises(ValueError, match="tolerance is 0"):
        mdp.solve(0.0)


def built(name, discount, planner=None, rename=lambda state: state):
    mdp = backsweep.MDP(discount, planner=planner)
    for (state, action), outcomes in table(name).items():
        mdp.set_outcomes(rename(state), action, [(p, rename(t), r, end) for p, t, r, end in outcomes])
    return mdp


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_test_problem_with_names(name):
    for discount, values in reference(name).items():
        mdp = built(name, discount, rename=lambda state: f"state {state}")
        if discount == 1 and name == "Taxi":
            continue
        mdp.solve(1e-10)
        for state, value in enumerate(values):
            if f"state {state}" in mdp:
                assert mdp.value(f"state {state}") == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("planner", ["small_backups", "moore_atkeson", "peng_williams", "wiering_schmidhuber", "value_iteration"])
def test_other_planners_solve_too(planner):
    values = reference("random-60")[0.9]
    mdp = built("random-60", 0.9, planner)
    assert mdp.planner == planner
    solution = mdp.solve(1e-9)
    assert solution.error_bound <= 1e-9
    assert max(abs(mdp.value(s) - values[s]) for s in mdp.states) <= 1e-9


def dense(name):
    """A test problem whose states all have the same actions, as arrays."""
    rows = table(name)
    n, m = 1 + max(s for s, _ in rows), 1 + max(a for _, a in rows)
    p, r, end = np.zeros((n, m, n)), np.zeros((n, m)), np.zeros((n, m))
    available = np.zeros((n, m), bool)
    for (s, a), outcomes in rows.items():
        available[s, a] = True
        for probability, t, reward, ended in outcomes:
            r[s, a] += probability * reward
            if ended:
                end[s, a] += probability
            else:
                p[s, a, t] += probability
    return p, r, end, available


@pytest.mark.parametrize("name", ["FrozenLake-8x8-slippery", "CliffWalking-slippery", "random-60", "sb-gridworld"])
def test_arrays_and_sparse_matrices(name):
    p, r, end, available = dense(name)
    n, m = r.shape
    values = reference(name)[0.9]
    by_action = [scipy.sparse.csr_matrix(p[:, a]) for a in range(m)]
    stacked = scipy.sparse.coo_array(p.reshape(n * m, n))
    for mdp in (
        backsweep.MDP.from_arrays(p, r, discount=0.9, end=end, available=available),
        backsweep.MDP.from_scipy(by_action, r, discount=0.9, end=end, available=available),
        backsweep.MDP.from_scipy(stacked, r, discount=0.9, end=end, available=available),
    ):
        assert np.abs(mdp.solve(1e-10).values - values[:n]).max() < 1e-9
        assert np.abs(mdp.model.probabilities - scipy.sparse.csr_array(p.reshape(n * m, n)[available.ravel()])).max() < 1e-12


def test_rewards_of_outcomes_and_of_states():
    p = np.zeros((2, 1, 2))
    p[0, 0] = [0.5, 0.5]
    p[1, 0] = [0, 1]
    by_outcome = np.zeros((2, 1, 2))
    by_outcome[0, 0] = [2, 4]
    first = backsweep.MDP.from_arrays(p, by_outcome, discount=0.5).solve().values
    second = backsweep.MDP.from_arrays(p, [3.0, 0.0], discount=0.5).solve().values
    sparse = [scipy.sparse.csr_array(by_outcome[:, 0])]
    third = backsweep.MDP.from_scipy([scipy.sparse.csr_array(p[:, 0])], sparse, discount=0.5).solve().values
    assert first == pytest.approx([4, 0]) and second == pytest.approx([4, 0]) and third == pytest.approx([4, 0])


def test_changed_and_solved_again():
    mdp = backsweep.MDP(0.9)
    for i in range(1000):
        mdp.set_outcomes(i, "on", [(1.0, i + 1, 0.0, i == 999)])
    mdp.set_outcomes(999, "on", [(1.0, 1000, 10.0, True)])
    first = mdp.solve(1e-9)
    assert first.values[0] == pytest.approx(10 * 0.9**999, abs=1e-9) and first.error_bound <= 1e-9
    mdp.set_outcomes(0, "jump", [(0.5, 999, 1.0, False), (0.5, 998, 1.0, False)])
    again = mdp.solve(1e-9)
    assert again.values[0] == pytest.approx(1 + 0.9 * (10 + 9) / 2)
    assert again.cycles <= 2 < first.cycles
    assert mdp.best_action(0) == "jump" and mdp.action_values(1) == {"on": mdp.value(1)}
    for other in (copy.copy(mdp), copy.deepcopy(mdp), pickle.loads(pickle.dumps(mdp))):
        assert other.solve(1e-9).cycles == 0 and other.value(0) == mdp.value(0)
        other.set_outcomes(0, "jump", [(1.0, 0, 100.0, True)])
        assert other.solve().values[0] == 100 and mdp.value(0) < 100


def test_tables_of_other_names():
    class World:
        P = {("a", 1): {"go": [(1.0, ("b", 2), 1.0, False)]}, ("b", 2): {"go": [(1.0, ("a", 1), 3.0, True)]}}

    mdp = backsweep.MDP.from_gymnasium(World(), discount=0.5)
    mdp.solve()
    assert mdp.value(("a", 1)) == 2.5


def test_refusals():
    mdp = backsweep.MDP(0.9)
    for outcomes, message in [
        ([(0.5, "t", 0.0, False)], r"probabilities of action 'a' in state 's' sum to 0.5; expected 1"),
        ([(1.5, "t", 0.0, False), (-0.5, "t", 0.0, False)], "is 1.5; expected a number from 0 to 1"),
        ([(1.0, "t", float("nan"), False)], "reward of action 'a' in state 's' is NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            mdp.set_outcomes("s", "a", outcomes)
    with pytest.raises(TypeError, match="expected .probability, next_state, reward, terminated"):
        mdp.set_outcomes("s", "a", [(1.0, "t")])
    with pytest.raises(TypeError, match="cannot be a name"):
        mdp.set_outcomes("s", "a", [(1.0, [], 0.0, False)])
    assert len(mdp) == 0
    with pytest.raises(KeyError, match="state 'x' is not known"):
        mdp.value("x")
    with pytest.raises(TypeError, match="has no table P"):
        backsweep.MDP.from_gymnasium(object(), discount=0.9)
    with pytest.raises(ValueError, match=r"transitions has the shape \(2, 2\)"):
        backsweep.MDP.from_arrays(np.eye(2), [0, 0], discount=0.9)
    with pytest.raises(ValueError, match=r"rewards has the shape \(3,\)"):
        backsweep.MDP.from_arrays(np.ones((2, 1, 2)) / 2, [0, 0, 0], discount=0.9)
    with pytest.raises(ValueError, match="probabilities of the outcomes of action 0 in state 1 sum to 0"):
        backsweep.MDP.from_arrays([[[1.0, 0.0]], [[0.0, 0.0]]], [0, 0], discount=0.9)
    with pytest.raises(ValueError, match="discount is 7"):
        backsweep.MDP(7)


def test_a_state_without_actions_is_worth_nothing():
    p = np.zeros((2, 1, 2))
    p[0, 0, 1] = 1
    mdp = backsweep.MDP.from_arrays(p, [-5.0, 0.0], discount=0.9, available=[[True], [False]])
    solution = mdp.solve()
    assert solution.values.tolist() == [-5, 0] and solution.policy == [0, None]
    assert mdp.audit().residual == 0 and repr(mdp) == "<backsweep.MDP: 2 states, discount 0.9>"
