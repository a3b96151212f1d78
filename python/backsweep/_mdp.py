"""Known problems: solved, changed, and solved again from where they stood."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from os import PathLike
from typing import Any, Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np

from . import _tables
from ._backsweep import Solver
from ._repr import table
from ._types import Audit, Model, Planner, Stats

__all__ = ["MDP", "Solution"]


@dataclass(frozen=True, repr=False)
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

    def _bound(self) -> str:
        return "no error bound" if self.error_bound is None else f"error bound {self.error_bound:.2g}"

    def __repr__(self) -> str:
        converged = "converged" if self.converged else "not converged"
        return f"<backsweep.Solution: {len(self.states)} states, {converged}, {self._bound()}, {self.cycles} cycles>"

    def _repr_html_(self) -> str:
        rows = [
            ("states", len(self.states)),
            ("converged", "yes" if self.converged else "no"),
            ("error bound", "none" if self.error_bound is None else f"{self.error_bound:.2g}"),
            ("update cycles", self.cycles),
        ]
        return table("backsweep.Solution", rows)


class MDP:
    """A known Markov decision process.

    States and actions are any hashable objects. Build it action by action with ``set_outcomes``, or from tables with
    ``from_gymnasium``, ``from_arrays`` and ``from_scipy``.

    Args:
        discount: how much a reward one step later counts, from 0 to 1.
        planner: the name of a planner, or an object such as ``SmallBackups(queue="bucket")``.
    """

    def __init__(self, discount: float, *, planner: str | Planner | None = None) -> None:
        self._solver = Solver(discount, planner)

    @classmethod
    def _of(cls, solver: Solver) -> MDP:
        mdp = cls.__new__(cls)
        mdp._solver = solver
        return mdp

    @classmethod
    def _from_columns(cls, columns: _tables.Columns, discount: float, planner: str | Planner | None) -> MDP:
        solver = Solver.from_rows(
            discount,
            planner,
            columns.n_states,
            np.ascontiguousarray(columns.states, np.int64),
            np.ascontiguousarray(columns.actions, np.int64),
            np.ascontiguousarray(columns.starts, np.int64),
            np.ascontiguousarray(columns.next_states, np.int64),
            np.ascontiguousarray(columns.probabilities, np.float64),
            np.ascontiguousarray(columns.rewards, np.float64),
        )
        return cls._of(solver)

    @classmethod
    def from_gymnasium(
        cls, env: Any, *, discount: float, planner: str | Planner | None = None, normalize: bool = False
    ) -> MDP:
        """The problem in the table ``P`` of an environment: ``P[state][action]`` lists (probability, next state, reward, terminated).

        Outcomes with the same next state are added up; a terminated outcome ends the episode, whatever its next state.

        Args:
            env: an environment such as FrozenLake, CliffWalking or Taxi.
            discount: how much a reward one step later counts, from 0 to 1.
            planner: as for ``MDP``.
            normalize: whether to divide the probabilities of each action by their sum.
        """
        transitions = getattr(getattr(env, "unwrapped", env), "P", None)
        if not isinstance(transitions, Mapping):
            raise TypeError(f"{env!r} has no table P; expected an environment such as FrozenLake, CliffWalking or Taxi")
        if _tables.is_numbered(transitions):
            return cls._from_columns(_tables.from_table(transitions, normalize), discount, planner)
        mdp = cls(discount, planner=planner)
        for state, actions in transitions.items():
            for action, outcomes in actions.items():
                mdp.set_outcomes(state, action, outcomes, normalize=normalize)
        return mdp

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
        normalize: bool = False,
    ) -> MDP:
        """The problem in dense arrays.

        Args:
            transitions: the probabilities ``[s, a, t]``. Every row and its end must sum to 1, within the precision of the type
                in which they are given.
            rewards: the rewards ``[s, a, t]``, ``[s, a]`` or ``[s]``.
            discount: how much a reward one step later counts, from 0 to 1.
            end: ``end[s, a]`` is the probability that the episode ends there.
            available: ``available[s, a]`` says which actions exist; a state without any is an end, worth 0.
            planner: as for ``MDP``.
            normalize: whether to divide every row and its end by their sum.
        """
        columns = _tables.from_dense(transitions, rewards, end, available, normalize)
        return cls._from_columns(columns, discount, planner)

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
        normalize: bool = False,
    ) -> MDP:
        """The problem in sparse matrices, which are not changed.

        Args:
            transitions: the probabilities: one (states, states) matrix for each action, or one matrix with row
                ``s * n_actions + a``.
            rewards: the rewards ``[s, a]`` or ``[s]``, or sparse like ``transitions`` for a reward of each outcome.
            discount: how much a reward one step later counts, from 0 to 1.
            end: as for ``from_arrays``.
            available: as for ``from_arrays``.
            planner: as for ``MDP``.
            normalize: as for ``from_arrays``.
        """
        columns = _tables.from_sparse(transitions, rewards, end, available, normalize)
        return cls._from_columns(columns, discount, planner)

    def set_outcomes(
        self, state: Hashable, action: Hashable, outcomes: Iterable[Sequence[Any]], *, normalize: bool = False
    ) -> None:
        """Set what an action leads to. New states and actions are added; values are kept, so that the next ``solve`` is short.

        Args:
            state: the state.
            action: the action.
            outcomes: a list of (probability, next state, reward, terminated).
            normalize: whether to divide the probabilities by their sum; otherwise it must be 1.
        """
        self._solver.set_outcomes(state, action, [tuple(outcome) for outcome in outcomes], normalize)

    def solve(self, tolerance: float = 1e-9) -> Solution:
        """Plan until every value is proven to be near the optimum, starting from the values there are.

        With discount 1 the values must be defined: every policy ends, or rewards have one sign. The policy then attains what
        the values promise: where actions are tied, it takes one that leads to an end.

        Args:
            tolerance: how near, above 0.
        """
        error_bound, converged, cycles = self._solver.solve(tolerance)
        return Solution(
            states=self._solver.states(),
            values=self._solver.value_array(),
            policy=self._solver.policy_list(),
            error_bound=error_bound,
            converged=converged,
            cycles=cycles,
        )

    def value(self, state: Hashable) -> float:
        """The value of a state.

        Args:
            state: a known state.
        """
        return self._solver.value(state)

    def values(self) -> dict[Any, float]:
        """The value of every state."""
        return self._solver.values()

    def best_action(self, state: Hashable) -> Any:
        """A best action of a state, that of ``policy()``; ``None`` if it has none.

        Args:
            state: a known state.
        """
        return self._solver.best_action(state)

    def policy(self) -> dict[Any, Any]:
        """A best action of every state that has any."""
        return self._solver.policy()

    def action_values(self, state: Hashable) -> dict[Any, float]:
        """The values of a state's actions.

        Args:
            state: a known state.
        """
        return self._solver.action_values(state)

    def actions(self, state: Hashable) -> list[Any]:
        """The actions of a state.

        Args:
            state: a known state.
        """
        return self._solver.actions(state)

    def save(self, path: str | PathLike[str], *, encode: Callable[[Any], Hashable] | None = None) -> None:
        """Write the problem and its values to a file, in place of the one that was there.

        Args:
            path: the file; a device or pipe is refused.
            encode: a function that turns names other than plain data into plain data, each into its own.
        """
        self._solver.save(path, encode)

    @classmethod
    def load(cls, path: str | PathLike[str], *, decode: Callable[[Any], Hashable] | None = None) -> MDP:
        """The problem in a file. That of an agent gives the problem that the agent has seen.

        Args:
            path: a file that ``save`` wrote.
            decode: the inverse of the ``encode`` that it was saved with.
        """
        return cls._of(Solver.load(path, decode))

    def to_bytes(self, *, encode: Callable[[Any], Hashable] | None = None) -> bytes:
        """The bytes that ``save`` would write.

        Args:
            encode: as for ``save``.
        """
        return self._solver.to_bytes(encode)

    @classmethod
    def from_bytes(cls, data: bytes, *, decode: Callable[[Any], Hashable] | None = None) -> MDP:
        """The problem in bytes of ``to_bytes`` or of a file.

        Args:
            data: the bytes.
            decode: as for ``load``.
        """
        return cls._of(Solver.from_bytes(data, decode))

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

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<backsweep.MDP: {len(self)} states, discount {self.discount}>"

    def _repr_html_(self) -> str:
        return self._solver.html()
