"""Models from functions and simulators."""

from __future__ import annotations

import io
import pickle
import random
import types
import warnings
from typing import Any, Callable, Hashable

import numpy as np

from ._backsweep import KnownModel, ModelWriter, StateRows
from ._progress import Bar
from ._spaces import name_of

# A vectorized function is asked about at most this many states at a time, and about so many that next states have about this many
# numbers.
MOST_STATES = 1 << 18
NEXT_STATE_NUMBERS = 1 << 23

# How often actions of a deterministic simulator are taken, to see whether it is one: (times, up to this many actions).
TAKEN = ((10, 20), (2, 200))

Array = np.ndarray[Any, Any]


def check_limit(limit: int | None) -> None:
    """Refuse what is no number of states."""
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}; expected a number of states, 0 or more")


def _whole(values: Any, name: str) -> Array:
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name} is an array of {array.dtype}; expected whole numbers")
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"{name} contains {array.max()}; expected numbers of 64 bits with a sign")
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
) -> tuple[KnownModel | None, StateRows, str | None, int]:
    """The engine of a model whose functions take arrays; its states; what stopped the enumeration, if anything did, and how many
    states are ends only because of that. With ``stream``, rows go to that file as they are found, and there is no engine."""
    check_limit(limit)
    if np.size(start) == 0:
        raise ValueError("start is empty; expected a row of whole numbers, or several rows")
    first = np.atleast_1d(_whole(start, "start"))
    first = first.reshape(1, -1) if first.ndim == 1 else first
    if first.ndim != 2:
        raise ValueError(f"start has shape {first.shape}; expected a row of whole numbers, or several rows")
    labels: list[Any] = [] if callable(actions) else action_list(actions)
    states = StateRows(first.shape[1])
    starts = states.numbers(np.ascontiguousarray(first))
    writer = ModelWriter(stream)
    done, end, batch = 0, len(states), 1
    stopped: str | None = None
    with Bar(None, progress) as bar:
        try:
            while done < end:
                if limit is not None and done >= limit:
                    stopped = "the limit"
                    break
                end = min(end, done + batch, end if limit is None else limit)
                rows = states.rows(done, end)
                allowed, labels = _allowed(actions, rows, labels)
                parts = [
                    _rows(states, rows[which], np.flatnonzero(which), label, i, outcomes, normalize)
                    for i, (label, which) in enumerate(zip(labels, allowed.T))
                    if which.any()
                ]
                _append(writer, parts, end - done)
                size = max((part[3].size // len(part[0]) for part in parts), default=1) * first.shape[1]
                batch = max(1, min(MOST_STATES, NEXT_STATE_NUMBERS // max(size, 1)))
                done, end = end, len(states)
                bar.show(0, f"{done:,} states expanded, {end - done:,} on the frontier")
        except KeyboardInterrupt:
            # What was being expanded is on the frontier, like the states that it would have led to.
            stopped = "Ctrl-C"
    left = len(states) - done
    _append(writer, [], left)
    engine = writer.finish(discount, states, list(dict.fromkeys(starts.tolist())), labels)
    if engine is not None and left:
        engine.set_label("frontier", [tuple(row) for row in states.rows(done, len(states)).tolist()])
    return engine, states, stopped, left


def action_list(actions: Any) -> list[Any]:
    """The actions that every state has, from their number or a list of them."""
    found = list(range(actions)) if isinstance(actions, (int, np.integer)) else list(actions)
    if not found:
        raise ValueError("actions is empty; expected their number, a list of them, or a function of states")
    return found


def _allowed(actions: Any, rows: Array, labels: list[Any]) -> tuple[Array, list[Any]]:
    """Flags of the actions that states have, and the names of all actions."""
    if not callable(actions):
        return np.ones((len(rows), len(labels)), bool), labels
    allowed = np.asarray(_called(actions, f"actions of {_some(rows)}", rows))
    if allowed.dtype.kind not in "biu" or allowed.ndim != 2 or len(allowed) != len(rows):
        found = f"shape {allowed.shape} of {allowed.dtype}"
        raise ValueError(f"actions returned {found}; expected one row of flags for each of {len(rows)} states")
    if labels and len(labels) != allowed.shape[1]:
        raise ValueError(f"actions returned flags of {allowed.shape[1]} actions; expected {len(labels)}, as before")
    return allowed.astype(bool), list(range(allowed.shape[1]))


def _some(rows: Array) -> str:
    more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    return f"state {tuple(rows[0].tolist())}{more}"


def _called(function: Callable[..., Any], place: str, *arguments: Any) -> Any:
    """Calls a function; an exception inside says where it was."""
    try:
        return function(*arguments)
    except Exception as error:
        error.add_note(place)
        raise


def _append(writer: ModelWriter, parts: list[tuple[Array, ...]], n_states: int) -> None:
    """Writes the rows of the next states: by states, and within them by actions."""
    if not parts:
        parts = [tuple(np.empty(0, kind) for kind in (np.int64, np.int64, np.int64, np.int64, np.float64, np.float64))]
    state, action, sizes, targets, p, rewards = (np.concatenate(columns) for columns in zip(*parts))
    order = np.argsort(state, kind="stable")
    starts = np.cumsum(sizes) - sizes
    sizes = sizes[order]
    arcs = np.repeat(starts[order] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(targets))
    writer.add(np.bincount(state, minlength=n_states), action[order], sizes, targets[arcs], p[arcs], rewards[arcs])


def _rows(
    states: StateRows, batch: Array, numbers: Array, label: Any, action: int, outcomes: Callable[..., Any], normalize: bool
) -> tuple[Array, ...]:
    """The rows of one action in many states: their states, actions, lengths, and all targets, probabilities and rewards."""
    found = _called(outcomes, f"outcomes of action {label!r} in {_some(batch)}", batch, label)
    if not isinstance(found, tuple) or len(found) not in (3, 4):
        what = f"a tuple of {len(found)}" if isinstance(found, tuple) else type(found).__name__
        raise TypeError(f"outcomes returned {what}; expected a tuple of probabilities, next states, rewards and, if episodes end, flags")
    p = np.asarray(found[0], np.float64)
    if p.ndim != 2 or len(p) != len(batch):
        raise ValueError(
            f"outcomes returned probabilities of shape {p.shape}; expected [state, outcome], with one row for each of {len(batch)} states"
        )
    width = batch.shape[1]
    next_states = _whole(found[1], "next states")
    if next_states.shape != (*p.shape, width):
        expected = f"[state, outcome, column], here {(*p.shape, width)}"
        raise ValueError(f"outcomes returned next states of shape {next_states.shape}; expected {expected}")
    rewards = _like(found[2], np.float64, p, "rewards")
    ended = _like(found[3], bool, p, "flags") if len(found) == 4 else np.zeros(p.shape, bool)
    sums = p.sum(axis=1)
    if normalize:
        p = p / np.where(sums > 0, sums, 1.0)[:, None]
    right = (p >= 0.0).all(axis=1) & (np.isfinite(sums) & (sums > 0) if normalize else np.abs(sums - 1.0) <= 1e-9)
    if not right.all():
        i = int(np.argmin(right))
        expected = "1, each from 0 to 1; normalize=True divides by the sum"
        raise ValueError(f"probabilities of action {label!r} in state {tuple(batch[i].tolist())} sum to {sums[i]}; expected {expected}")
    live = p > 0.0
    if not np.isfinite(rewards[live]).all():
        i, j = np.argwhere(live & ~np.isfinite(rewards))[0]
        raise ValueError(f"reward of action {label!r} in state {tuple(batch[i].tolist())} is {rewards[i, j]}; expected a finite number")
    targets = np.full(p.shape, -1, np.int64)
    inside = live & ~ended
    if inside.any():
        targets[inside] = states.numbers(next_states[inside])
    return numbers, np.full(len(batch), action, np.int64), live.sum(axis=1), targets[live], p[live], rewards[live]


def _like(values: Any, kind: Any, p: Array, name: str) -> Array:
    """Numbers for each outcome, from one for each outcome, for each state, or for all."""
    array = np.asarray(values, kind)
    if array.shape not in ((), p.shape[:1], (len(p), 1), p.shape):
        raise ValueError(f"outcomes returned {name} of shape {array.shape}; expected {p.shape}, {p.shape[:1]} or one number")
    return np.broadcast_to(array[:, None] if array.ndim == 1 else array, p.shape)


def simulated(
    env: Any, samples: int, discount: float, limit: int | None, progress: bool | None, seed: int
) -> tuple[KnownModel, str | None, int]:
    """The engine of what a simulator does from its first state on; what stopped the enumeration, if anything did, and how many
    states are ends only because of that."""
    check_limit(limit)
    space = getattr(env, "action_space", None)
    n_actions = getattr(space, "n", None)
    if n_actions is None:
        raise TypeError(f"{env!r} has the action space {space!r}; expected Discrete")
    first_action = int(getattr(space, "start", 0))
    simulator = _Simulator(env)
    observation, _ = env.reset(seed=seed)
    observed = getattr(env, "observation_space", None)
    ids: dict[Hashable, int] = {name_of(observation, observed): 0}
    waiting = [simulator.save()]
    rows: list[tuple[int, int, dict[int, int], float]] = []
    expanded, stopped = 0, None
    with Bar(None, progress) as bar:
        try:
            while expanded < len(waiting):
                if limit is not None and expanded >= limit:
                    stopped = "the limit"
                    break
                at = waiting[expanded]
                found: list[tuple[int, int, dict[int, int], float]] = []
                for action in range(int(n_actions)):
                    counts: dict[int, int] = {}
                    total = 0.0
                    taken = len(rows) + len(found)
                    again = next((times for times, n in TAKEN if taken < n), 1) if samples == 1 else samples
                    first: tuple[Any, float] | None = None
                    for _ in range(again):
                        simulator.restore(at)
                        observation, reward, terminated, *_ = env.step(action + first_action)
                        name = None if terminated else name_of(observation, observed)
                        if samples == 1 and first is not None:
                            if first != (name, reward):
                                raise ValueError(
                                    f"action {action + first_action} in state {list(ids)[expanded]!r} led to {first[0]!r} with reward "
                                    f"{first[1]!r}, and from the same state to {name!r} with reward {reward!r}; expected a deterministic "
                                    "environment, or samples=n above 1"
                                )
                            continue
                        first = name, reward
                        total += float(reward)
                        target = -1 if name is None else ids.setdefault(name, len(ids))
                        if target == len(waiting):
                            waiting.append(simulator.save())
                        counts[target] = counts.get(target, 0) + 1
                    found.append((expanded, action, counts, total / samples))
                rows += found
                waiting[expanded] = None
                expanded += 1
                bar.show(0, f"{expanded:,} states expanded, {len(waiting) - expanded:,} on the frontier")
        except KeyboardInterrupt:
            stopped = "Ctrl-C"
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
    engine.rename_states(names)
    engine.set_label("init", [names[0]])
    if stopped:
        engine.set_label("frontier", names[expanded:])
    return engine, stopped, len(ids) - expanded


class _Pickler(pickle.Pickler):
    """Leaves out parts that have a number."""

    def __init__(self, file: io.BytesIO, number: Callable[[Any], int | None]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.number = number

    def persistent_id(self, obj: Any) -> int | None:
        return self.number(obj)


class _Unpickler(pickle.Unpickler):
    """Puts parts in the place of their numbers."""

    def __init__(self, file: io.BytesIO, parts: list[Any]) -> None:
        super().__init__(file)
        self.parts = parts

    def persistent_load(self, pid: int) -> Any:
        return self.parts[pid]


class _Shared:
    """Parts of a simulator that are never saved, wherever they occur: the environment and its wrappers, random generators,
    functions and classes. Pickles name them by number."""

    TYPES: tuple[Any, ...] = (np.random.Generator, np.random.RandomState, random.Random, type, types.FunctionType, types.ModuleType)

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts
        self.numbers = {id(part): i for i, part in enumerate(parts)}

    def dumped(self, value: Any) -> bytes:
        def number(part: Any) -> int | None:
            if isinstance(part, self.TYPES) and id(part) not in self.numbers:
                self.numbers[id(part)] = len(self.parts)
                self.parts.append(part)
            return self.numbers.get(id(part))

        file = io.BytesIO()
        _Pickler(file, number).dump(value)
        return file.getvalue()

    def loaded(self, data: bytes) -> Any:
        return _Unpickler(io.BytesIO(data), self.parts).load()


class _Simulator:
    """Saves and restores the state of an environment: by its own methods, or by its attributes. The attributes of wrappers are
    always saved, since they hold state too (a limit of steps does not count here).

    Random generators run on, so that samples from one state differ.
    """

    METHODS = (("get_state", "set_state"), ("clone_state", "restore_state"), ("save_state", "load_state"))
    FIXED = ("env", "spec", "_cached_spec", "action_space", "observation_space", "_action_space", "_observation_space", "metadata")

    def __init__(self, env: Any) -> None:
        inner = env.unwrapped
        self.layers: list[Any] = []
        while env is not inner:
            self.layers.append(env)
            env = env.env
        own = (pair for pair in self.METHODS if all(callable(getattr(inner, name, None)) for name in pair))
        get, put = next(own, (None, None))
        self.get = getattr(inner, get) if get else lambda: None
        self.put = getattr(inner, put) if put else lambda saved: None
        self.shared = _Shared([*self.layers, inner])
        # Attributes of wrappers that cannot be saved: what they keep of a simulator that saves itself.
        self.left_out: list[set[str]] = [set() for _ in self.layers]
        if not get:
            self.layers.append(inner)
            self.left_out.append(set())

    def _attributes(self) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in vars(layer).items() if name not in self.FIXED and name not in left_out}
            for layer, left_out in zip(self.layers, self.left_out)
        ]

    def save(self) -> Any:
        try:
            return self.get(), self.shared.dumped(self._attributes())
        except Exception:
            self._leave_out()
            return self.get(), self.shared.dumped(self._attributes())

    def _leave_out(self) -> None:
        for layer, left_out, attributes in zip(self.layers, self.left_out, self._attributes()):
            for name, value in attributes.items():
                try:
                    self.shared.dumped(value)
                except Exception as error:
                    if layer is layer.unwrapped:
                        raise TypeError(
                            f"attribute {name} of {layer!r} cannot be saved ({error}); expected an environment that can be pickled, "
                            "or has the methods get_state and set_state"
                        ) from None
                    left_out.add(name)

    def restore(self, saved: Any) -> None:
        state, data = saved
        for layer, before, values in zip(self.layers, self._attributes(), self.shared.loaded(data)):
            for name in before.keys() - values.keys():
                delattr(layer, name)
            vars(layer).update(values)
        self.put(state)


def warn_of_frontier(stopped: str | None, n: int) -> None:
    """States on the frontier are worth 0 from now on, which is a choice that users should know of."""
    if stopped is not None and n:
        states = "1 state was" if n == 1 else f"{n:,} states were"
        warnings.warn(
            f"{stopped} ended the enumeration: {states} met and not expanded; they are ends, worth 0, and labeled 'frontier'",
            stacklevel=3,
        )


def start_states(start: Any) -> list[Any]:
    """A list of states; anything else is one state."""
    return list(start) if isinstance(start, list) else [start]
