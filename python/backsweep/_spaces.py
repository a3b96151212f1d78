"""Gymnasium's observations and actions as names, and back."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Hashable

import numpy as np

# More actions than this are refused: no tabular method could try them all.
MAX_ACTIONS = 100_000


def _kind(space: Any) -> str:
    return type(space).__name__


# The key under which RLlib, PettingZoo and others put a mask next to an observation.
MASK = "action_mask"


def name_of(observation: Any, space: Any = None) -> Hashable:
    """The name under which ``learn`` and ``evaluate`` know an observation.

    A number stays a number; an array of whole numbers becomes a tuple; a tuple becomes a tuple of names; a dict becomes the
    tuple of the names of its values, without its ``action_mask``.

    Args:
        observation: an observation of the environment.
        space: its observation space, which gives the order of a dict's keys; without it, they are sorted.
    """
    if isinstance(observation, dict):
        spaces = getattr(space, "spaces", None)
        keys = [key for key in (spaces if spaces is not None else sorted(observation)) if key != MASK]
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


def mask_of(observation: Any, info: Any) -> Any:
    """The action mask that came with an observation, in its info or inside it; ``None`` if there is none."""
    mask = info.get(MASK) if isinstance(info, dict) else None
    if mask is None and isinstance(observation, dict):
        mask = observation.get(MASK)
    return mask


def allowed(names: list[Hashable], mask: Any) -> list[Hashable]:
    """The actions that a mask allows."""
    if isinstance(mask, np.ma.MaskedArray) and np.ma.getmaskarray(mask).any():
        raise ValueError("action_mask has masked entries; expected a flag for every action")
    flags = np.asarray(mask)
    if flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all():
        raise ValueError(f"action_mask is {mask!r}; expected True or False (or 1 or 0) for every action")
    flags = flags.ravel()
    if len(flags) != len(names):
        raise ValueError(f"action_mask has {len(flags)} flags; expected one for each of the {len(names)} actions")
    return [names[i] for i in np.flatnonzero(flags)]


def _tupled(value: Any) -> Hashable:
    name: Hashable = tuple(map(_tupled, value)) if isinstance(value, list) else value
    return name


def check_observations(space: Any) -> None:
    """Refuse spaces whose observations cannot be names."""
    kind = _kind(space)
    if kind == "Dict":
        for key, part in space.spaces.items():
            if key != MASK:
                check_observations(part)
    elif kind == "Tuple":
        for part in space.spaces:
            check_observations(part)
    # MiniGrid's missions are texts.
    elif kind not in ("Discrete", "MultiDiscrete", "MultiBinary", "Text", "MissionSpace") and not (
        kind == "Box" and np.dtype(space.dtype).kind in "iub"
    ):
        raise TypeError(
            f"observations are {space}; expected Discrete, MultiDiscrete, MultiBinary, Text, a Box of whole numbers, or a "
            "Tuple or Dict of them; wrap the environment so that it gives such observations (round or bin them): "
            "backsweep.Discretize(env, bins=10) does so for a Box"
        )


def namer(space: Any) -> Callable[[Any], Hashable]:
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
