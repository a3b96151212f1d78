"""A Gymnasium environment in the agent's names: states, possible actions, flags."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Hashable, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ._spaces import MASK, actions_of, allowed, mask_of, namer


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
        return self._place(*_parts(self.env.reset(seed=seed), "reset", "(observation, info)", 2))

    def step(self, action: Any) -> tuple[Place, float, bool, bool]:
        """Take an action: where it leads, the reward, whether the episode terminated, whether it was truncated."""
        expected = "(observation, reward, terminated, truncated, info)"
        observation, reward, terminated, truncated, info = _parts(self.env.step(self._to_env(action)), "step", expected, 5)
        flags = _flag(terminated, "terminated"), _flag(truncated, "truncated")
        return self._place(observation, info), reward, *flags

    def _place(self, observation: Any, info: Any) -> Place:
        mask = mask_of(observation, info)
        return Place(self.name(observation), None if mask is None else allowed(self.actions, mask))


class VectorWorld:
    """A vector environment that takes and returns names, one for each of its environments."""

    def __init__(self, env: Any) -> None:
        from gymnasium.vector import utils

        self.env = env
        self._utils: Any = utils
        space = env.single_action_space
        self.name = namer(env.single_observation_space)
        self.actions, self._to_env = actions_of(space)
        self.is_declared = False
        self._batch: Any = utils.create_empty_array(space, n=env.num_envs)
        mode = env.metadata.get("autoreset_mode")
        self._mode = getattr(mode, "value", mode) or "NextStep"
        if self._mode not in ("NextStep", "SameStep", "Disabled"):
            raise TypeError(f"env has the autoreset mode {mode!r}; expected NEXT_STEP, SAME_STEP or DISABLED")
        self._ended = np.zeros(env.num_envs, bool)  # which environments are reset by the next step

    def reset(self, seed: int | None = None) -> list[Place]:
        """Start an episode in each environment."""
        return self._places(*self.env.reset(seed=seed))

    def step(self, actions: list[Any]) -> list[tuple[Place | None, float, bool, bool, Place | None]]:
        """Take an action in each environment: where it leads (``None`` if the step only reset it), the reward, whether the episode
        terminated, whether it was truncated, and where a new episode begins if it does."""
        taken = [self._to_env(action) for action in actions]
        batch = self._utils.concatenate(self.env.single_action_space, taken, self._batch)
        observations, rewards, terminated, truncated, infos = self.env.step(batch)
        places = self._places(observations, infos)
        ended = np.logical_or(terminated, truncated)
        reached: list[Place | None] = list(places)
        begins: list[Place | None] = [None] * len(places)
        for i in _where(self._ended):
            reached[i], begins[i] = None, places[i]
        self._ended[:] = False
        if self._mode == "NextStep":
            self._ended[:] = ended
        elif self._mode == "SameStep":
            finals, final_infos = infos.get("final_obs"), infos.get("final_info", {})
            for i in _where(ended):
                reached[i], begins[i] = self._place(finals[i], _info_of(final_infos, i)), places[i]
        elif ended.any():
            starts = self._places(*self.env.reset(options={"reset_mask": ended}))
            for i in _where(ended):
                begins[i] = starts[i]
        flags = zip(np.asarray(rewards, float).tolist(), terminated.tolist(), truncated.tolist())
        return [(place, *flag, begin) for place, flag, begin in zip(reached, flags, begins)]

    def _places(self, observations: Any, infos: Any) -> list[Place]:
        each = self._utils.iterate(self.env.observation_space, observations)
        return [self._place(observation, _info_of(infos, i)) for i, observation in enumerate(each)]

    def _place(self, observation: Any, info: Any) -> Place:
        mask = mask_of(observation, info)
        return Place(self.name(observation), None if mask is None else allowed(self.actions, mask))


def _where(flags: Any) -> list[int]:
    return [int(i) for i in np.flatnonzero(flags)]


def _info_of(infos: Any, i: int) -> dict[str, Any]:
    """The mask that the info of one environment of several has."""
    if MASK not in infos or not infos.get(f"_{MASK}", [True] * (i + 1))[i]:
        return {}
    return {MASK: infos[MASK][i]}


def make(env: Any) -> Any:
    """The environment, made by Gymnasium if it is given by its name."""
    if not isinstance(env, str):
        return env
    try:
        import gymnasium
    except ImportError as error:
        raise ImportError(f"making {env!r} needs Gymnasium: pip install 'backsweep[gymnasium]'") from error
    return gymnasium.make(env)


class Interface(NamedTuple):
    """The spaces that an agent last learned from: how its observations and actions are named."""

    space: Any
    name: Callable[[Any], Hashable]
    actions: list[Hashable]
    to_env: Callable[[Any], Any]


_INTERFACES: WeakKeyDictionary[Any, Interface] = WeakKeyDictionary()


def remember(agent: Any, world: World | VectorWorld) -> None:
    """Note how the environment that an agent learns from is named, for ``predict`` and for plots."""
    space = getattr(world.env, "single_observation_space", None) or world.env.observation_space
    _INTERFACES[agent] = Interface(space, world.name, world.actions, world._to_env)


def interface_of(agent: Any) -> Interface | None:
    """The spaces of an agent, if it has learned in an environment."""
    try:
        return _INTERFACES.get(agent)
    except TypeError:  # Not every object can be in such a table.
        return None


def _parts(found: Any, call: str, expected: str, n: int) -> Any:
    if isinstance(found, tuple) and len(found) == n:
        return found
    shown = f"{len(found)} values" if isinstance(found, tuple) else f"an object of {type(found).__name__}"
    raise TypeError(f"env.{call}() returned {shown}; expected {expected} as in Gymnasium; {_OLD}")


_OLD = "for an environment of the old Gym, use gymnasium.make with the package shimmy"


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
        raise TypeError(f"env is a vector environment ({type(env).__name__}); expected a single one; make it with gymnasium.make")
    for need in ("reset", "step", "observation_space", "action_space"):
        if not hasattr(env, need):
            raise TypeError(f"env is {env!r}, which has no {need}; expected a Gymnasium environment")
    try:
        parameters = inspect.signature(env.reset).parameters.values()
    except (TypeError, ValueError):  # Not every callable tells.
        return
    if not any(one.name == "seed" or one.kind is one.VAR_KEYWORD for one in parameters):
        raise TypeError(f"env.reset() takes no seed; expected reset(*, seed=None, options=None) as in Gymnasium; {_OLD}")
