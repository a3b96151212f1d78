"""Known problems as columns: from Gymnasium's tables, dense arrays and sparse matrices to what the solver takes."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# States with more ids than this must use a good part of them.
ALWAYS_DENSE = 1 << 20


class Columns(NamedTuple):
    """Row ``i`` is action ``actions[i]`` of state ``states[i]``; its outcomes are ``starts[i]`` to ``starts[i + 1]``."""

    n_states: int
    states: Array
    actions: Array
    starts: Array
    next_states: Array
    """-1 where the episode ends."""
    probabilities: Array
    rewards: Array


def is_numbered(table: Mapping[Any, Any]) -> bool:
    """Whether all states and actions of a table are whole numbers from 0 on."""

    def numbers(names: Any) -> bool:
        return all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) and name >= 0 for name in names)

    return numbers(table) and all(
        numbers(actions) and all(numbers(outcome[1] for outcome in outcomes) for outcomes in actions.values())
        for actions in table.values()
    )


def is_end(flag: Any) -> bool:
    """The flag of an outcome."""
    if not isinstance(flag, (bool, np.bool_)) and not (isinstance(flag, (int, np.integer)) and flag in (0, 1)):
        raise TypeError(f"terminated is {flag!r} in an outcome of the table; expected True or False")
    return bool(flag)


def from_table(table: Mapping[Any, Any], normalize: bool) -> Columns:
    """The columns of ``{state: {action: [(probability, next state, reward, terminated)]}}`` with whole numbers."""
    rows = [(int(state), int(action), table[state][action]) for state in sorted(table) for action in sorted(table[state])]
    mentioned = {int(state) for state in table} | {int(outcome[1]) for row in rows for outcome in row[2]}
    n_states = 1 + max(mentioned, default=-1)
    if n_states > ALWAYS_DENSE and n_states > 8 * len(mentioned):
        raise ValueError(
            f"the table has {len(mentioned)} states with numbers up to {n_states - 1}; expected numbers without large gaps; "
            "renumber the states, or use MDP.set_outcomes, which takes any names"
        )
    outcomes = [outcome for row in rows for outcome in row[2]]
    starts = np.concatenate([[0], np.cumsum([len(row[2]) for row in rows], dtype=np.int64)])
    probabilities = np.asarray([o[0] for o in outcomes])
    return Columns(
        n_states,
        np.asarray([row[0] for row in rows], np.int64),
        np.asarray([row[1] for row in rows], np.int64),
        starts,
        np.asarray([-1 if is_end(ended) else int(next_state) for _, next_state, _, ended in outcomes], np.int64),
        balanced(probabilities, starts, precision(probabilities), normalize),
        np.asarray([float(o[2]) for o in outcomes]),
    )


def from_dense(transitions: Any, rewards: Any, end: Any, available: Any, normalize: bool) -> Columns:
    """The columns of arrays ``transitions[s, a, t]`` and rewards ``[s, a, t]``, ``[s, a]`` or ``[s]``."""
    given = np.asarray(transitions)
    p = given.astype(np.float64, copy=False)
    if p.ndim != 3 or p.shape[0] != p.shape[2]:
        raise ValueError(f"transitions has the shape {p.shape}; expected (states, actions, states)")
    n_states, n_actions = p.shape[:2]
    flat = p.reshape(n_states * n_actions, n_states)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(flat, axis=1))])
    rows, columns = np.nonzero(flat)
    r = np.asarray(rewards, dtype=np.float64)
    by_row = None
    if r.shape == p.shape:
        reward = r.reshape(flat.shape)[rows, columns]
        if end is not None:
            raise ValueError("rewards has the shape of transitions, which gives no rewards for ends; expected (states, actions)")
    else:
        by_row = rewards_by_row(r, n_states, n_actions)
        reward = by_row[rows]
    return _complete(
        n_states, n_actions, starts, columns, flat[rows, columns], reward, by_row, end, available, precision(given), normalize
    )


def from_sparse(transitions: Any, rewards: Any, end: Any, available: Any, normalize: bool) -> Columns:
    """The columns of one (states, states) matrix for each action, or of one matrix with row ``s * n_actions + a``."""
    from scipy import sparse

    def stacked(matrices: Any, name: str) -> Any:
        """One matrix whose rows go by state and then by action; none of the caller's arrays is changed."""
        if sparse.issparse(matrices):
            matrix = sparse.csr_array(matrices)
        else:
            parts = [sparse.csr_array(matrix) for matrix in matrices]
            n = parts[0].shape[0] if parts else 0
            if any(part.shape != (n, n) for part in parts):
                raise ValueError(f"{name} has the shapes {[part.shape for part in parts]}; expected the same square")
            for part in parts:
                _check_indices(part, name)
            order = np.arange(n * len(parts)).reshape(len(parts), n).T.ravel()
            matrix = sparse.vstack(parts, format="csr")[order]
        _check_indices(matrix, name)
        # csr_array shares the arrays of a matrix that has this format already, and summing works in place.
        matrix = matrix.copy()
        matrix.sum_duplicates()
        return matrix

    p = stacked(transitions, "transitions")
    n_states = p.shape[1]
    if n_states == 0 or p.shape[0] % n_states:
        raise ValueError(f"transitions has the shape {p.shape}; expected (states * actions, states)")
    n_actions = p.shape[0] // n_states
    rows = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr))
    by_row = None
    if sparse.issparse(rewards) or (isinstance(rewards, (list, tuple)) and len(rewards) and sparse.issparse(rewards[0])):
        by_outcome = stacked(rewards, "rewards")
        if by_outcome.shape != p.shape:
            raise ValueError(f"rewards has the shape {by_outcome.shape}; expected that of transitions, {p.shape}")
        reward = np.asarray(by_outcome[rows, p.indices], dtype=np.float64).ravel()
        if end is not None:
            raise ValueError("rewards is sparse, which gives no rewards for ends; expected (states, actions)")
    else:
        by_row = rewards_by_row(rewards, n_states, n_actions)
        reward = by_row[rows]
    return _complete(
        n_states, n_actions, p.indptr, p.indices, p.data, reward, by_row, end, available, precision(p.data), normalize
    )


