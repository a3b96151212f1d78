"""Plain results and settings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Hashable, NamedTuple

import numpy as np

__all__ = [
    "Audit",
    "Model",
    "MooreAtkeson",
    "Optimism",
    "PengWilliams",
    "Planner",
    "ReversedFullBackups",
    "SmallBackups",
    "Stats",
    "ValueIteration",
    "WieringSchmidhuber",
]


@dataclass(frozen=True)
class Optimism:
    """An action is treated as worth ``value`` until it has been seen ``min_visits`` times."""

    value: float = 0.0
    """The value of an action until then."""
    min_visits: int = 1
    """From this many visits on, an action has the value of what was observed."""


@dataclass(frozen=True)
class Planner:
    """The settings that all planners share: which priorities are queued, and the kind of queue."""

    name: ClassVar[str]
    threshold: float = 1e-9
    """Priorities at or below this are not queued."""
    queue: str = "exact"
    """"exact" (exact order) or "bucket" (order within a factor of 1.125, constant time)."""
    tolerance: float = field(default=1e-6, kw_only=True)
    """Sweeps stop when no value changes by more than this."""

    def __post_init__(self) -> None:
        if self.queue == "heap":
            warnings.warn('the queue "heap" is now called "exact"', DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "queue", "exact")


@dataclass(frozen=True)
class ReversedFullBackups(Planner):
    """The default: every cycle passes on one state's new value to all its predecessors."""

    name: ClassVar[str] = "reversed_full_backups"


@dataclass(frozen=True)
class SmallBackups(Planner):
    """Prioritized sweeping with small backups, as in the paper's arXiv version."""

    name: ClassVar[str] = "small_backups"


@dataclass(frozen=True)
class MooreAtkeson(Planner):
    """Prioritized sweeping of Moore and Atkeson (1993): full backups."""

    name: ClassVar[str] = "moore_atkeson"


@dataclass(frozen=True)
class PengWilliams(Planner):
    """Prioritized sweeping of Peng and Williams (1993): a queue of transitions."""

    name: ClassVar[str] = "peng_williams"


@dataclass(frozen=True)
class WieringSchmidhuber(Planner):
    """Prioritized sweeping of Wiering and Schmidhuber (1998)."""

    name: ClassVar[str] = "wiering_schmidhuber"


@dataclass(frozen=True)
class ValueIteration(Planner):
    """Sweeps over all states; a cycle is one sweep. Stops when the largest change is below ``tolerance``."""

    name: ClassVar[str] = "value_iteration"


class Stats(NamedTuple):
    """Counters of an agent's work so far."""

    cycles: int
    """Update cycles (sweeps, for value iteration)."""
    backups: int
    """Backups of both kinds."""
    small_backups: int
    """Backups from one successor."""
    full_backups: int
    """Backups from all successors."""
    idle_pops: int
    """Cycles whose state turned out to change nothing."""
    refreshes: int
    """Exact recomputations, which remove rounding errors."""
    queue_length: int
    """States (or transitions) waiting for an update cycle."""
    n_states: int
    n_pairs: int
    """Actions of all states together."""
    n_arcs: int
    """Successors of all actions together."""


class Audit(NamedTuple):
    """The accuracy of the values, recomputed from the model."""

    relation: float
    """The largest difference between an action's value and what the model says it should be."""
    relative_relation: float
    """The same, relative to the largest value."""
    maximum: float
    """The largest difference between a state's value and that of its best action."""
    residual: float
    """The Bellman residual: what one more backup of everything would change."""
    rounding: float
    """An upper bound on the rounding error in the residual."""
    error_bound: float | None
    """No value is further from the optimum than this; ``None`` if the discount is 1."""


@dataclass(frozen=True)
class Model:
    """The model, as learned or as given: one row for each state and action, one column for each state.

    The sparse matrices are SciPy's and share their index arrays; nothing is copied.
    """

    states: list[Hashable]
    """The states; column ``j`` of a matrix is ``states[j]``."""
    action_names: list[Hashable]
    """All actions of all states."""
    state_index: np.ndarray[Any, np.dtype[np.int32]]
    """Row ``i`` belongs to ``states[state_index[i]]``."""
    action_index: np.ndarray[Any, np.dtype[np.int32]]
    """Row ``i`` belongs to ``action_names[action_index[i]]``."""
    visits: np.ndarray[Any, np.dtype[np.float64]]
    """The number of times each row was seen; 1 if its outcomes were set."""
    mean_rewards: np.ndarray[Any, np.dtype[np.float64]]
    """The mean reward of each row."""
    row_starts: np.ndarray[Any, np.dtype[np.int32]]
    columns: np.ndarray[Any, np.dtype[np.int32]]
    count_data: np.ndarray[Any, np.dtype[np.float64]]
    probability_data: np.ndarray[Any, np.dtype[np.float64]]
    values: np.ndarray[Any, np.dtype[np.float64]]
    """The value of each state."""

    @property
    def rows(self) -> list[tuple[Hashable, Hashable]]:
        """The (state, action) of each row."""
        pairs = zip(self.state_index.tolist(), self.action_index.tolist())
        return [(self.states[s], self.action_names[a]) for s, a in pairs]

    @cached_property
    def counts(self) -> Any:
        """The number of times each row led to each state, as ``scipy.sparse.csr_array``."""
        return self._matrix(self.count_data)

    @cached_property
    def probabilities(self) -> Any:
        """The probability that each row leads to each state; the rest, up to 1, ends the episode."""
        return self._matrix(self.probability_data)

    @property
    def end_probabilities(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The probability that each row ends the episode; 0 for rows that were never seen."""
        sums = np.zeros(len(self.visits))
        if len(self.probability_data):
            filled = np.diff(self.row_starts) > 0
            sums[filled] = np.add.reduceat(self.probability_data, self.row_starts[:-1][filled])
        return np.where(self.visits > 0, np.clip(1.0 - sums, 0.0, 1.0), 0.0)

    def _matrix(self, data: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
        try:
            from scipy.sparse import csr_array
        except ImportError as error:
            raise ImportError("sparse matrices need SciPy: pip install 'backsweep[scipy]'") from error
        shape = (len(self.visits), len(self.states))
        matrix = csr_array((data, self.columns, self.row_starts), shape=shape, copy=False)
        matrix.has_sorted_indices = True
        return matrix
