"""Plain results and settings."""

from __future__ import annotations

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
    """A pair is worth ``value`` until it has been seen ``min_visits`` times."""

    value: float = 0.0
    min_visits: int = 1


@dataclass(frozen=True)
class Planner:
    """What all planners share: which priorities are worth queueing, and the kind of queue.

    ``queue`` is "heap" (exact order) or "bucket" (order right within a factor of 1.125, constant time).
    """

    name: ClassVar[str]
    threshold: float = 1e-9
    queue: str = "heap"
    tolerance: float = field(default=1e-6, kw_only=True)


@dataclass(frozen=True)
class ReversedFullBackups(Planner):
    """The default: every pop tells all predecessors of a state its new value."""

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
    """What an agent has done so far."""

    cycles: int
    backups: int
    small_backups: int
    full_backups: int
    idle_pops: int
    """Cycles whose state turned out to change nothing."""
    refreshes: int
    """Exact recomputations that take rounding errors out."""
    queue_length: int
    n_states: int
    n_pairs: int
    n_arcs: int


class Audit(NamedTuple):
    """How exact the values are; recomputed from the model."""

    relation: float
    """The largest difference of an action's value from what its model says it should be."""
    relative_relation: float
    """The same, relative to the largest value."""
    maximum: float
    """The largest difference of a state's value from its best action's."""
    residual: float
    """The Bellman residual: what one more backup of everything would change."""
    rounding: float
    """How far rounding can have carried the computed residual from the true one, at the most."""
    error_bound: float | None
    """No value is further from the optimum than this; ``None`` if the discount is 1."""


@dataclass(frozen=True)
class Model:
    """What was seen, or is known: one row for each state and action, one column for each state.

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
    """How often each row was seen; 1 if its probabilities were given."""
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
        """How often each row led to each state, as ``scipy.sparse.csr_array``."""
        return self._matrix(self.count_data)

    @cached_property
    def probabilities(self) -> Any:
        """With which probability each row leads to each state; what is missing to 1 ends."""
        return self._matrix(self.probability_data)

    @property
    def end_probabilities(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """With which probability each row ends the episode; 0 for rows never seen."""
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
