"""``agent.predict(observation)``: what the recommended policy does, as Stable-Baselines3 asks for it."""

from __future__ import annotations

from typing import Any, Hashable

import numpy as np

from ._spaces import allowed, mask_of, name_of
from ._world import interface_of


def predict(
    self: Any, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True, *, action_mask: Any = None
) -> tuple[Any, None]:
    """The recommended action for an observation of the environment that the agent learned from, as in Stable-Baselines3.

    Observations and actions are those of the environment, where ``best_action`` takes and returns names. In a state that the
    agent does not know, it is the first action that is possible. An array of observations of a Discrete space, as a vector
    environment returns it, gets an array of actions.

    Args:
        observation: an observation of the environment.
        state: ignored: the policy has no memory.
        episode_start: ignored, for the same reason.
        deterministic: if false, the action is the one of ``act``, which explores and may add the state.
        action_mask: a flag for each action: whether it is possible.

    Returns:
        The action, and ``None`` for the state of the policy.

    Raises:
        ValueError: no action is known in the state, and none is declared.
    """
    known = interface_of(self)
    space = known.space if known is not None else None
    if type(space).__name__ == "Discrete" and isinstance(observation, np.ndarray) and observation.ndim == 1:
        masks = [None] * len(observation) if action_mask is None else action_mask
        return np.array([_predict(self, known, int(one), deterministic, mask) for one, mask in zip(observation, masks)]), None
    return _predict(self, known, observation, deterministic, action_mask), None


def _predict(agent: Any, known: Any, observation: Any, deterministic: bool, mask: Any) -> Any:
    name: Hashable = name_of(observation) if known is None else known.name(observation)
    mask = mask_of(observation, None) if mask is None else mask
    possible = known.actions if known is not None else agent.declared_actions
    if mask is not None:
        if possible is None:
            possible = list(range(len(mask)))
        possible = allowed(possible, mask)
    if not deterministic:
        action = agent.act(name, possible) if mask is not None else agent.act(name)
    else:
        values = agent.action_values(name) if name in agent else {}
        best = agent.best_action(name) if values else None
        if values and (possible is None or best in possible):
            action = best
        else:
            tried = [action for action in possible or () if action in values]
            if not (tried or possible):
                raise ValueError(f"no action is known in state {name!r}; declare the actions of all states: Agent(actions=...)")
            action = max(tried, key=values.__getitem__) if tried else possible[0]
    return action if known is None else known.to_env(action)
