"""Known problems: solved, changed, and solved again from the previous answer."""

from __future__ import annotations

import copy
import warnings
from numbers import Real
from os import PathLike, fspath
from typing import Any, Callable, Hashable, Iterable, Literal, Mapping, Sequence

import numpy as np

from . import _functions, _tables
from ._backsweep import FunctionModel, KnownModel
from ._objectives import Objective, question
from ._progress import Bar
from ._solution import PolicyValue, Solution, WhatIf, action_array
from ._tree import PolicyTree, columns_of, grow
from ._types import Audit, Model, Planner, Stats

__all__ = ["MDP"]


def _warn_of(planner: str | Planner | None, stacklevel: int = 3) -> None:
    """Planners learn; a known problem has a solver of its own."""
    if planner is not None:
        message = "the planner of an MDP is ignored: the portfolio solves every problem; omit planner="
        warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


Policy = Mapping[Hashable, Any] | Callable[[Any], Any]

# The precision if none is asked for: absolute, or relative to the size of a value where that is more.
DEFAULT_TOLERANCES = (1e-9, 1e-9)


def _tolerances(tolerance: float | None, relative: float | None) -> tuple[float, float]:
    """The absolute and the relative tolerance, either of which suffices; 0 for one that is not asked for."""
    if tolerance is None and relative is None:
        return DEFAULT_TOLERANCES
    return 0.0 if tolerance is None else tolerance, 0.0 if relative is None else relative


def _shares(policy: Policy, mdp: MDP) -> list[tuple[Any, Any, float]]:
    """A policy as (state, action, probability); a mapping of actions to probabilities mixes them."""
    if not isinstance(policy, Mapping):
        if not callable(policy):
            expected = "a mapping of states to actions such as dict(zip(mdp.states, actions)), or a function"
            raise TypeError(f"policy is {type(policy).__name__}; expected {expected}")
        policy = {state: policy(state) for state in mdp.states if mdp.actions(state)}
    shares: list[tuple[Any, Any, float]] = []
    for state, action in policy.items():
        if isinstance(action, Mapping):
            row = [(state, one, _share(state, one, share)) for one, share in action.items()]
            total = sum(share for _, _, share in row)
            if abs(total - 1.0) > 1e-9:
                raise ValueError(f"policy in state {state!r} has probabilities that sum to {total}; expected 1")
            shares += row
        elif action is not None:
            shares.append((state, action, 1.0))
    return shares


def _share(state: Any, action: Any, share: Any) -> float:
    if not isinstance(share, (Real, np.number)) or not 0.0 <= float(share) <= 1.0 + 1e-9:
        raise ValueError(f"policy in state {state!r} takes action {action!r} with probability {share!r}; expected a number from 0 to 1")
    return float(share)


