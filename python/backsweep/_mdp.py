"""Known problems: solved, changed, and solved again from the previous answer."""

from __future__ import annotations

import copy
import warnings
from numbers import Real
from os import PathLike, fspath
from typing import Any, Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np

from . import _tables
from ._backsweep import KnownModel
from ._objectives import Objective, question
from ._progress import Bar
from ._solution import Solution, WhatIf, action_array
from ._types import Audit, Model, Planner, Stats

__all__ = ["MDP"]


def _warn_of(planner: str | Planner | None, stacklevel: int = 3) -> None:
    """Planners learn; a known problem has a solver of its own."""
    if planner is not None:
        message = "the planner of an MDP is ignored: the portfolio solves every problem; omit planner="
        warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


class MDP:
    """A known Markov decision process.

    States and actions are any hashable objects. Build it action by action with ``set_outcomes``, from tables with
    ``from_gymnasium``, ``from_arrays`` and ``from_scipy``, or from a file with ``read``.

    Args:
        discount: how much a reward one step later counts, from 0 to 1.
        planner: deprecated and ignored; every problem is solved by the portfolio of methods for known problems.
    """

    _solver: KnownModel

    def __init__(self, discount: float, *, planner: str | Planner | None = None) -> None:
        _warn_of(planner)
        self._solver = KnownModel(discount)

    @classmethod
    def _of(cls, solver: KnownModel, planner: str | Planner | None = None) -> MDP:
        _warn_of(planner, stacklevel=4)
        mdp = cls.__new__(cls)
        mdp._solver = solver
        return mdp

    @classmethod
    def from_gymnasium(
        cls, env: Any, *, discount: float, planner: str | Planner | None = None, normalize: bool = False
    ) -> MDP:
        """The problem in the table ``P`` of an environment: ``P[state][action]`` lists (probability, next state, reward, terminated).

        Outcomes with the same next state are added up; a terminated outcome ends the episode, whatever its next state. Any other
        next state must be in the table.

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
            return cls._of(_tables.from_table(transitions, discount, normalize), planner)
        _tables.check_next_states(transitions)
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
        return cls._of(_tables.from_dense(transitions, rewards, discount, end, available, normalize), planner)

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
        return cls._of(_tables.from_sparse(transitions, rewards, discount, end, available, normalize), planner)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        discount: float = 1.0,
        format: str | None = None,
        progress: bool | None = None,
    ) -> MDP:
        """Read a problem from a file of another tool, or of ours. Anything an MDP cannot hold causes a warning.

        States and actions are whole numbers, or text if the file has names for them.

        Args:
            path: a UMB (.umb), Storm (.drn), PRISM explicit (.tra) or CSV file, or one that ``save`` wrote (.backsweep).
            discount: how much a reward one step later counts, from 0 to 1; that of the file for .backsweep.
            format: "umb", "drn", "tra", "csv" or "backsweep", if the extension does not say.
            progress: whether to show a bar; by default in a terminal or notebook.
        """
        path = fspath(path)
        if format == "backsweep" or (format is None and path.lower().endswith(".backsweep")):
            return cls.load(path)
        with Bar(100, progress, unit="%") as bar:
            model, notes = KnownModel.read(path, format, discount, lambda done: bar.show(done // 10, "reading"))
        for note in notes:
            warnings.warn(f"{path}: {note}", stacklevel=2)
        return cls._of(model)

    def write(self, path: str | PathLike[str], *, format: str | None = None, compress: bool = True) -> None:
        """Write the problem for other tools, replacing any existing file. Anything the format cannot hold causes a
        warning. Names become text.

        Args:
            path: the file; its extension decides the format: .umb, .drn, .tra, .csv, or .backsweep as ``save`` writes it.
            format: "umb", "drn", "tra", "csv" or "backsweep", if the extension does not say.
            compress: whether to compress .umb; otherwise writing is faster and the file larger.
        """
        path = fspath(path)
        if format == "backsweep" or (format is None and path.lower().endswith(".backsweep")):
            return self.save(path)
        for note in self._solver.write(path, format, compress):
            warnings.warn(f"{path}: {note}", stacklevel=2)

    def set_outcomes(
        self, state: Hashable, action: Hashable, outcomes: Iterable[Sequence[Any]], *, normalize: bool = False
    ) -> None:
        """Set what an action leads to. New states and actions are added; values are kept, so that the next ``solve`` is fast.

        Args:
            state: the state.
            action: the action.
            outcomes: a list of (probability, next state, reward, terminated).
            normalize: whether to divide the probabilities by their sum; otherwise it must be 1.
        """
        self._solver.set_outcomes(state, action, [tuple(outcome) for outcome in outcomes], normalize)

    def set_reward(self, state: Hashable, action: Hashable, reward: float) -> None:
        """Set the reward of an action, for all its outcomes.

        Args:
            state: a known state.
            action: one of its actions.
            reward: the reward.
        """
        self._solver.set_reward(state, action, reward)

    def remove_action(self, state: Hashable, action: Hashable) -> None:
        """Remove an action from a state. A state without actions is an end, worth 0.

        Args:
            state: a known state.
            action: one of its actions.
        """
        self._solver.remove_action(state, action)

    def set_label(self, label: str, states: Iterable[Hashable]) -> None:
        """Label states, for ``Reach`` and ``Total``; the label is removed from all others.

        Args:
            label: the label; "init" stands for the initial states.
            states: known states.
        """
        self._solver.set_label(label, states)

    @property
    def labels(self) -> dict[str, list[Any]]:
        """The labels, each with its states."""
        return self._solver.labels()

    @property
    def rewards(self) -> list[str]:
        """The names of the rewards; unnamed rewards have the empty string."""
        return self._solver.rewards()

    def solve(
        self,
        tolerance: float = 1e-9,
        objective: Objective | None = None,
        *,
        minimize: bool = False,
        method: str | None = None,
        time_limit: float | None = None,
        threads: int | None = None,
    ) -> Solution:
        """Compute every value with an interval that is proven to contain it, and a policy.

        After a change, the previous answer to the same question is repaired where possible. Infinite values are reported as
        infinite, and the policy attains what the values promise. Ctrl-C and the time limit end the work with the intervals
        reached so far, which are still proven.

        Args:
            tolerance: how close values must come to the truth, above 0.
            objective: ``Discounted``, ``Reach``, ``Total``, ``Horizon`` or ``Average``; discounted reward if not given.
            minimize: whether to compute the smallest values that a policy attains, not the largest.
            method: use this method instead of choosing one; see docs/SOLVING.md.
            time_limit: stop after this many seconds.
            threads: how many threads to use; all cores if not given. The result is the same for any number.
        """
        (values, lower, upper, action_ids), rest = self._solver.solve(
            tolerance, question(objective), minimize, method, time_limit, threads
        )
        return Solution(values, lower, upper, *rest, self._solver, action_ids)

    def what_if(
        self,
        changes: Mapping[tuple[Hashable, Hashable], Any],
        tolerance: float | None = None,
        objective: Objective | None = None,
        *,
        minimize: bool = False,
        time_limit: float | None = None,
        threads: int | None = None,
    ) -> WhatIf:
        """Answer what changes would do, without keeping them. Solves the current problem first, if necessary.

        Args:
            changes: ``{(state, action): change}``, where a change is a list of outcomes as for ``set_outcomes`` (a new action
                is added), a number as for ``set_reward``, or ``None`` to remove the action. States must be known.
            tolerance: as for ``solve``; by default that of the latest answer to the same question, or 1e-9.
            objective: as for ``solve``.
            minimize: as for ``solve``.
            time_limit: as for ``solve``, for both answers together.
            threads: as for ``solve``.
        """
        engine = self._solver
        edits: list[tuple[Any, Any, list[Any] | None, float | None]] = []
        for pair, change in changes.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError(f"changes has the key {pair!r}; expected (state, action)")
            if change is None:
                edits.append((*pair, None, None))
            elif isinstance(change, (Real, np.number)):
                edits.append((*pair, None, float(change)))
            else:
                edits.append((*pair, [tuple(outcome) for outcome in change], None))
        (before, after), (changed, old, new), rest = engine.what_if(
            edits, tolerance, question(objective), minimize, time_limit, threads
        )
        states = engine.states()
        actions = zip(action_array(engine, old).tolist(), action_array(engine, new).tolist())
        moved = {states[state]: pair for state, pair in zip(changed.tolist(), actions)}
        return WhatIf(states, before, after, *rest, moved)

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
        """Write the problem and its values to a file, replacing any existing one.

        Args:
            path: the file; a device or pipe is refused.
            encode: a function that turns names other than plain data into plain data, different ones into different data.
        """
        self._solver.save(path, encode)

    @classmethod
    def load(cls, path: str | PathLike[str], *, decode: Callable[[Any], Hashable] | None = None) -> MDP:
        """Load a problem from a file. An agent's file gives the problem that the agent has seen.

        Args:
            path: a file that ``save`` wrote.
            decode: the inverse of the ``encode`` that it was saved with.
        """
        return cls._of(KnownModel.load(path, decode))

    def to_bytes(self, *, encode: Callable[[Any], Hashable] | None = None) -> bytes:
        """The bytes that ``save`` would write.

        Args:
            encode: as for ``save``.
        """
        return self._solver.to_bytes(encode)

    @classmethod
    def from_bytes(cls, data: bytes, *, decode: Callable[[Any], Hashable] | None = None) -> MDP:
        """Load a problem from the bytes of ``to_bytes`` or of a file.

        Args:
            data: the bytes.
            decode: as for ``load``.
        """
        return cls._of(KnownModel.from_bytes(data, decode))

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
        """The name of what solves the problem: "portfolio"."""
        return self._solver.planner()

    @property
    def model(self) -> Model:
        """The probabilities, as sparse matrices."""
        return self._solver.model()

    @property
    def stats(self) -> Stats:
        """Counters of the work so far."""
        return self._solver.stats()

    def audit(self) -> Audit:
        """Recompute everything from the model: how accurate the values are."""
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
