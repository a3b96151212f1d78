"""A Gymnasium environment in the agent's names: states, possible actions, flags."""

from __future__ import annotations

from typing import Any, Hashable, NamedTuple

import numpy as np

from ._spaces import actions_of, allowed, mask_of, namer


class Place(NamedTuple):
    """Where an episode is."""

    state: Hashable
    actions: list[Hashable] | None
    """The actions that a mask allows here; ``None`` if the environment provides no mask."""


class World:
    """An environment that takes and returns names."""

    def __init__(self, env: Any) -> None:
        _refuse_others(env)
        self.env = env
        self.name = namer(env.observation_space)
        self.actions, self._to_env = actions_of(env.action_space)
        self.is_declared = False  # whether the agent knows that these are the actions of every state

    def reset(self, seed: int | None = None) -> Place:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed)
        return self._place(observation, info)

    def step(self, action: Any) -> tuple[Place, float, bool, bool]:
        """Take an action: where it leads, the reward, whether the episode terminated, whether it was truncated."""
        observation, reward, terminated, truncated, info = self.env.step(self._to_env(action))
        flags = _flag(terminated, "terminated"), _flag(truncated, "truncated")
        return self._place(observation, info), reward, *flags

    def _place(self, observation: Any, info: Any) -> Place:
        mask = mask_of(observation, info)
        return Place(self.name(observation), None if mask is None else allowed(self.actions, mask))


def _flag(flag: Any, name: str) -> bool:
    if not isinstance(flag, (bool, np.bool_)) and not (isinstance(flag, (int, np.integer)) and flag in (0, 1)):
        raise TypeError(f"the environment returned {name} = {flag!r}; expected True or False")
    return bool(flag)


def check_count(name: str, number: Any, least: int = 0) -> None:
    """Refuse what is not a whole number, or is too small."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise TypeError(f"{name} is {number!r}; expected a whole number")
    if number < least:
        raise ValueError(f"{name} is {number}; expected {least} or more")


def _refuse_others(env: Any) -> None:
    if hasattr(env, "num_envs"):
        raise TypeError(
            f"env is a vector environment ({type(env).__name__}); expected a single one; make it with gym.make, or feed "
            "the agent yourself with agent.observe or agent.observe_many"
        )
    for need in ("reset", "step", "observation_space", "action_space"):
        if not hasattr(env, need):
            raise TypeError(f"env is {env!r}, which has no {need}; expected a Gymnasium environment")
