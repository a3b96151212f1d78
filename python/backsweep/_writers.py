"""Writers of what ``learn`` does: a CSV file, TensorBoard."""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._learn import History

__all__ = ["CsvWriter", "TensorBoardWriter", "Writer"]


class Writer:
    """The events of ``learn`` as they happen; a base for writers of your own."""

    def episode(self, history: History) -> None:
        """An episode has ended: the last one of the history.

        Args:
            history: the episodes so far.
        """

    def evaluation(self, history: History) -> None:
        """The recommended policy was evaluated: the last evaluation of the history.

        Args:
            history: the episodes so far.
        """

    def close(self) -> None:
        """Learning has ended."""


class CsvWriter(Writer):
    """Writes episodes and evaluations to a CSV file, a row for each as it happens.

    An evaluation fills the columns ``evaluation`` and ``standard_error``, an episode the others.

    Args:
        path: the file; an existing one is replaced.
    """

    COLUMNS = ("steps", "episode", "return", "length", "terminated", "planning_seconds", "evaluation", "standard_error")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = open(path, "w", newline="", buffering=1, encoding="utf-8")  # noqa: SIM115
        self._rows = csv.writer(self._file)
        self._rows.writerow(self.COLUMNS)
        self._steps = 0

    def episode(self, history: History) -> None:
        self._steps += history.lengths[-1]
        last = history.returns[-1], history.lengths[-1], int(history.terminated[-1]), history.planning_seconds[-1]
        self._rows.writerow([self._steps, len(history) - 1, *last, None, None])

    def evaluation(self, history: History) -> None:
        point = history.evaluations[-1]
        self._rows.writerow([point.steps, *[None] * 5, point.mean, point.evaluation.standard_error])

    def close(self) -> None:
        self._file.close()


class TensorBoardWriter(Writer):
    """Writes episodes and evaluations for TensorBoard. Needs the package ``tensorboard``.

    The tags are ``rollout/return``, ``rollout/length``, ``time/planning_seconds`` and ``eval/mean_return``, all by the number of
    steps.

    Args:
        folder: the folder of this run.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from tensorboard.summary import Writer as Summary
        except ImportError as error:
            raise ImportError("TensorBoardWriter needs tensorboard: pip install tensorboard") from error
        self._summary: Any = Summary(os.fspath(folder))
        self._steps = 0

    def episode(self, history: History) -> None:
        self._steps += history.lengths[-1]
        self._summary.add_scalar("rollout/return", history.returns[-1], self._steps)
        self._summary.add_scalar("rollout/length", history.lengths[-1], self._steps)
        self._summary.add_scalar("time/planning_seconds", history.planning_seconds[-1], self._steps)

    def evaluation(self, history: History) -> None:
        point = history.evaluations[-1]
        self._summary.add_scalar("eval/mean_return", point.mean, point.steps)

    def close(self) -> None:
        self._summary.close()
