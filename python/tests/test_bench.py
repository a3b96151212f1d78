"""``learn`` without an agent, and the suite's worlds from Python."""

import pytest

import backsweep
from backsweep import bench
from backsweep._defaults import reward_range_of

gym = pytest.importorskip("gymnasium")


def test_learn_builds_an_agent_that_learns():
    env = gym.make("FrozenLake-v1")
    history = backsweep.learn(env, episodes=300, seed=1, progress=False)
    assert isinstance(history.agent, backsweep.Agent)
    # The best policy reaches the goal in 3 of 4 episodes, a random one in 1 of 70.
    assert backsweep.evaluate(env, history.agent, 300, seed=2, progress=False).mean > 0.6
    again = backsweep.learn(gym.make("FrozenLake-v1"), episodes=300, seed=1, progress=False)
    assert again.returns == history.returns


@pytest.mark.parametrize(
    "name, expected",
    [("FrozenLake-v1", (0, 1)), ("CliffWalking-v1", (-100, -1)), ("CartPole-v1", (0, 1)), ("Blackjack-v1", (-1, 1.5))],
)
def test_ranges_of_rewards_that_are_known(name, expected):
    assert reward_range_of(gym.make(name)) == expected


def test_a_range_that_cannot_be_determined_is_requested():
    with pytest.raises(ValueError, match=r"give it, as in learn\(env, reward_range="):
        reward_range_of(gym.make("Pendulum-v1"))
    env = gym.make("FrozenLake-v1")
    with pytest.raises(ValueError, match="the first below the second"):
        backsweep.learn(env, reward_range=(1.0, 1.0))
    with pytest.raises(TypeError, match="expected two numbers"):
        backsweep.learn(env, reward_range=3)


def test_settings_of_a_new_agent_are_refused_with_an_agent():
    env, agent = gym.make("FrozenLake-v1"), backsweep.Agent(0.9)
    with pytest.raises(TypeError, match="configure a new agent"):
        backsweep.learn(env, agent, 1, discount=0.9)
    with pytest.raises(TypeError, match="expected a backsweep.Agent"):
        backsweep.learn(env, 100)


def test_the_suite_runs_from_python():
    rows = bench.run(["double_loop", "deep_sea_5"], runs=2, progress=False)
    assert [row.world for row in rows] == ["double_loop", "deep_sea_5"]
    loop, sea = rows
    assert loop.mean > 380 and loop.reached == 2 and loop.score == "total reward"
    assert sea.reached == 2 and sea.mean < 100
    assert bench.run(["double_loop"], runs=2, progress=False)[0].scores == loop.scores


def test_an_agent_of_your_own_runs_too():
    class Stubborn:
        def act(self, state):
            return 1

        def observe(self, *step):
            pass

        def plan(self, cycles):
            pass

        def policy(self):
            return {}

    [row] = bench.run(["double_loop"], lambda world: Stubborn(), runs=1, progress=False)
    assert row.scores == [400.0]


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="no world is called 'atlantis'"):
        bench.World("atlantis")
    world = bench.World("chain")
    with pytest.raises(ValueError, match="action is 2; expected a number from 0 to 1"):
        world.step(2)
    with pytest.raises(ValueError, match="the policy has 1 actions; expected 5"):
        world.judge([0])
    with pytest.raises(ValueError, match="takes action 7 in state 0"):
        world.judge([7, 0, 0, 0, 0])
    assert world.result()[1] == 0 and world.state == 0
    assert "riverswim_6" in bench.worlds()
