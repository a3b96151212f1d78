"""The loop between a Gymnasium environment and an agent."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, TextIO

import numpy as np

from ._spaces import actions_of, observer

if TYPE_CHECKING:
    from ._backsweep import Agent

__all__ = ["History", "learn"]


@dataclass
class History:
    """What happened in each episode."""

    returns: list[float] = field(default_factory=list)
    """The sum of rewards of each episode."""
    lengths: list[int] = field(default_factory=list)
    """The number of steps of each episode."""
    planning_seconds: list[float] = field(default_factory=list)
    """The time each episode spent on learning and planning."""
    terminated: list[bool] = field(default_factory=list)
    """Whether the episode ended by itself; otherwise it was cut."""

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def n_steps(self) -> int:
        """All steps together."""
        return sum(self.lengths)

    def smoothed(self, window: int = 100) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The mean return of each episode and up to ``window - 1`` before it."""
        if window < 1:
            raise ValueError(f"window is {window}; expected 1 or more")
        sums = np.concatenate([[0.0], np.cumsum(self.returns)])
        ends = np.arange(1, len(sums))
        starts = np.maximum(ends - window, 0)
        return np.asarray((sums[ends] - sums[starts]) / (ends - starts))

    def plot(self, *, window: int = 100, ax: Any = None) -> Any:
        """Draw the returns over the episodes; returns the axes. Needs matplotlib."""
        from ._plot import plot_history

        return plot_history(self, window=window, ax=ax)


def learn(
    env: Any,
    agent: Agent,
    episodes: int,
    *,
    cycles: int = 1,
    microseconds: float | None = None,
    max_steps: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    on_episode: Callable[[History], object] | None = None,
) -> History:
    """Let an agent learn in a Gymnasium environment for a number of episodes.

    After each step the agent plans for ``cycles`` update cycles, or for so many ``microseconds``. ``max_steps`` cuts
    episodes, as a time limit does: the last step then leads on to the state that was reached, and is no end. ``seed``
    seeds the environment's first reset. ``progress`` shows a bar (by default if the error stream is a terminal).
    ``on_episode`` is called after each episode; if it returns ``True``, learning stops.

    The actions of the environment are declared to the agent, unless the environment gives an ``action_mask`` in its info:
    then each state has the actions that its mask allows.
    """
    _refuse_vector(env)
    for name, number in (("episodes", episodes), ("cycles", cycles), ("max_steps", max_steps)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, (int, np.integer))):
            raise TypeError(f"{name} is {number!r}; expected a whole number")
        if number is not None and number < 0:
            raise ValueError(f"{name} is {number}; expected 0 or more")
    observe_name = observer(env.observation_space)
    names, to_env = actions_of(env.action_space)
    plan_arguments = {"cycles": cycles} if microseconds is None else {"microseconds": microseconds}
    history = History()
    declared = False
    with _Bar(episodes, progress) as bar:
        for episode in range(episodes):
            observation, info = env.reset(seed=seed if episode == 0 else None)
            state = observe_name(observation)
            mask = info.get("action_mask")
            if mask is None and not declared:
                agent.declare_actions(names)
                declared = True
            total, steps, seconds = 0.0, 0, 0.0
            terminated = truncated = False
            while not (terminated or truncated):
                action = agent.act(state) if mask is None else agent.act(state, _allowed(names, mask))
                observation, reward, terminated, truncated, info = env.step(to_env(action))
                next_state = observe_name(observation)
                mask = info.get("action_mask")
                steps += 1
                total += float(reward)
                if steps == max_steps:
                    truncated = True
                start = time.perf_counter()
                if mask is not None and not terminated:
                    agent.add_state(next_state, _allowed(names, mask))
                agent.observe(state, action, reward, next_state, bool(terminated), bool(truncated))
                agent.plan(**plan_arguments)
                seconds += time.perf_counter() - start
                state = next_state
            history.returns.append(total)
            history.lengths.append(steps)
            history.planning_seconds.append(seconds)
            history.terminated.append(bool(terminated))
            bar.show(history)
            if on_episode is not None and on_episode(history) is True:
                break
    return history


def _allowed(names: list[Any], mask: Any) -> list[Any]:
    flags = np.asarray(mask).ravel()
    if len(flags) != len(names):
        raise ValueError(f"action_mask has {len(flags)} flags; expected one for each of the {len(names)} actions")
    return [names[i] for i in np.flatnonzero(flags)]


def _refuse_vector(env: Any) -> None:
    if hasattr(env, "num_envs"):
        raise TypeError(
            f"env is a vector environment ({type(env).__name__}); expected a single one; run it alone with gym.make, or feed "
            "the agent yourself with agent.observe or agent.observe_many"
        )
    for need in ("reset", "step", "observation_space", "action_space"):
        if not hasattr(env, need):
            raise TypeError(f"env is {env!r}, which has no {need}; expected a Gymnasium environment")


class _Bar:
    """One line that says how far the work is, redrawn at most ten times a second."""

    def __init__(self, total: int, wanted: bool | None, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream if stream is not None else sys.stderr
        self.on = self.stream.isatty() if wanted is None else wanted
        self.start = time.perf_counter()
        self.last = 0.0
        self.drawn = False

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.drawn:
            self.stream.write("\n")
            self.stream.flush()

    def show(self, history: History) -> None:
        now = time.perf_counter()
        done = len(history)
        if not self.on or (done < self.total and now - self.last < 0.1):
            return
        self.last = now
        self.drawn = True
        width = 24
        filled = width * done // max(self.total, 1)
        left = (now - self.start) / done * (self.total - done)
        recent = float(np.mean(history.returns[-100:]))
        self.stream.write(
            f"\r[{'█' * filled}{'·' * (width - filled)}] {done}/{self.total} episodes, "
            f"return {recent:.4g} (mean of last {min(done, 100)}), {left:.0f} s left \x1b[K"
        )
        self.stream.flush()
