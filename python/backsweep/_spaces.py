"""Gymnasium's observations and actions as names, and back."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Hashable

import numpy as np

# More actions than this are not listed: no tabular method would get through them.
MAX_ACTIONS = 100_000


def _kind(space: Any) -> str:
    return type(space).__name__


def name_of(observation: Any, space: Any = None) -> Hashable:
    """The name under which ``learn`` gives an observation to the agent.

    A number stays a number; an array of whole numbers becomes a tuple; a tuple a tuple of names; a dict the tuple of the
    names of its values in the order of its keys in ``space`` (without one: in the order of its sorted keys).
    """
    if isinstance(observation, dict):
        spaces = getattr(space, "spaces", None)
        keys = list(spaces) if spaces is not None else sorted(observation)
        return tuple(name_of(observation[key], spaces[key] if spaces is not None else None) for key in keys)
    if isinstance(observation, tuple):
        spaces = getattr(space, "spaces", None) or [None] * len(observation)
        return tuple(name_of(part, sub) for part, sub in zip(observation, spaces))
    if isinstance(observation, np.ndarray):
        if observation.dtype.kind not in "iubUS":
            raise TypeError(
                f"observation is an array of {observation.dtype}: {observation!r}; expected whole numbers; "
                "wrap the environment so that it rounds its observations"
            )
        return _tupled(observation.tolist())
    if isinstance(observation, np.generic):
        return observation.item()  # type: ignore[no-any-return]
    return observation  # type: ignore[no-any-return]


def _tupled(value: Any) -> Hashable:
    name: Hashable = tuple(map(_tupled, value)) if isinstance(value, list) else value
    return name


def check_observations(space: Any) -> None:
    """Refuse spaces that have no names."""
    kind = _kind(space)
    if kind == "Dict":
        for part in space.spaces.values():
            check_observations(part)
    elif kind == "Tuple":
        for part in space.spaces:
            check_observations(part)
    elif kind not in ("Discrete", "MultiDiscrete", "MultiBinary", "Text") and not (
        kind == "Box" and np.dtype(space.dtype).kind in "iub"
    ):
        raise TypeError(
            f"observations are {space}; expected Discrete, MultiDiscrete, MultiBinary, Text, a Box of whole numbers, or a "
            "Tuple or Dict of them; wrap the environment so that it gives such observations (round or bin them)"
        )


def observer(space: Any) -> Callable[[Any], Hashable]:
    """The function that names the observations of a space."""
    check_observations(space)
    if _kind(space) == "Discrete":
        return int
    return lambda observation: name_of(observation, space)


def actions_of(space: Any) -> tuple[list[Hashable], Callable[[Any], Any]]:
    """All actions of a space by name, and the function that turns a name into what the environment takes."""
    kind = _kind(space)
    if kind == "Discrete":
        start = int(space.start)
        if space.n > MAX_ACTIONS:
            raise ValueError(f"there are {space.n} actions; expected at most {MAX_ACTIONS}")
        return list(range(start, start + int(space.n))), lambda action: action
    if kind == "MultiDiscrete":
        sizes = np.asarray(space.nvec).ravel()
        starts = np.asarray(getattr(space, "start", np.zeros_like(sizes))).ravel()
        shape, dtype = space.nvec.shape, space.dtype
    elif kind == "MultiBinary":
        shape, dtype = space.shape, space.dtype
        sizes, starts = np.full(int(np.prod(shape)), 2), np.zeros(int(np.prod(shape)), int)
    elif kind == "Tuple":
        parts = [actions_of(part) for part in space.spaces]
        _check_count([len(names) for names, _ in parts])
        names = [tuple(name) for name in itertools.product(*(names for names, _ in parts))]
        turns = [turn for _, turn in parts]
        return list(names), lambda name: tuple(turn(part) for turn, part in zip(turns, name))
    else:
        raise TypeError(
            f"actions are {space}; expected Discrete, MultiDiscrete, MultiBinary or a Tuple of them; wrap the environment so "
            "that it takes such actions"
        )
    _check_count(sizes.tolist())
    ranges = (range(int(a), int(a) + int(n)) for a, n in zip(starts, sizes))
    return list(itertools.product(*ranges)), lambda name: np.asarray(name, dtype=dtype).reshape(shape)


def _check_count(sizes: list[int]) -> None:
    count = 1
    for size in sizes:
        count *= int(size)
    if count > MAX_ACTIONS:
        raise ValueError(f"there are {count} actions; expected at most {MAX_ACTIONS}")
