"""Known problems as arrays: from Gymnasium's tables, dense arrays and sparse matrices to the columns that the engine reads."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ._backsweep import KnownModel

Array = np.ndarray[Any, np.dtype[Any]]

# Above this many ids, states must use a large share of them.
ALWAYS_DENSE = 1 << 20


def is_numbered(table: Mapping[Any, Any]) -> bool:
    """Return whether all states and actions of a table are whole numbers from 0 on."""

    def numbers(names: Any) -> bool:
        return all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) and name >= 0 for name in names)

    return numbers(table) and all(
        numbers(actions) and all(numbers(outcome[1] for outcome in outcomes) for outcomes in actions.values())
        for actions in table.values()
    )


def check_next_states(table: Mapping[Any, Any]) -> None:
    """Refuse a next state that has no row, such as -1, unless the episode ends there: it would pass for a state worth 0."""
    for state, actions in table.items():
        for action, outcomes in actions.items():
            for probability, next_state, _, ended in outcomes:
                if next_state not in table and probability and not is_end(ended):
                    raise ValueError(
                        f"action {action!r} in state {state!r} leads to {next_state!r}, which is not in the table; expected one of its "
                        "states, or an outcome that is terminated"
                    )


def is_end(flag: Any) -> bool:
    """The flag of an outcome."""
    if not isinstance(flag, (bool, np.bool_)) and not (isinstance(flag, (int, np.integer)) and flag in (0, 1)):
        raise TypeError(f"terminated is {flag!r} in an outcome of the table; expected True or False")
    return bool(flag)


def from_table(table: Mapping[Any, Any], discount: float, normalize: bool) -> KnownModel:
    """The model of ``{state: {action: [(probability, next state, reward, terminated)]}}`` with whole numbers."""
    rows = [(int(state), int(action), table[state][action]) for state in sorted(table) for action in sorted(table[state])]
    outcomes = [outcome for row in rows for outcome in row[2]]
    mentioned = {int(state) for state in table} | {int(outcome[1]) for outcome in outcomes}
    n_states = 1 + max(mentioned, default=-1)
    if n_states > ALWAYS_DENSE and n_states > 8 * len(mentioned):
        raise ValueError(
            f"the table has {len(mentioned)} states with numbers up to {n_states - 1}; expected numbers without large gaps; "
            "renumber the states, or use MDP.set_outcomes, which takes any names"
        )
    check_next_states(table)
    probabilities = np.asarray([outcome[0] for outcome in outcomes])
    action_names = sorted({row[1] for row in rows})
    ids = {action: i for i, action in enumerate(action_names)}
    return KnownModel.from_columns(
        discount,
        n_states,
        np.asarray([row[0] for row in rows], np.int64),
        np.asarray([ids[row[1]] for row in rows], np.int64),
        action_names,
        np.concatenate([[0], np.cumsum([len(row[2]) for row in rows], dtype=np.int64)]).astype(np.int64),
        np.asarray([-1 if is_end(ended) else int(next_state) for _, next_state, _, ended in outcomes], np.int64),
        probabilities.astype(np.float64),
        np.asarray([float(outcome[2]) for outcome in outcomes]),
        precision(probabilities),
        normalize,
    )


def from_dense(transitions: Any, rewards: Any, discount: float, end: Any, available: Any, normalize: bool) -> KnownModel:
    """The model of arrays ``transitions[s, a, t]`` and rewards ``[s, a, t]``, ``[s, a]`` or ``[s]``."""
    given = np.asarray(transitions)
    if given.ndim != 3 or given.shape[0] != given.shape[2]:
        raise ValueError(f"transitions has the shape {given.shape}; expected (states, actions, states)")
    n_states, n_actions = given.shape[:2]
    places = np.flatnonzero(given)
    row_ends = np.arange(n_states * n_actions + 1) * n_states
    starts, next_states = np.searchsorted(places, row_ends), places % max(n_states, 1)
    r = np.asarray(rewards, dtype=np.float64)
    by_entry = r.shape == given.shape
    if by_entry:
        if end is not None:
            raise ValueError("rewards has one entry per transition, but this model has terminating steps, whose rewards need the shape (states, actions)")
        r = r.reshape(-1)[places]
    else:
        r = rewards_by_row(r, n_states, n_actions)
    rows = (starts, next_states, given.reshape(-1)[places])
    return from_rows((n_states, n_actions), rows, r, by_entry, discount, end, available, precision(given), normalize)


def from_sparse(transitions: Any, rewards: Any, discount: float, end: Any, available: Any, normalize: bool) -> KnownModel:
    """The model of one (states, states) matrix for each action, or of one matrix with row ``s * n_actions + a``."""
    from scipy import sparse

    def parts(matrices: Any, name: str) -> list[Any]:
        """The matrices in compressed rows; those already in this form are not copied, and none is changed."""
        if sparse.issparse(matrices):
            return [sparse.csr_array(matrices)]
        found = [sparse.csr_array(matrix) for matrix in matrices]
        n = found[0].shape[0] if found else 0
        if any(part.shape != (n, n) for part in found):
            raise ValueError(f"{name} has the shapes {[part.shape for part in found]}; expected the same square")
        return found

    p = parts(transitions, "transitions")
    n_states = p[0].shape[1] if p else 0
    if n_states == 0 or p[0].shape[0] % n_states:
        raise ValueError(f"transitions has the shape {p[0].shape if p else ()}; expected (states * actions, states)")
    n_actions = len(p) if len(p) > 1 else p[0].shape[0] // n_states
    rows = in_turn(p, "transitions")
    by_entry = sparse.issparse(rewards) or (isinstance(rewards, (list, tuple)) and len(rewards) > 0 and sparse.issparse(rewards[0]))
    if by_entry:
        matrices = parts(rewards, "rewards")
        shape = (sum(part.shape[0] for part in matrices), matrices[0].shape[1])
        if shape != (n_states * n_actions, n_states):
            raise ValueError(f"rewards has the shape {shape}; expected that of transitions, {(n_states * n_actions, n_states)}")
        if end is not None:
            raise ValueError("rewards is sparse, but this model has terminating steps, whose rewards need the shape (states, actions)")
        r = matched(in_turn(matrices, "rewards"), rows, n_states)
    else:
        r = rewards_by_row(rewards, n_states, n_actions)
    eps = max(precision(part.data) for part in p)
    return from_rows((n_states, n_actions), rows, r, by_entry, discount, end, available, eps, normalize)


# Rows of states and actions in order: where each begins, and the next state and the number of each entry.
Rows = tuple[Array, Array, Array]


def in_turn(matrices: list[Any], name: str) -> Rows:
    """The rows of a matrix, or of several: the first row of each, then the second, and so on."""
    lengths = np.stack([np.diff(matrix.indptr) for matrix in matrices], axis=1)
    if (lengths < 0).any() or any(matrix.indptr[0] < 0 or matrix.indptr[-1] > len(matrix.data) for matrix in matrices):
        raise ValueError(f"{name} has row starts that are not increasing, or beyond its entries")
    if len(matrices) == 1:
        matrix, used = matrices[0], slice(matrices[0].indptr[0], matrices[0].indptr[-1])
        starts, columns, numbers = matrix.indptr - matrix.indptr[0], matrix.indices[used], matrix.data[used]
    else:
        starts = np.append(0, np.cumsum(lengths, dtype=np.int64))
        columns, numbers = np.empty(starts[-1], np.int64), np.empty(starts[-1])
        for i, matrix in enumerate(matrices):
            entries = np.arange(matrix.indptr[0], matrix.indptr[-1])
            places = entries + np.repeat(starts[i : -1 : len(matrices)] - matrix.indptr[:-1], lengths[:, i])
            columns[places], numbers[places] = matrix.indices[entries], matrix.data[entries]
    last = matrices[0].shape[1] - 1
    if len(columns) and (columns.min() < 0 or columns.max() > last):
        wrong = columns[(columns < 0) | (columns > last)]
        raise ValueError(f"{name} has the column index {wrong[0]}; expected 0 to {last}")
    return starts, columns, numbers


def matched(rewards: Rows, transitions: Rows, n_states: int) -> Array:
    """The reward of each transition, 0 where none is given; those given twice add up."""

    def keys(rows: Rows) -> Array:
        return np.repeat(np.arange(len(rows[0]) - 1) * n_states, np.diff(rows[0])) + rows[1]

    known, entries = np.unique(keys(rewards), return_inverse=True)
    sums = np.append(np.bincount(entries, rewards[2], len(known)), 0.0)
    wanted = keys(transitions)
    at = np.searchsorted(known, wanted)
    return np.where(np.append(known, -1)[at] == wanted, sums[at], 0.0)


def from_rows(
    shape: tuple[int, int], rows: Rows, rewards: Array, by_entry: bool, discount: float, end: Any, available: Any, eps: float, normalize: bool
) -> KnownModel:
    """The model of these rows, with a reward per row, or per entry."""
    (n_states, n_actions), (starts, next_states, numbers) = shape, rows
    lengths = np.diff(starts)
    of_entries = rewards if by_entry else np.repeat(rewards, lengths)
    if end is not None:
        # The end is the last outcome of its row.
        ends, end_eps = by_row(end, "end", np.float64, n_states, n_actions)
        eps, ending = max(eps, end_eps), np.flatnonzero(ends)
        places = starts[ending + 1]
        next_states, numbers = np.insert(next_states, places, -1), np.insert(numbers, places, ends[ending])
        of_entries = np.insert(of_entries, places, rewards[ending])
        lengths[ending] += 1
    states, actions = np.repeat(np.arange(n_states), n_actions), np.tile(np.arange(n_actions), n_states)
    if available is not None:
        exists, _ = by_row(available, "available", np.bool_, n_states, n_actions)
        kept = np.repeat(exists, lengths)
        next_states, numbers, of_entries = next_states[kept], numbers[kept], of_entries[kept]
        states, actions, lengths = states[exists], actions[exists], lengths[exists]
    return KnownModel.from_columns(
        discount,
        n_states,
        states,
        actions,
        list(range(n_actions)),
        np.append(0, np.cumsum(lengths, dtype=np.int64)),
        flat(next_states, np.int64),
        flat(numbers, np.float64),
        flat(of_entries, np.float64),
        eps,
        normalize,
    )


def flat(array: Any, dtype: Any) -> Array:
    """The items as a contiguous array, without a copy if they already are one."""
    return np.ascontiguousarray(array, dtype=dtype).reshape(-1)


def by_row(array: Any, name: str, dtype: Any, n_states: int, n_actions: int) -> tuple[Array, float]:
    """One item for each action of each state, and the precision in which they were given."""
    given = np.asarray(array)
    if given.shape != (n_states, n_actions):
        raise ValueError(f"{name} has the shape {given.shape}; expected {(n_states, n_actions)}")
    return flat(given, dtype), precision(given)


def precision(numbers: Array) -> float:
    """The relative rounding error of the type in which numbers were given; 0 for double precision and whole numbers."""
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize < 8:
        return float(np.finfo(numbers.dtype).eps)
    return 0.0


def rewards_by_row(rewards: Any, n_states: int, n_actions: int) -> Array:
    """The reward of each action of each state."""
    r = np.asarray(rewards, dtype=np.float64)
    if r.shape == (n_states,):
        return np.repeat(r, n_actions)
    if r.shape == (n_states, n_actions):
        return flat(r, np.float64)
    raise ValueError(
        f"rewards has the shape {r.shape}; expected {(n_states, n_actions)}, {(n_states,)}, or that of transitions"
    )
