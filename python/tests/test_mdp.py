"""Known problems against values of independent solvers."""

import copy
import pickle
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest
import scipy.sparse
from conftest import DATA, reference, table

import backsweep


@dataclass(frozen=True)
class Cell:
    x: int


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
            continue  # rewards of both signs: the reference has none
        mdp = backsweep.MDP.from_gymnasium(env, discount=discount)
        solution = mdp.solve(1e-9)
        assert solution.converged
        assert np.abs(solution.values - values).max() <= 1e-9
        if discount < 1:
            assert np.abs(solution.values - values).max() <= solution.error_bound <= 1e-9
        assert (solution.lower <= solution.values).all() and (solution.values <= solution.upper).all()
        # The policy is optimal: the value of its action is the state's.
        for state in mdp.states:
            of_actions, near = mdp.action_values(state), 2 * solution.error_bound
            assert of_actions[solution.policy[state]] >= max(of_actions.values()) - near
            assert max(of_actions.values()) == pytest.approx(mdp.value(state), abs=near, rel=0)


def test_frozen_lake_without_discount_is_14_17ths():
    mdp = backsweep.MDP.from_gymnasium(gym.make("FrozenLake-v1", map_name="4x4"), discount=1.0)
    assert abs(mdp.solve(1e-10).values[0] - 14 / 17) < 1e-11


def test_values_without_discount():
    """Driving on costs something, so that the best policy of Taxi ends: its values are those of a discount near 1."""
    env = gym.make("Taxi-v4")
    mdp = backsweep.MDP.from_gymnasium(env, discount=1.0)
    solution = mdp.solve()
    near = backsweep.MDP.from_gymnasium(env, discount=1 - 1e-9).solve(1e-7)
    assert solution.converged and np.abs(solution.values - near.values).max() < 1e-5
    with pytest.raises(ValueError, match="tolerance is 0"):
        mdp.solve(0.0)
    mdp = backsweep.MDP(1.0)
    mdp.set_outcomes("s", "go", [(1.0, "s", 1.0, False)])
    solution = mdp.solve()
    assert solution.converged and solution.lower.tolist() == solution.upper.tolist() == [np.inf]


def built(name, discount, rename=lambda state: state):
    mdp = backsweep.MDP(discount)
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
    assert again.repaired and not first.repaired and again.iterations <= 2
    assert mdp.best_action(0) == "jump" and mdp.action_values(1) == {"on": mdp.value(1)}
    for other in (copy.copy(mdp), copy.deepcopy(mdp), pickle.loads(pickle.dumps(mdp))):
        assert other.solve(1e-9).iterations == 0 and other.value(0) == mdp.value(0)
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
        ([(0.5, "t", 0.0, False)], r"probabilities of the outcomes of action 'a' in state 's' sum to 0.5; expected 1"),
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
    assert solution.values.tolist() == [-5, 0] and solution.policy.tolist() == [0, None]
    assert mdp.audit().residual == 0 and repr(mdp) == "<backsweep.MDP: 2 states, discount 0.9>"


def scrambled():
    """A sparse problem in a form that is legal but not canonical: indices unsorted, entries that must be summed."""
    data, indices, starts = np.array([0.25, 0.5, 0.25, 1.0]), np.array([1, 0, 1, 1]), np.array([0, 3, 4])
    return scipy.sparse.csr_matrix((data, indices, starts), shape=(2, 2))


