"""The loop with Gymnasium."""

import io

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import backsweep
from backsweep._progress import Bar


class Corridor(gym.Env):
    """Five rooms in a row; right leads to the end. The observation is made by a function."""

    def __init__(self, observation_space, observe, action_space=None, forward=1):
        self.observation_space, self.observe = observation_space, observe
        self.action_space = action_space or spaces.Discrete(2)
        self.forward = forward

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self.observe(self.place), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        ahead = np.array_equal(np.asarray(action).ravel(), np.asarray(self.forward).ravel())
        self.place = max(0, self.place + (1 if ahead else -1))
        return self.observe(self.place), -1.0, self.place == 5, False, {}


OBSERVATIONS = [
    (spaces.Discrete(6), lambda i: np.int64(i), 3),
    (spaces.Discrete(6, start=-2), lambda i: i - 2, 1),
    (spaces.MultiDiscrete([2, 3]), lambda i: np.array([i // 3, i % 3]), (1, 0)),
    (spaces.MultiBinary(3), lambda i: np.array([i & 1, i >> 1 & 1, i >> 2], np.int8), (1, 1, 0)),
    (spaces.Tuple((spaces.Discrete(2), spaces.Discrete(3))), lambda i: (np.int64(i // 3), i % 3), (1, 0)),
    (
        spaces.Dict({"row": spaces.Discrete(2), "column": spaces.MultiDiscrete([3])}),
        lambda i: {"column": np.array([i % 3]), "row": i // 3},
        None,
    ),
    (spaces.Text(3), lambda i: f"r{i}", "r3"),
    (spaces.Box(0, 10, (1,), np.int64), lambda i: np.array([i]), (3,)),
]


@pytest.mark.parametrize(("space", "observe", "third"), OBSERVATIONS)
def test_kinds_of_observations(space, observe, third):
    env = Corridor(space, observe)
    agent = backsweep.Agent(0.9, epsilon=0.1, seed=0)
    history = backsweep.learn(env, agent, 50)
    assert min(history.lengths) == 5 and all(history.terminated)
    name = backsweep.name_of(observe(3), space)
    if third is not None:
        assert name == third
    assert agent.best_action(name) == 1
    agent.plan(until=1e-12)
    assert agent.value(name) == pytest.approx(-1.9)


@pytest.mark.parametrize(
    ("space", "forward", "name"),
    [
        (spaces.Discrete(3, start=5), 6, 6),
        (spaces.MultiDiscrete([2, 3]), [1, 2], (1, 2)),
        (spaces.MultiBinary(2), [1, 0], (1, 0)),
        (spaces.Tuple((spaces.Discrete(2), spaces.Discrete(2))), (0, 1), (0, 1)),
    ],
)
def test_kinds_of_actions(space, forward, name):
    env = Corridor(spaces.Discrete(6), lambda i: i, space, forward)
    agent = backsweep.Agent(0.9, epsilon=0.2, seed=0)
    backsweep.learn(env, agent, 60)
    assert agent.best_action(3) == name


def test_what_is_refused():
    agent = backsweep.Agent()
    with pytest.raises(TypeError, match="vector environment .*expected a single one"):
        backsweep.evaluate(gym.make_vec("FrozenLake-v1", num_envs=2), agent, 1)
    with pytest.raises(TypeError, match="observations are Box.*round or bin"):
        backsweep.learn(gym.make("MountainCar-v0"), agent, 1)
    with pytest.raises(TypeError, match="actions are Box"):
        backsweep.learn(Corridor(spaces.Discrete(6), int, spaces.Box(0, 1)), agent, 1)
    with pytest.raises(TypeError, match="has no reset; expected a Gymnasium environment"):
        backsweep.learn(3, agent, 1)
    env = Corridor(spaces.Discrete(6), int)
    with pytest.raises(ValueError, match="episodes is -1"):
        backsweep.learn(env, agent, -1)
    with pytest.raises(TypeError, match="cycles is 1.5"):
        backsweep.learn(env, agent, 1, cycles=1.5)
    with pytest.raises(ValueError, match="at most 100000"):
        backsweep.learn(Corridor(spaces.Discrete(6), int, spaces.MultiDiscrete([100] * 9)), agent, 1)
    with pytest.raises(ValueError, match="cannot be changed"):
        backsweep.learn(env, backsweep.Agent(actions=5), 1)
    with pytest.raises(TypeError, match="array of float64"):
        backsweep.name_of(np.array([0.5]))
    assert len(agent) == 0


@pytest.mark.parametrize("flag", ["False", None, 0.5, float("nan")])
def test_environments_with_wrong_flags(flag):
    class Wrong(Corridor):
        def step(self, action):
            observation, reward, _, _, info = super().step(action)
            return observation, reward, False, flag, info

    agent = backsweep.Agent()
    with pytest.raises(TypeError, match="the environment returned truncated = .*; expected True or False"):
        backsweep.learn(Wrong(spaces.Discrete(6), int), agent, 1)


def test_limits_do_not_end():
    """A corridor truncated after three steps: the room where it stopped keeps the value of what lies beyond."""
    env = Corridor(spaces.Discrete(6), lambda i: i)
    beyond = backsweep.Optimism(value=-10.0)  # what is not known is worth this
    agent = backsweep.Agent(0.9, epsilon=0.3, seed=0, optimism=beyond)
    history = backsweep.learn(env, agent, 300, max_steps=3)
    assert set(history.lengths) == {3} and not any(history.terminated)
    agent.plan(until=1e-12)
    assert agent.value(2) == pytest.approx(-10)  # as an end it would be worth -1
    limited = gym.wrappers.TimeLimit(Corridor(spaces.Discrete(6), lambda i: i), 3)
    other = backsweep.Agent(0.9, epsilon=0.3, seed=0, optimism=beyond)
    assert backsweep.learn(limited, other, 300).terminated == history.terminated
    other.plan(until=1e-12)
    assert other.values() == agent.values()


def test_masks():
    """Taxi says in its info which actions can change anything: only those are ever taken or known."""
    env = gym.make("Taxi-v4")
    agent = backsweep.Agent(0.95, epsilon=0.1, seed=0)
    backsweep.learn(env, agent, 30, seed=1)
    masks = {state: np.flatnonzero(env.unwrapped.action_mask(state)).tolist() for state in agent.states}
    assert all(sorted(agent.actions(state)) == masks[state] for state in agent.states)
    assert agent.declared_actions is None


def test_the_history_and_the_bar(capsys):
    env = Corridor(spaces.Discrete(6), lambda i: i)
    agent = backsweep.Agent(0.9, epsilon=0.1, seed=0)
    history = backsweep.learn(env, agent, 20, microseconds=20, progress=True)
    assert len(history) == 20 and history.n_steps == sum(history.lengths) == -sum(history.returns)
    assert all(seconds > 0 for seconds in history.planning_seconds)
    assert history.smoothed(5)[-1] == pytest.approx(np.mean(history.returns[-5:]))
    assert history.smoothed(5)[1] == pytest.approx(np.mean(history.returns[:2]))
    assert "20/20 episodes" in capsys.readouterr().err
    backsweep.learn(env, agent, 2)
    assert capsys.readouterr().err == ""
    stopped = backsweep.learn(env, agent, 100, on_episode=lambda history: len(history) == 7)
    assert len(stopped) == 7
    stream = io.StringIO()
    with Bar(0, True, stream):
        pass
    assert stream.getvalue() == ""
    with pytest.raises(ValueError, match="window is 0"):
        history.smoothed(0)


def test_seeds_repeat_the_run():
    def run(seed):
        agent = backsweep.Agent(0.95, epsilon=0.1, seed=seed)
        history = backsweep.learn(gym.make("FrozenLake-v1"), agent, 50, seed=seed)
        return history.returns, history.lengths, agent.to_bytes()

    assert run(1) == run(1) != run(2)
