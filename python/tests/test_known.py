"""Known problems by the portfolio: files, objectives, changes and questions about them, stopping early."""

import copy
import os
import pickle
import signal
import threading
import time
import warnings

import gymnasium as gym
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import backsweep
from backsweep import MDP, Average, Discounted, Horizon, Reach, Total


def walk():
    """A gambler between broke and rich: bold bets 2, timid bets 1, of 4; wins with probability 0.4."""
    mdp = MDP(1.0)
    for money in (1, 2, 3):
        for name, bet in (("timid", 1), ("bold", min(2, money, 4 - money))):
            mdp.set_outcomes(money, name, [(0.4, money + bet, 1.0, False), (0.6, money - bet, 1.0, False)])
    mdp.set_label("rich", [4])
    mdp.set_label("broke", [0])
    mdp.set_label("middle", [2])
    mdp.set_label("init", [2])
    return mdp


def by(solution):
    return dict(zip(solution.states, solution.values.tolist()))


def test_reach():
    mdp = walk()
    best, worst = mdp.solve(1e-12, Reach("rich")), mdp.solve(1e-12, Reach("rich"), minimize=True)
    # Bold play at 2: win at once with 0.4; timid play wins 0.16 / (0.16 + 0.36).
    assert best.converged and by(best)[2] == pytest.approx(0.4) and by(best)[4] == 1 and by(best)[0] == 0
    assert by(worst)[2] == pytest.approx(0.16 / 0.52)
    assert dict(zip(best.states, best.policy))[2] == "bold" and dict(zip(worst.states, worst.policy))[2] == "timid"
    assert by(mdp.solve(1e-12, Reach("rich", avoid="middle")))[3] == pytest.approx(0.4)
    assert by(mdp.solve(1e-12, Reach("rich", avoid="middle")))[1] == 0
    assert by(mdp.solve(1e-12, Reach("rich", within=1)))[1] == 0
    assert best.objective == "largest probability of reaching 'rich'" and "graph" in best.method or best.explanation
    assert mdp.labels == {"init": [2], "rich": [4], "broke": [0], "middle": [2]}


def test_total_horizon_and_average():
    mdp = walk()
    until = mdp.solve(1e-12, Total(until="rich"))
    assert by(until)[2] == np.inf and until.converged  # it may be missed
    mdp.set_label("over", [0, 4])
    assert by(mdp.solve(1e-12, Total(until="over"), minimize=True))[2] == pytest.approx(1)
    assert by(mdp.solve(1e-12, Total(until="over", reward="steps")))[2] == pytest.approx(2 / 0.52)
    assert mdp.rewards == [""]
    assert by(mdp.solve(1e-12, Horizon(1)))[2] == 1 and by(mdp.solve(1e-12, Horizon(1)))[0] == 0
    assert by(mdp.solve(1e-12, Horizon(2, discount=0.5)))[1] == pytest.approx(1 + 0.5 * 0.4)
    assert by(mdp.solve(1e-12, Discounted(0.5)))[1] == pytest.approx(by(mdp.solve(1e-12, Horizon(200, 0.5)))[1])
    loop = MDP(0.9)
    loop.set_outcomes("a", "on", [(1.0, "b", 3.0, False)])
    loop.set_outcomes("b", "on", [(1.0, "a", 1.0, False)])
    loop.set_outcomes("b", "stay", [(1.0, "b", 1.5, False)])
    answer = loop.solve(1e-9, Average())
    assert answer.values == pytest.approx([2, 2], abs=1e-8) and answer.policy.tolist() == ["on", "on"]
    with pytest.raises(ValueError, match="actions have no separate values"):
        loop.action_values("a")
    assert loop.solve(1e-9, Average(), minimize=True).values == pytest.approx([1.5, 1.5], abs=1e-8)


