"""Exploring and forgetting: acting by one set of values, recommending by another."""

import copy
import pickle
import random

import numpy as np
import pytest

import backsweep
from backsweep import (
    AchievableBonus,
    Agent,
    BayesBonus,
    CountBonus,
    EpsilonGreedy,
    Forgetting,
    Optimism,
    PosteriorSampling,
    VarianceBonus,
)

WAYS = [
    EpsilonGreedy(0.2),
    Optimism(50.0, 3),
    CountBonus(0.3),
    VarianceBonus(0.5, 0.3),
    BayesBonus(1.0),
    AchievableBonus(1.0, 0.1),
    PosteriorSampling(2, 0.5),
]
FORGETTING = [None, Forgetting(per_visit=0.9), Forgetting(half_life=50), Forgetting(window=40)]


def river(state, action, chance):
    """RiverSwim with six states: "left" is easy, "right" is worth it."""
    if action == "left":
        return (0.005 if state == 0 else 0.0), max(state - 1, 0)
    u = chance.random()
    if state == 0:
        return 0.0, int(u < 0.6)
    if state == 5:
        return 1.0, 5 if u < 0.6 else 4
    return 0.0, state + 1 if u < 0.35 else state if u < 0.95 else state - 1


def swim(agent, steps, seed=0):
    chance, state, total = random.Random(seed), 0, 0.0
    for _ in range(steps):
        action = agent.act(state)
        reward, after = river(state, action, chance)
        agent.observe(state, action, reward, after)
        agent.plan(cycles=5)
        state, total = after, total + reward
    return total


def build(explore=None, **settings):
    return Agent(0.95, actions=["left", "right"], seed=1, explore=explore, reward_range=(0, 1), **settings)


GOOD = [CountBonus(), VarianceBonus(), BayesBonus(), AchievableBonus(), PosteriorSampling()]


@pytest.mark.parametrize("explore", GOOD, ids=repr)
def test_an_exploring_agent_finds_the_far_end_of_the_river(explore):
    agent = build(explore)
    assert swim(agent, 3000) > 500
    assert agent.policy() == dict.fromkeys(range(6), "right")
    assert agent.explore == explore
    assert Agent(0.95, actions=["left", "right"], epsilon=0.1, seed=1).explore is None


def test_acting_is_optimistic_and_recommending_is_not():
    agent = build(CountBonus(0.5))
    agent.observe("a", "left", 0.25, "end", terminated=True)
    agent.plan(cycles=10)
    assert agent.act("a") == "right"  # never tried
    assert agent.best_action("a") == "left"
    assert agent.value("a") == 0.25
    assert agent.action_values("a") == {"left": 0.25, "right": 0.0}
    assert agent.values() == {"a": 0.25}
    assert agent.audit().error_bound < 1e-9
    assert agent.bound() < 1e-6


def test_recommending_brings_itself_up_to_date():
    agent = build(CountBonus(0.5))
    for state in range(50):
        agent.observe(state, "right", 0.0, state + 1)
    agent.observe(50, "right", 1.0, "goal", terminated=True)
    assert agent.value(0) == pytest.approx(0.95**50)  # no call of plan


