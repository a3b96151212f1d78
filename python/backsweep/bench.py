"""The worlds for measuring exploration, and runs of agents in them.

    >>> from backsweep import bench
    >>> [row] = bench.run(["double_loop"], runs=2)
    >>> row.mean
    394.0

``World`` is one run in a world: ``step`` takes an action in the current ``state`` and the world keeps the score. docs/exploring.md
describes the worlds and their scores; ``backsweep explore`` on the command line runs many agents in all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Iterable

from ._backsweep import SuiteWorld as World
from ._backsweep import suite_names as worlds
from ._defaults import CYCLES, default_agent
from ._progress import Bar
from ._world import check_count

__all__ = ["Row", "World", "run", "run_once", "worlds"]


@dataclass(frozen=True)
class Row:
    """The scores of an agent in one world."""

    world: str
    """The name of the world."""
    score: str
    """The meaning of the score."""
    scores: list[float]
    """The score of each run."""
    reached: int
    """The number of runs that reached the goal of the world; all of them in worlds that are scored by reward."""

    @property
    def mean(self) -> float:
        """The mean score."""
        return math.fsum(self.scores) / len(self.scores)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; NaN for a single run."""
        n = len(self.scores)
        if n < 2:
            return math.nan
        mean = self.mean
        return math.sqrt(math.fsum((x - mean) ** 2 for x in self.scores) / (n - 1) / n)

    def __repr__(self) -> str:
        return f"<{self.world}: {self.score} {self.mean:.6g} ± {self.standard_error:.2g}, {len(self.scores)} runs>"


def run(
    names: Iterable[str] | None = None,
    agent: Callable[[World], Any] | None = None,
    *,
    runs: int = 5,
    seed: int = 2026,
    cycles: int = CYCLES,
    progress: bool | None = None,
) -> list[Row]:
    """Run an agent in worlds of the suite.

    Args:
        names: the worlds; by default all but DeepSea, which has 42 members.
        agent: makes a new agent for a world: an object with ``act(state)``, ``observe(state, action, reward, next_state,
            terminated, truncated)``, ``plan(cycles)`` and ``policy()``, as ``backsweep.Agent`` has; by default the agent that
            ``learn`` builds.
        runs: runs per world.
        seed: run ``i`` of a world has the seed ``seed + i``.
        cycles: update cycles after each step.
        progress: whether to show a bar; by default in a terminal or notebook.

    Returns:
        A row per world.
    """
    check_count("runs", runs, least=1)
    check_count("cycles", cycles)
    chosen = [name for name in worlds() if not name.startswith("deep_sea")] if names is None else list(names)
    rows = []
    with Bar(len(chosen) * runs, progress) as bar:
        for i, name in enumerate(chosen):
            results = []
            for j in range(runs):
                world = World(name, seed + j)
                results.append(run_once(world, _default(world, seed + j) if agent is None else agent(world), cycles))
                bar.show(i * runs + j + 1, name)
            rows.append(Row(name, world.score_name, [score for score, *_ in results], sum(r[3] for r in results)))
    return rows


def run_once(world: World, agent: Any, cycles: int = CYCLES) -> tuple[float, int, int, bool]:
    """Run an agent in a world to the end: score, steps, episodes, and whether the goal was reached."""
    counts = world.action_counts()
    for state, n in enumerate(counts):
        if n and hasattr(agent, "add_state"):
            agent.add_state(state, list(range(n)))
    act, observe, plan, step = agent.act, agent.observe, agent.plan, world.step
    while not world.is_over:
        state = world.state
        action = act(state)
        next_state, reward, terminated, truncated = step(action)
        observe(state, action, reward, next_state, terminated, truncated)
        plan(cycles)
        if world.wants_policy:
            policy = agent.policy()
            world.judge([policy.get(state, 0) for state in range(len(counts))])
    return world.result()


def _default(world: World, seed: int) -> Any:
    return default_agent(world, world.discount, world.reward_range, seed)
