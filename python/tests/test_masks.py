"""Flags and masks: what is not a flag is refused; a mask is distinguished from a list, and found where the ecosystem puts it."""

import math

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import backsweep


@pytest.mark.parametrize("flag", ["False", "", "x", math.nan, 2, -1, 0.5, [], [True], object(), np.float64(math.nan), np.array([True])])
def test_what_is_not_a_flag_is_refused(flag):
    agent, predictor = backsweep.Agent(0.5), backsweep.SmallBackupPredictor()
    for name in ("terminated", "truncated"):
        with pytest.raises((TypeError, ValueError), match=f"{name} is .*; expected True or False"):
            agent.observe("s", "a", 1.0, "t", **{name: flag})
        with pytest.raises((TypeError, ValueError), match=f"{name} is .*; expected True or False"):
            predictor.observe("s", 1.0, "t", **{name: flag})
        with pytest.raises((TypeError, ValueError), match=f"row 1: {name} is .*; expected True or False.*nothing was learned"):
            agent.observe_many(["s", "s"], ["a", "a"], [1.0, 1.0], ["t", "t"], **{name: [False, flag]})
    with pytest.raises((TypeError, ValueError), match="action_mask is .*; expected True or False"):
        agent.act("s", action_mask=[1, flag])
    with pytest.raises((TypeError, ValueError), match="terminated is .*; expected True or False"):
        backsweep.MDP(0.9).set_outcomes("s", "a", [(1.0, "t", 0.0, flag)])
    assert len(agent) == 0


@pytest.mark.parametrize("flag", [True, 1, 1.0, np.True_, np.int8(1), np.uint64(1), np.float32(1), np.array(1)[()]])
def test_what_is_a_flag(flag):
    agent = backsweep.Agent(0.5)
    agent.observe("s", "a", 1.0, "t", terminated=flag, truncated=type(flag)(0))
    assert agent.states == ["s"] and agent.model.end_probabilities.tolist() == [1.0]
    agent.observe_many(["s"], ["a"], [1.0], ["t"], terminated=[flag], truncated=[type(flag)(0)])
    assert agent.states == ["s"]
    mdp = backsweep.MDP(0.9)
    mdp.set_outcomes("s", "a", [(1.0, "t", 0.0, flag)])
    assert mdp.states == ["s"]


@pytest.mark.parametrize(
    "column",
    [
        np.array(["False", "False"]),
        ["False", "False"],
        np.array([0.0, np.nan]),
        np.array([0, 2]),
        np.array([None, False]),
        np.ma.masked_array([False, True], [False, True]),
        np.ma.masked_array([0, 1], [True, False]),
    ],
)
def test_columns_of_what_are_not_flags(column):
    agent = backsweep.Agent()
    with pytest.raises((TypeError, ValueError), match="row [01]: terminated is .*; nothing was learned"):
        agent.observe_many(np.array([1, 2]), np.array([0, 0]), np.zeros(2), np.array([2, 3]), column)
    assert len(agent) == 0


def test_masked_arrays_are_columns_where_nothing_is_masked():
    agent = backsweep.Agent()
    states = np.ma.masked_array([1, 2], [False, False])
    agent.observe_many(states, states, states, states, np.ma.masked_array([False, False]))
    assert agent.states == [1, 2]
    hidden = np.ma.masked_array([3, 4], [False, True])
    for column in range(4):
        columns = [states, states, states, states]
        columns[column] = hidden
        with pytest.raises(ValueError, match="row 1: (states|actions|rewards|next_states) is masked; .*nothing was learned"):
            agent.observe_many(*columns)
    assert agent.states == [1, 2]


MASKS = [
    np.array([0, 1, 0], np.int8),
    np.array([0, 1, 0], np.uint8),
    np.array([False, True, False]),
    [False, True, False],
    (False, True, False),
]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("declared", [None, 3])
def test_a_mask_given_by_position_is_a_mask(mask, declared):
    agent = backsweep.Agent(actions=declared)
    action = agent.act("s", mask)
    assert action == 1 and type(action) is int and agent.actions("s") == [1]
    assert agent.act("s", action_mask=mask) == 1


def test_a_mask_given_to_add_state_is_a_mask():
    agent = backsweep.Agent()
    for i, mask in enumerate(MASKS):
        agent.add_state(i, mask)
        assert agent.actions(i) == [1]
    with pytest.raises(ValueError, match="looks like a mask"):
        agent.add_state("s", [0, 1, 1])