def test_what_is_refused():
    mdp = walk()
    for objective, message in [
        (Reach("poor"), "no states are labeled 'poor'; expected one of: rich, broke, middle, init"),
        (Total(reward="cost"), "no rewards are called 'cost'"),
        (Discounted(1.5), "discount is 1.5"),
    ]:
        with pytest.raises(ValueError, match=message):
            mdp.solve(objective=objective)
    with pytest.raises(TypeError, match=r"objective is 'reach'; expected backsweep.Discounted"):
        mdp.solve(objective="reach")
    with pytest.raises(ValueError, match="unknown method"):
        mdp.solve(method="magic")
    with pytest.raises(ValueError, match="time_limit is -1"):
        mdp.solve(time_limit=-1)
    with pytest.raises(ValueError, match="threads is 0"):
        mdp.solve(threads=0)
    with pytest.raises(KeyError, match="action 'fold' in state 2 is not known; expected one of .'timid', 'bold'"):
        mdp.set_reward(2, "fold", 1.0)
    with pytest.raises(KeyError, match="state 9 is not known"):
        mdp.remove_action(9, "bold")
    with pytest.raises(ValueError, match="reward of action 'bold' in state 2 is NaN"):
        mdp.set_reward(2, "bold", np.nan)
    with pytest.raises(KeyError, match="state 9 is not known"):
        mdp.what_if({(2, "bold"): [(1.0, 9, 0.0, False)]})
    with pytest.raises(TypeError, match=r"expected \(state, action\)"):
        mdp.what_if({"bold": 1.0})
    with pytest.warns(DeprecationWarning, match="the planner of an MDP is ignored"):
        assert MDP(0.9, planner="small_backups").planner == "portfolio"
    assert mdp.solve(1e-9).converged


FORMATS = ["umb", "drn", "tra", "csv", "backsweep"]


@pytest.mark.parametrize("extension", FORMATS)
def test_written_and_read(tmp_path, extension):
    path = tmp_path / f"walk.{extension}"
    mdp = walk()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a format may leave something out, and says so
        mdp.write(path)
        other = MDP.read(path)
    before = by(mdp.solve(1e-12, Total(), minimize=True))
    after = by(other.solve(1e-12, Total(), minimize=True))
    # Terminal states that other tools do not know get loops, and a table loses states that nothing leads to: none here.
    names = other.states if extension != "csv" else [int(name) for name in other.states]
    assert len(names) == len(other.states) >= 4
    if extension in ("csv", "backsweep"):
        assert {name: after[name] for name in before} == pytest.approx(before, abs=1e-9)
        assert other.actions(2) == ["timid", "bold"]
    else:
        values = other.solve(1e-12, Reach("rich"))
        start = other.labels["init"]
        assert by(values)[start[0]] == pytest.approx(0.4)
        assert sorted(other.labels) == ["broke", "init", "middle", "rich"]


def test_a_file_of_names(tmp_path):
    path = tmp_path / "rooms.csv"
    path.write_text("state,action,next_state,probability,reward\nhall,go,kitchen,0.5,1\nhall,go,hall,0.5,0\nkitchen,cook,hall,1,-8\n")
    mdp = MDP.read(path, discount=0.5)
    assert mdp.states == ["hall", "kitchen"] and mdp.actions("kitchen") == ["cook"] and mdp.discount == 0.5
    solution = mdp.solve()
    hall, kitchen = solution.values
    assert hall == pytest.approx(0.5 * 0.5 * kitchen + 0.5 * 0.5 * hall + 0.5)
    assert MDP.read(path, format="csv", progress=True).discount == 1.0
    # Whole numbers stay whole numbers.
    p = np.zeros((3, 2, 3))
    p[:, 0, 1] = p[:, 1, 2] = 1
    numbers = MDP.from_arrays(p, [1.0, 2.0, 3.0], discount=0.9)
    numbers.write(path)
    assert MDP.read(path).states == [0, 1, 2] and MDP.read(path).actions(0) == [0, 1]


