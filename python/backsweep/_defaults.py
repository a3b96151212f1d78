"""The agent that ``learn`` builds when it is given none."""

from __future__ import annotations

import math
from typing import Any

from ._backsweep import Agent
from ._explore import AchievableBonus

# One setting for all worlds, chosen on worlds other than those it is reported on (docs/exploring.md).
EXPLORE = AchievableBonus()
CYCLES = 20

# Gymnasium environments whose rewards are documented but not part of the environment.
KNOWN_RANGES = {
    "Acrobot": (-1.0, 0.0),
    "Blackjack": (-1.0, 1.5),
    "CartPole": (0.0, 1.0),
    "MountainCar": (-1.0, 0.0),
}


# Gymnasium's wrappers with a step of their own that leave rewards as they are.
SAFE_WRAPPERS = {
    "AddRenderObservation", "AddWhiteNoise", "Autoreset", "DelayObservation", "FilterObservation", "FrameStackObservation",
    "HumanRendering", "NormalizeObservation", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics", "RecordVideo",
    "RenderCollection", "StickyAction", "TimeAwareObservation", "TimeLimit",
}  # fmt: skip


def default_agent(
    env: Any, discount: float, reward_range: tuple[float, float] | None, seed: int | None, explore: Any = None
) -> Agent:
    """An agent that explores more the more random its world is, or in another given way."""
    if not discount < 1.0:
        raise ValueError(
            f"discount is {discount}; expected below 1 for an agent that learn builds, such as 0.999; without discount pass your own, "
            "as in learn(env, Agent(1.0, explore=..., reward_range=..., start=...))"
        )
    low, high = reward_range_of(env) if reward_range is None else _checked(reward_range)
    return Agent(discount, explore=EXPLORE if explore is None else explore, reward_range=(low, high), seed=seed)


def reward_range_of(env: Any) -> tuple[float, float]:
    """The lowest and the highest reward of a step, if the environment or its documentation gives them.

    Searched in this order: a finite ``reward_range`` of the environment; its table ``P`` (FrozenLake, Taxi, CliffWalking); what
    Gymnasium documents for CartPole, MountainCar, Acrobot and Blackjack. A wrapper that may change rewards ends the search.
    """
    give = "give it, as in learn(env, reward_range=(-1.0, 10.0)): the lowest and the highest reward of a step"
    env = next(iter(getattr(env, "envs", [])), env)  # Those of a vector environment are alike.
    while True:
        stated = vars(env).get("reward_range", getattr(type(env), "reward_range", None))
        if isinstance(stated, (tuple, list)) and len(stated) == 2 and all(math.isfinite(x) for x in stated):
            return _checked(stated)
        inner = vars(env).get("env")
        if inner is None:
            break
        if _may_change_rewards(env):
            raise ValueError(f"the range of rewards is not known: the wrapper {type(env).__name__} may change rewards; {give}")
        env = inner
    table = getattr(env, "P", None)
    if isinstance(table, dict) and table:
        rewards = [float(outcome[2]) for row in table.values() for pair in row.values() for outcome in pair]
        return _checked((min(rewards), max(rewards)))
    name = getattr(getattr(env, "spec", None), "id", None)
    if isinstance(name, str) and name.split("-")[0] in KNOWN_RANGES:
        given = getattr(env.spec, "kwargs", {})
        # An option of CartPole; other options of these environments leave the range as it is.
        return (-1.0, 0.0) if given.get("sutton_barto_reward") else KNOWN_RANGES[name.split("-")[0]]
    raise ValueError(f"the range of rewards cannot be determined from the environment; {give}")


def _may_change_rewards(wrapper: Any) -> bool:
    """Return whether the rewards of a wrapper may differ from those of what it wraps: it takes steps in a way of its own."""
    import gymnasium

    from ._discretize import Discretize

    kind = type(wrapper)
    if isinstance(wrapper, Discretize):
        return False
    if isinstance(wrapper, gymnasium.RewardWrapper) or not isinstance(wrapper, gymnasium.Wrapper):
        return True
    bases = (gymnasium.Wrapper, gymnasium.ObservationWrapper, gymnasium.ActionWrapper)
    return kind.__name__ not in SAFE_WRAPPERS and all(kind.step is not base.step for base in bases)


def _checked(found: Any) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in found)
    except (TypeError, ValueError):
        raise TypeError(f"reward_range is {found!r}; expected two numbers, the lowest and the highest reward") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"reward_range is ({low}, {high}); expected two finite numbers, the first below the second")
    return low, high