@pytest.mark.parametrize("mask", [[0, 1, 0], np.array([0, 1, 0]), (1, 1), np.array([1.0, 0.0, 1.0]), [1, 1, 0]])
def test_what_may_be_a_mask_or_a_list_is_refused(mask):
    agent = backsweep.Agent()
    with pytest.raises(ValueError, match="looks like a mask.*action_mask="):
        agent.act("s", mask)
    assert len(agent) == 0
    assert agent.act("s", action_mask=mask) in (0, 1, 2)


def test_lists_of_actions_stay_lists():
    agent = backsweep.Agent(seed=0)
    assert agent.act("s", [1]) == 1 and agent.act("s", np.array([2, 5])) in (2, 5) and agent.act("t", [1, 0]) in (0, 1)
    assert agent.act("u", np.flatnonzero([1, 0, 0])) == 0
    assert agent.act("v", ["x", "x"]) == "x"
    assert agent.act("w", np.array([2, 3], np.int8)) in (2, 3)


def test_a_mask_with_masked_entries_is_refused():
    agent = backsweep.Agent(actions=2)
    mask = np.ma.masked_array([True, True], [True, False])
    for arguments in ({"action_mask": mask}, {"actions": mask}):
        with pytest.raises(ValueError, match="action_mask is masked"):
            agent.act("s", **arguments)


@pytest.mark.parametrize("actions", ["left", b"left", ""])
def test_text_is_not_a_list_of_actions(actions):
    agent = backsweep.Agent()
    for call in (
        lambda: backsweep.Agent(actions=actions),
        lambda: agent.declare_actions(actions),
        lambda: agent.act("s", actions),
        lambda: agent.add_state("s", actions),
    ):
        with pytest.raises(TypeError, match="actions is the text .*expected a list of actions"):
            call()
    with pytest.raises(TypeError, match="action_mask is .*expected a list of flags"):
        agent.act("s", action_mask=actions)


class Doors(gym.Env):
    """Three doors, of which one is locked; opening it raises. Where the mask is put is up to the caller."""

    def __init__(self, where, dtype=np.int8):
        self.where, self.dtype = where, dtype
        self.action_space = spaces.Discrete(3)
        room = spaces.Discrete(4)
        mask_space = spaces.Box(0, 1, (3,), np.float32)  # as RLlib's examples have it
        self.observation_space = room if where == "info" else spaces.Dict({"observations": room, "action_mask": mask_space})

    def _mask(self):
        mask = np.ones(3, self.dtype)
        mask[self.room % 3] = 0
        return mask

    def _observation(self):
        if self.where == "info":
            return self.room, {"action_mask": self._mask()}
        return {"action_mask": self._mask(), "observations": self.room}, {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room = 0
        return self._observation()

    def step(self, action):
        assert self._mask()[action], f"door {action} of room {self.room} is locked"
        self.room += 1
        observation, info = self._observation()
        return observation, float(action), self.room == 3, False, info


@pytest.mark.parametrize("where", ["info", "observation"])
@pytest.mark.parametrize("dtype", [np.int8, bool, np.float32, np.int64])
def test_masks_where_the_ecosystem_puts_them(where, dtype):
    env = Doors(where, dtype)
    agent = backsweep.Agent(0.9, epsilon=0.5, seed=0)
    backsweep.learn(env, agent, 30)
    name = (lambda room: room) if where == "info" else (lambda room: (room,))
    assert backsweep.name_of({"action_mask": 1, "observations": 2}, Doors("observation").observation_space) == (2,)
    assert [sorted(agent.actions(name(room))) for room in range(3)] == [[1, 2], [0, 2], [0, 1]]
    result = backsweep.evaluate(env, agent, 3)
    assert result.returns == [5.0] * 3  # doors 2, 2 and 1
    assert backsweep.evaluate(env, backsweep.Agent(), 20, seed=0).lengths == [3] * 20  # at random, never a locked one


def test_environments_with_wrong_masks():
    class Wrong(Doors):
        mask = None

        def _mask(self):
            return self.mask

    for mask, problem in [(["a", "b", "c"], "expected True or False"), ([1, 1], "2 flags"), (np.array([1, np.nan, 0]), "expected True or False")]:
        env = Wrong("info")
        env.mask = mask
        with pytest.raises(ValueError, match=problem):
            backsweep.learn(env, backsweep.Agent(), 1)
