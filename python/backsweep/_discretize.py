"""Box observations as states: each number is replaced by the bin it falls into."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

if TYPE_CHECKING:
    from gymnasium import Wrapper
    from gymnasium.utils import RecordConstructorArgs
else:
    try:
        from gymnasium import Wrapper
        from gymnasium.utils import RecordConstructorArgs
    except ImportError:
        Wrapper, RecordConstructorArgs = type("Wrapper", (), {}), type("RecordConstructorArgs", (), {})

from ._world import check_count

__all__ = ["Discretize"]

# More bins than this in one dimension are a mistake: no agent would visit them.
MAX_BINS = 100_000


class Discretize(Wrapper, RecordConstructorArgs):
    """A Gymnasium environment with Box observations, seen through bins: states are tuples of bin numbers.

    It is a ``gymnasium.Wrapper``, so other wrappers accept it.

    A dimension with ``n`` bins has ``n - 1`` edges; a number below the first edge is in bin 0, one at or above the last edge in bin
    ``n - 1``. Every observation has a bin, whatever the edges.

    Args:
        env: the environment. Everything but observations passes through unchanged.
        bins: the number of bins of every dimension, or a list with an entry per dimension: a number of bins, or the edges
            themselves (increasing numbers).
        method: the way edges are placed where only a number of bins is given: ``"uniform"`` (equal widths from ``low`` to ``high``) or
            ``"quantile"`` (equally many of the observations that random actions lead to).
        low: where the range to divide begins, one number per dimension, for ``"uniform"``; by default as in the observation space.
        high: where it ends, likewise.
        samples: the number of random steps from which quantiles are taken.
        seed: seeds those steps.

    >>> import gymnasium
    >>> env = Discretize(gymnasium.make("MountainCar-v0"), bins=[4, 3])
    >>> state, _ = env.reset(seed=1)
    >>> state
    (1, 1)
    """

    def __init__(
        self,
        env: Any,
        bins: int | Sequence[Any] = 10,
        *,
        method: str = "uniform",
        low: Sequence[float] | None = None,
        high: Sequence[float] | None = None,
        samples: int = 10_000,
        seed: int | None = None,
    ) -> None:
        try:
            import gymnasium
            from gymnasium.spaces import MultiDiscrete
        except ImportError as error:
            raise ImportError("Discretize needs Gymnasium: pip install 'backsweep[gymnasium]'") from error

        space = env.observation_space
        if type(space).__name__ != "Box" or np.dtype(space.dtype).kind not in "fiu":
            raise TypeError(f"observations are {space}; expected a Box of numbers")
        if method not in ("uniform", "quantile"):
            raise ValueError(f"method is {method!r}; expected 'uniform' or 'quantile'")
        # From these, Gymnasium's spec makes the environment again.
        RecordConstructorArgs.__init__(self, bins=bins, method=method, low=low, high=high, samples=samples, seed=seed)
        # Anything with the methods of an environment will do, as elsewhere in this package.
        self.env = env
        if isinstance(env, gymnasium.Env):
            super().__init__(env)
        else:
            self._action_space = self._observation_space = self._metadata = self._cached_spec = None
        self._n = int(np.prod(space.shape))
        wanted = self._entries(bins)
        if method == "quantile" and not all(isinstance(entry, list) for entry in wanted):
            seen = self._random_observations(samples, seed)
            self._edges = [e if isinstance(e, list) else _quantiles(seen[:, i], e) for i, e in enumerate(wanted)]
        else:
            lows = _range("low", low, space.low, self._n)
            highs = _range("high", high, space.high, self._n)
            self._edges = [
                entry if isinstance(entry, list) else _uniform(i, lows[i], highs[i], entry)
                for i, entry in enumerate(wanted)
            ]
        self.observation_space = MultiDiscrete([len(edges) + 1 for edges in self._edges])

    @property
    def edges(self) -> list[list[float]]:
        """The edges of each dimension."""
        return [list(edges) for edges in self._edges]

    @property
    def n_states(self) -> int:
        """The number of combinations of bins; in many worlds most are never visited."""
        return int(np.prod([len(edges) + 1 for edges in self._edges], dtype=object))

    def state(self, observation: Any) -> tuple[int, ...]:
        """The bins of an observation.

        Args:
            observation: an observation of the environment, as numbers.
        """
        numbers = np.asarray(observation, dtype=float).ravel().tolist()
        if len(numbers) != self._n:
            raise ValueError(f"observation has {len(numbers)} numbers; expected {self._n}")
        if any(number != number for number in numbers):
            raise ValueError(f"observation is {observation!r}; expected numbers, found NaN")
        return tuple(map(bisect_right, self._edges, numbers))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[tuple[int, ...], Any]:
        """Start an episode.

        Args:
            seed: passed to the environment.
            options: passed to the environment.
        """
        observation, info = self.env.reset(seed=seed, options=options)
        return self.state(observation), info

    def step(self, action: Any) -> tuple[tuple[int, ...], Any, bool, bool, Any]:
        """Take an action.

        Args:
            action: passed to the environment.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.state(observation), reward, terminated, truncated, info

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    def __repr__(self) -> str:
        shape = " × ".join(str(len(edges) + 1) for edges in self._edges)
        return f"<backsweep.Discretize: {shape} bins of {self.env!r}>"

    def _entries(self, bins: Any) -> list[Any]:
        """A number of bins, or a list of edges, for each dimension."""
        if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
            bins = [bins] * self._n
        try:
            entries = list(bins)
        except TypeError:
            raise TypeError(f"bins is {bins!r}; expected a whole number or a list with an entry per dimension") from None
        if len(entries) != self._n:
            raise ValueError(f"bins has {len(entries)} entries; expected {self._n}, one per dimension of the observation")
        return [_entry(i, entry) for i, entry in enumerate(entries)]

    def _random_observations(self, samples: int, seed: int | None) -> np.ndarray[Any, np.dtype[np.float64]]:
        check_count("samples", samples, least=1)
        space = self.env.action_space
        if seed is not None:
            space.seed(seed)
        observation, _ = self.env.reset(seed=seed)
        seen = [np.asarray(observation, dtype=float).ravel()]
        while len(seen) < samples:
            observation, _, terminated, truncated, _ = self.env.step(space.sample())
            if terminated or truncated:
                observation, _ = self.env.reset()
            seen.append(np.asarray(observation, dtype=float).ravel())
        return np.array(seen)


