"""Learning and evaluation in a Gymnasium environment."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Hashable

import numpy as np

from ._progress import Bar
from ._repr import table
from ._world import Place, World, check_count

if TYPE_CHECKING:
    from ._backsweep import Agent
    from ._mdp import MDP

__all__ = ["Evaluation", "History", "evaluate", "learn"]


@dataclass(repr=False)
class History:
    """What happened in each episode of ``learn``."""

    returns: list[float] = field(default_factory=list)
    """The sum of rewards of each episode."""
    lengths: list[int] = field(default_factory=list)
    """The number of steps of each episode."""
    planning_seconds: list[float] = field(default_factory=list)
    """The time each episode spent on learning and planning."""
    terminated: list[bool] = field(default_factory=list)
    """Whether the episode terminated; otherwise it was truncated."""
    agent: Agent | None = None
    """The agent that learned: the one given to ``learn``, or the one it built."""
    interrupted: bool = False
    """Whether Ctrl-C stopped learning. The steps of the last, unfinished episode were learned but are not listed here."""

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def n_steps(self) -> int:
        """All steps together."""
        return sum(self.lengths)

    def smoothed(self, window: int = 100) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The running mean of the returns.

        Args:
            window: each mean covers an episode and up to ``window - 1`` before it.
        """
        if window < 1:
            raise ValueError(f"window is {window}; expected 1 or more")
        sums = np.concatenate([[0.0], np.cumsum(self.returns)])
        ends = np.arange(1, len(sums))
        starts = np.maximum(ends - window, 0)
        return np.asarray((sums[ends] - sums[starts]) / (ends - starts))

    def plot(self, *, window: int = 100, ax: Any = None) -> Any:
        """Draw the returns over the episodes. Needs matplotlib.

        Args:
            window: how many episodes the running mean covers.
            ax: matplotlib axes to draw on; new ones by default.

        Returns:
            The axes.
        """
        from ._plot import plot_history

        return plot_history(self, window=window, ax=ax)

    def _recent(self) -> str:
        """The mean return of the last episodes, as text."""
        n = min(len(self), 100)
        return f"return {np.mean(self.returns[-n:]):.4g} (mean of last {n})" if n else "no return yet"

    def __repr__(self) -> str:
        stopped = ", interrupted" if self.interrupted else ""
        return f"<backsweep.History: {len(self)} episodes, {self.n_steps} steps, {self._recent()}{stopped}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [("episodes", len(self)), ("steps", self.n_steps)]
        if self.returns:
            rows += [
                ("mean return, last 100", f"{np.mean(self.returns[-100:]):.4g}"),
                ("best return", f"{max(self.returns):.4g}"),
                ("terminated", f"{100 * np.mean(self.terminated):.0f} %"),
                ("learning and planning", f"{sum(self.planning_seconds):.3g} s"),
            ]
        return table("backsweep.History" + (" (interrupted)" if self.interrupted else ""), rows)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What ``evaluate`` measured."""

    returns: list[float]
    """The sum of rewards of each episode."""
    lengths: list[int]
    """The number of steps of each episode."""
    terminated: list[bool]
    """Whether the episode terminated; otherwise it was truncated."""

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(np.mean(self.returns))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return; NaN for a single episode."""
        n = len(self)
        return float(np.std(self.returns, ddof=1)) / math.sqrt(n) if n > 1 else math.nan

    def __repr__(self) -> str:
        return (
            f"<backsweep.Evaluation: mean return {self.mean:.4g} ± {self.standard_error:.2g} (standard error), "
            f"{len(self)} episodes, {sum(self.lengths)} steps>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("mean return", f"{self.mean:.4g} ± {self.standard_error:.2g}"),
            ("episodes", len(self)),
            ("steps", sum(self.lengths)),
            ("terminated", f"{100 * np.mean(self.terminated):.0f} %"),
        ]
        return table("backsweep.Evaluation", rows)