@pytest.mark.parametrize("form", ["one", "list", "rewards"])
def test_the_callers_matrices_are_not_changed(form):
    matrix = scrambled()
    rewards = scipy.sparse.csr_matrix((np.array([1.0, 1.0, 2.0]), np.array([1, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    before = [part.copy() for m in (matrix, rewards) for part in (m.data, m.indices, m.indptr)]
    mdp = backsweep.MDP.from_scipy(
        [matrix] if form == "list" else matrix, [rewards] if form == "rewards" else [1.0, 0.0], discount=0.5
    )
    assert mdp.model.probabilities.toarray().tolist() == [[0.5, 0.5], [0, 1]]
    mdp.solve()
    # Half of 1 for staying, half of 1 + 2 (entries that must be summed), or 1 by state.
    assert mdp.value(0) == pytest.approx((2.0 if form == "rewards" else 1.0) / 0.75)
    after = [part for m in (matrix, rewards) for part in (m.data, m.indices, m.indptr)]
    assert all(np.array_equal(a, b) for a, b in zip(before, after))


@pytest.mark.parametrize("index", [-1, 2, 1000])
def test_indices_out_of_range_are_refused(index):
    matrix = scipy.sparse.csr_array((np.array([1.0, 1.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    matrix.indices[1] = index
    for form in (matrix, [matrix]):
        with pytest.raises(ValueError, match=f"transitions has the column index {index}; expected 0 to 1"):
            backsweep.MDP.from_scipy(form, [0.0, 0.0], discount=0.5)


def test_negative_numbers_are_names_like_any_other():
    class World:
        P = {0: {0: [(1.0, -1, 1.0, False)]}, -1: {0: [(1.0, 0, 5.0, True)]}}

    mdp = backsweep.MDP.from_gymnasium(World(), discount=0.5)
    mdp.solve()
    assert mdp.value(0) == 3.5 and mdp.value(-1) == 5.0

    class Words:
        P = {0: {"go": [(1.0, 1, 1.0, False)]}, 1: {"stop": [(1.0, None, 5.0, True)]}}

    mdp = backsweep.MDP.from_gymnasium(Words(), discount=0.5)
    assert mdp.solve().values.tolist() == [3.5, 5.0] and mdp.policy() == {0: "go", 1: "stop"}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_models_in_single_precision(dtype):
    """Rows that sum to 1 as well as their type allows are accepted; others are refused."""
    rng = np.random.default_rng(0)
    p = rng.random((30, 2, 30))
    p = (p / p.sum(axis=2, keepdims=True)).astype(dtype)
    sums = p.astype(float).sum(axis=2)
    assert np.abs(sums - 1).max() > 1e-9  # in double precision it would be refused
    sparse = [scipy.sparse.csr_array(p[:, a].astype(np.float32)) for a in range(2)]
    models = [backsweep.MDP.from_arrays(p, np.ones(30), discount=0.5)]
    if dtype is np.float32:
        models.append(backsweep.MDP.from_scipy(sparse, np.ones(30), discount=0.5))
    for mdp in models:
        assert mdp.solve().values == pytest.approx(np.full(30, 2.0), abs=1e-9)
    with pytest.raises(ValueError, match="sum to .*; expected 1"):
        backsweep.MDP.from_arrays(p.astype(np.float64), np.ones(30), discount=0.5)
    wrong = p.copy()
    wrong[3, 1] *= dtype(0.9)
    with pytest.raises(ValueError, match="action 1 in state 3 sum to 0.(9|89)"):
        backsweep.MDP.from_arrays(wrong, np.ones(30), discount=0.5)

    class World:
        P = {0: {0: [(dtype(p[0, 0, t]), t, 1.0, False) for t in range(30)]}, **{s: {0: [(1.0, s, 1.0, False)]} for s in range(1, 30)}}

    mixed = World.P
    if dtype is np.float32:
        mixed = {s: {0: [(dtype(q), t, r, end) for q, t, r, end in rows[0]]} for s, rows in World.P.items()}
    World.P = mixed
    if dtype is np.float32:
        assert backsweep.MDP.from_gymnasium(World(), discount=0.5).solve().values == pytest.approx(np.full(30, 2.0))


def test_normalize():
    p = np.array([[[2.0, 2.0]], [[0.0, 0.5]]])
    mdp = backsweep.MDP.from_arrays(p, [1.0, 0.0], discount=0.5, normalize=True, end=[[0.0], [0.5]])
    assert mdp.model.probabilities.toarray().tolist() == [[0.5, 0.5], [0, 0.5]]
    mdp = backsweep.MDP.from_scipy([scipy.sparse.csr_array(p[:, 0])], [1.0, 0.0], discount=0.5, normalize=True)
    assert mdp.model.probabilities.toarray().tolist() == [[0.5, 0.5], [0, 1]]
    mdp.set_outcomes(0, 0, [(3, 0, 1.0, False), (1, 1, 1.0, False)], normalize=True)
    assert mdp.model.probabilities.toarray()[0].tolist() == [0.75, 0.25]
    for wrong in ([(0.0, 0, 1.0, False)], [(-1.0, 0, 1.0, False), (2.0, 1, 1.0, False)], [(np.inf, 0, 1.0, False)], []):
        with pytest.raises(ValueError, match="cannot be normalized|expected a number from 0 to 1"):
            mdp.set_outcomes(0, 0, wrong, normalize=True)

    class World:
        P = {0: {0: [(1, 0, 1.0, False), (3, 1, 1.0, True)]}}

    assert backsweep.MDP.from_gymnasium(World(), discount=0.5, normalize=True).model.end_probabilities.tolist() == [0.75]


@pytest.mark.parametrize("state", [2**31 - 1, 2**31, 2**40])
def test_a_huge_number_among_few_is_refused(state):
    class World:
        P = {0: {0: [(1.0, state, 0.0, False)]}}

    with pytest.raises(ValueError, match=f"the table has 2 states with numbers up to {state}; expected numbers without large gaps"):
        backsweep.MDP.from_gymnasium(World(), discount=0.5)
    mdp = backsweep.MDP(0.5)
    mdp.set_outcomes(0, 0, World.P[0][0])
    assert len(mdp) == 2


def test_models_too_large_for_memory_are_refused_before_they_are_built():
    """25 million states of four actions would need some 14 GB; a billion of states would need more than any machine has."""
    from backsweep._backsweep import KnownModel

    none, some = np.zeros(0, np.int64), np.zeros(0)
    with pytest.raises(MemoryError, match=r"the model would take about \d+ [GT]B of memory \(4000000000 states"):
        KnownModel.from_columns(0.9, 4_000_000_000, none, none, [], np.zeros(1, np.int64), none, some, some, 0.0, False)


def test_an_mdp_is_saved_and_loaded(tmp_path):
    path = tmp_path / "lake.backsweep"
    mdp = backsweep.MDP.from_gymnasium(gym.make("FrozenLake-v1"), discount=0.99)
    solution = mdp.solve()
    mdp.save(path)
    for other in (backsweep.MDP.load(path), backsweep.MDP.from_bytes(mdp.to_bytes())):
        assert isinstance(other, backsweep.MDP) and other.values() == mdp.values() and other.policy() == mdp.policy()
        assert other.solve().iterations == 0
    assert mdp.values() == dict(zip(solution.states, solution.values.tolist()))
    assert mdp.policy() == dict(zip(solution.states, solution.policy)) and mdp.actions(0) == [0, 1, 2, 3]
    named = backsweep.MDP(0.9)
    named.set_outcomes(Cell(1), "go", [(1.0, Cell(2), 1.0, False)])
    with pytest.raises(TypeError, match="encode="):
        named.save(path)
    named.save(path, encode=lambda cell: cell.x)
    assert backsweep.MDP.load(path, decode=Cell).states == [Cell(1), Cell(2)]
    agent = backsweep.Agent(0.5)
    agent.observe("a", 0, 1.0, "a")
    agent.save(path)
    assert backsweep.MDP.load(path).solve().values == pytest.approx([2.0])


def test_a_next_state_that_is_not_in_the_table_is_refused():
    """Such as -1, which stands for the end in some tables: only an outcome that is terminated may lead there."""

    class World:
        P = {0: {0: [(0.5, 0, 1.0, False), (0.5, -1, 1.0, False)]}, 1: {0: [(1.0, 0, 0.0, False)]}}

    with pytest.raises(ValueError, match="action 0 in state 0 leads to -1, which is not in the table; expected one of its states"):
        backsweep.MDP.from_gymnasium(World(), discount=0.5)
    World.P[0][0] = [(0.5, 0, 1.0, False), (0.5, -1, 1.0, True), (0.0, 7, 0.0, False)]
    assert backsweep.MDP.from_gymnasium(World(), discount=0.5).solve(1e-12).values[0] == pytest.approx(4 / 3)