def test_wrong_files(tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text("state,action,next_state,probability\na,go,b,1\na,stop,b,1.5\n")
    with pytest.raises(backsweep.FileError, match=r"wrong.csv:3:10: found 1.5; expected a probability from 0 to 1"):
        MDP.read(path)
    with pytest.raises(FileNotFoundError) as raised:
        MDP.read(tmp_path / "none.umb")
    assert raised.value.filename == str(tmp_path / "none.umb")
    with pytest.raises(backsweep.FileError, match="found extension '.*xyz'; expected one of .umb .drn .tra .csv .backsweep"):
        MDP.read(tmp_path / "none.xyz")
    with pytest.raises(ValueError, match="format is .xml.; expected one of umb, drn, tra, csv, backsweep"):
        MDP.read(path, format="xml")
    with pytest.raises(OSError, match="No such file or directory"):
        walk().write(tmp_path / "nowhere" / "walk.umb")
    odd = MDP(0.9)
    odd.set_outcomes(1, 0, [(1.0, "1", 0.0, False)])
    with pytest.raises(ValueError, match="states 1 and '1' have the same text"):
        odd.write(path)
    drn = tmp_path / "wrong.drn"
    drn.write_text("@type: MDP\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0 init\n\taction 0\n\t\t7 : 1\n")
    with pytest.raises(backsweep.FileError, match=r"wrong.drn:13:\d+: found '7'; expected"):
        MDP.read(drn)


def test_notes_are_warnings(tmp_path):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        walk().write(tmp_path / "walk.drn")
    texts = [str(note.message) for note in notes]
    assert any("the names of states were left out: DRN has no place for them" in text for text in texts), texts
    assert any("2 states without choices were given a self-loop without reward" in text for text in texts), texts


# ---- changes


def rows_of(mdp):
    """The rows of an MDP as {(state, action): (outcomes, reward)}."""
    model = mdp.model
    p = model.probabilities
    return {
        (s, a): [(q, model.states[t], model.mean_rewards[i], False) for t, q in zip(p[[i]].indices, p[[i]].data)]
        + ([(end, None, model.mean_rewards[i], True)] if (end := model.end_probabilities[i]) > 1e-12 else [])
        for i, (s, a) in enumerate(model.rows)
    }


def fresh(mdp, discount):
    """The same problem, built from its rows."""
    other = MDP(discount)
    for state in mdp.states:
        # The order of states is kept by mentioning each.
        other.set_outcomes(state, "for now", [(1.0, state, 0.0, True)])
    for (state, action), outcomes in rows_of(mdp).items():
        other.set_outcomes(state, action, outcomes)
    for state in mdp.states:
        other.remove_action(state, "for now")
    return other


def random_outcomes(rng, states):
    k = int(rng.integers(1, 4))
    p = rng.random(k)
    p = p / p.sum() if rng.random() < 0.7 else p / (p.sum() + 0.3)
    targets = rng.choice(len(states), size=k, replace=False)
    outcomes = [(float(q), states[t], float(rng.normal()), False) for q, t in zip(p, targets)]
    left = 1 - sum(q for q, *_ in outcomes)
    return outcomes + ([(left, None, 2.0, True)] if left > 1e-12 else [])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("minimize", [False, True])
def test_a_chain_of_changes(seed, minimize):
    """After each of many changes the repaired answer agrees with that of a fresh problem."""
    rng = np.random.default_rng(seed)
    discount, tolerance = [(0.9, 1e-8), (0.99, 1e-8), (0.5, 1e-9), (0.999, 1e-5)][seed]
    states = [f"s{i}" for i in range(30)]
    mdp = MDP(discount)
    for state in states:
        for action in range(int(rng.integers(1, 4))):
            mdp.set_outcomes(state, action, random_outcomes(rng, states))
    mdp.solve(tolerance, minimize=minimize)
    repaired = 0
    for step in range(60):
        kind, state = rng.integers(5), states[rng.integers(30)]
        actions = mdp.actions(state)
        if kind == 0 and actions:
            mdp.remove_action(state, actions[rng.integers(len(actions))])
        elif kind == 1 and actions:
            mdp.set_reward(state, actions[rng.integers(len(actions))], float(rng.normal()))
        elif kind == 2:
            mdp.set_outcomes(state, f"new {step}", random_outcomes(rng, states))
        elif actions:
            mdp.set_outcomes(state, actions[rng.integers(len(actions))], random_outcomes(rng, states))
        if step == 40:
            mdp.set_outcomes("later", "on", [(1.0, states[0], 1.0, False)])  # a state that was not there
            states.append("later")
        answer = mdp.solve(tolerance, minimize=minimize)
        repaired += answer.repaired
        assert answer.converged and answer.error_bound <= tolerance
        # Reading the model sorts its rows, after which a repair starts differently: both ways are tried.
        other = fresh(mdp if step % 7 == 0 else copy.copy(mdp), discount).solve(tolerance, minimize=minimize)
        assert other.states == answer.states and other.converged
        assert np.abs(answer.values - other.values).max() <= 2 * tolerance, step
        for state, action in zip(answer.states, answer.policy):
            assert (action is None) == (mdp.actions(state) == []) and (action is None or action in mdp.actions(state))
    # In so small a model many changes reach every state, and those are solved again.
    assert repaired > 20


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_if_is_the_change_made(seed):
    rng = np.random.default_rng(seed)
    discount = float(rng.choice([0.5, 0.9, 1.0]))
    states = list(range(int(rng.integers(1, 12)) + 3))
    mdp = MDP(discount)
    for state in states:
        for action in ("a", "b")[: int(rng.integers(1, 3))]:
            # Something always ends, so that values without discount are finite.
            outcomes = random_outcomes(rng, states)
            mdp.set_outcomes(state, action, [(0.9 * p, t, r, e) for p, t, r, e in outcomes] + [(0.1, None, 0.0, True)])
    before = mdp.solve(1e-9)
    changes = {}
    for _ in range(int(rng.integers(1, 4))):
        state = states[rng.integers(len(states))]
        change = [None, float(rng.normal()), random_outcomes(rng, states)[:-1] + [(0.0, None, 0.0, True)]][rng.integers(3)]
        if isinstance(change, list):
            change = [(0.5, states[0], 3.0, False), (0.5, None, 1.0, True)]
        changes[state, "a" if change is None or isinstance(change, float) else str(rng.choice(["a", "new"]))] = change
    answer = mdp.what_if(changes)
    # Nothing is kept.
    assert np.array_equal(mdp.solve(1e-9).values, before.values) and mdp.policy() == dict(
        (s, a) for s, a in zip(before.states, before.policy) if a is not None
    )
    assert answer.converged and np.abs(answer.before - before.values).max() <= 2e-9
    changed = copy.copy(mdp)
    for (state, action), change in changes.items():
        if change is None:
            changed.remove_action(state, action)
        elif isinstance(change, float):
            changed.set_reward(state, action, change)
        else:
            changed.set_outcomes(state, action, change)
    after = changed.solve(1e-9)
    assert np.abs(answer.after - after.values).max() <= 2e-9
    for state, (old, new) in answer.policy_changes.items():
        assert old != new and (new is None) == (changed.actions(state) == []) and (new is None or new in changed.actions(state))


def test_a_tolerance_that_rounding_keeps_from_repairs():
    """The bound of a repair counts more rounding than that of a fresh solve: what it cannot reach is solved from scratch."""
    rng = np.random.default_rng(0)
    mdp = MDP(0.9999)
    for state in range(20):
        mdp.set_outcomes(state, "on", random_outcomes(rng, range(20)))
    tight = mdp.solve(1e-9)
    mdp.set_reward(3, "on", 2.0)
    again = mdp.solve(1e-9)
    assert tight.converged and again.converged and not again.repaired
    assert mdp.what_if({(3, "on"): 1.0}).converged


def test_what_if_in_words():
    mdp = MDP(0.9)
    mdp.set_outcomes("dry", "wait", [(0.9, "dry", 1.0, False), (0.1, "wet", 0.0, False)])
    mdp.set_outcomes("wet", "mop", [(1.0, "dry", -2.0, False)])
    answer = mdp.what_if({("wet", "mop"): -1.0, ("wet", "leave"): [(1.0, None, 100.0, True)]})
    assert answer.states == ["dry", "wet"] and answer.policy_changes == {"wet": ("mop", "leave")}
    assert answer.after[1] == pytest.approx(100) and answer.before[1] < 10
    assert repr(answer) == "<backsweep.WhatIf: 2 of 2 values and 1 actions change, converged>"
    assert mdp.actions("wet") == ["mop"]
    # Without discount the whole problem is solved again.
    mdp = MDP(1.0)
    mdp.set_outcomes("s", "go", [(1.0, "t", 5.0, True)])
    answer = mdp.what_if({("s", "stay"): [(1.0, "s", 0.0, False)], ("s", "go"): 7.0})
    assert answer.before.tolist() == [5] and answer.after.tolist() == [7] and answer.policy_changes == {}


def test_pickles_and_copies_keep_everything():
    mdp = walk()
    solution = mdp.solve(1e-10)
    for other in (copy.copy(mdp), copy.deepcopy(mdp), pickle.loads(pickle.dumps(mdp))):
        assert other.values() == mdp.values() and other.labels == mdp.labels and other.policy() == mdp.policy()
        assert other.solve(1e-10).iterations == 0
        assert by(other.solve(1e-9, Reach("rich")))[2] == pytest.approx(0.4)
    same = pickle.loads(pickle.dumps(solution))
    assert same.states == solution.states and same.policy.tolist() == solution.policy.tolist()
    assert np.array_equal(same.lower, solution.lower)


def test_a_solution_is_of_its_moment():
    """A solution keeps what was true when it was computed, whatever happens to the problem afterwards."""
    mdp = MDP(0.5)
    mdp.set_outcomes("s", "a", [(1.0, None, 1.0, True)])
    solution = mdp.solve()
    mdp.set_outcomes("s", "b", [(1.0, "t", 9.0, False)])
    mdp.solve()
    assert solution.states == ["s"] and solution.policy.tolist() == ["a"] and solution.values == pytest.approx([1.0])


# ---- arrays


def random_sparse(n, n_actions, k, seed=0):
    rng = np.random.default_rng(seed)
    rows = n * n_actions
    columns = rng.integers(0, n, rows * k)
    data = rng.random(rows * k)
    starts = np.arange(rows + 1) * k
    matrix = scipy.sparse.csr_matrix((data, columns, starts), shape=(rows, n))
    sums = np.repeat(np.add.reduceat(data, starts[:-1]), k)
    matrix.data = matrix.data / sums
    return matrix, rng.random((n, n_actions))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 6), st.integers(0, 1000))