def _check_indices(matrix: Any, name: str) -> None:
    wrong = np.flatnonzero((matrix.indices < 0) | (matrix.indices >= matrix.shape[1]))
    if len(wrong):
        raise ValueError(f"{name} has the column index {matrix.indices[wrong[0]]}; expected 0 to {matrix.shape[1] - 1}")


def _complete(
    n_states: int,
    n_actions: int,
    starts: Any,
    columns: Any,
    probabilities: Any,
    rewards: Any,
    by_row: Any,
    end: Any,
    available: Any,
    eps: float,
    normalize: bool,
) -> Columns:
    """Rows in the order of states and actions: adds the ends, drops rows that are not available."""
    n_rows = n_states * n_actions
    keep = np.ones(n_rows, bool)
    if available is not None:
        mask = np.asarray(available, dtype=bool)
        if mask.shape != (n_states, n_actions):
            raise ValueError(f"available has the shape {mask.shape}; expected {(n_states, n_actions)}")
        keep = mask.ravel()
    row_of = np.repeat(np.arange(n_rows), np.diff(starts))
    if end is not None:
        ends = np.asarray(end)
        eps = max(eps, precision(ends))
        if ends.shape != (n_states, n_actions):
            raise ValueError(f"end has the shape {ends.shape}; expected {(n_states, n_actions)}")
        ending = np.flatnonzero(ends.ravel())
        row_of = np.concatenate([row_of, ending])
        order = np.argsort(row_of, kind="stable")
        row_of = row_of[order]
        columns = np.concatenate([columns, np.full(len(ending), -1)])[order]
        probabilities = np.concatenate([probabilities, ends.ravel()[ending]])[order]
        rewards = np.concatenate([rewards, by_row[ending]])[order]
    chosen = keep[row_of]
    rows = np.flatnonzero(keep)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row_of[chosen], minlength=n_rows)[rows])])
    return Columns(
        n_states,
        rows // n_actions if n_actions else rows,
        rows % n_actions if n_actions else rows,
        starts,
        columns[chosen],
        balanced(probabilities[chosen], starts, eps, normalize),
        rewards[chosen],
    )


def precision(numbers: Array) -> float:
    """The relative rounding error of the type in which numbers were given; 0 for double precision and whole numbers."""
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize < 8:
        return float(np.finfo(numbers.dtype).eps)
    return 0.0


def balanced(probabilities: Array, starts: Array, eps: float, normalize: bool) -> Array:
    """Probabilities whose rows sum to 1: divided by their sum if that is wanted, or if it is 1 within the precision of their type."""
    p = probabilities.astype(np.float64)
    counts = np.diff(starts)
    if not len(p) or not (normalize or eps > 0):
        return p
    rows = np.repeat(np.arange(len(counts)), counts)
    sums = np.bincount(rows, weights=p, minlength=len(counts))
    # Each number is off by eps / 2 at most, relative to itself, and the sum of n that were rounded on the way by n of them.
    near = np.abs(sums - 1.0) <= eps * np.maximum(counts, 2)
    divide = (sums > 0) & np.isfinite(sums) if normalize else near
    factor = np.where(divide, sums, 1.0)
    return np.asarray(p / factor[rows])


def rewards_by_row(rewards: Any, n_states: int, n_actions: int) -> Array:
    """The reward of each action of each state."""
    r = np.asarray(rewards, dtype=np.float64)
    if r.shape == (n_states,):
        return np.repeat(r, n_actions)
    if r.shape == (n_states, n_actions):
        return r.ravel()
    raise ValueError(
        f"rewards has the shape {r.shape}; expected {(n_states, n_actions)}, {(n_states,)}, or that of transitions"
    )
