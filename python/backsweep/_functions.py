"""Models from functions and simulators."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Callable, Hashable

import numpy as np

from ._backsweep import DiskModelWriter, KnownModel
from ._progress import Bar
from ._spaces import name_of

# Pairs of states and actions that a vectorized function is asked about at a time.
BATCH = 1 << 18


class States:
    """Rows of whole numbers, numbered in the order in which they were met."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.rows = np.empty((0, n_columns), np.int64)
        # Bits of a column in a key that is one whole number, ten times as fast to sort as bytes; 0 if a row does not fit.
        self.bits = 63 // n_columns if 1 <= n_columns <= 12 else 0
        # Sorted, with the numbers of the sorted keys.
        self.keys = self._key(self.rows)
        self.order = np.empty(0, np.int64)

    def _key(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if self.bits:
            shifted = rows + (1 << (self.bits - 1))
            if ((shifted >= 0) & (shifted < 1 << self.bits)).all():
                key = np.zeros(len(rows), np.int64)
                for column in range(self.n_columns):
                    key = (key << self.bits) | shifted[:, column]
                return key
            self.bits = 0
            if len(self.rows):
                keys = self._key(self.rows)
                self.order = np.argsort(keys, kind="stable")
                self.keys = keys[self.order]
            else:
                self.keys = self._key(self.rows)
        return np.ascontiguousarray(rows).view(f"V{8 * self.n_columns}").ravel()

    def ids(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The numbers of rows; those not met before get the next ones."""
        unique, first, inverse = np.unique(self._key(rows), return_index=True, return_inverse=True)
        place = np.searchsorted(self.keys, unique) if len(self.keys) else np.zeros(len(unique), np.int64)
        known = np.zeros(len(unique), bool)
        inside = place < len(self.keys)
        known[inside] = self.keys[place[inside]] == unique[inside]
        ids = np.empty(len(unique), np.int64)
        ids[known] = self.order[place[known]]
        # In the order in which they occur.
        new = np.flatnonzero(~known)
        new = new[np.argsort(first[new], kind="stable")]
        ids[new] = len(self.rows) + np.arange(len(new))
        if len(new):
            self.rows = np.concatenate([self.rows, rows[first[new]]])
            merged = np.concatenate([self.keys, unique[~known]])
            numbers = np.concatenate([self.order, ids[~known]])
            order = np.argsort(merged, kind="stable")
            self.keys, self.order = merged[order], numbers[order]
        return ids[inverse.ravel()]


def _whole(values: Any, name: str) -> np.ndarray[Any, Any]:
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name} is an array of {array.dtype}; expected whole numbers")
    return array.astype(np.int64)


def vectorized(
    start: Any,
    actions: Any,
    outcomes: Callable[..., Any],
    discount: float,
    limit: int | None,
    progress: bool | None,
    normalize: bool,
    stream: str | None = None,
) -> tuple[KnownModel | None, list[tuple[int, ...]], int]:
    """The engine of a model whose functions take arrays; its states, which are tuples of whole numbers; how many are ends only
    because the enumeration stopped. With ``stream``, rows go to that file as they are found, and there is no engine."""
    first = _whole(start, "start")
    first = first.reshape(1, -1) if first.ndim == 1 else first
    states = States(first.shape[1])
    starts = states.ids(first)
    labels: list[Any] = list(range(actions)) if isinstance(actions, (int, np.integer)) else []
    if not labels and not callable(actions):
        labels = list(actions)
    if not labels and not callable(actions):
        raise ValueError("actions is empty; expected their number, a list of them, or a function of states")
    names = {label: i for i, label in enumerate(labels)}
    parts: list[tuple[np.ndarray[Any, Any], ...]] = []
    done, end = 0, len(states.rows)
    stopped = False
    writer = DiskModelWriter(stream) if stream is not None else None
    with Bar(1, progress, unit="layers") as bar:
        try:
            while done < end and not stopped:
                end = min(end, done + BATCH)
                if limit is not None and end > limit:
                    end, stopped = max(limit, done), True
                    if end == done:
                        break
                batch, numbers = states.rows[done:end], np.arange(done, end)
                allowed = np.ones((len(batch), len(labels)), bool)
                if callable(actions):
                    allowed = np.asarray(actions(batch), bool)
                    if allowed.ndim != 2 or len(allowed) != len(batch):
                        raise ValueError(f"actions returned shape {allowed.shape}; expected one row of flags for each of {len(batch)} states")
                    labels = list(range(allowed.shape[1]))
                    names = {label: label for label in labels}
                for label in labels:
                    which = allowed[:, names[label]]
                    if which.any():
                        parts.append(_rows(states, batch[which], numbers[which], label, names[label], outcomes))
                if writer is not None:
                    _append(writer, parts, range(done, end), normalize)
                    parts = []
                done, end = end, len(states.rows)
                bar.show(0, f"{done:,} states expanded, {end - done:,} on the frontier")
        except KeyboardInterrupt:
            stopped = True
            parts = [part for part in parts if part[0][-1] < done]
    n = len(states.rows)
    if writer is not None:
        # A batch that Ctrl-C cut is on the frontier, like the states that it would have led to.
        _append(writer, [], range(done, n), normalize)
        writer.finish(list(dict.fromkeys(starts.tolist())), [str(label) for label in labels])
        return None, [tuple(row) for row in states.rows.tolist()], n - done if stopped else 0
    pair_state, pair_action, offsets, targets, p, rewards = _in_order(parts)
    engine = KnownModel.from_columns(discount, n, pair_state, pair_action, labels, offsets, targets, p, rewards, 0.0, normalize)
    tuples = [tuple(row) for row in states.rows.tolist()]
    engine = engine.named(tuples)
    engine.set_label("init", [tuples[i] for i in dict.fromkeys(starts.tolist())])
    return engine, tuples, (n - done if stopped else 0)


def _in_order(parts: list[tuple[np.ndarray[Any, Any], ...]]) -> tuple[np.ndarray[Any, Any], ...]:
    """The rows of all parts by states, and within them by actions: states, actions, where rows begin, and their outcomes."""
    if not parts:
        parts = [tuple(np.empty(0, kind) for kind in (np.int64, np.int64, np.int64, np.int64, np.float64, np.float64))]
    pair_state = np.concatenate([part[0] for part in parts])
    pair_action = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[2] for part in parts])
    targets, p, rewards = (np.concatenate([part[i] for part in parts]) for i in (3, 4, 5))
    order = np.lexsort((pair_action, pair_state))
    begins = np.concatenate([[0], np.cumsum(counts)])
    starts_of = begins[:-1][order]
    sizes = counts[order]
    arcs = np.repeat(starts_of - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return pair_state[order], pair_action[order], offsets, targets[arcs], p[arcs], rewards[arcs]


def _append(
    writer: DiskModelWriter, parts: list[tuple[np.ndarray[Any, Any], ...]], numbers: range, normalize: bool
) -> None:
    """Writes the rows of some states, which must be the next ones."""
    pair_state, pair_action, offsets, targets, p, rewards = _in_order(parts)
    sizes = np.diff(offsets)
    row_of = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(row_of, p, minlength=len(sizes))
    if normalize:
        p = p / np.where(sums > 0, sums, 1.0)[row_of]
    n_choices = np.bincount(pair_state - numbers.start, minlength=len(numbers))
    writer.add(n_choices, pair_action, sizes, targets, p, rewards)


def _rows(
    states: States,
    batch: np.ndarray[Any, Any],
    numbers: np.ndarray[Any, Any],
    label: Any,
    action: int,
    outcomes: Callable[..., Any],
) -> tuple[np.ndarray[Any, Any], ...]:
    """The rows of one action in many states: their states, actions, lengths, and all targets, probabilities and rewards."""
    found = outcomes(batch, label)
    if not isinstance(found, tuple) or len(found) not in (3, 4):
        raise TypeError("outcomes returned no tuple of (probabilities, next states, rewards) or these and terminated")
    p = np.asarray(found[0], np.float64)
    if p.ndim != 2 or len(p) != len(batch):
        raise ValueError(f"outcomes returned probabilities of shape {p.shape}; expected one row for each of {len(batch)} states")
    next_states = _whole(found[1], "next states")
    if next_states.shape != (*p.shape, states.n_columns):
        raise ValueError(f"outcomes returned next states of shape {next_states.shape}; expected {(*p.shape, states.n_columns)}")
    rewards = np.broadcast_to(np.asarray(found[2], np.float64).reshape(len(batch), -1), p.shape)
    ended = np.broadcast_to(np.asarray(found[3], bool).reshape(len(batch), -1), p.shape) if len(found) == 4 else np.zeros(p.shape, bool)
    sums = p.sum(axis=1)
    wrong = np.flatnonzero(~(np.abs(sums - 1.0) <= 1e-9) | ~(p >= 0.0).all(axis=1))
    if len(wrong):
        i = wrong[0]
        raise ValueError(f"probabilities of action {label!r} in state {tuple(batch[i].tolist())} sum to {sums[i]}; expected 1, each from 0 to 1")
    live = p > 0.0
    targets = np.full(p.shape, -1, np.int64)
    inside = live & ~ended
    if inside.any():
        targets[inside] = states.ids(next_states[inside])
    return numbers, np.full(len(batch), action, np.int64), live.sum(axis=1), targets[live], p[live], rewards[live]


def simulated(
    env: Any, samples: int, discount: float, limit: int | None, progress: bool | None, seed: int
) -> tuple[KnownModel, int]:
    """The engine of what a simulator does from its first state on; how many states are ends only because the enumeration
    stopped."""
    space = getattr(env, "action_space", None)
    n_actions = getattr(space, "n", None)
    if n_actions is None:
        raise TypeError(f"{env!r} has the action space {space!r}; expected Discrete")
    first_action = int(getattr(space, "start", 0))
    save, restore = _state_functions(env)
    observation, _ = env.reset(seed=seed)
    observed = getattr(env, "observation_space", None)
    ids: dict[Hashable, int] = {name_of(observation, observed): 0}
    waiting = [save()]
    rows: list[tuple[int, int, dict[int, int], float]] = []
    expanded, stopped = 0, False
    with Bar(1, progress, unit="layers") as bar:
        try:
            while expanded < len(waiting):
                if limit is not None and expanded >= limit:
                    stopped = True
                    break
                at, waiting[expanded] = waiting[expanded], None
                found = []
                for action in range(int(n_actions)):
                    counts: dict[int, int] = {}
                    total = 0.0
                    for _ in range(samples):
                        restore(at)
                        observation, reward, terminated, truncated, _ = env.step(action + first_action)
                        total += float(reward)
                        if terminated:
                            target = -1
                        else:
                            name = name_of(observation, observed)
                            target = ids.setdefault(name, len(ids))
                            if target == len(waiting):
                                waiting.append(save())
                        counts[target] = counts.get(target, 0) + 1
                    found.append((expanded, action, counts, total / samples))
                rows += found
                expanded += 1
                bar.show(0, f"{expanded:,} states expanded, {len(waiting) - expanded:,} on the frontier")
        except KeyboardInterrupt:
            stopped = True
    states = np.array([row[0] for row in rows], np.int64)
    actions = np.array([row[1] for row in rows], np.int64)
    sizes = [len(row[2]) for row in rows]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    targets = np.array([target for row in rows for target in row[2]], np.int64)
    p = np.array([count / samples for row in rows for count in row[2].values()], np.float64)
    rewards = np.repeat(np.array([row[3] for row in rows], np.float64), sizes)
    labels = [action + first_action for action in range(int(n_actions))]
    engine = KnownModel.from_columns(discount, len(ids), states, actions, labels, offsets, targets, p, rewards, 0.0, samples > 1)
    names = list(ids)
    engine = engine.named(names)
    engine.set_label("init", [names[0]])
    return engine, (len(ids) - expanded if stopped else 0)


def _state_functions(env: Any) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """Saving and restoring the state of a simulator: by its own methods, or by copies of its attributes."""
    inner = env.unwrapped
    for get, put in (("get_state", "set_state"), ("clone_state", "restore_state"), ("save_state", "load_state")):
        if callable(getattr(inner, get, None)) and callable(getattr(inner, put, None)):
            return getattr(inner, get), getattr(inner, put)
    # The attributes of all wrappers, since they hold state too (a limit of steps does not count here).
    layers = []
    layer = env
    while layer is not inner:
        layers.append(layer)
        layer = layer.env
    layers.append(inner)
    kept = ("env", "spec", "_cached_spec", "action_space", "observation_space", "_action_space", "_observation_space", "metadata")

    def save() -> Any:
        return [copy.deepcopy({k: v for k, v in vars(layer).items() if k not in kept}) for layer in layers]

    def restore(saved: Any) -> None:
        for layer, attributes in zip(layers, saved):
            vars(layer).update(copy.deepcopy(attributes))

    return save, restore


def warn_of_frontier(n: int, what: str = "the enumeration stopped") -> None:
    """States on the frontier are worth 0 from now on, which is a choice that users should know of."""
    if n:
        warnings.warn(
            f"{what}: {n} states were met and not expanded; they are ends, worth 0, and labeled 'frontier'", stacklevel=3
        )


def start_states(start: Any) -> list[Any]:
    """A list of states; anything else is one state."""
    return list(start) if isinstance(start, list) else [start]


