"""Policies from logs: files or data frames of cases and decisions."""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ._backsweep import Agent, LearnedLog
from ._backsweep import learn_log as _learn_log
from ._frames import Table, table_of

__all__ = ["Learned", "LogReport", "learn_log"]


@dataclass(frozen=True, repr=False)
class LogReport:
    """The value of a policy, in numbers and words."""

    _native: LearnedLog = field(repr=False)

    @property
    def summary(self) -> dict[str, Any]:
        """Every estimate with its interval, as ``backsweep learn --json`` prints it."""
        summary: dict[str, Any] = json.loads(self._native.summary())
        return summary

    @property
    def finding(self) -> str:
        """The finding on the held-out cases, in a few words."""
        return str(self.summary["finding"])

    @property
    def reasons(self) -> list[str]:
        """The reasons, one sentence each."""
        return list(self.summary["reasons"])

    @property
    def guesses(self) -> list[str]:
        """The guesses about the columns."""
        return self._native.guesses()

    @property
    def warnings(self) -> list[str]:
        """The parts of the log that are probably not meant as they were read."""
        return self._native.warnings()

    @property
    def html(self) -> str:
        """The whole report as one self-contained page."""
        return self._native.html()

    def save(self, folder: str | PathLike[str], *, overwrite: bool = False) -> list[Path]:
        """Write report.html and policy.csv.

        Args:
            folder: the destination; it is created, and other files in it are not touched.
            overwrite: whether to replace an existing report.
        """
        return [Path(path) for path in self._native.save(Path(folder), overwrite)]

    def __repr__(self) -> str:
        return f"<backsweep.LogReport: {self.finding}>"