def test_all_ways_of_building_agree(n, n_actions, k, seed):
    """Sparse rows in any order and with repetitions, one matrix or several, 32 or 64 bits, dense, row by row."""
    stacked, rewards = random_sparse(n, n_actions, k, seed)
    before = [stacked.data.copy(), stacked.indices.copy(), stacked.indptr.copy()]
    dense = stacked.toarray().reshape(n, n_actions, n)
    wide = stacked.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    by_action = [scipy.sparse.csr_array(dense[:, a]) for a in range(n_actions)]
    by_hand = MDP(0.9)
    for s in range(n):
        for a in range(n_actions):
            outcomes = [(dense[s, a, t], t, rewards[s, a], False) for t in range(n) if dense[s, a, t]]
            by_hand.set_outcomes(s, a, outcomes, normalize=True)
    models = [
        MDP.from_scipy(stacked, rewards, discount=0.9),
        MDP.from_scipy(wide, rewards, discount=0.9),
        MDP.from_scipy(by_action, rewards, discount=0.9),
        MDP.from_scipy(stacked.tocoo(), rewards, discount=0.9),
        MDP.from_arrays(dense, rewards, discount=0.9),
        MDP.from_arrays(dense, np.broadcast_to(rewards[:, :, None], dense.shape), discount=0.9),
    ]
    expected = by(by_hand.solve(1e-11))
    for mdp in models:
        assert by(mdp.solve(1e-11)) == pytest.approx(expected, abs=3e-11)
    assert all(np.array_equal(a, b) for a, b in zip(before, [stacked.data, stacked.indices, stacked.indptr]))


