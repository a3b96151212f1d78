"""Ways to explore and to forget.

Constants are in units of the range of rewards, ``highest - lowest`` of the agent's ``reward_range``: a bonus of 1 is worth the
difference between the best and the worst step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = [
    "AchievableBonus",
    "BayesBonus",
    "CountBonus",
    "EpsilonGreedy",
    "Explore",
    "Forgetting",
    "PosteriorSampling",
    "VarianceBonus",
]


@dataclass(frozen=True)
class Explore:
    """A way to explore: the base of all ways to explore except ``Optimism``, which is one as well."""

    name: ClassVar[str]


@dataclass(frozen=True)
class EpsilonGreedy(Explore):
    """The best action or, with probability ``epsilon``, a random one."""

    name: ClassVar[str] = "epsilon_greedy"
    epsilon: float = 0.1
    """From 0 to 1."""


@dataclass(frozen=True)
class CountBonus(Explore):
    """An action tried n times is worth ``beta / sqrt(n)`` more per step (MBIE-EB: Strehl and Littman 2008)."""

    name: ClassVar[str] = "count_bonus"
    beta: float = 0.3
    """0 or more."""


@dataclass(frozen=True)
class VarianceBonus(Explore):
    """An action tried n times is worth ``c * sqrt(variance / n) + d / n`` more per step: the empirical Bernstein bound.

    The variance is that of reward plus discounted next value. In a deterministic world the bonus falls as 1/n.
    """

    name: ClassVar[str] = "variance_bonus"
    c: float = 0.5
    """A number of standard errors, 0 or more."""
    d: float = 0.3
    """0 or more."""


@dataclass(frozen=True)
class BayesBonus(Explore):
    """An action tried n times is worth ``beta / (1 + n)`` more per step (Kolter and Ng 2009)."""

    name: ClassVar[str] = "bayes_bonus"
    beta: float = 1.0
    """0 or more."""


@dataclass(frozen=True)
class AchievableBonus(Explore):
    """Explores where outcomes are uncertain, but only as far as they change what is achievable.

    An action tried n times is worth ``beta * L * sqrt((t + v / 2) / n) + d * sigma / n`` more per step. ``t`` measures how much its
    next values differ by the values without bonus, or may differ while the highest reward was not seen. ``v`` is the variance of
    its rewards given where it led, ``sigma`` the highest such deviation in its state, and ``L`` grows slowly with the number of
    tries. Once the highest reward was seen, untried actions are worth about three times the highest value found. Two equal outcomes that contradict all
    earlier ones of an action, in a world that is otherwise certain, make the agent forget those. The agent that ``learn`` builds
    explores this way.
    """

    name: ClassVar[str] = "achievable_bonus"
    beta: float = 1.0
    """0 or more."""
    d: float = 2.0
    """0 or more."""


@dataclass(frozen=True)
class PosteriorSampling(Explore):
    """Acts by the best policy of a world drawn from the posterior, for an episode at a time (PSRL: Strens 2000)."""

    name: ClassVar[str] = "posterior_sampling"
    worlds: int = 1
    """The number of sampled models that are kept; an observation is recorded in each of them."""
    prior: float = 1.0
    """The weight of the prior, in observations: as if each action had been seen to stay with the highest reward."""


@dataclass(frozen=True)
class Forgetting:
    """The way old observations lose their weight, for worlds that change; give one of the three."""

    per_visit: float | None = None
    """Each visit to an action multiplies the weight of its earlier visits by this, above 0 and at most 1."""
    half_life: float | None = None
    """An observation counts half as much after this many steps of the agent."""
    window: int | None = None
    """Only the latest observations count, this many of them."""

    def __post_init__(self) -> None:
        given = [name for name in ("per_visit", "half_life", "window") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) if given else "none"
            raise ValueError(f"expected one of per_visit, half_life and window, found {found}")
