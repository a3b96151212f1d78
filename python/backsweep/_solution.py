"""The results of solving a known problem."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Hashable, Protocol

import numpy as np

from ._repr import table

__all__ = ["PolicyValue", "Solution", "WhatIf"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Objects = np.ndarray[Any, np.dtype[np.object_]]
Ids = np.ndarray[Any, np.dtype[Any]]


class Named(Protocol):
    """Has names for states and actions, which only ever grow."""

    def states(self) -> list[Any]: ...
    def action_names(self) -> list[Any]: ...


def action_array(names: Named, ids: Ids) -> Objects:
    """The names of actions; ``None`` where the id is -1."""
    actions = names.action_names()
    table = np.empty(len(actions) + 1, object)
    # Item by item, since NumPy would treat a tuple as several items.
    for i, action in enumerate(actions):
        table[i] = action
    return table[ids]


@dataclass(repr=False, eq=False)
class Solution:
    """The result of ``MDP.solve``. For every state, ``lower <= value <= upper`` is proven, however it was stopped."""

    values: Floats
    """The value of each state: the middle of its interval."""
    lower: Floats
    """The value of each state is at least this."""
    upper: Floats
    """The value of each state is at most this."""
    error_bound: float | None
    """No value is further from the truth than this; ``None`` if an interval is infinite. With ``until``: the value of the start."""
    converged: bool
    """True if every value is proven to be within the tolerance. With ``until``: the value of the start."""
    iterations: int
    """Sweeps over all or part of the states; states backed up in a repair; 0 if the answer was known already."""
    seconds: float
    """The time it took, in seconds."""
    explanation: list[str]
    """The decisions and their reasons, one line each."""
    stopped: str | None
    """``"Ctrl-C"`` or ``"the time limit"`` if one of them stopped the work before the tolerance was reached."""
    objective: str
    """The question, in words."""
    repaired: bool
    """True if an earlier answer was repaired after changes."""
    _names: Named | None = None
    _action_ids: Ids | None = None

    @property
    def method(self) -> str:
        """The method, in words."""
        return self.explanation[0] if self.explanation else "graph analysis"

    @cached_property
    def states(self) -> list[Hashable]:
        """The states, in the order of ``values`` and ``policy``."""
        return self._names.states()[: len(self.values)] if self._names is not None else []

    @cached_property
    def policy(self) -> Objects:
        """A best action of each state; ``None`` where there is no action."""
        if self._names is None or self._action_ids is None:
            return np.empty(0, object)
        return action_array(self._names, self._action_ids)

    @property
    def cycles(self) -> int:
        """The former name of ``iterations``."""
        warnings.warn("Solution.cycles is now called Solution.iterations", DeprecationWarning, stacklevel=2)
        return self.iterations

    def __getstate__(self) -> dict[str, Any]:
        # A pickle holds the states and actions, not the problem they come from.
        return {**self.__dict__, "states": self.states, "policy": self.policy, "_names": None, "_action_ids": None}

    def _proof(self) -> str:
        bound = "some intervals are infinite" if self.error_bound is None else f"error bound {self.error_bound:.2g}"
        if self.converged:
            return f"converged, {bound}"
        return f"not converged{f' ({self.stopped})' if self.stopped else ''}, {bound}"

    def __repr__(self) -> str:
        return f"<backsweep.Solution: {len(self.values)} states, {self._proof()}, {self.objective}, {self.iterations} iterations>"

    def _repr_html_(self) -> str:
        rows = [
            ("objective", self.objective),
            ("states", len(self.values)),
            ("proven", self._proof()),
            ("method", self.method),
            ("iterations", self.iterations),
            ("seconds", f"{self.seconds:.3g}"),
        ]
        return table("backsweep.Solution", rows)


@dataclass(frozen=True, repr=False, eq=False)
class WhatIf:
    """The effect of changes to an MDP; see ``MDP.what_if``."""

    states: list[Hashable]
    """The states, in the order of ``before`` and ``after``."""
    before: Floats
    """The value of each state without the changes."""
    after: Floats
    """The value of each state with them."""
    error_bound: float | None
    """No value of either is further from the truth than this; ``None`` if an interval is infinite."""
    converged: bool
    """True if all values are proven to be within the tolerance."""
    seconds: float
    """The time it took, in seconds."""
    stopped: str | None
    """``"Ctrl-C"`` or ``"the time limit"`` if one of them stopped the work before the tolerance was reached."""
    policy_changes: dict[Any, tuple[Any, Any]]
    """The states where the best action changes, with the action before and after; ``None`` stands for no action."""

    def __repr__(self) -> str:
        n_changed = int(np.count_nonzero(self.after != self.before))
        converged = "converged" if self.converged else "not converged"
        return (
            f"<backsweep.WhatIf: {n_changed} of {len(self.states)} values and {len(self.policy_changes)} actions change, {converged}>"
        )


@dataclass(frozen=True, repr=False, eq=False)
class PolicyValue:
    """The value of a policy; see ``MDP.evaluate``. For every state, ``lower <= value <= upper`` is proven."""

    states: list[Hashable]
    """The states, in the order of all arrays."""
    values: Floats
    """The value of the policy in each state: the middle of its interval."""
    lower: Floats
    """The value of each state is at least this."""
    upper: Floats
    """The value of each state is at most this."""
    best: Floats
    """The value of the best policy in each state."""
    gap: Floats
    """The best policy is proven to be better by at most this in each state."""
    losses: list[tuple[Hashable, float, float]]
    """Where the policy loses, most first: a state, how often a run comes there (later visits discounted), and the loss per
    visit. Estimated, not proven; empty for ``Horizon`` and ``Average``."""
    converged: bool
    """True if the values of both policies are proven to be within the tolerance."""
    seconds: float
    """The time it took, in seconds."""
    stopped: str | None
    """``"Ctrl-C"`` or ``"the time limit"`` if one of them stopped the work before the tolerance was reached."""
    objective: str
    """The question, in words."""

    def __repr__(self) -> str:
        proven = "converged" if self.converged else "not converged"
        largest = f"{self.gap.max():.3g}" if len(self.gap) else "0"
        return f"<backsweep.PolicyValue: {len(self.states)} states, {proven}, {self.objective}, gap at most {largest}>"
