"""Following an agent while it learns: steps, callbacks, evaluations, writers, vector environments, predictions, comparisons."""

import copy
import csv
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import backsweep


class Endless(gym.Env):
    """Two states, no end: staying in state 1 pays."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)
    reward_range = (0.0, 1.0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = 0
        return self.state, {}

    def step(self, action):
        self.state = int(action)
        return self.state, float(self.state), False, False, {}


def lake(**options):
    return gym.make("FrozenLake-v1", **options)


def test_a_budget_of_steps_ends_where_episodes_never_do():
    history = backsweep.learn(Endless(), steps=500, seed=0)
    assert (len(history), history.n_steps, history.unfinished_steps) == (0, 500, 500)
    assert history.agent.best_action(0) == 1
    history = backsweep.learn(lake(), steps=700, seed=0)
    assert history.n_steps == 700 == sum(history.lengths) + history.unfinished_steps
    assert len(backsweep.learn(lake(), episodes=5, steps=10_000, seed=0)) == 5
    assert backsweep.learn(lake(), steps=0).n_steps == 0


def test_the_callback_sees_every_step_and_can_stop():
    seen = []
    history = backsweep.learn(lake(), steps=300, seed=1, callback=seen.append)
    assert [step.n_steps for step in seen] == list(range(1, 301))
    assert sum(step.reward for step in seen) == sum(history.returns)
    assert sum(step.terminated or step.truncated for step in seen) == len(history)
    for before, after in zip(seen, seen[1:]):
        assert after.state == (0 if before.terminated or before.truncated else before.next_state)
    stopped = backsweep.learn(lake(), steps=300, seed=1, callback=lambda step: step.n_steps == 42)
    assert stopped.n_steps == 42 and seen[41].history is history


def test_evaluations_change_nothing_and_the_best_is_kept():
    plain = backsweep.learn(lake(), steps=4000, seed=3)
    history = backsweep.learn(lake(), steps=4000, seed=3, evaluate_every=500, evaluate_episodes=10)
    assert history.returns == plain.returns and history.agent.values() == plain.agent.values()
    assert [point.steps for point in history.evaluations] == list(range(500, 4001, 500))
    best = max(point.mean for point in history.evaluations)
    first = next(point for point in history.evaluations if point.mean == best)
    again = backsweep.learn(lake(), steps=first.steps, seed=3)
    assert history.best_agent.policy() == again.agent.policy()
    assert plain.best_agent is plain.agent and plain.evaluations == []

    class Fading(Endless):
        """Each episode pays less than the one before, so the first evaluation is the best."""

        n_resets = 0

        def reset(self, *, seed=None, options=None):
            self.n_resets += 1
            return super().reset(seed=seed)

        def step(self, action):
            return 1, 1 / self.n_resets, True, False, {}

    fading = backsweep.learn(Endless(), steps=40, seed=0, evaluate_every=10, evaluate_episodes=2, evaluate_env=Fading())
    assert fading.best_agent.values() == backsweep.learn(Endless(), steps=10, seed=0).agent.values() != fading.agent.values()
    stopped = backsweep.learn(lake(), steps=100_000, seed=3, evaluate_every=500, target=0.5)
    assert stopped.evaluations[-1].mean >= 0.5 > max((p.mean for p in stopped.evaluations[:-1]), default=-1)
    assert stopped.n_steps == stopped.evaluations[-1].steps
    with pytest.raises(TypeError, match="target and evaluate_env need evaluate_every"):
        backsweep.learn(lake(), steps=10, target=0.5)
    frame, points = history.to_pandas(), history.to_pandas(evaluations=True)
    assert frame["return"].tolist() == history.returns and frame["steps"].iloc[-1] == sum(history.lengths)
    assert points["mean_return"].tolist() == [point.mean for point in history.evaluations]
    labels = [text.get_text() for text in history.plot().get_legend().get_texts()]
    assert "recommended policy" in labels


def test_writers_get_everything(tmp_path):
    path = tmp_path / "log.csv"
    history = backsweep.learn(lake(), steps=2000, seed=0, evaluate_every=1000, writer=backsweep.CsvWriter(path))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    episodes = [row for row in rows if row["return"]]
    assert [float(row["return"]) for row in episodes] == history.returns
    assert [int(row["steps"]) for row in episodes] == np.cumsum(history.lengths).tolist()
    assert [float(row["evaluation"]) for row in rows if row["evaluation"]] == [point.mean for point in history.evaluations]

    class Counts(backsweep.Writer):
        n = closed = 0

        def episode(self, history):
            self.n += 1

        def close(self):
            self.closed += 1

    mine = [Counts(), Counts()]
    history = backsweep.learn(lake(), None, 7, seed=0, writer=mine)
    assert [(one.n, one.closed) for one in mine] == [(7, 1), (7, 1)] and len(history) == 7


def test_tensorboard(tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    history = backsweep.learn(lake(), steps=1500, seed=0, evaluate_every=500, writer=backsweep.TensorBoardWriter(tmp_path))
    found = events.EventAccumulator(str(tmp_path), {"tensors": 0}).Reload()
    returns = [event.tensor_proto.float_val[0] for event in found.Tensors("rollout/return")]
    assert returns == history.returns
    assert [event.step for event in found.Tensors("eval/mean_return")] == [500, 1000, 1500]


MODES = list(gym.vector.AutoresetMode)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v4"])
def test_a_vector_environment_is_one_stream_of_its_steps(name, mode):
    steps = []
    envs = gym.make_vec(name, num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode})
    agent = backsweep.Agent(0.95, epsilon=0.2, seed=0)
    history = backsweep.learn(envs, agent, steps=3000, seed=5, callback=steps.append)
    assert history.n_steps == len(steps) == 3000 and len(history) > 3
    # Each stream is an episode after the other, as in a single environment.
    table = gym.make(name).unwrapped.P
    for step in steps:
        outcomes = {(o[1], float(o[2]), bool(o[3])) for o in table[step.state][step.action]}
        assert (step.next_state, step.reward, step.terminated) in outcomes
    other = backsweep.Agent(0.95, seed=0)
    if agent.declared_actions:
        other.declare_actions(agent.declared_actions)
    for step in steps:
        for state in (step.state, step.next_state):
            if not agent.declared_actions and state in agent and not (state == step.next_state and step.terminated):
                other.add_state(state, agent.actions(state))
        other.observe(step.state, step.action, step.reward, step.next_state, step.terminated, step.truncated)
        other.plan(cycles=1)
    assert {s: agent.model.counts[i].sum() for i, s in enumerate(agent.states)} is not None
    known = set(other.states)
    assert set(agent.states) >= known
    agent.plan(until=1e-13)
    other.plan(until=1e-13)
    assert all(agent.value(state) == pytest.approx(other.value(state), abs=1e-9) for state in known)


def test_vector_environments_and_what_they_do_not_take():
    envs = gym.make_vec("FrozenLake-v1", num_envs=2, vectorization_mode="sync")
    with pytest.raises(TypeError, match="max_steps is given with a vector environment"):
        backsweep.learn(envs, steps=10, max_steps=5)
    history = backsweep.learn(envs, steps=2000, seed=0, evaluate_every=1000)
    assert len(history.evaluations) == 2
    many = gym.make_vec("FrozenLake-v1", num_envs=2, vectorization_mode="async")
    with pytest.raises(TypeError, match="pass a single one as evaluate_env="):
        backsweep.learn(many, steps=10, reward_range=(0, 1), evaluate_every=5)
    many.close()


def test_learning_goes_on_as_the_agent_was_made():
    """With the cycles of the agent that learn builds, however it was kept."""
    first = backsweep.learn(lake(), steps=500, seed=0).agent
    for same in (first, copy.copy(first), pickle.loads(pickle.dumps(first)), backsweep.Agent.from_bytes(first.to_bytes())):
        again, other, one = copy.copy(same), copy.copy(same), copy.copy(same)
        backsweep.learn(lake(), again, steps=200, seed=1)
        backsweep.learn(lake(), other, steps=200, seed=1, cycles=20)
        backsweep.learn(lake(), one, steps=200, seed=1, cycles=1)
        # Whole agents are compared: their counts of cycles begin again when the values that they act on are rebuilt.
        assert again.to_bytes() == other.to_bytes() != one.to_bytes()


def test_predictions_are_those_of_the_recommended_policy():
    agent = backsweep.learn(lake(), steps=3000, seed=0).agent
    for state in agent.states:
        if agent.best_action(state) is not None:
            assert agent.predict(np.int64(state)) == (agent.best_action(state), None)
    actions, _ = agent.predict(np.array([0, 4]))
    assert actions.tolist() == [agent.best_action(0), agent.best_action(4)]
    assert agent.predict(0, action_mask=[0, 1, 0, 0])[0] == 1
    assert agent.predict(12345)[0] == 0, "an unknown state has no recommendation: the first action"
    assert 12345 not in agent
    fresh = backsweep.Agent(actions=["go", "stay"])
    assert fresh.predict("anywhere") == ("go", None)
    with pytest.raises(ValueError, match="no action is known in state 'here'"):
        backsweep.Agent().predict("here")


def test_comparisons():
    agents = {"default": None, "counts": backsweep.CountBonus(), "own": lambda seed: backsweep.Agent(0.95, epsilon=0.1, seed=seed)}
    found = backsweep.compare(agents, ["FrozenLake-v1", "CliffWalking-v1"], seeds=2, steps=600, evaluate_episodes=5)
    assert len(found.runs) == 12 and {run.agent for run in found.runs} == set(agents)
    frame = found.to_pandas()
    assert len(frame) == 12 and (frame["steps"] == 600).all()
    assert len(repr(found).splitlines()) == 7 and "counts" in found._repr_html_()
    axes = found.plot()
    assert len(axes) == 2 and len(axes[0].lines) == 3
    same = backsweep.compare({"default": None}, "FrozenLake-v1", [1], steps=600, evaluate_episodes=5)
    assert same.runs[0].history.returns == backsweep.learn(lake(), steps=600, seed=1).returns
    with pytest.raises(ValueError, match="expected different ones"):
        backsweep.compare([None, None], "FrozenLake-v1", 1, steps=1)
    with pytest.raises(TypeError, match="expected a way to explore"):
        backsweep.compare([3], "FrozenLake-v1", 1, steps=1)


def test_rewards_are_not_read_past_a_wrapper_that_changes_them():
    env = gym.wrappers.TransformReward(lake(), lambda r: 10 * r)
    for wrapped in (env, gym.wrappers.TimeLimit(env, 50), backsweep.Discretize(gym.wrappers.NormalizeReward(gym.make("CartPole-v1")), 3, low=[-1] * 4, high=[1] * 4)):
        with pytest.raises(ValueError, match="may change rewards; give it"):
            backsweep.learn(wrapped, steps=1)

    class Own(gym.Wrapper):
        def step(self, action):
            observation, reward, *rest = self.env.step(action)
            return observation, reward - 1, *rest

    with pytest.raises(ValueError, match="the wrapper Own may change rewards"):
        backsweep.learn(Own(lake()), steps=1)
    history = backsweep.learn(env, steps=3000, reward_range=(0, 10), seed=0)
    assert history.agent.reward_range == (0.0, 10.0)
    upright = gym.make("CartPole-v1", sutton_barto_reward=True)
    bins = backsweep.Discretize(upright, 3, low=[-1] * 4, high=[1] * 4)
    assert backsweep.learn(bins, steps=100, seed=0).agent.reward_range == (-1.0, 0.0)
    recorded = gym.wrappers.RecordEpisodeStatistics(gym.wrappers.TimeLimit(lake(), 20))
    assert backsweep.learn(recorded, steps=100, seed=0).agent.reward_range == (0.0, 1.0)


def test_a_reward_outside_the_range_is_refused_and_changes_nothing():
    agent = backsweep.Agent(0.9, explore=backsweep.CountBonus(), reward_range=(0, 1), actions=2, seed=0)
    agent.observe("a", 0, 1.0, "b")
    before = agent.to_bytes()
    for reward in (50.0, -0.1, 1.001):
        with pytest.raises(ValueError, match="outside reward_range .0.0, 1.0.; expected a range that contains every reward"):
            agent.observe("c", 1, reward, "d")
        with pytest.raises(ValueError, match="row 1: reward is .*nothing was learned"):
            agent.observe_many(["a", "c"], [0, 1], [0.5, reward], ["b", "d"])
    assert agent.to_bytes() == before and "c" not in agent
    agent.observe("a", 0, 0.1 + 0.2 + 0.7, "b")  # rounding is not counted
    lower, upper = agent.intervals()["a"]
    assert 0 <= lower <= upper <= 1 / (1 - 0.9)


def test_clear_answers():
    with pytest.raises(ValueError, match="discount is 1.0; expected below 1 for an agent that learn builds"):
        backsweep.learn("FrozenLake-v1", discount=1.0)
    with pytest.raises(TypeError, match="explore is the class CountBonus; expected an object of it"):
        backsweep.Agent(explore=backsweep.CountBonus, reward_range=(0, 1))
    with pytest.raises(TypeError, match="planner is the class SmallBackups"):
        backsweep.Agent(planner=backsweep.SmallBackups)
    with pytest.raises(TypeError, match="optimism is the class Optimism"):
        backsweep.Agent(optimism=backsweep.Optimism)
    with pytest.raises(TypeError, match="forgetting is the class Forgetting"):
        backsweep.Agent(forgetting=backsweep.Forgetting)
    with pytest.raises(TypeError, match="backsweep.Discretize"):
        backsweep.learn("MountainCar-v0", steps=1)

    class Old(Endless):
        def reset(self, *, seed=None, options=None):
            return 0

    class Older(Endless):
        def step(self, action):
            return 0, 0.0, False, {}

    with pytest.raises(TypeError, match=r"env.reset.. returned an object of int; expected .observation, info.*old Gym"):
        backsweep.learn(Old(), steps=1)
    with pytest.raises(TypeError, match=r"env.step.. returned 4 values; expected .observation, reward"):
        backsweep.learn(Older(), steps=1)

    class Oldest(Endless):
        def reset(self):
            return 0

    with pytest.raises(TypeError, match=r"env.reset.. takes no seed; expected reset.*old Gym"):
        backsweep.learn(Oldest(), steps=1)
    with pytest.raises(TypeError, match="agent is <class 'backsweep.Agent'>; expected a backsweep.Agent"):
        backsweep.learn(lake(), backsweep.Agent, steps=1)
    with pytest.raises(TypeError, match="callback is 3; expected a function"):
        backsweep.learn(lake(), steps=1, callback=3)
    for writer in ("lake.csv", 3, [backsweep.CsvWriter]):
        with pytest.raises(TypeError, match="expected a Writer or several"):
            backsweep.learn(lake(), steps=1, writer=writer)
    with pytest.raises(ValueError, match="target is nan; expected a finite mean return"):
        backsweep.learn(lake(), steps=1, evaluate_every=1, target=float("nan"))
    agent = backsweep.learn(lake(), steps=100, seed=0).agent
    for shape in ((5, 5), (3, 4), (16, 2)):
        with pytest.raises(ValueError, match="cells; expected 16, one for each state"):
            backsweep.plot_values(agent, shape)
        with pytest.raises(ValueError, match="cells; expected 16"):
            backsweep.plot_policy(backsweep.MDP.from_gymnasium(lake(), discount=0.9), shape)
    backsweep.plot_values(agent, (4, 4))


def test_discretize_is_a_gymnasium_environment():
    env = backsweep.Discretize(gym.make("CartPole-v1"), 4, low=[-2, -3, -0.2, -3], high=[2, 3, 0.2, 3])
    assert isinstance(env, gym.Env)
    wrapped = gym.wrappers.RecordEpisodeStatistics(gym.wrappers.TimeLimit(env, 30))
    history = backsweep.learn(wrapped, episodes=20, seed=0)
    assert max(history.lengths) <= 30 and all(len(state) == 4 for state in history.agent.states)
    assert gym.make(env.spec).get_wrapper_attr("edges") == env.edges  # also after gym.register, in a vector, and so on


def test_missions_are_texts():
    """MiniGrid's space of missions is a class of its own."""

    class MissionSpace(gym.Space):
        def __init__(self):
            super().__init__((), str)

    class Grid(Endless):
        observation_space = spaces.Dict({"direction": spaces.Discrete(4), "mission": MissionSpace()})

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return {"direction": 0, "mission": "get there"}, {}

        def step(self, action):
            _, reward, *rest = super().step(action)
            return {"direction": self.state, "mission": "get there"}, reward, *rest

    agent = backsweep.learn(Grid(), steps=50, seed=0).agent
    assert (1, "get there") in agent


def test_importing_takes_no_gymnasium():
    import subprocess
    import sys

    code = "import sys, backsweep; assert 'gymnasium' not in sys.modules; backsweep.Discretize; assert 'gymnasium' in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
