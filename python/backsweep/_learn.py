"""Learning and evaluation in a Gymnasium environment."""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Hashable, Iterable, NamedTuple

import numpy as np

from . import _backsweep
from ._progress import Bar
from ._repr import table
from ._world import Place, VectorWorld, World, check_count, make, remember
from ._writers import Writer

if TYPE_CHECKING:
    from ._backsweep import Agent
    from ._mdp import MDP

__all__ = ["Checkpoint", "Evaluation", "History", "Step", "evaluate", "learn"]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The result of ``evaluate``."""

    returns: list[float]
    """The sum of rewards of each episode."""
    lengths: list[int]
    """The number of steps of each episode."""
    terminated: list[bool]
    """True if the episode terminated; otherwise it was truncated."""

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


@dataclass(frozen=True)
class Checkpoint:
    """An evaluation of the recommended policy at one moment of ``learn``."""

    steps: int
    """The steps learned until then."""
    episodes: int
    """The episodes finished until then."""
    evaluation: Evaluation
    """The episodes of the policy, as ``evaluate`` returns them."""

    @property
    def mean(self) -> float:
        """The mean return of the policy."""
        return self.evaluation.mean


@dataclass(repr=False)
class History:
    """The course of ``learn``, episode by episode."""

    returns: list[float] = field(default_factory=list)
    """The sum of rewards of each episode."""
    lengths: list[int] = field(default_factory=list)
    """The number of steps of each episode."""
    planning_seconds: list[float] = field(default_factory=list)
    """The time each episode spent on learning and planning."""
    terminated: list[bool] = field(default_factory=list)
    """True if the episode terminated; otherwise it was truncated."""
    agent: Agent = field(default_factory=lambda: _backsweep.Agent())
    """The agent that learned: the one given to ``learn``, or the one it built."""
    interrupted: bool = False
    """True if Ctrl-C stopped learning."""
    unfinished_steps: int = 0
    """Steps of episodes that were under way when learning stopped: they were learned, but are not listed above."""
    evaluations: list[Checkpoint] = field(default_factory=list)
    """The evaluations of the recommended policy, with ``evaluate_every``."""
    _best: Agent | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def n_steps(self) -> int:
        """All steps together."""
        return sum(self.lengths) + self.unfinished_steps

    @property
    def best_agent(self) -> Agent:
        """A copy of the agent as it was at its best evaluation; the agent itself without evaluations."""
        return self.agent if self._best is None else self._best

    def to_pandas(self, evaluations: bool = False) -> Any:
        """The episodes, or the evaluations, as a data frame with a row for each. Needs pandas.

        Args:
            evaluations: whether to return the evaluations and not the episodes.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        if evaluations:
            found = [(point.steps, point.episodes, point.mean, point.evaluation.standard_error) for point in self.evaluations]
            return pandas.DataFrame(found, columns=["steps", "episodes", "mean_return", "standard_error"])
        columns = {
            "return": self.returns,
            "length": self.lengths,
            "steps": np.cumsum(self.lengths, dtype=np.int64),
            "terminated": np.asarray(self.terminated, bool),
            "planning_seconds": self.planning_seconds,
        }
        return pandas.DataFrame(columns).rename_axis("episode")

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
        """Draw the returns of the episodes and, if there were any, the evaluations of the recommended policy. Needs matplotlib.

        Args:
            window: the number of episodes that the running mean covers.
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
        if self.evaluations:
            rows.append(("best evaluation", f"{max(point.mean for point in self.evaluations):.4g}"))
        return table("backsweep.History" + (" (interrupted)" if self.interrupted else ""), rows)


class Step(NamedTuple):
    """One step of ``learn``, as ``callback`` gets it."""

    history: History
    """The episodes so far."""
    n_steps: int
    """The number of steps so far, with this one."""
    state: Hashable
    """The state before the step, by its name."""
    action: Hashable
    """The action, by its name."""
    reward: float
    """The reward."""
    next_state: Hashable
    """The state after the step, by its name."""
    terminated: bool
    """True if the episode ended there."""
    truncated: bool
    """True if the episode was cut there."""


def learn(
    env: Any,
    agent: Agent | None = None,
    episodes: int | None = None,
    *,
    steps: int | None = None,
    reward_range: tuple[float, float] | None = None,
    discount: float | None = None,
    cycles: int | None = None,
    microseconds: float | None = None,
    max_steps: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    on_episode: Callable[[History], object] | None = None,
    callback: Callable[[Step], object] | None = None,
    evaluate_every: int | None = None,
    evaluate_episodes: int = 20,
    evaluate_env: Any = None,
    target: float | None = None,
    writer: Writer | Iterable[Writer] = (),
) -> History:
    """Let an agent learn in a Gymnasium environment.

    Without an agent, one is built that explores well in most worlds (a bonus for what was rarely tried) and recommends what it has
    learned; ``history.agent`` is that agent. It needs to know the range of rewards: that of FrozenLake, Taxi, CliffWalking,
    CartPole, MountainCar, Acrobot and Blackjack is known; for others, and where a wrapper may change rewards, pass
    ``reward_range``. Wrap environments whose observations are real numbers in ``Discretize``.

    The actions of the environment are declared to the agent, unless the environment provides an ``action_mask`` in its info or
    inside a Dict observation: then each state has the actions that its mask allows.

    From a vector environment one agent learns: in each of its steps, from one environment after the other.

    Ctrl-C stops learning and returns the history so far, with ``interrupted`` set.

    Args:
        env: a Gymnasium environment, a vector environment, or the name of an environment for ``gymnasium.make``.
        agent: the agent; by default a new one.
        episodes: the number of episodes; 1000 if ``steps`` is not given either.
        steps: the number of steps; learning stops in the middle of an episode. With both, whichever comes first.
        reward_range: the lowest and the highest reward of a step, for a new agent.
        discount: the discount of a new agent, 0.99 by default; below 1.
        cycles: update cycles after each step; by default 20 for an agent that explores as a new one does, otherwise 1.
        microseconds: the time to plan after each step, instead of ``cycles``.
        max_steps: truncates episodes, as a time limit does: the state that was reached keeps its value.
        seed: seeds the environment's first reset, and a new agent.
        progress: whether to show a bar; by default in a terminal or notebook.
        on_episode: called with the history after each episode; learning stops if it returns ``True``.
        callback: called with a ``Step`` after each step; learning stops if it returns ``True``.
        evaluate_every: evaluate the recommended policy each time this many steps were taken. What is learned does not depend on
            it: a copy of the agent is evaluated in another environment.
        evaluate_episodes: the number of episodes of an evaluation.
        evaluate_env: the environment to evaluate in; by default in a copy of ``env``.
        target: stop as soon as an evaluation has at least this mean return.
        writer: a ``CsvWriter``, a ``TensorBoardWriter``, or several: they get episodes and evaluations at once.

    Returns:
        The history.

    Raises:
        ValueError: a number is out of range, or ``reward_range`` must be given.
        TypeError: the spaces of the environment cannot be states and actions, or an argument is of the wrong kind.

    Example:
        >>> import backsweep
        >>> history = backsweep.learn("FrozenLake-v1", steps=5_000, seed=0)
        >>> history.n_steps
        5000
        >>> action, _ = history.agent.predict(0)
    """
    env = make(env)
    world = VectorWorld(env) if hasattr(env, "num_envs") else World(env)
    episodes = 1000 if episodes is None and steps is None else episodes
    for name, number, least in [
        ("episodes", episodes, 0), ("steps", steps, 0), ("max_steps", max_steps, 0), ("evaluate_every", evaluate_every, 1),
    ]:  # fmt: skip
        if number is not None:
            check_count(name, number, least)
    for name, function in [("callback", callback), ("on_episode", on_episode)]:
        if function is not None and not callable(function):
            raise TypeError(f"{name} is {function!r}; expected a function")
    writers = [writer] if isinstance(writer, Writer) or not isinstance(writer, Iterable) else list(writer)
    for one in writers:
        if not isinstance(one, Writer):
            raise TypeError(f"writer is {writer!r}; expected a Writer or several, such as CsvWriter('learned.csv')")
    if max_steps is not None and isinstance(world, VectorWorld):
        raise TypeError("max_steps is given with a vector environment; expected a TimeLimit in each of its environments")
    evaluator = _Evaluator.of(env, evaluate_every, evaluate_episodes, evaluate_env, target, seed)
    from ._defaults import CYCLES, EXPLORE, default_agent

    if agent is None:
        agent = default_agent(env, 0.99 if discount is None else discount, reward_range, seed)
    elif not hasattr(agent, "observe") or isinstance(agent, type):
        raise TypeError(f"agent is {agent!r}; expected a backsweep.Agent (did you mean episodes=?)")
    elif reward_range is not None or discount is not None:
        raise TypeError("reward_range and discount configure a new agent; do not pass them together with agent=")
    if cycles is None:
        cycles = CYCLES if isinstance(getattr(agent, "explore", None), type(EXPLORE)) else 1
    check_count("cycles", cycles)
    plan: dict[str, Any] = {"cycles": cycles} if microseconds is None else {"microseconds": microseconds}
    history = History(agent=agent)
    remember(agent, world)
    total, unit = (steps, "steps") if episodes is None else (episodes, "episodes")
    with Bar(total or 0, progress, unit=unit) as bar:
        run = _Run(history, agent, plan, episodes, steps, on_episode, callback, evaluator, writers, bar)
        try:
            if isinstance(world, VectorWorld):
                _learn_in_all(world, run, seed)
            else:
                _learn_in_one(world, run, max_steps, seed)
        except KeyboardInterrupt:
            history.interrupted = True
        finally:
            history.unfinished_steps = run.n_steps - sum(history.lengths)
            for one in writers:
                one.close()
    return history


class _Lane:
    """An episode under way."""

    __slots__ = ("length", "place", "seconds", "total")

    def __init__(self, place: Place) -> None:
        self.place, self.total, self.length, self.seconds = place, 0.0, 0, 0.0


class _Run:
    """One call of ``learn``: what happens after each step and each episode, and when it is over."""

    def __init__(
        self,
        history: History,
        agent: Agent,
        plan: dict[str, Any],
        episodes: int | None,
        steps: int | None,
        on_episode: Callable[[History], object] | None,
        callback: Callable[[Step], object] | None,
        evaluator: _Evaluator | None,
        writers: list[Writer],
        bar: Bar,
    ) -> None:
        self.history, self.agent, self.plan = history, agent, plan
        self.episodes, self.steps = episodes, steps
        self.on_episode, self.callback, self.evaluator = on_episode, callback, evaluator
        self.writers, self.bar = writers, bar
        self.n_steps = 0
        self.is_over = steps == 0 or episodes == 0

    def declare(self, world: World | VectorWorld, place: Place) -> None:
        """Tell the agent the actions of every state, unless masks do."""
        if place.actions is None and not world.is_declared:
            self.agent.declare_actions(world.actions)
            world.is_declared = True

    def take(
        self, lane: _Lane, action: Hashable, next_place: Place, reward: float, terminated: bool, truncated: bool
    ) -> None:
        """Learn from a step, and note an episode that it ended."""
        agent, place = self.agent, lane.place
        start = time.perf_counter()
        if next_place.actions is not None and not terminated:
            agent.add_state(next_place.state, next_place.actions)
        agent.observe(place.state, action, reward, next_place.state, terminated, truncated)
        agent.plan(**self.plan)
        lane.seconds += time.perf_counter() - start
        lane.total += float(reward)
        lane.length += 1
        lane.place = next_place
        self.n_steps += 1
        if terminated or truncated:
            self._end(lane, terminated)
        if self.callback is not None and self._tell(place, action, next_place, reward, terminated, truncated):
            self.is_over = True
        if self.evaluator is not None and self.n_steps % self.evaluator.every == 0:
            self.is_over |= self.evaluator.evaluate(self.history, self.n_steps)
            for writer in self.writers:
                writer.evaluation(self.history)
        if self.n_steps == self.steps:
            self.is_over = True
        if self.episodes is None:
            self.bar.show(self.n_steps, self.history._recent())

    def _tell(
        self, place: Place, action: Hashable, next_place: Place, reward: float, terminated: bool, truncated: bool
    ) -> bool:
        step = Step(self.history, self.n_steps, place.state, action, float(reward), next_place.state, terminated, truncated)
        return self.callback is not None and self.callback(step) is True

    def _end(self, lane: _Lane, terminated: bool) -> None:
        history = self.history
        history.returns.append(lane.total)
        history.lengths.append(lane.length)
        history.planning_seconds.append(lane.seconds)
        history.terminated.append(terminated)
        for writer in self.writers:
            writer.episode(history)
        if self.episodes is not None:
            self.bar.show(len(history), history._recent())
        stops = self.on_episode is not None and self.on_episode(history) is True
        self.is_over |= stops or len(history) == self.episodes


def _learn_in_one(world: World, run: _Run, max_steps: int | None, seed: int | None) -> None:
    act, step, take = run.agent.act, world.step, run.take
    while not run.is_over:
        lane = _Lane(world.reset(seed))
        seed = None
        run.declare(world, lane.place)
        ended = False
        while not (ended or run.is_over):
            action = act(lane.place.state, lane.place.actions)
            next_place, reward, terminated, truncated = step(action)
            truncated = truncated or lane.length + 1 == max_steps
            take(lane, action, next_place, reward, terminated, truncated)
            ended = terminated or truncated


def _learn_in_all(world: VectorWorld, run: _Run, seed: int | None) -> None:
    if run.is_over:
        return
    starts = world.reset(seed)
    run.declare(world, starts[0])
    lanes: list[_Lane | None] = [_Lane(place) for place in starts]
    while not run.is_over:
        # An environment between two episodes ignores its action.
        actions = [
            world.actions[0] if lane is None else run.agent.act(lane.place.state, lane.place.actions) for lane in lanes
        ]
        for i, (reached, reward, terminated, truncated, begins) in enumerate(world.step(actions)):
            lane = lanes[i]
            if lane is not None and reached is not None:
                run.take(lane, actions[i], reached, reward, terminated, truncated)
                if run.is_over:
                    return
            if terminated or truncated or begins is not None:
                lanes[i] = None if begins is None else _Lane(begins)


class _Evaluator:
    """Evaluates copies of the agent while it learns."""

    def __init__(self, env: Any, every: int, episodes: int, target: float | None, seed: int | None) -> None:
        self.env, self.every, self.episodes, self.target = env, every, episodes, target
        # Not the seed of learning: the policy shall not be judged by the luck that it has learned from.
        self.seed = None if seed is None else seed + 1_000_003

    @classmethod
    def of(
        cls, env: Any, every: int | None, episodes: int, evaluate_env: Any, target: float | None, seed: int | None
    ) -> _Evaluator | None:
        """``None`` if nothing is to be evaluated."""
        if every is None:
            if target is not None or evaluate_env is not None:
                raise TypeError("target and evaluate_env need evaluate_every, a number of steps")
            return None
        check_count("evaluate_episodes", episodes, least=1)
        if target is not None and not math.isfinite(target):
            raise ValueError(f"target is {target}; expected a finite mean return")
        if evaluate_env is None:
            one = env if not hasattr(env, "num_envs") else next(iter(getattr(env, "envs", [])), None)
            try:
                evaluate_env = copy.deepcopy(one)
            except Exception as error:
                raise TypeError(f"env cannot be copied for evaluation ({error}); pass another one as evaluate_env=") from error
            if evaluate_env is None:
                raise TypeError("a vector environment of this kind cannot be copied for evaluation; pass a single one as evaluate_env=")
        return cls(make(evaluate_env), every, episodes, target, seed)

    def evaluate(self, history: History, n_steps: int) -> bool:
        """Evaluate the agent; returns whether the target was reached."""
        # A copy: reading the policy brings recommended values up to date, which must not change how the agent goes on.
        agent = copy.copy(history.agent)
        found = evaluate(self.env, agent, self.episodes, seed=self.seed, progress=False)
        if all(found.mean > earlier.mean for earlier in history.evaluations):
            history._best = agent
        history.evaluations.append(Checkpoint(n_steps, len(history), found))
        return self.target is not None and found.mean >= self.target


def evaluate(
    env: Any,
    agent: Agent | MDP,
    episodes: int = 100,
    *,
    max_steps: int | None = 10_000,
    seed: int | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Measure the mean return of an agent's greedy policy in a Gymnasium environment. The agent learns nothing from it.

    In a state that the agent does not know, a random action is taken.

    Args:
        env: a single Gymnasium environment, or its name for ``gymnasium.make``.
        agent: an Agent or an MDP.
        episodes: the number of episodes, at least 1.
        max_steps: truncates episodes, so that a policy that never reaches an end is measured, too; None for no limit.
        seed: seeds the environment's first reset and the random actions.
        progress: whether to show a bar; by default in a terminal or notebook.

    Returns:
        The returns, with their mean and standard error.

    Raises:
        ValueError: the environment has observations or actions that cannot be names, or is a vector environment.

    Example:
        >>> import backsweep
        >>> history = backsweep.learn("FrozenLake-v1", steps=5000, seed=0, progress=False)
        >>> result = backsweep.evaluate("FrozenLake-v1", history.agent, episodes=20, seed=0, progress=False)
        >>> result.mean > 0.3
        True
    """
    world = World(make(env))
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