@pytest.mark.parametrize("forgetting", FORGETTING, ids=repr)
@pytest.mark.parametrize("explore", WAYS, ids=repr)
def test_a_saved_agent_continues_bit_for_bit(explore, forgetting):
    if forgetting is not None and forgetting.window is None and explore == Optimism(50.0, 3):
        with pytest.raises(ValueError, match="min_visits"):
            build(explore, forgetting=forgetting)
        return
    agent = build(explore, forgetting=forgetting, age_bonus=0.01)
    swim(agent, 200)
    copies = [Agent.from_bytes(agent.to_bytes()), pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
    expected = swim(agent, 300, seed=5), agent.to_bytes()
    for other in copies:
        assert (other.explore, other.forgetting, other.reward_range) == (explore, forgetting, (0.0, 1.0))
        assert (swim(other, 300, seed=5), other.to_bytes()) == expected


def test_forgetting_follows_a_world_that_changes():
    for forgetting, expected in [
        (None, 0.5),
        (Forgetting(per_visit=0.5), 1.0),
        (Forgetting(half_life=3), 1.0),
        (Forgetting(window=30), 1.0),
    ]:
        agent = Agent(0.9, forgetting=forgetting)
        for reward in [0.0] * 100 + [1.0] * 100:
            agent.observe("s", "go", reward, "end", terminated=True)
        assert agent.value("s") == pytest.approx(expected, abs=1e-6)


def test_an_age_bonus_tries_again():
    agent = Agent(0.5, actions=2, seed=0, reward_range=(0, 1), age_bonus=0.1)
    tried = []
    for _ in range(400):
        action = agent.act("s")
        tried.append(action)
        agent.observe("s", action, float(action == 0), "end", terminated=True)
        agent.plan(cycles=1)
    assert 2 <= tried[100:].count(1) <= 40


def test_a_step_can_be_taken_back():
    agent, other = Agent(0.9), Agent(0.9)
    for each in (agent, other):
        each.observe("a", "x", 1.0, "b")
        each.observe("b", "x", 2.0, "end", terminated=True)
    agent.observe("a", "x", 5.0, "a", truncated=True)
    agent.forget("a", "x", 5.0, "a", truncated=True)
    for each in (agent, other):
        each.plan(cycles=10)
    assert agent.values() == other.values()
    with pytest.raises(ValueError, match="cannot undo"):
        agent.forget("a", "x", 1.0, "a")
    with pytest.raises(backsweep.UnknownName, match="state 'z'"):
        agent.forget("z", "x", 1.0, "a")
    with pytest.raises(backsweep.UnknownName, match="action 'y'"):
        agent.forget("a", "y", 1.0, "a")
    with pytest.raises(backsweep.UnknownName, match="next_state 'z'"):
        agent.forget("a", "x", 1.0, "z")
    fading = Agent(0.9, forgetting=Forgetting(half_life=10))
    fading.observe("a", "x", 1.0, "a")
    with pytest.raises(ValueError, match="fade"):
        fading.forget("a", "x", 1.0, "a")


def test_intervals_are_those_of_the_engine():
    """The values of two problems, by plain sweeps: the learned model with Hoeffding's bonus subtracted, and with it added."""
    agent = Agent(0.9, explore=backsweep.CountBonus(), reward_range=(-1, 2), actions=3, seed=0)
    rng = np.random.default_rng(4)
    for _ in range(400):
        state, action = int(rng.integers(5)), int(rng.integers(2))  # the third action is never tried
        agent.observe(state, action, float(rng.uniform(-1, 2)), int(rng.integers(6)), bool(rng.random() < 0.1))
    model, least, most = agent.model, -1 / 0.1, 2 / 0.1
    n = len(agent.states)
    assert model.visits.min() == 0 and len(model.visits) == 3 * n
    dense, width = model.probabilities.toarray(), 3 + 0.9 * (most - least)
    for sign, end in ((-1, least), (1, most)):
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = 2 * len(model.visits) / 0.05 * model.visits * (model.visits + 1)
            bonus = np.where(model.visits > 0, width * np.sqrt(np.log(chance) / (2 * model.visits)), 0)
        values = np.zeros(n)
        for _ in range(600):
            q = np.where(model.visits > 0, model.mean_rewards + sign * bonus + 0.9 * np.nan_to_num(dense) @ values, end)
            values = np.array([q[model.state_index == i].max() for i in range(n)])
        found = agent.intervals(0.95)
        for i, state in enumerate(model.states):
            expected = float(np.clip(values[i], least, most))
            assert found[state][sign > 0] == pytest.approx(expected, abs=1e-5 * width), (sign, state)


def test_intervals_contain_the_true_value_and_shrink():
    agent = Agent(0.5, reward_range=(0, 1), seed=0)
    widths = []
    for n in (100, 10_000):
        for i in range(n):
            agent.observe("s", "flip", float(i % 2), "s")
        low, high = agent.intervals(0.99)["s"]
        assert low <= 1.0 <= high
        widths.append(high - low)
    assert widths[1] < 0.2 * widths[0]
    with pytest.raises(ValueError, match="confidence"):
        agent.intervals(1.5)
    with pytest.raises(ValueError, match="reward_range"):
        Agent(0.5).intervals()


def test_bad_settings_say_what_is_wrong():
    for settings, error, words in [
        (dict(explore=CountBonus(-1.0)), ValueError, "beta is -1"),
        (dict(explore=CountBonus(float("nan"))), ValueError, "beta"),
        (dict(explore=CountBonus("much")), TypeError, "beta is 'much'"),
        (dict(explore=CountBonus(), reward_range=None), ValueError, "reward_range"),
        (dict(explore=CountBonus(), reward_range=(1, 0)), ValueError, "lower one first"),
        (dict(explore=CountBonus(), reward_range=1.0), TypeError, "reward_range is 1.0"),
        (dict(explore="often"), TypeError, "explore is 'often'"),
        (dict(explore=PosteriorSampling(0)), ValueError, "worlds is 0"),
        (dict(explore=PosteriorSampling(prior=-1.0)), ValueError, "prior is -1"),
        (dict(explore=CountBonus(), optimism=Optimism(1.0, 1)), ValueError, "optimism"),
        (dict(explore=CountBonus(), planner="moore_atkeson"), ValueError, "moore_atkeson"),
        (dict(explore=CountBonus(), discount=1.0), ValueError, "start"),
        (dict(age_bonus=-0.1), ValueError, "age_bonus"),
        (dict(forgetting=Forgetting(per_visit=1.5)), ValueError, "per_visit is 1.5"),
        (dict(forgetting=Forgetting(half_life=0.0)), ValueError, "half_life is 0"),
        (dict(forgetting=Forgetting(window=0)), ValueError, "window is 0"),
        (dict(forgetting=0.9), TypeError, "forgetting is 0.9"),
    ]:
        with pytest.raises(error, match=words):
            Agent(**{"discount": 0.9, "reward_range": (0, 1), **settings})
    with pytest.raises(ValueError, match="found none"):
        Forgetting()
    with pytest.raises(ValueError, match="per_visit and window"):
        Forgetting(per_visit=0.5, window=3)


def test_a_bound_says_how_far_the_policy_can_be_from_the_best():
    agent = Agent(0.9)
    for state in range(30):
        agent.observe(state, "on", 0.0, state + 1)
    agent.observe(30, "on", 1.0, "end", terminated=True)
    before = agent.bound()
    agent.plan(until=0.0)
    assert agent.bound() == pytest.approx(2 * 0.9 * 1e-9 / 0.1) and before > 1.0
    assert Agent(1.0).bound() is None
    assert Agent(0.9, planner="value_iteration").bound() is None


def corridor(n=60):
    """An exploring agent that has walked a corridor to the reward at its end, once."""
    agent = Agent(0.99, actions=["on"], explore=CountBonus(0.1), reward_range=(0, 1), seed=1)
    for state in range(n):
        agent.observe(state, "on", float(state == n - 1), state + 1, terminated=state == n - 1)
    return agent


def test_recommended_values_are_brought_fully_up_to_date_on_request():
    agent = corridor()
    assert agent.value(0) == pytest.approx(0.99**59)


def test_a_budget_limits_the_planning_of_recommended_values():
    agent = corridor()
    assert agent.recommend(10) == 10
    near, far = agent.value(55), agent.value(0)
    assert near == pytest.approx(0.99**4)
    assert far != pytest.approx(0.99**59)
    again = Agent.from_bytes(agent.to_bytes())
    assert (again.value(55), again.value(0)) == (near, far), "resumed where it was"
    assert agent.recommend(until=0.0) > 0
    assert agent.value(0) == pytest.approx(0.99**59)
    assert agent.recommend(1) == 0
    again.observe(0, "on", 0.0, 1)
    assert again.value(0) == pytest.approx(0.99**59), "called after an observation, it plans in full"


def test_an_agent_with_one_planner_recommends_what_it_acts_by():
    agent = Agent(0.9, actions=[0], seed=1)
    agent.observe("a", 0, 1.0, "b")
    agent.observe("b", 0, 1.0, "a")
    assert agent.recommend(3) == 3
    assert agent.plan(until=1e-9) > 0