def test_threads_change_nothing():
    stacked, rewards = random_sparse(30_000, 4, 10)
    answers = [MDP.from_scipy(stacked, rewards, discount=0.99).solve(1e-8, threads=n) for n in (1, 2, 3)]
    assert all(a.values.tobytes() == answers[0].values.tobytes() for a in answers)


def slow():
    """Takes minutes by this method."""
    stacked, rewards = random_sparse(50_000, 4, 10)
    return MDP.from_scipy(stacked, rewards, discount=1 - 1e-9)


def test_the_time_limit_gives_what_was_reached():
    mdp = slow()
    solution = mdp.solve(1e-12, method="in-place", time_limit=0.3)
    assert not solution.converged and solution.stopped == "the time limit" and "the time limit" in repr(solution)
    best = mdp.solve(1.0)
    # Both intervals contain the truth.
    assert (solution.lower <= best.upper).all() and (best.lower <= solution.upper).all()
    assert solution.seconds < 20


def test_ctrl_c_gives_what_was_reached():
    mdp = slow()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT)))
    try:
        pressed.start()
        solution = mdp.solve(1e-12, method="in-place", time_limit=60)
        assert solution.stopped == "Ctrl-C" and not solution.converged and solution.seconds < 50
        assert (solution.lower <= solution.upper).all()
    finally:
        pressed.join()
        signal.signal(signal.SIGINT, before)


