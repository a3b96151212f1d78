"""Known problems: solved, changed, and solved again from where they stood."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Hashable, Iterable, Mapping, Sequence

import numpy as np

from ._backsweep import Solver
from ._types import Audit, Model, Planner, Stats

__all__ = ["MDP", "Solution"]



@dataclass(frozen=True)
class Solution:
    """What ``MDP.solve`` reached."""

    states: list[Hashable]
    """The states, in the order of ``values`` and ``policy``."""
    values: np.ndarray[Any, np.dtype[np.float64]]
    """The value of each state."""
    policy: list[Any]
    """A best action of each state; ``None`` where there is no action."""
    error_bound: float | None
    """Proven: no value is further from the optimum than this. ``None`` only if the discount is 1 and some policy never ends."""
    converged: bool
    """Whether the bound is within the tolerance (without a bound: whether nothing was left to do)."""
    cycles: int
    """Update cycles that it took."""


class MDP:
    """A known Markov decision process.

    States and actions are any hashable objects. Build it action by action with ``set_outcomes``, or from tables with
    ``from_gymnasium``, ``from_arrays`` and ``from_scipy``.
    """

    def __init__(self, discount: float, *, planner: str | Planner | None = None) -> None:
        self._solver = Solver(discount, planner)

    @classmethod
    def _of(cls, solver: Solver) -> MDP:
        mdp = cls.__new__(cls)
        mdp._solver = solver
        return mdp

    @classmethod
    def from_gymnasium(cls, env: Any, *, discount: float, planner: str | Planner | None = None) -> MDP:
        """The problem in the table ``P`` of an environment: ``P[state][action]`` lists (probability, next state, reward, terminated).

        Outcomes with the same next state are added up; a terminated outcome ends the return whatever its next state.
        """
        table = getattr(getattr(env, "unwrapped", env), "P", None)
        if not isinstance(table, Mapping):
            raise TypeError(f"{env!r} has no table P; expected an environment such as FrozenLake, CliffWalking or Taxi")
        if not all(isinstance(state, (int, np.integer)) for state in table):
            mdp = cls(discount, planner=planner)
            for state, actions in table.items():
                for action, outcomes in actions.items():
                    mdp.set_outcomes(state, action, outcomes)
            return mdp
        states = sorted(table)
        rows: list[tuple[int, int, list[Any]]] = []
        for state in states:
            rows += [(int(state), int(action), table[state][action]) for action in sorted(table[state])]
        n_states = 1 + max([*map(int, states), *(int(o[1]) for row in rows for o in row[2])], default=-1)
        if n_states > 2**31:
            raise ValueError(f"the table has states up to {n_states - 1}; expected whole numbers without large gaps")
        outcomes = [outcome for row in rows for outcome in row[2]]
        starts = np.concatenate([[0], np.cumsum([len(row[2]) for row in rows])])
        next_states = [-1 if ended else int(next_state) for _, next_state, _, ended in outcomes]
        return cls._from_rows(
            discount,
            planner,
            n_states,
            [row[0] for row in rows],
            [row[1] for row in rows],
            starts,
            next_states,
            [float(o[0]) for o in outcomes],
            [float(o[2]) for o in outcomes],
        )

    @classmethod
    def from_arrays(
        cls,
        transitions: Any,
        rewards: Any,
        *,
        discount: float,
        end: Any = None,
        available: Any = None,
        planner: str | Planner | None = None,
    ) -> MDP:
        """The problem with probabilities ``transitions[s, a, t]`` and rewards ``[s, a, t]``, ``[s, a]`` or ``[s]``.

        ``end[s, a]`` is the probability that the episode ends there; every row and its end must sum to 1. ``available[s, a]``
        says which actions exist; a state without any is an end, worth 0.
        """
        p = np.asarray(transitions, dtype=np.float64)
        if p.ndim != 3 or p.shape[0] != p.shape[2]:
            raise ValueError(f"transitions has the shape {p.shape}; expected (states, actions, states)")
        n_states, n_actions = p.shape[:2]
        flat = p.reshape(n_states * n_actions, n_states)
        starts = np.concatenate([[0], np.cumsum(np.count_nonzero(flat, axis=1))])
        rows, columns = np.nonzero(flat)
        r = np.asarray(rewards, dtype=np.float64)
        if r.shape == p.shape:
            reward = r.reshape(flat.shape)[rows, columns]
            if end is not None:
                raise ValueError("rewards has the shape of transitions, which says nothing of ends; expected (states, actions)")
        else:
            reward = _rewards_by_row(r, n_states, n_actions)[rows]
        return cls._from_table(
            discount, planner, n_states, n_actions, starts, columns, flat[rows, columns], reward, r, end, available
        )

    @classmethod
    def from_scipy(
        cls,
        transitions: Any,
        rewards: Any,
        *,
        discount: float,
        end: Any = None,
        available: Any = None,
        planner: str | Planner | None = None,
    ) -> MDP:
        """The problem with sparse probabilities: one (states, states) matrix for each action, or one matrix with row ``s * n_actions + a``.

        ``rewards`` is ``[s, a]`` or ``[s]``, or sparse like ``transitions`` for a reward of each outcome. ``end`` and ``available`` are as in
        ``from_arrays``.
        """
        from scipy import sparse

        def stacked(matrices: Any) -> Any:
            """One matrix whose rows go by state and then by action."""
            if sparse.issparse(matrices):
                return sparse.csr_array(matrices)
            parts = [sparse.csr_array(matrix) for matrix in matrices]
            n = parts[0].shape[0] if parts else 0
            if any(part.shape != (n, n) for part in parts):
                raise ValueError(f"transitions have the shapes {[part.shape for part in parts]}; expected the same square")
            order = np.arange(n * len(parts)).reshape(len(parts), n).T.ravel()
            return sparse.vstack(parts, format="csr")[order]

        p = stacked(transitions)
        n_states = p.shape[1]
        if n_states == 0 or p.shape[0] % n_states:
            raise ValueError(f"transitions has the shape {p.shape}; expected (states * actions, states)")
        n_actions = p.shape[0] // n_states
        p.sum_duplicates()
        rows = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
        by_row = None
        if sparse.issparse(rewards) or (
            isinstance(rewards, (list, tuple)) and len(rewards) and sparse.issparse(rewards[0])
        ):
            by_outcome = stacked(rewards)
            if by_outcome.shape != p.shape:
                raise ValueError(f"rewards has the shape {by_outcome.shape}; expected that of transitions, {p.shape}")
            reward = np.asarray(by_outcome[rows, p.indices], dtype=np.float64).ravel()
            if end is not None:
                raise ValueError("rewards is sparse, which says nothing of ends; expected (states, actions)")
        else:
            by_row = np.asarray(rewards, dtype=np.float64)
            reward = _rewards_by_row(by_row, n_states, n_actions)[rows]
        return cls._from_table(
            discount, planner, n_states, n_actions, p.indptr, p.indices, p.data, reward, by_row, end, available
        )

    @classmethod
    def _from_table(
        cls,
        discount: float,
        planner: str | Planner | None,
        n_states: int,
        n_actions: int,
        starts: Any,
        columns: Any,
        probabilities: Any,
        rewards: Any,
        rewards_by_row: Any,
        end: Any,
        available: Any,
    ) -> MDP:
        """Rows in the order of states and actions; ends are put in and rows that are not available left out."""
        n_rows = n_states * n_actions
        keep = np.ones(n_rows, bool)
        if available is not None:
            mask = np.asarray(available, dtype=bool)
            if mask.shape != (n_states, n_actions):
                raise ValueError(f"available has the shape {mask.shape}; expected {(n_states, n_actions)}")
            keep = mask.ravel()
        counts = np.diff(starts)
        row_of = np.repeat(np.arange(n_rows), counts)
        columns, probabilities, rewards = map(np.asarray, (columns, probabilities, rewards))
        if end is not None:
            ends = np.asarray(end, dtype=np.float64)
            if ends.shape != (n_states, n_actions):
                raise ValueError(f"end has the shape {ends.shape}; expected {(n_states, n_actions)}")
            by_row = _rewards_by_row(rewards_by_row, n_states, n_actions)
            ending = np.flatnonzero(ends.ravel())
            row_of = np.concatenate([row_of, ending])
            order = np.argsort(row_of, kind="stable")
            row_of = row_of[order]
            columns = np.concatenate([columns, np.full(len(ending), -1)])[order]
            probabilities = np.concatenate([probabilities, ends.ravel()[ending]])[order]
            rewards = np.concatenate([rewards, by_row[ending]])[order]
        chosen = keep[row_of]
        rows = np.flatnonzero(keep)
        counts = np.bincount(row_of[chosen], minlength=n_rows)[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls._from_rows(
            discount,
            planner,
            n_states,
            rows // n_actions if n_actions else rows,
            rows % n_actions if n_actions else rows,
            starts,
            columns[chosen],
            probabilities[chosen],
            rewards[chosen],
        )

    @classmethod
    def _from_rows(
        cls,
        discount: float,
        planner: str | Planner | None,
        n_states: int,
        states: Any,
        actions: Any,
        starts: Any,
        next_states: Any,
        probabilities: Any,
        rewards: Any,
    ) -> MDP:
        def column(values: Any, dtype: Any) -> Any:
            return np.ascontiguousarray(values, dtype=dtype)

        return cls._of(
            Solver.from_rows(
                discount,
                planner,
                n_states,
                column(states, np.int64),
                column(actions, np.int64),
                column(starts, np.int64),
                column(next_states, np.int64),
                column(probabilities, np.float64),
                column(rewards, np.float64),
            )
        )

    def set_outcomes(self, state: Hashable, action: Hashable, outcomes: Iterable[Sequence[Any]]) -> None:
        """Set what an action leads to: a list of (probability, next state, reward, terminated).

        New states and actions are added. Values are kept, so that the next ``solve`` only does what changed.
        """
        self._solver.set_outcomes(state, action, [tuple(outcome) for outcome in outcomes])

    def solve(self, tolerance: float = 1e-9) -> Solution:
        """Plan until every value is proven to be within ``tolerance`` of the optimum, starting from the values there are.

        With discount 1 the values must be defined: every policy ends, or rewards have one sign.
        """
        error_bound, converged, cycles = self._solver.solve(tolerance)
        return Solution(
            states=self._solver.states(),
            values=self._solver.values(),
            policy=self._solver.policy(),
            error_bound=error_bound,
            converged=converged,
            cycles=cycles,
        )

    def value(self, state: Hashable) -> float:
        """The value of a state."""
        return self._solver.value(state)

    def best_action(self, state: Hashable) -> Any:
        """A best action of a state; ``None`` if it has none."""
        return self._solver.best_action(state)

    def action_values(self, state: Hashable) -> dict[Any, float]:
        """The values of a state's actions."""
        return self._solver.action_values(state)

    @property
    def states(self) -> list[Hashable]:
        """All states."""
        return self._solver.states()

    @property
    def discount(self) -> float:
        """The discount."""
        return self._solver.discount()

    @property
    def planner(self) -> str:
        """The name of the planner."""
        return self._solver.planner()

    @property
    def model(self) -> Model:
        """The probabilities, as sparse matrices."""
        return self._solver.model()

    @property
    def stats(self) -> Stats:
        """What was done so far."""
        return self._solver.stats()

    def audit(self) -> Audit:
        """Recompute everything from the model: how exact the values are."""
        return self._solver.audit()

    def __copy__(self) -> MDP:
        return self._of(copy.copy(self._solver))

    def __contains__(self, state: Hashable) -> bool:
        return self._solver.contains(state)

    def __len__(self) -> int:
        return self._solver.n_states()

    def __repr__(self) -> str:
        return f"<backsweep.MDP: {len(self)} states, discount {self.discount}>"


def _rewards_by_row(rewards: Any, n_states: int, n_actions: int) -> Any:
    r = np.asarray(rewards, dtype=np.float64)
    if r.shape == (n_states,):
        return np.repeat(r, n_actions)
    if r.shape == (n_states, n_actions):
        return r.ravel()
    raise ValueError(
        f"rewards has the shape {r.shape}; expected {(n_states, n_actions)}, {(n_states,)}, or that of transitions"
    )
