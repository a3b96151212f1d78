"""Box observations as bins."""

import numpy as np
import pytest

import backsweep

gym = pytest.importorskip("gymnasium")


class Line:
    """An environment whose observations are given in advance."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, observations, low=-1.0, high=1.0):
        self.observations = [np.array(o, dtype=np.float32) for o in observations]
        shape = self.observations[0].shape
        self.observation_space = gym.spaces.Box(low, high, shape, np.float32)
        self.at = 0

    def reset(self, *, seed=None, options=None):
        self.at = 0
        return self.observations[0], {"seed": seed}

    def step(self, action):
        self.at += 1
        last = self.at == len(self.observations) - 1
        return self.observations[self.at], 1.0, False, last, {}


def test_uniform_edges_are_evenly_spaced():
    env = backsweep.Discretize(Line([[0.0, 0.0]]), bins=[4, 2])
    assert env.edges == [[-0.5, 0.0, 0.5], [0.0]]
    assert env.n_states == 8
    assert list(env.observation_space.nvec) == [4, 2]


def test_numbers_fall_into_their_bins_whatever_they_are():
    env = backsweep.Discretize(Line([[0.0]]), bins=[[0.0, 1.0]])
    found = [env.state([x]) for x in (-np.inf, -0.1, 0.0, 0.5, 1.0, np.inf)]
    assert found == [(0,), (0,), (1,), (1,), (2,), (2,)]
    assert all(type(part) is int for state in found for part in state)


def test_everything_else_passes_through():
    env = backsweep.Discretize(Line([[-0.6], [0.1], [0.9]]), bins=4)
    assert env.reset(seed=3) == ((0,), {"seed": 3})
    assert env.step(0) == ((2,), 1.0, False, False, {})
    assert env.step(1) == ((3,), 1.0, False, True, {})
    assert env.action_space.n == 2


def test_quantiles_hold_equally_many_observations():
    env = gym.make("CartPole-v1")
    binned = backsweep.Discretize(env, bins=5, method="quantile", samples=5_000, seed=1)
    counts = np.zeros((4, 5))
    binned.action_space.seed(2)
    state, _ = binned.reset(seed=2)
    for _ in range(5_000):
        for i, part in enumerate(state):
            counts[i, part] += 1
        state, _, terminated, truncated, _ = binned.step(binned.action_space.sample())
        if terminated or truncated:
            state, _ = binned.reset()
    assert (np.abs(counts / 5_000 - 0.2) < 0.05).all(), counts
    again = backsweep.Discretize(gym.make("CartPole-v1"), bins=5, method="quantile", samples=5_000, seed=1)
    assert again.edges == binned.edges


@pytest.mark.parametrize(
    "bins, options, error, words",
    [
        (0, {}, ValueError, "bins[0] is 0; expected 1 or more"),
        ([2], {}, ValueError, "bins has 1 entries; expected 2"),
        ([[1.0, 0.0], 2], {}, ValueError, "each larger than the one before"),
        ([[float("nan")], 2], {}, ValueError, "expected finite edges"),
        (["x", 2], {}, TypeError, "a number of bins or a list of edges"),
        (None, {}, TypeError, "expected a whole number or a list"),
        (2, {"method": "best"}, ValueError, "expected 'uniform' or 'quantile'"),
        (2, {"low": [0.0]}, ValueError, "low has 1 numbers; expected 2"),
        (2, {"low": [0.0, 0.0], "high": [1.0, np.inf]}, ValueError, "dimension 1"),
    ],
)
def test_bad_bins_are_refused(bins, options, error, words):
    with pytest.raises(error) as raised:
        backsweep.Discretize(Line([[0.0, 0.0]]), bins=bins, **options)
    assert words in str(raised.value)


def test_other_observations_are_refused():
    with pytest.raises(TypeError, match="expected a Box of numbers"):
        backsweep.Discretize(gym.make("FrozenLake-v1"))
    env = backsweep.Discretize(Line([[0.0]]), bins=2)
    with pytest.raises(ValueError, match="found NaN"):
        env.state([float("nan")])
    with pytest.raises(ValueError, match="has 2 numbers; expected 1"):
        env.state([0.0, 0.0])
