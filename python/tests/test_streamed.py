"""Models on disk: the same values as in memory, written without holding the model, refused with a message."""

import re

import numpy as np
import pytest

import backsweep

WIDTH = 40


def moves(states, action):
    """A walk on a grid that succeeds with 0.8; the last cell ends the episode with 1."""
    step = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])[action]
    ahead = np.clip(states + step, 0, WIDTH - 1)
    ended = (states == WIDTH - 1).all(axis=1)
    next_states = np.stack([ahead, states], axis=1)
    p = np.tile([0.8, 0.2], (len(states), 1))
    rewards = np.where(ended[:, None], 1.0, -0.01 * (1 + states[:, :1] % 3)) * np.ones((1, 2))
    return p, next_states, rewards, np.repeat(ended[:, None], 2, axis=1)


def function(**more):
    return dict(start=np.array([[0, 0]]), actions=4, outcomes=moves, discount=0.99, **more)


@pytest.fixture
def both(tmp_path):
    in_memory = backsweep.MDP.from_function(**function(vectorized=True))
    return in_memory, backsweep.StreamedMDP.from_function(tmp_path / "grid.umb", **function())


def test_the_same_values_as_in_memory(both):
    in_memory, streamed = both
    assert streamed.n_states == WIDTH * WIDTH and streamed.initial == [0]
    solution = streamed.solve(1e-9)
    expected = in_memory.solve(1e-9)
    assert solution.converged and (solution.upper - solution.lower).max() <= 2e-9
    known = dict(zip(expected.states, expected.values))
    for state, lower, upper in zip(streamed.states, solution.lower, solution.upper):
        assert lower - 2e-9 <= known[state] <= upper + 2e-9
    assert set(solution.policy) <= {0, 1, 2, 3}


def test_small_blocks_give_the_same_intervals(both, tmp_path):
    small = backsweep.StreamedMDP(tmp_path / "grid.umb", discount=0.99, arcs_per_block=100)
    solution, whole = small.solve(1e-8), both[1].solve(1e-8)
    blocks = [int(re.search(r"over (\d+) blocks", s.explanation[0])[1]) for s in (solution, whole)]
    assert solution.converged and blocks[0] > 10 and blocks[1] == 1
    assert (solution.lower <= whole.upper).all() and (whole.lower <= solution.upper).all()


def test_other_readers_read_the_file(both, tmp_path):
    mdp = backsweep.MDP.read(tmp_path / "grid.umb", discount=0.99)
    assert np.allclose(mdp.solve(1e-9).values[: WIDTH * WIDTH], both[1].solve(1e-9).values, atol=2e-9)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_model_that_was_written_in_memory(tmp_path, both):
    both[0].write(tmp_path / "plain.umb", compress=False)
    streamed = backsweep.StreamedMDP(tmp_path / "plain.umb", discount=0.99)
    assert streamed.solve(1e-9).converged
    both[0].write(tmp_path / "packed.umb")
    with pytest.raises(ValueError, match="compressed"):
        backsweep.StreamedMDP(tmp_path / "packed.umb", discount=0.99)


def test_batches(tmp_path):
    def ring(n=1000, size=100):
        for first in range(0, n, size):
            states = np.arange(first, first + size)
            yield np.ones(size, int), np.zeros(size, int), np.ones(size, int), (states + 1) % n, np.ones(size), states == 0

    path = tmp_path / "ring.umb"
    backsweep.StreamedMDP.write(path, ring(), start=[5])
    mdp = backsweep.StreamedMDP(path, discount=0.9)
    assert mdp.initial == [5]
    values = mdp.solve(1e-10).values
    # Once around the ring of 1000 states counts for nothing, so state 0 is worth 1.
    assert abs(values[0] - 1.0) < 1e-9 and abs(values[999] - 0.9) < 1e-9 and abs(values[998] - 0.81) < 1e-9
    assert [file.name for file in tmp_path.iterdir()] == ["ring.umb"]


def test_what_is_refused(tmp_path):
    path = tmp_path / "none.umb"
    with pytest.raises(ValueError, match="outcomes"):
        backsweep.StreamedMDP.write(path, [([1], [0], [2], [0], [1.0], [0.0])])
    with pytest.raises(ValueError, match="state '7'"):
        backsweep.StreamedMDP.write(path, [([1], [0], [1], [7], [1.0], [0.0])])
    with pytest.raises(ValueError, match=r"action 0 in state \(0, 0\) sum to 1.5"):
        half = dict(function(), outcomes=lambda states, action: (np.full((len(states), 1), 1.5), states[:, None], np.zeros((len(states), 1))))
        backsweep.StreamedMDP.from_function(path, **half)
    with pytest.raises(ValueError, match="discount is 1"):
        backsweep.StreamedMDP(path, discount=1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_time_limit_keeps_what_is_proven(both, tmp_path):
    small = backsweep.StreamedMDP(tmp_path / "grid.umb", discount=0.99, arcs_per_block=10)
    truth = both[1].solve(1e-9).values
    for limit in (0.0, 0.002, 0.01):
        solution = small.solve(1e-12, time_limit=limit)
        assert solution.stopped == "the time limit" and not solution.converged
        assert (solution.lower <= truth + 1e-9).all() and (truth - 1e-9 <= solution.upper).all()
