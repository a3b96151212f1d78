"""Agents compared: each learns in each environment with each seed."""

from __future__ import annotations

import copy
import inspect
import math
from dataclasses import dataclass, field
from html import escape
from typing import Any, Callable, Iterable, Mapping

import numpy as np

from ._learn import Evaluation, History, evaluate, learn
from ._progress import Bar
from ._world import check_count, make

__all__ = ["Comparison", "Run", "compare"]


@dataclass(frozen=True)
class Run:
    """One agent in one environment with one seed."""

    agent: str
    """The name of the agent."""
    env: str
    """The name of the environment."""
    seed: int
    """The seed."""
    history: History = field(repr=False)
    """The history of its learning."""
    evaluation: Evaluation = field(repr=False)
    """The evaluation of the recommended policy at the end."""

    @property
    def learning_return(self) -> float:
        """The mean return of the episodes while it learned; NaN if none ended."""
        return float(np.mean(self.history.returns)) if len(self.history) else math.nan


class Comparison:
    """The result of ``compare``: a table as text or HTML, a data frame, a plot.

    Args:
        runs: the runs.
    """

    runs: list[Run]
    """One run for each agent, environment and seed."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs

    def _names(self, what: str) -> list[str]:
        return list(dict.fromkeys(getattr(run, what) for run in self.runs))

    def _rows(self) -> list[tuple[str, str, int, tuple[float, float], tuple[float, float]]]:
        rows = []
        for env in self._names("env"):
            for agent in self._names("agent"):
                runs = [run for run in self.runs if (run.env, run.agent) == (env, agent)]
                learning = _mean([run.learning_return for run in runs])
                rows.append((env, agent, len(runs), learning, _mean([run.evaluation.mean for run in runs])))
        return rows

    def to_pandas(self) -> Any:
        """A data frame with a row for each run. Needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        columns = ["env", "agent", "seed", "learning_return", "recommended_return", "episodes", "steps", "planning_seconds"]
        found = [
            (run.env, run.agent, run.seed, run.learning_return, run.evaluation.mean, len(run.history), run.history.n_steps,
             sum(run.history.planning_seconds))
            for run in self.runs
        ]  # fmt: skip
        return pandas.DataFrame(found, columns=columns)

    def plot(self, *, window: int = 100, axes: Any = None) -> Any:
        """Draw the learning curves, one picture for each environment: the mean over seeds, and their range. Needs matplotlib.

        Args:
            window: the number of episodes that the running mean of a run covers.
            axes: one matplotlib axes for each environment; new ones by default.

        Returns:
            The axes, as a list.
        """
        from ._plot import plot_comparison

        return plot_comparison(self, window=window, axes=axes)

    def __repr__(self) -> str:
        lines = [("environment", "agent", "runs", "return while learning", "return of the recommended policy")]
        lines += [(env, agent, str(n), _shown(learning), _shown(found)) for env, agent, n, learning, found in self._rows()]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        names = ("environment", "agent", "runs", "return while learning", "return of the recommended policy")
        head = "".join(f"<th>{name}</th>" for name in names)
        rows = ((env, agent, str(n), _shown(learning), _shown(found)) for env, agent, n, learning, found in self._rows())
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><tr>{head}</tr>{body}</table>"


def _mean(numbers: list[float]) -> tuple[float, float]:
    """The mean and its standard error; the latter is NaN for a single number."""
    n = len(numbers)
    return float(np.mean(numbers)), float(np.std(numbers, ddof=1)) / math.sqrt(n) if n > 1 else math.nan


def _shown(found: tuple[float, float]) -> str:
    return f"{found[0]:.4g}" if math.isnan(found[1]) else f"{found[0]:.4g} ± {found[1]:.2g}"


def compare(
    agents: Any,
    envs: Any,
    seeds: int | Iterable[int] = 5,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    cycles: int | None = None,
    evaluate_episodes: int = 100,
    progress: bool | None = None,
) -> Comparison:
    """Let agents learn in environments, with several seeds, and evaluate what they recommend in the end.

    An agent is a way to explore such as ``CountBonus()``, for an agent that is otherwise the one of ``learn``; ``None`` for that one
    itself; an ``Agent``, which is copied for each run; or a function that makes one, of the seed, or of the environment and the seed.

    Args:
        agents: agents by name, or a list of them.
        envs: environments by name, or a list of them: names for ``gymnasium.make``, environments, or functions that make one.
        seeds: seeds, or how many: 0 to n - 1.
        episodes: the number of episodes; 1000 if ``steps`` is not given either.
        steps: the number of steps.
        cycles: update cycles after each step, as for ``learn``; 20 for agents given as a way to explore.
        evaluate_episodes: the number of episodes of an evaluation, of 10,000 steps at most.
        progress: whether to show a bar; by default in a terminal or notebook.

    Returns:
        The comparison: print it, or use its ``to_pandas()`` and ``plot()``.
    """
    if isinstance(seeds, int):
        check_count("seeds", seeds, least=1)
        seeds = range(seeds)
    seeds, agents, envs = list(seeds), _named(agents, "agents"), _named(envs, "envs")
    runs: list[Run] = []
    with Bar(len(seeds) * len(agents) * len(envs), progress, unit="runs") as bar:
        for env_name, env in envs.items():
            for name, agent in agents.items():
                for seed in seeds:
                    world = env() if callable(env) and not hasattr(env, "reset") else make(env)
                    learner, usual = _agent(agent, world, seed)
                    n = usual if cycles is None else cycles
                    history = learn(world, learner, episodes, steps=steps, cycles=n, seed=seed, progress=False)
                    found = evaluate(world, history.agent, evaluate_episodes, seed=seed + 1_000_003, progress=False)
                    runs.append(Run(name, env_name, seed, history, found))
                    if history.interrupted:
                        return Comparison(runs)
                    bar.show(len(runs), f"{name} in {env_name}")
    return Comparison(runs)


def _agent(agent: Any, env: Any, seed: int) -> tuple[Any, int | None]:
    """The agent of a run, and how many cycles it usually does; ``None`` for as many as ``learn`` says."""
    from ._backsweep import Agent
    from ._defaults import CYCLES, default_agent
    from ._explore import Explore
    from ._types import Optimism

    if agent is None or isinstance(agent, (Explore, Optimism)):
        return default_agent(env, 0.99, None, seed, agent), CYCLES
    if isinstance(agent, Agent):
        return copy.copy(agent), None
    if not callable(agent) or isinstance(agent, type):
        raise TypeError(f"an agent is {agent!r}; expected a way to explore such as CountBonus(), an Agent, a function, or None")
    return agent(seed) if len(inspect.signature(agent).parameters) == 1 else agent(env, seed), None


def _named(given: Any, what: str) -> dict[str, Any]:
    """The agents that are compared, by name."""
    if isinstance(given, Mapping):
        found = {str(name): one for name, one in given.items()}
    else:
        each = [given] if isinstance(given, str) or given is None or not isinstance(given, Iterable) else list(given)
        found = {_name(one): one for one in each}
        if len(found) < len(each):
            raise ValueError(f"{what} have the names {sorted(map(_name, each))}; expected different ones: pass a dict of names")
    if not found:
        raise ValueError(f"{what} is empty; expected at least one")
    return found


def _name(one: Any) -> str:
    if one is None:
        return "default"
    if isinstance(one, str):
        return one
    spec = getattr(one, "spec", None)
    if spec is not None:
        return str(spec.id)
    named: Callable[[Any], str] = repr
    return str(getattr(one, "__name__", None) or named(one))