class MDP:
    """A known Markov decision process.

    States and actions are any hashable objects. Build it action by action with ``set_outcomes``, from tables with
    ``from_gymnasium``, ``from_arrays`` and ``from_scipy``, or from a file with ``read``.

    Args:
        discount: the factor by which a reward one step later counts, from 0 to 1.
        planner: deprecated and ignored; every problem is solved by the portfolio of methods for known problems.

    Example:
        >>> import backsweep
        >>> mdp = backsweep.MDP(discount=0.9)
        >>> mdp.set_outcomes("hall", "go", [(0.5, "kitchen", 1.0, False), (0.5, "hall", 0.0, False)])
        >>> mdp.set_outcomes("kitchen", "back", [(1.0, "hall", 0.0, False)])
        >>> solution = mdp.solve()
        >>> bool(solution.lower[0] <= solution.values[0] <= solution.upper[0])
        True
        >>> round(mdp.value("hall"), 3)
        3.448
    """

    _solver: KnownModel
    # What finds further states, if the problem is given by functions and a range of values.
    _unexplored: tuple[FunctionModel, tuple[float, float], int | None] | None = None
    # How often each action was sampled, if the probabilities are estimates.
    _samples: int | None = None

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
            discount: the factor by which a reward one step later counts, from 0 to 1.
            planner: as for ``MDP``.
            normalize: whether to divide the probabilities of each action by their sum.

        Raises:
            TypeError: the environment has no table of probabilities.
            ValueError: the table is malformed; the message names the state and action.
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
            discount: the factor by which a reward one step later counts, from 0 to 1.
            end: ``end[s, a]`` is the probability that the episode ends there.
            available: ``available[s, a]`` says which actions exist; a state without any is an end, worth 0.
            planner: as for ``MDP``.
            normalize: whether to divide every row and its end by their sum.

        Raises:
            ValueError: shapes do not fit, or probabilities do not sum to 1.
            MemoryError: the problem would not fit into memory.
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
            discount: the factor by which a reward one step later counts, from 0 to 1.
            end: as for ``from_arrays``.
            available: as for ``from_arrays``.
            planner: as for ``MDP``.
            normalize: as for ``from_arrays``.

        Raises:
            ValueError: shapes do not fit, or probabilities do not sum to 1.
            MemoryError: the problem would not fit into memory.
        """
        return cls._of(_tables.from_sparse(transitions, rewards, discount, end, available, normalize), planner)

    @classmethod
    def from_function(
        cls,
        start: Any,
        actions: Any,
        outcomes: Callable[[Any, Any], Any],
        *,
        discount: float,
        vectorized: bool = False,
        value_range: tuple[float, float] | None = None,
        limit: int | None = None,
        progress: bool | None = None,
        normalize: bool = False,
    ) -> MDP:
        """The problem of two functions. States are found from the start, breadth first.

        With a ``value_range``, states are found only as ``solve(until=..., at=...)`` needs them.

        Args:
            start: the state in which episodes begin, or a list of them.
            actions: ``actions(state)`` returns the actions of a state; none means that it is terminal. With ``vectorized``, it
                takes the states and returns flags ``[state, action]``. Where all states have the same actions, their number or
                a list of them will do.
            outcomes: ``outcomes(state, action)`` returns a list of (probability, next state, reward) or, at the end of an
                episode, (probability, next state, reward, True). With ``vectorized``, it takes whole numbers ``[state, column]``
                and returns arrays: probabilities ``[state, outcome]``, next states ``[state, outcome, column]``, rewards and,
                if episodes end, flags.
            discount: the factor by which a reward one step later counts, from 0 to 1.
            vectorized: whether ``outcomes`` takes many states at a time, which are rows of whole numbers.
            value_range: no state is worth less than the first number or more than the second.
            limit: expand at most this many states. The others are ends, worth 0, labeled "frontier"; a warning says so.
            progress: whether to show a bar; by default in a terminal or notebook.
            normalize: whether to divide the probabilities of each action by their sum.

        Raises:
            ValueError: outcomes are malformed, or probabilities do not sum to 1; the message names the state.

        Example:
            >>> import backsweep
            >>> mdp = backsweep.MDP.from_function(
            ...     3, lambda n: ["down"] if n else [], lambda n, action: [(1.0, n - 1, -1.0)], discount=1.0)
            >>> mdp.solve().values.tolist()
            [-3.0, -2.0, -1.0, 0.0]
        """
        if vectorized:
            if value_range is not None:
                raise ValueError("value_range and vectorized were given; expected at most one of them")
            engine, _, stopped, left = _functions.vectorized(start, actions, outcomes, discount, limit, progress, normalize)
            _functions.warn_of_frontier(stopped, left)
            assert engine is not None, "only a streamed problem has no engine"
            return cls._of(engine)
        _functions.check_limit(limit)
        if not callable(actions):
            every = _functions.action_list(actions)
            actions = lambda state: every
        model = FunctionModel(_functions.start_states(start), actions, outcomes, discount, normalize)
        if value_range is not None:
            try:
                low, high = map(float, value_range)
            except (TypeError, ValueError):
                raise ValueError(f"value_range is {value_range!r}; expected two numbers, (lowest, highest)") from None
            if not (low <= high and np.isfinite([low, high]).all()):
                raise ValueError(f"value_range is ({low}, {high}); expected finite numbers in ascending order")
            mdp = cls._of(model.model(True))
            mdp._unexplored = (model, (low, high), limit)
            return mdp
        with Bar(None, progress) as bar:
            text = "{:,} states expanded, {:,} on the frontier"
            stopped = model.enumerate(limit, lambda expanded, met: bar.show(0, text.format(expanded, met - expanded)))
        expanded, met = model.counts()
        _functions.warn_of_frontier(stopped, met - expanded)
        return cls._of(model.model(False))

    @classmethod
    def from_simulator(
        cls,
        env: Any,
        *,
        discount: float,
        samples: int = 1,
        limit: int | None = None,
        progress: bool | None = None,
        seed: int = 0,
    ) -> MDP:
        """The problem that a Gymnasium environment simulates, found by taking every action in every state, breadth first from
        the first state. The observation must tell states apart.

        A deterministic environment needs one sample per action. The first actions are taken several times, and refused if the
        results differ. With more samples, the probabilities are estimates, so that proven intervals are about the estimated problem.

        Args:
            env: an environment with discrete actions, whose state can be pickled, or saved and restored by methods of its own
                (``get_state`` and ``set_state``, or ``clone_state`` and ``restore_state``).
            discount: the factor by which a reward one step later counts, from 0 to 1.
            samples: the number of times to take each action in each state.
            limit: expand at most this many states. The others are ends, worth 0, labeled "frontier"; a warning says so.
            progress: whether to show a bar; by default in a terminal or notebook.
            seed: the seed of the first ``reset``.

        Raises:
            TypeError: the environment cannot be saved, its actions are not discrete, or observations are not whole numbers or text.
            ValueError: one sample was asked for, and the environment is not deterministic.
        """
        if samples < 1:
            raise ValueError(f"samples is {samples}; expected 1 or more")
        engine, stopped, left = _functions.simulated(env, samples, discount, limit, progress, seed)
        _functions.warn_of_frontier(stopped, left)
        mdp = cls._of(engine)
        mdp._samples = samples if samples > 1 else None
        return mdp

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
            discount: the factor by which a reward one step later counts, from 0 to 1; that of the file for .backsweep.
            format: "umb", "drn", "tra", "csv" or "backsweep", if the extension does not say.
            progress: whether to show a bar; by default in a terminal or notebook.

        Raises:
            FileError: the file is malformed; the message says where, what was found and what was expected.
            OSError: the file cannot be read.
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

        Raises:
            ValueError: the probabilities do not sum to 1; nothing has changed.
        """
        self._solver.set_outcomes(state, action, [tuple(outcome) for outcome in outcomes], normalize)

    def set_reward(self, state: Hashable, action: Hashable, reward: float) -> None:
        """Set the reward of an action, for all its outcomes.

        Args:
            state: a known state.
            action: one of its actions.
            reward: the reward.

        Raises:
            UnknownName: the problem does not have this state or action.
        """
        self._solver.set_reward(state, action, reward)

    def remove_action(self, state: Hashable, action: Hashable) -> None:
        """Remove an action from a state. A state without actions is an end, worth 0.

        Args:
            state: a known state.
            action: one of its actions.

        Raises:
            UnknownName: the problem does not have this state or action.
        """
        self._solver.remove_action(state, action)

    def set_label(self, label: str, states: Iterable[Hashable]) -> None:
        """Label states, for ``Reach`` and ``Total``; the label is removed from all others.

        Args:
            label: the label; "init" stands for the initial states.
            states: known states.

        Raises:
            UnknownName: the problem does not have one of the states.
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
        tolerance: float | None = None,
        objective: Objective | None = None,
        *,
        relative: float | None = None,
        minimize: bool = False,
        method: str | None = None,
        time_limit: float | None = None,
        threads: int | None = None,
        device: Literal["cpu", "cuda", "auto"] = "cpu",
        until: float | None = None,
        at: Hashable | None = None,
    ) -> Solution:
        """Compute every value with an interval that is proven to contain it, and a policy.

        After a change, the previous answer to the same question is repaired where possible. Infinite values are reported as
        infinite, and the policy attains what the values promise. Ctrl-C and the time limit end the work with the intervals
        reached so far, which are still proven.

        Args:
            tolerance: the largest accepted distance of a value from the truth, above 0. By default 1e-9, or 1e-9 times the size
                of the value if that is more.
            relative: the same relative to the size of the value. With ``tolerance``, whichever is met.
            objective: ``Discounted``, ``Reach``, ``Total``, ``Horizon`` or ``Average``; discounted reward if not given.
            minimize: whether to compute the smallest values that a policy attains, not the largest.
            method: use this method instead of choosing one; see docs/solving.md.
            time_limit: stop after this many seconds.
            threads: the number of threads; all cores if not given. The result is the same for any number.
            device: what computes discounted values: ``"cpu"``, ``"cuda"`` (an NVIDIA card) or ``"auto"`` (a card where it is
                there and worth it). Intervals are proven by the processor in any case.
            until: for problems from functions with a ``value_range``: find states until the start is within this of the truth.
            at: with ``until``: the start, if it is to be named.

        Raises:
            ValueError: the objective is not defined for this problem, for instance a total that may have no limit; the message
                says what to do.
            UnknownName: the objective names a label or rewards that the problem does not have.

        Example:
            >>> import backsweep
            >>> mdp = backsweep.MDP(discount=1.0)
            >>> mdp.set_outcomes("start", "walk", [(0.9, "start", 0.0, False), (0.1, "far side", 0.0, False)])
            >>> mdp.set_label("goal", ["far side"])
            >>> float(mdp.solve(objective=backsweep.Reach("goal")).values[0])
            1.0
        """
        if until is not None or at is not None:
            if objective is not None or method is not None or device != "cpu":
                raise ValueError("until and at are for the discounted reward; expected neither objective nor method nor device")
            if relative is not None or (until is None and tolerance is None):
                raise ValueError("at needs an absolute precision; expected until=")
            return self._explore(tolerance if until is None else until, at, minimize, time_limit)
        self._check_explored()
        (values, lower, upper, action_ids), rest = self._solver.solve(
            _tolerances(tolerance, relative), question(objective), minimize, method, time_limit, threads, device
        )
        solution = Solution(values, lower, upper, *rest, self._solver, action_ids)
        if self._samples is not None:
            solution.explanation.append(f"the problem is estimated from {self._samples} samples of each action")
        return solution

    def _check_explored(self) -> None:
        """Refuses a question about all states while there are some that nobody has looked at."""
        if self._unexplored is not None:
            expanded, met = self._unexplored[0].counts()
            if expanded < met:
                raise ValueError(
                    f"this problem has a value_range, and {met - expanded} of the {met} states met so far were not expanded; expected "
                    "solve(until=...), or from_function without a value_range, which finds all states"
                )

    def _explore(self, until: float | None, at: Hashable | None, minimize: bool, time_limit: float | None) -> Solution:
        """Finds states until the start is known well enough."""
        if self._unexplored is None:
            raise ValueError("until and at need a problem from a function with a value_range; expected solve(tolerance)")
        model, value_range, limit = self._unexplored
        starts = self._solver.labels().get("init", [])
        if at is not None and at not in starts:
            raise ValueError(f"at is {at!r}; expected a state in which episodes begin, one of {starts!r}")
        if until is None:
            raise ValueError("until is None; expected a number above 0")
        (lower, upper, action_ids), (converged, seconds, stopped) = model.explore(until, value_range, minimize, limit, time_limit)
        self._solver = model.model(True)
        expanded, met = model.counts()
        explanation = [f"explored from the start: {expanded} of {met} states that were met"]
        if not converged and stopped is None:
            explanation.append("the limit of states was reached" if expanded < met else "rounding keeps intervals from getting narrower")
        begins = np.array(model.start())
        off = float((upper - lower)[begins].max()) / 2
        direction = "smallest" if minimize else "largest"
        objective = f"{direction} discounted reward, discount {self.discount}, at the start"
        middle = lower + (upper - lower) / 2
        bound = off if np.isfinite(off) else None
        return Solution(
            middle, lower, upper, bound, converged, expanded, seconds, explanation, stopped, objective, False, self._solver, action_ids
        )

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
            tolerance: as for ``solve``; by default that of the latest answer to the same question, or that of ``solve``.
            objective: as for ``solve``.
            minimize: as for ``solve``.
            time_limit: as for ``solve``, for both answers together.
            threads: as for ``solve``.

        Raises:
            UnknownName: the problem does not have a state, or an action that is to be removed.

        Example:
            >>> import backsweep
            >>> mdp = backsweep.MDP(discount=0.5)
            >>> mdp.set_outcomes("shop", "sell", [(1.0, "shop", 1.0, False)])
            >>> mdp.what_if({("shop", "sell"): 2.0}).after.round(6).tolist()
            [4.0]
        """
        self._check_explored()
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
            edits, None if tolerance is None else (tolerance, 0.0), question(objective), minimize, time_limit, threads
        )
        states = engine.states()
        actions = zip(action_array(engine, old).tolist(), action_array(engine, new).tolist())
        moved = {states[state]: pair for state, pair in zip(changed.tolist(), actions)}
        return WhatIf(states, before, after, *rest, moved)

    def evaluate(
        self,
        policy: Policy,
        objective: Objective | None = None,
        *,
        tolerance: float | None = None,
        relative: float | None = None,
        minimize: bool = False,
        time_limit: float | None = None,
        threads: int | None = None,
    ) -> PolicyValue:
        """Judge a policy: its own values in proven intervals, how far they are from the best, and where it loses.

        Args:
            policy: the action of each state that has any; a mapping of actions to probabilities mixes them. A function of the
                state will do, too.
            objective: as for ``solve``.
            tolerance: as for ``solve``.
            relative: as for ``solve``.
            minimize: as for ``solve``.
            time_limit: as for ``solve``, for both policies together.
            threads: as for ``solve``.

        Raises:
            UnknownName: the policy names a state or action that the problem does not have.
        """
        self._check_explored()
        engine = self._solver
        numbers, (lost, visits, per_visit), rest = engine.evaluate(
            _shares(policy, self), _tolerances(tolerance, relative), question(objective), minimize, time_limit, threads
        )
        states = engine.states()
        rows = zip(lost.tolist(), visits.tolist(), per_visit.tolist())
        return PolicyValue(states, *numbers, [(states[i], visit, loss) for i, visit, loss in rows], *rest)

    def policy_tree(
        self,
        *,
        columns: Sequence[str] | None = None,
        max_leaves: int | None = None,
        objective: Objective | None = None,
        tolerance: float = 1e-6,
        minimize: bool = False,
    ) -> PolicyTree:
        """A best policy as a small decision tree over the columns of states, which are numbers or tuples of numbers.

        With a discount, the tree may take any of several actions that are equally good up to the tolerance. Its loss against
        the best policy is proven by ``evaluate``, and infinite if it takes an action that a state does not have.

        Args:
            columns: the names of the columns; by default "x0", "x1" and so on.
            max_leaves: at most this many leaves, so that the tree may lose something; as many as needed if not given.
            objective: as for ``solve``; a discounted reward, or ``Total`` without a label.
            tolerance: as for ``solve``.
            minimize: as for ``solve``.

        Example:
            >>> import backsweep
            >>> mdp = backsweep.MDP(discount=0.9)
            >>> for x in range(6):
            ...     mdp.set_outcomes((x, 0), "left", [(1.0, (max(x - 1, 0), 0), float(x == 1), False)])
            ...     mdp.set_outcomes((x, 0), "right", [(1.0, (min(x + 1, 5), 0), 2.0 * (x == 4), False)])
            >>> tree = mdp.policy_tree(columns=["x", "y"])
            >>> tree((5, 0)), tree.n_leaves <= 6, tree.loss < 1e-4
            ('left', True, True)
        """
        if max_leaves is not None and max_leaves < 1:
            raise ValueError(f"max_leaves is {max_leaves}; expected 1 or more")
        chosen: list[Any] = [state for state in self.states if self.actions(state)]
        rows = [columns_of(state) for state in chosen]
        width = len(rows[0]) if rows else 0
        for state, row in zip(chosen, rows):
            if len(row) != width or not all(isinstance(x, (Real, np.number)) for x in row):
                expected = "a number or a tuple of numbers" if state == chosen[0] else f"{width} column{'s' * (width != 1)}, as in the first state"
                raise TypeError(f"state {state!r} does not suit a decision tree; expected {expected}")
        names = [f"x{i}" for i in range(width)] if columns is None else [str(column) for column in columns]
        if len(names) != width:
            raise ValueError(f"columns has {len(names)} names; expected {width}, one for each column of a state")
        self.solve(tolerance, objective, minimize=minimize)
        ids: dict[Any, int] = {}
        suits = np.zeros((len(chosen), len(self._solver.action_names())), bool)
        sign = -1.0 if minimize else 1.0
        # Without a discount, an action that is as good may put off the end forever.
        ties = objective is None and self.discount < 1.0
        for i, state in enumerate(chosen):
            worth = {action: sign * value for action, value in self.action_values(state).items()}
            best = max(worth.values())
            for action, value in worth.items():
                if ties and value >= best - 2 * tolerance:
                    suits[i, ids.setdefault(action, len(ids))] = True
            suits[i, ids.setdefault(self.best_action(state), len(ids))] = True
        root, n_leaves, n_wrong = grow(np.array(rows, float).reshape(len(rows), width), suits[:, : len(ids)], max_leaves)
        tree = PolicyTree(names, list(ids), n_leaves, n_wrong, float("inf"), root)
        taken: dict[Any, Any] = {state: tree(state) for state in chosen}
        if any(action not in self.actions(state) for state, action in taken.items()):
            return tree
        judged = self.evaluate(taken, objective, tolerance=tolerance, minimize=minimize)
        tree.loss = float(judged.gap.max()) if len(judged.gap) else 0.0
        return tree

    def simulate(
        self, policy: Policy, episodes: int = 1, seed: int = 0, *, start: Hashable | None = None, max_steps: int = 1000
    ) -> list[list[tuple[Any, Any, float, Any]]]:
        """Runs of a policy: for each episode, a list of (state, action, reward, next state), the last of which is ``None`` if the
        episode ended. The same seed gives the same runs. Rewards are those of the action, averaged over its outcomes.

        Args:
            policy: as for ``evaluate``.
            episodes: the number of runs.
            seed: the seed of the random numbers.
            start: where runs begin; by default in one of the initial states, or in the first state.
            max_steps: the length at which a run is cut off.

        Raises:
            UnknownName: the policy names a state or action that the problem does not have.
        """
        if episodes < 0 or max_steps < 0:
            raise ValueError(f"episodes is {episodes} and max_steps {max_steps}; expected 0 or more of both")
        return self._solver.simulate(_shares(policy, self), start, episodes, max_steps, seed)

    def value(self, state: Hashable) -> float:
        """The value of a state.

        Args:
            state: a known state.

        Raises:
            UnknownName: the problem does not have this state.
        """
        return self._solver.value(state)

    def values(self) -> dict[Any, float]:
        """The value of every state."""
        return self._solver.values()

    def best_action(self, state: Hashable) -> Any:
        """A best action of a state, that of ``policy()``; ``None`` if it has none.

        Args:
            state: a known state.

        Raises:
            UnknownName: the problem does not have this state.
        """
        return self._solver.best_action(state)

    def policy(self) -> dict[Any, Any]:
        """A best action of every state that has any."""
        return self._solver.policy()

    def action_values(self, state: Hashable) -> dict[Any, float]:
        """The values of a state's actions.

        Args:
            state: a known state.

        Raises:
            UnknownName: the problem does not have this state.
        """
        return self._solver.action_values(state)

    def actions(self, state: Hashable) -> list[Any]:
        """The actions of a state.

        Args:
            state: a known state.

        Raises:
            UnknownName: the problem does not have this state.
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

        Raises:
            FileError: the file is damaged, of another version, or not of ours.
            OSError: the file cannot be read.
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
        mdp = self._of(copy.copy(self._solver))
        mdp._samples = self._samples
        return mdp

    def __contains__(self, state: Hashable) -> bool:
        return self._solver.contains(state)

    def __len__(self) -> int:
        return self._solver.n_states()

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        estimated = "" if self._samples is None else f", estimated from {self._samples} samples per action"
        return f"<backsweep.MDP: {len(self)} states, discount {self.discount}{estimated}>"

    def _repr_html_(self) -> str:
        return self._solver.html()