@dataclass(frozen=True, repr=False)
class Learned:
    """A policy learned from a log."""

    policy: dict[str, str]
    """The action that the policy chooses in each state; where none is supported, the one that was logged most often."""
    values: dict[str, float]
    """The value of each state under the policy, in the fitted model."""
    counts: dict[str, Any]
    """The counts as columns: state, action, next_state (None at an end), fold, n, reward_sum."""
    report: LogReport
    """The estimated value of the policy."""
    _native: LearnedLog = field(repr=False)

    @property
    def states(self) -> dict[str, Any]:
        """A column per fact: state, action, value, count, visits, logged_action, supported, probability, gain."""
        return self._native.states()

    @property
    def probabilities(self) -> dict[str, dict[str, float]]:
        """The probability of each action in each state."""
        return self._native.probabilities()

    def decide(self, row: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The row with ``state``, ``action`` and ``propensity``, the probability with which the action was drawn.

        In a state without support ``action`` is None, and ``refused`` says why.

        Args:
            row: the columns of the state; others are kept.
            seed: of the draw, where several actions have a probability; without it, a fresh one.
        """
        seed = secrets.randbits(64) if seed is None else seed
        answer: dict[str, Any] = json.loads(self._native.decide(json.dumps(dict(row), default=_plain), seed))
        return answer

    def agent(self) -> Agent:
        """An agent that knows the counts of all supported actions. It can continue learning, be saved, and be solved with a bound:
        ``learned.agent().solve()``."""
        return Agent.from_bytes(self._native.agent())

    def __repr__(self) -> str:
        return f"<backsweep.Learned: {len(self.policy)} states, {self.report.finding}>"


def learn_log(
    log: Any,
    *,
    case: str | None = None,
    state: str | Sequence[str] = (),
    action: str | Sequence[str] = (),
    order: str | None = None,
    reward: str | None = None,
    next_state: str | Sequence[str] = (),
    final: Mapping[str, Mapping[Any, float]] | None = None,
    ended_by: str | None = None,
    truncated: str | None = None,
    propensity: str | None = None,
    cut: bool = False,
    missing: str | None = None,
    skip_bad: float = 0.0,
    strict: bool = False,
    discount: float = 0.99,
    min_count: int = 20,
    keep_logged: bool = False,
    pessimism: float = 0.0,
    hold_out: float | str = 0.2,
    hold_out_by: str | None = None,
) -> Learned:
    """Learn a policy from a log of decisions, and estimate what it is worth.

    An action is considered only in states where it was logged at least ``min_count`` times; a state without such an action keeps what was
    logged. Held-out cases test the policy. ``docs/logs.md`` explains every number.

    Args:
        log: a file or pattern (``"log/*.csv.gz"``), a list of them, or a data frame: pandas, Polars, a PyArrow table or record batch,
            or a mapping of columns.
        case: the column that identifies the case.
        state: the columns that make up the state; numbers can be cut, as in ``"sofa:0|5|10"`` or ``"age:q4"``.
        action: the columns that make up the action, cut in the same way.
        order: the column that orders the rows of a case; without it, rows are taken in the given order.
        reward: the column of rewards.
        next_state: the columns of the next state, if a row is a whole transition.
        final: the reward at the end of a case: ``{"outcome": {"survived": 1, "died": 0}}``.
        ended_by: the column that says whether a row ended its case, or ``"column=value"``; without it, the last row of a case does.
        truncated: the column that says whether a case was cut, for instance by a time limit.
        propensity: the column with the probability with which the logged action was taken; without it, the shares in the log.
        cut: whether no case ended: the log stops in the middle of all of them.
        missing: the name for an empty value of a state or action; without it, such a row is bad.
        skip_bad: bad rows, with their cases, are skipped up to this share of all rows.
        strict: whether to refuse a log that gives a warning, such as one where `1` and `1.0` are two states.
        discount: the factor by which a reward one step later counts, above 0 and at most 1.
        min_count: the number of times an action must have been logged in a state.
        keep_logged: whether actions below the minimum keep their logged probability (SPIBB).
        pessimism: plan as if an action seen n times paid less by this divided by the square root of n.
        hold_out: the share of cases that are held out, rounded to a multiple of 1/16; or, by when cases began, ``"last 20%"`` or a date
            such as ``"2024-05-01"``, from which on they are held out.
        hold_out_by: the column by whose value cases are held out together, such as a hospital.

    Returns:
        The policy with its report.

    Raises:
        ValueError: a column is missing or a row malformed; the message says where.

    Example:
        >>> import backsweep
        >>> log = {"case": [i // 2 for i in range(200)], "hot": ["yes", "no"] * 100,
        ...        "fan": ["on", "off", "off", "off"] * 50, "comfort": [1.0, 1.0, 0.0, 1.0] * 50}
        >>> learned = backsweep.learn_log(log, case="case", state="hot", action="fan", reward="comfort")
        >>> learned.policy["yes"]
        'on'
    """
    if final is not None and len(final) != 1:
        raise ValueError(f"final names {len(final)} columns; expected one, as in {{'outcome': {{'survived': 1, 'died': 0}}}}")
    columns = {
        "case": case,
        "order": order,
        "state": _names(state),
        "action": _names(action),
        "next_state": _names(next_state),
        "reward": reward,
        "ended_by": ended_by,
        "truncated": truncated,
        "propensity": propensity,
        "hold_out_by": hold_out_by,
        "final": next(iter(final)) if final else None,
    }
    rewards = next(iter(final.values())) if final else {}
    options = {
        "cut": cut,
        "missing": missing,
        "skip_bad": skip_bad,
        "strict": strict,
        "hold_out_time": hold_out if isinstance(hold_out, str) else None,
        "final_rewards": [(str(value), repr(reward)) for value, reward in rewards.items()],
    }
    settings = {
        "discount": discount,
        "min_count": min_count,
        "keep_logged": keep_logged,
        "pessimism": pessimism,
        "hold_out": None if isinstance(hold_out, str) else hold_out,
    }
    paths, table = _source(log)
    native = _learn_log(paths, table, columns, options, settings)
    for warning in native.warnings():
        warnings.warn(warning, stacklevel=2)
    states = native.states()
    return Learned(
        policy=dict(zip(states["state"], states["action"])),
        values=dict(zip(states["state"], states["value"].tolist())),
        counts=native.counts(),
        report=LogReport(native),
        _native=native,
    )


def _plain(value: Any) -> Any:
    """NumPy's scalars as Python's."""
    return value.item() if hasattr(value, "item") else str(value)


def _names(columns: str | Sequence[str]) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _source(log: Any) -> tuple[list[str], Table | None]:
    """The files of a log, or the columns of a data frame."""
    if isinstance(log, (str, PathLike)):
        return [fspath(log)], None
    if (table := table_of(log)) is not None:
        return [], table
    if isinstance(log, Iterable):
        paths = list(log)
        if paths and all(isinstance(path, (str, PathLike)) for path in paths):
            return [fspath(path) for path in paths], None
    raise TypeError(
        f"log is {type(log).__name__}; expected a file, a list of files, a mapping of columns, or a data frame of pandas, Polars or PyArrow"
    )