def _entry(dimension: int, entry: Any) -> Any:
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        check_count(f"bins[{dimension}]", entry, least=1)
        if entry > MAX_BINS:
            raise ValueError(f"bins[{dimension}] is {entry}; expected at most {MAX_BINS}")
        return int(entry)
    try:
        edges = [float(edge) for edge in entry]
    except (TypeError, ValueError):
        raise TypeError(f"bins[{dimension}] is {entry!r}; expected a number of bins or a list of edges") from None
    if not np.isfinite(edges).all() or any(b <= a for a, b in zip(edges, edges[1:])):
        raise ValueError(f"bins[{dimension}] is {entry!r}; expected finite edges, each larger than the one before")
    return edges


def _range(name: str, given: Any, default: Any, n: int) -> list[float]:
    numbers = np.asarray(default if given is None else given, dtype=float).ravel()
    if len(numbers) != n:
        raise ValueError(f"{name} has {len(numbers)} numbers; expected {n}, one per dimension of the observation")
    return [float(number) for number in numbers]


def _uniform(dimension: int, low: float, high: float, n: int) -> list[float]:
    # float32 spaces say 3.4e38 where they mean unbounded.
    if not (-1e30 < low < high < 1e30):
        raise ValueError(
            f"dimension {dimension} of the observation ranges from {low:g} to {high:g}; expected a finite range: give low= and "
            'high=, edges in bins=, or method="quantile"'
        )
    return np.linspace(low, high, n + 1)[1:-1].tolist()  # type: ignore[no-any-return]


def _quantiles(numbers: np.ndarray[Any, np.dtype[np.float64]], n: int) -> list[float]:
    """Edges between equally many numbers; fewer than requested if many numbers are equal."""
    edges = np.quantile(numbers, np.linspace(0, 1, n + 1)[1:-1])
    return np.unique(edges).tolist()  # type: ignore[no-any-return]
