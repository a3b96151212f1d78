"""Models that are larger than memory: they stay on disk, and only values are held."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from . import _functions
from ._backsweep import DiskModel, ModelWriter, StateRows
from ._progress import Bar

__all__ = ["StreamedMDP", "StreamedSolution"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ids = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(repr=False, eq=False)
class StreamedSolution:
    """The result of ``StreamedMDP.solve``. For every state, ``lower <= value <= upper`` is proven, however it was stopped."""

    values: Floats
    """The value of each state: the middle of its interval."""
    lower: Floats
    """The value of each state is at least this."""
    upper: Floats
    """The value of each state is at most this."""
    policy: Ids
    """A best action of each state, by its place among the actions of the state; -1 where there is no action."""
    converged: bool
    """True if every value is proven to be within the tolerance."""
    passes: int
    """Passes over the file."""
    seconds: float
    """The time it took, in seconds."""
    explanation: list[str]
    """The decisions and their reasons, one line each."""
    stopped: str | None
    """``"Ctrl-C"`` or ``"the time limit"`` if one of them stopped the work before the tolerance was reached."""

    def __repr__(self) -> str:
        state = "converged" if self.converged else f"not converged ({self.stopped or self.explanation[-1]})"
        return f"<StreamedSolution of {len(self.values)} states: {state}, {self.passes} passes, {self.seconds:.3g} s>"


class StreamedMDP:
    """A problem in an uncompressed UMB file, solved while its rows stay on disk.

    Memory holds a few numbers per state and two blocks of rows. States are numbers from 0; only discounted values are computed.
    ``StreamedMDP.from_function`` and ``StreamedMDP.write`` make such files without ever holding the problem.

    Args:
        path: an uncompressed UMB file, as ``MDP.write(path, compress=False)`` writes it.
        discount: how much a reward one step later counts, from 0 to below 1.
        arcs_per_block: how many outcomes are read at a time; a block takes about 64 bytes per outcome.

    Raises:
        ValueError: if the file is compressed or malformed.

    Example:
        >>> mdp = backsweep.StreamedMDP("model.umb", discount=0.99)  # doctest: +SKIP
        >>> mdp.solve(tolerance=1e-4).values[mdp.initial]  # doctest: +SKIP
    """

    def __init__(self, path: str | PathLike[str], *, discount: float, arcs_per_block: int = 1 << 22) -> None:
        if not 0 <= discount < 1:
            raise ValueError(f"discount is {discount}; expected a number from 0 to below 1")
        if arcs_per_block < 1:
            raise ValueError(f"arcs_per_block is {arcs_per_block}; expected 1 or more")
        self._path = fspath(path)
        self._model = DiskModel(self._path, arcs_per_block)
        self.discount = discount
        self.states: list[tuple[int, ...]] | None = None
        """The states by number, if a function made the model in this process."""

    @classmethod
    def from_function(
        cls,
        path: str | PathLike[str],
        start: Any,
        actions: Any,
        outcomes: Callable[..., Any],
        *,
        discount: float,
        limit: int | None = None,
        progress: bool | None = None,
        normalize: bool = False,
    ) -> StreamedMDP:
        """The problem of two functions of arrays, written to disk while states are found. ``states`` has them by number.

        Args:
            path: the UMB file to write.
            start: the state in which episodes begin, as a row of whole numbers, or several rows.
            actions: the number of actions, a list of them, or a function that takes states and returns flags ``[state, action]``.
            outcomes: as for ``MDP.from_function(..., vectorized=True)``.
            discount: how much a reward one step later counts, from 0 to below 1.
            limit: expand at most this many states. The others are ends, worth 0; a warning says so.
            progress: whether to show a bar; by default in a terminal or notebook.
            normalize: whether to divide probabilities by their sum.

        Raises:
            ValueError: if probabilities do not sum to 1; the state and the action are named, and no file is written.
        """
        _, states, stopped, left = _functions.vectorized(start, actions, outcomes, discount, limit, progress, normalize, fspath(path))
        _functions.warn_of_frontier(stopped, left)
        mdp = cls(path, discount=discount)
        mdp.states = states.tuples()
        return mdp

    @property
    def n_states(self) -> int:
        """The number of states."""
        return self._model.counts()[0]

    @property
    def initial(self) -> list[int]:
        """The states in which episodes begin."""
        return self._model.initial()

    def __repr__(self) -> str:
        states, actions, outcomes, _ = self._model.counts()
        return f"<StreamedMDP of {states} states, {actions} actions and {outcomes} outcomes in {self._path}>"

    def solve(
        self,
        tolerance: float = 1e-6,
        *,
        relative: float = 0.0,
        reward: str | None = None,
        minimize: bool = False,
        time_limit: float | None = None,
        progress: bool | None = None,
    ) -> StreamedSolution:
        """Compute the value of every state. Ctrl-C returns the intervals reached so far.

        Args:
            tolerance: how far values may be from the truth.
            relative: the same relative to the size of a value; whichever of the two is met.
            reward: the rewards to add up, if the file has several.
            minimize: whether to compute smallest values.
            time_limit: stop after this many seconds, with the intervals reached so far.
            progress: whether to show a bar; by default in a terminal or notebook.

        Raises:
            ValueError: if a number is out of range, or the file is malformed or has no such rewards.
        """
        with Bar(self._model.counts()[3], progress, unit="blocks") as bar:

            def show(number: int, done: int, _: int, width: float) -> None:
                bar.show(done, f"pass {number}" + (f", intervals {width:.1e} wide" if width < float("inf") else ""))

            arrays, rest = self._model.solve(self.discount, reward, minimize, tolerance, relative, time_limit, show)
        converged, passes, seconds, explanation, stopped = rest
        return StreamedSolution(*arrays, converged, passes, seconds, explanation, stopped)

    @staticmethod
    def write(path: str | PathLike[str], batches: Iterable[Sequence[Any]], *, start: Sequence[int] = ()) -> None:
        """Write a problem that is never held in memory, replacing any existing file.

        Args:
            path: the UMB file to write. Files beside it hold the arrays meanwhile.
            batches: for some states at a time, in order, six arrays: the number of actions of each state; the number of each
                action; how many outcomes each action has; for each outcome the next state (-1 ends the episode), its
                probability and its reward.
            start: the states in which episodes begin.

        Raises:
            ValueError: if arrays do not fit together, or a number is out of range. The file is as it was then.
        """
        writer = ModelWriter(fspath(path))
        for batch in batches:
            if len(batch) != 6:
                raise ValueError(f"a batch has {len(batch)} arrays; expected 6")
            whole = [np.ascontiguousarray(column, np.int64) for column in batch[:4]]
            writer.add(*whole, *(np.ascontiguousarray(column, np.float64) for column in batch[4:]))
        # States have numbers only, and the discount is not in the file.
        writer.finish(0.0, StateRows(1), [int(state) for state in start], [])
