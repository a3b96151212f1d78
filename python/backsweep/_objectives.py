"""Objectives for solving a known problem."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Average", "Discounted", "Horizon", "Objective", "Reach", "Total"]

# What the engine takes: kind, reward, label, label to avoid, steps, discount.
_Question = tuple[str, str | None, str | None, str | None, int | None, float | None]


@dataclass(frozen=True)
class Discounted:
    """The expected sum of rewards, each worth ``discount`` times as much as the one before."""

    discount: float | None = None
    """From 0 to 1; that of the MDP if not given. 1 is the total until the episode ends."""
    reward: str | None = None
    """The name of the rewards; not needed if the model has only one reward structure. ``"steps"`` counts 1 per step in any model."""

    def _question(self) -> _Question:
        return ("discounted", self.reward, None, None, None, self.discount)


@dataclass(frozen=True)
class Reach:
    """The probability of reaching states with a label."""

    goal: str
    """The label to reach; see ``MDP.set_label``."""
    avoid: str | None = None
    """The label of states that must not be passed through on the way."""
    within: int | None = None
    """The number of steps allowed; any number if not given."""

    def _question(self) -> _Question:
        return ("reach", None, self.goal, self.avoid, self.within, None)


@dataclass(frozen=True)
class Total:
    """The expected total reward until a label is reached or, without one, until the episode ends."""

    until: str | None = None
    """The label. Values are infinite where it may be missed."""
    reward: str | None = None
    """As for ``Discounted``."""

    def _question(self) -> _Question:
        return ("total", self.reward, self.until, None, None, None)


@dataclass(frozen=True)
class Horizon:
    """The expected total reward of a number of steps."""

    steps: int
    """The number of steps."""
    discount: float = 1.0
    """From 0 to 1."""
    reward: str | None = None
    """As for ``Discounted``."""

    def _question(self) -> _Question:
        return ("horizon", self.reward, None, None, self.steps, self.discount)


@dataclass(frozen=True)
class Average:
    """The expected reward per step in the long run."""

    reward: str | None = None
    """As for ``Discounted``."""

    def _question(self) -> _Question:
        return ("average", self.reward, None, None, None, None)


Objective = Discounted | Reach | Total | Horizon | Average


def question(objective: Objective | None) -> _Question | None:
    """The form that the engine takes."""
    if objective is None:
        return None
    if not isinstance(objective, (Discounted, Reach, Total, Horizon, Average)):
        raise TypeError(
            f"objective is {objective!r}; expected backsweep.Discounted, Reach, Total, Horizon or Average, for instance "
            'objective=backsweep.Reach("goal")'
        )
    return objective._question()