def test_other_threads_run_meanwhile():
    mdp, counted, done = slow(), [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    mdp.solve(1e-12, method="in-place", time_limit=0.5)
    done.set()
    thread.join()
    assert counted[0] > 5


def test_taxi_and_lake_are_answered_with_proof():
    for name in ("Taxi-v4", "FrozenLake-v1"):
        solution = MDP.from_gymnasium(gym.make(name), discount=0.99).solve(1e-4)
        assert solution.converged and solution.error_bound <= 1e-4 and solution._repr_html_().startswith("<table>")


def test_an_agent_is_solved_by_the_portfolio_too(tmp_path):
    """What was learned, answered with proof; the agent itself is not changed."""
    agent = backsweep.Agent(0.9, optimism=backsweep.Optimism(5.0, 2), actions=["left", "right"], seed=0)
    rng = np.random.default_rng(0)
    for _ in range(300):
        state, action = f"room {rng.integers(4)}", str(rng.choice(["left", "right"]))
        agent.observe(state, action, float(rng.normal()), f"room {rng.integers(5)}", bool(rng.random() < 0.1))
    agent.observe("hall", "left", 1.0, "room 0")
    before = agent.to_bytes()
    solution = agent.solve(1e-8)
    assert solution.converged and solution.error_bound <= 1e-8 and agent.to_bytes() == before
    agent.save(tmp_path / "agent.backsweep")
    assert np.array_equal(backsweep.MDP.load(tmp_path / "agent.backsweep").solve(1e-8).values, solution.values)
    # Without optimism left, planning to the end gives the same values.
    agent.plan(until=1e-12)
    known = [s for s in agent.states if all(v >= 2 for v in agent.model.visits[agent.model.state_index == agent.states.index(s)])]
    mdp = agent.mdp()
    assert isinstance(mdp, MDP) and mdp.states == agent.states and mdp.actions("hall") == ["left"] and len(known) >= 4
    mdp.set_outcomes("hall", "right", [(1.0, "out", 100.0, True)])
    assert mdp.solve().policy[mdp.states.index("hall")] == "right" and agent.best_action("hall") != "out"
    mdp.set_label("first", ["room 0"])
    assert mdp.solve(objective=Reach("first")).converged
    worst = agent.solve(1e-8, minimize=True, time_limit=60, threads=1)
    assert (worst.values <= solution.values + 2e-8).all()
    with pytest.raises(ValueError, match="no states are labeled"):
        agent.solve(objective=Reach("first"))


@pytest.mark.parametrize("minimize", [False, True])
@pytest.mark.parametrize(
    "objective",
    [Reach("goal"), Reach("goal", avoid="trap"), Reach("goal", within=6), Total(), Total(until="goal"), Horizon(7), Average()],
    ids=str,
)
def test_a_chain_of_changes_without_discount(objective, minimize):
    """Every objective is repaired: after each change the answer, and the one that what_if predicted, agree with that of a fresh problem."""
    rng = np.random.default_rng(3)
    states = [f"s{i}" for i in range(20)]
    mdp = MDP(1.0)
    for state in states:
        for action in range(int(rng.integers(1, 4))):
            mdp.set_outcomes(state, action, random_outcomes(rng, states))

    def label(problem):
        problem.set_label("goal", states[:2])
        problem.set_label("trap", states[2:4])

    def same(a, b):
        return np.isclose(a, b, rtol=0, atol=2e-6, equal_nan=True).all()

    label(mdp)
    mdp.solve(1e-6, objective=objective, minimize=minimize)
    repaired = 0
    for step in range(60):
        state = states[rng.integers(len(states))]
        actions = mdp.actions(state)
        if not actions:
            continue
        action = actions[rng.integers(len(actions))]
        change = [None, float(rng.normal()), random_outcomes(rng, states), random_outcomes(rng, states)][rng.integers(4)]
        if change is None and len(actions) == 1:
            continue
        foretold = mdp.what_if({(state, action): change}, 1e-6, objective=objective, minimize=minimize) if step % 5 == 0 else None
        if change is None:
            mdp.remove_action(state, action)
        elif isinstance(change, float):
            mdp.set_reward(state, action, change)
        else:
            mdp.set_outcomes(state, action, change)
        answer = mdp.solve(1e-6, objective=objective, minimize=minimize)
        repaired += answer.repaired
        other = fresh(copy.copy(mdp), 1.0)
        label(other)
        other = other.solve(1e-6, objective=objective, minimize=minimize)
        assert other.states == answer.states
        assert same(answer.values, other.values), step
        assert foretold is None or same(foretold.after, answer.values), step
    # A number of steps and the long run are solved again; so are other changes that could matter.
    assert repaired > 0 or isinstance(objective, (Horizon, Average)) or (isinstance(objective, Total) and not minimize)


def test_a_label_that_moves_is_not_repaired_with_the_old_one():
    mdp = walk()
    first = mdp.solve(1e-9, objective=Reach("rich"))
    mdp.set_reward(1, "bold", 5.0)
    mdp.solve(1e-9, objective=Reach("rich"))
    mdp.set_label("rich", [2])
    mdp.set_reward(1, "bold", 4.0)
    moved = mdp.solve(1e-9, objective=Reach("rich"))
    assert moved.values[moved.states.index(2)] == 1.0 > first.values[first.states.index(2)]


def test_a_device_proposes_and_the_processor_proves():
    mdp = walk()
    alone = mdp.solve(objective=Discounted(0.9))
    found = mdp.solve(objective=Discounted(0.9), device="auto")
    assert found.explanation == ["cpu: the model is small", *alone.explanation]
    assert np.array_equal(found.values, alone.values)
    # Without a card a line says so; with one, it answers.
    try:
        found = mdp.solve(objective=Discounted(0.9), device="cuda")
    except ValueError as error:
        assert str(error).startswith("device='cuda': ") and "\n" not in str(error)
        assert str(error).endswith("; device='auto' uses the processor instead")
    else:
        assert found.converged and found.explanation[0].startswith("cuda: ")
        assert np.allclose(found.values, alone.values, atol=2e-6)
    with pytest.raises(ValueError, match="the card computes discounted rewards only"):
        mdp.solve(objective=Reach("rich"), device="cuda")
    with pytest.raises(ValueError, match="expected one of cpu, cuda, auto"):
        mdp.solve(objective=Discounted(0.9), device="tpu")
    with pytest.raises(ValueError, match="expected one of method and device"):
        mdp.solve(objective=Discounted(0.9), method="krylov", device="auto")
    assert mdp.solve(objective=Reach("rich")).converged