def learn(
    env: Any,
    agent: Agent | None = None,
    episodes: int = 1000,
    *,
    reward_range: tuple[float, float] | None = None,
    discount: float | None = None,
    cycles: int | None = None,
    microseconds: float | None = None,
    max_steps: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    on_episode: Callable[[History], object] | None = None,
) -> History:
    """Let an agent learn in a Gymnasium environment.

    Without an agent, one is built that explores well in most worlds (a bonus for what was rarely tried) and recommends what it has
    learned; ``history.agent`` is that agent. It needs to know the range of rewards: that of FrozenLake, Taxi, CliffWalking,
    CartPole, MountainCar, Acrobot and Blackjack is known; for others, pass ``reward_range``. Wrap environments whose
    observations are real numbers in ``Discretize``.

    The actions of the environment are declared to the agent, unless the environment provides an ``action_mask`` in its info or
    inside a Dict observation: then each state has the actions that its mask allows.

    Ctrl-C stops learning and returns the history so far, with ``interrupted`` set.

    Args:
        env: a single Gymnasium environment.
        agent: the agent; by default a new one.
        episodes: the number of episodes.
        reward_range: the lowest and the highest reward of a step, for a new agent.
        discount: the discount of a new agent, 0.99 by default.
        cycles: update cycles after each step; by default 1, or 20 for a new agent.
        microseconds: the time to plan after each step, instead of ``cycles``.
        max_steps: truncates episodes, as a time limit does: the state that was reached keeps its value.
        seed: seeds the environment's first reset, and a new agent.
        progress: whether to show a bar; by default in a terminal or notebook.
        on_episode: called with the history after each episode; learning stops if it returns ``True``.

    Returns:
        The history.
    """
    world = World(env)
    check_count("episodes", episodes)
    if agent is None:
        from ._defaults import CYCLES, default_agent

        agent = default_agent(env, 0.99 if discount is None else discount, reward_range, seed)
        cycles = CYCLES if cycles is None else cycles
    elif not hasattr(agent, "observe"):
        raise TypeError(f"agent is {agent!r}; expected a backsweep.Agent; the number of episodes is episodes=")
    elif reward_range is not None or discount is not None:
        raise TypeError("reward_range and discount are for a new agent; expected neither together with agent=")
    cycles = 1 if cycles is None else cycles
    check_count("cycles", cycles)
    if max_steps is not None:
        check_count("max_steps", max_steps)
    plan = {"cycles": cycles} if microseconds is None else {"microseconds": microseconds}
    history = History(agent=agent)
    with Bar(episodes, progress) as bar:
        try:
            for episode in range(episodes):
                _learn_episode(world, agent, history, plan, max_steps, seed if episode == 0 else None)
                bar.show(len(history), history._recent())
                if on_episode is not None and on_episode(history) is True:
                    break
        except KeyboardInterrupt:
            history.interrupted = True
    return history


def _learn_episode(
    world: World, agent: Agent, history: History, plan: dict[str, Any], max_steps: int | None, seed: int | None
) -> None:
    place = world.reset(seed)
    if place.actions is None and not world.is_declared:
        agent.declare_actions(world.actions)
        world.is_declared = True
    total, steps, seconds = 0.0, 0, 0.0
    terminated = truncated = False
    while not (terminated or truncated):
        action = agent.act(place.state, place.actions)
        next_place, reward, terminated, truncated = world.step(action)
        steps += 1
        total += float(reward)
        if steps == max_steps:
            truncated = True
        start = time.perf_counter()
        if next_place.actions is not None and not terminated:
            agent.add_state(next_place.state, next_place.actions)
        agent.observe(place.state, action, reward, next_place.state, terminated, truncated)
        agent.plan(**plan)
        seconds += time.perf_counter() - start
        place = next_place
    history.returns.append(total)
    history.lengths.append(steps)
    history.planning_seconds.append(seconds)
    history.terminated.append(terminated)


def evaluate(
    env: Any,
    agent: Agent | MDP,
    episodes: int = 100,
    *,
    max_steps: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Measure the mean return of an agent's greedy policy in a Gymnasium environment. The agent learns nothing from it.

    In a state that the agent does not know, a random action is taken.

    Args:
        env: a single Gymnasium environment.
        agent: an Agent or an MDP.
        episodes: the number of episodes, at least 1.
        max_steps: truncates episodes.
        seed: seeds the environment's first reset and the random actions.
        progress: whether to show a bar; by default in a terminal or notebook.

    Returns:
        The returns, with their mean and standard error.
    """
    world = World(env)
    check_count("episodes", episodes, least=1)
    if max_steps is not None:
        check_count("max_steps", max_steps, least=1)
    policy = agent.policy()
    rng = np.random.default_rng(seed)
    result = Evaluation([], [], [])
    with Bar(episodes, progress) as bar:
        for episode in range(episodes):
            place = world.reset(seed if episode == 0 else None)
            total, steps = 0.0, 0
            terminated = truncated = False
            while not (terminated or truncated):
                action = _greedy(agent, policy, world, place, rng)
                place, reward, terminated, truncated = world.step(action)
                steps += 1
                total += float(reward)
                truncated = truncated or steps == max_steps
            result.returns.append(total)
            result.lengths.append(steps)
            result.terminated.append(terminated)
            bar.show(len(result), f"mean return {result.mean:.4g}")
    return result


def _greedy(
    agent: Agent | MDP, policy: dict[Any, Any], world: World, place: Place, rng: np.random.Generator
) -> Hashable:
    """The policy's action, the best of those that a mask allows, or a random one where nothing is known."""
    possible = world.actions if place.actions is None else place.actions
    action: Hashable = policy.get(place.state, _NOTHING)
    if action is not _NOTHING and (place.actions is None or action in possible):
        return action
    if action is not _NOTHING:
        values = agent.action_values(place.state)
        known = [action for action in possible if action in values]
        if known:
            return max(known, key=values.__getitem__)
    if not possible:
        raise ValueError(f"action_mask allows no action in state {place.state!r}; expected at least one action")
    return possible[int(rng.integers(len(possible)))]


_NOTHING = object()
