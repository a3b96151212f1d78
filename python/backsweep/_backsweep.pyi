from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, SupportsFloat, final

import numpy as np
from numpy.typing import NDArray

from ._explore import Explore, Forgetting
from ._frames import Table
from ._mdp import MDP
from ._objectives import Objective
from ._solution import Solution
from ._types import Audit, Model, Optimism, Planner, Stats
from ._watch import Watch

__all__ = ["Agent", "DiskModel", "FunctionModel", "KnownModel", "LearnedLog", "ModelWriter", "SmallBackupPredictor", "StateRows", "SuiteWorld", "TD0", "command", "learn_log", "rust_loop", "suite_names"]

@final
class Agent:
    """A learner that keeps a model of everything it has observed and plans on it incrementally.

    Values are near optimal for the model, not exact: ``audit`` and ``bound`` say how near. ``learn`` runs one in an environment.

    Args:
        discount: the factor by which a reward one step later counts, from 0 to 1.
        planner: the name of a planner, or an object such as ``SmallBackups(queue="bucket")``.
        optimism: ``Optimism(value, min_visits)``: an action seen fewer than ``min_visits`` times is worth ``value``.
        epsilon: the probability that ``act`` takes a random action.
        actions: the actions of every state: a number n for 0 to n-1, or a list. Without it, actions are discovered.
        seed: seeds the agent's random generator; None draws a fresh seed.
        freeze_at: after this many visits an action is no longer learned (R-max).
        explore: the way act explores, such as ``CountBonus()``; best_action, policy and value then recommend without optimism.
        reward_range: the lowest and highest reward of a step, as (lowest, highest); bonuses and sampling need it. A reward outside it
            is refused.
        start: the value that act assumes for an untried action; None for the most that reward_range allows.
        age_bonus: adds this times the square root of the steps since an action was last tried.
        forgetting: ``Forgetting(per_visit=...)``, ``(half_life=...)`` or ``(window=...)``, for worlds that change.

    Raises:
        ValueError: a setting is out of range, or two settings exclude each other.

    Example:
        >>> import backsweep
        >>> agent = backsweep.Agent(discount=0.9)
        >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
        >>> agent.value("yard"), agent.best_action("yard")
        (1.0, 'east')
    """

    def __new__(
        cls,
        discount: float = 0.99,
        *,
        planner: str | Planner | None = None,
        optimism: Optimism | None = None,
        epsilon: float = 0.0,
        actions: int | Iterable[Hashable] | None = None,
        seed: int | None = None,
        freeze_at: int | None = None,
        explore: Explore | Optimism | None = None,
        reward_range: tuple[float, float] | None = None,
        start: float | None = None,
        age_bonus: float | None = None,
        forgetting: Forgetting | None = None,
    ) -> Agent: ...
    def declare_actions(self, actions: int | Iterable[Hashable]) -> None:
        """Declare the actions of every state; states that are already known get the ones they lack.

        Args:
            actions: a number n for the actions 0 to n-1, or a list of actions.
        """
    def add_state(self, state: Any, actions: Iterable[Any] | None = None) -> None:
        """Add a state before it is visited, or actions to a known state.

        Args:
            state: the state.
            actions: its actions, as a list or mask (see act); the declared ones if not given.
        """
    def observe(
        self,
        state: Any,
        action: Any,
        reward: SupportsFloat,
        next_state: Any,
        terminated: bool = False,
        truncated: bool = False,
    ) -> None:
        """Learn from one step. The value of this state and action is updated at once, from the present values of its next states.

        Call ``plan`` to pass the change on to other states.

        Args:
            state: the state before the step.
            action: the action that was taken.
            reward: the reward, a finite number.
            next_state: the state after the step.
            terminated: whether the episode ended there, so that nothing follows.
            truncated: whether the episode was cut there, for instance by a time limit; next_state keeps its value.

        Raises:
            ValueError: the reward is not finite, outside reward_range, or a flag is neither true nor false; nothing is learned.
            TypeError: a state or action cannot be a name.
        """
    def forget(
        self,
        state: Any,
        action: Any,
        reward: SupportsFloat,
        next_state: Any,
        terminated: bool = False,
        truncated: bool = False,
    ) -> None:
        """Undo one observed step, as if it had never happened.

        A window knows every reward and refuses others. Otherwise the state and action must have led to this next state; of its
        rewards only the sum is known, so that a wrong one is noticed with the last step at the latest.

        Args:
            state: the state before the step.
            action: the action that was taken.
            reward: its reward.
            next_state: the state after the step.
            terminated: whether the episode ended there.
            truncated: whether the episode was cut there.

        Raises:
            UnknownName: the agent does not know the state.
            ValueError: this step cannot have been observed, or observations fade; nothing has changed.

        Example:
            >>> import backsweep
            >>> agent = backsweep.Agent(discount=0.9)
            >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
            >>> agent.observe("yard", "east", 5.0, "street", terminated=True)
            >>> agent.forget("yard", "east", 5.0, "street", terminated=True)
            >>> agent.value("yard")
            1.0
        """
    def observe_many(
        self,
        states: Sequence[Any] | NDArray[Any],
        actions: Sequence[Any] | NDArray[Any],
        rewards: Sequence[float] | NDArray[Any],
        next_states: Sequence[Any] | NDArray[Any],
        terminated: Sequence[Any] | NDArray[Any] | None = None,
        truncated: Sequence[Any] | NDArray[Any] | None = None,
        *,
        cycles: int | None = None,
    ) -> int:
        """Learn from many steps given as columns: from all of them, or from none if one is refused.

        Ctrl-C stops between two rows; a note on the exception says how many were learned.

        Args:
            states: the state before each step.
            actions: the action of each step.
            rewards: the reward of each step.
            next_states: the state after each step.
            terminated: whether each step ended its episode.
            truncated: whether each step was cut.
            cycles: update cycles after each step; none if not given.

        Returns:
            The number of steps.

        Raises:
            ValueError: a row is refused, or columns differ in length; the message names the row, and nothing is learned.
        """
    def plan(
        self, cycles: int | None = None, *, microseconds: float | None = None, until: float | None = None
    ) -> int:
        """Propagate changes of the values that act uses, most urgent first. Give cycles, microseconds, or until (with cycles as a
        limit).

        Args:
            cycles: the maximum number of update cycles.
            microseconds: the time to plan for.
            until: plan until no priority is above this.

        Returns:
            The number of update cycles; fewer than allowed if nothing was left to do.

        Raises:
            TypeError: no amount is given, or more than one.
            ValueError: the amount is negative or not a number.

        Example:
            >>> import backsweep
            >>> agent = backsweep.Agent(discount=0.9)
            >>> agent.observe("hall", "north", 0.0, "yard")
            >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
            >>> agent.plan(cycles=10)
            2
            >>> agent.value("hall")
            0.9
        """
    def recommend(
        self, cycles: int | None = None, *, microseconds: float | None = None, until: float | None = None
    ) -> int:
        """Plan the values that best_action, policy, value and values use. An agent built with explore keeps them separately from
        those that act uses; without this call, these methods first propagate everything that was observed. Arguments as in
        plan.

        Args:
            cycles: the maximum number of update cycles.
            microseconds: the time to plan for.
            until: plan until no priority is above this.

        Returns:
            The number of update cycles; fewer than allowed if nothing was left to do.

        Raises:
            TypeError: no amount is given, or more than one.
            ValueError: the amount is negative or not a number.

        Example:
            >>> import backsweep
            >>> agent = backsweep.Agent(0.95, explore=backsweep.CountBonus(), reward_range=(0, 1), actions=2)
            >>> agent.observe("start", 0, 0.0, "start")
            >>> _ = agent.plan(cycles=10)
            >>> agent.act("start")
            1
            >>> _ = agent.recommend(cycles=10)
            >>> agent.best_action("start")
            0
        """
    def act(self, state: Any, actions: Iterable[Any] | None = None, *, action_mask: Iterable[Any] | None = None) -> Any:
        """Choose an action: the best one, ties broken at random; with probability epsilon a random one; as explore says, if it
        was given.

        Args:
            state: the state to act in.
            actions: the actions that are possible; new ones are added. A list of booleans, or an array of booleans or bytes
                that are 0 or 1, is treated as a mask.
            action_mask: a flag for each declared action, or for 0, 1, 2, ... if none are declared: whether it is possible.

        Raises:
            UnknownName: no actions are known in the state.
            ValueError: no action is possible, or the mask has another length.
        """
    def value(self, state: Any) -> float:
        """The value of a state; 0 for one seen only as the end of an episode.

        Args:
            state: a known state.

        Raises:
            UnknownName: the agent does not know the state.
        """
    def action_values(self, state: Any) -> dict[Any, float]:
        """The values of a state's actions, as a dict.

        Args:
            state: a known state.

        Raises:
            UnknownName: the agent does not know the state.
        """
    def best_action(self, state: Any) -> Any:
        """The best action in a state; None if no action is known there. Among equally good actions it is the first, or with
        discount 1 one that leads to an end (which takes a pass over the model).

        Args:
            state: a known state.

        Raises:
            UnknownName: the agent does not know the state.
        """
    def policy(self) -> dict[Any, Any]:
        """The best action of every state with actions, as a dict."""
    def values(self) -> dict[Any, float]:
        """The value of every state, as a dict."""
    def actions(self, state: Any) -> list[Any]:
        """The actions known in a state, as a list.

        Args:
            state: a known state.

        Raises:
            UnknownName: the agent does not know the state.
        """
    @property
    def states(self) -> list[Any]:
        """The states that a step left, or reached without ending the episode, in the order in which they were first seen."""
    @property
    def model(self) -> Model:
        """The observations, as counts and probabilities."""
    @property
    def stats(self) -> Stats:
        """Counters of the work so far: cycles, backups, queue length, idle pops and more."""
    def audit(self) -> Audit:
        """Recompute everything from the model: how accurate the values are, and a bound on their distance from the optimum."""
    def bound(self) -> float | None:
        """The most that the recommended policy can lose in the learned model, compared with the best one there; None with discount
        1, and for planners that cannot tell. It accounts for what is still queued, so it holds at any time and takes no pass
        over the model.
        """
    def intervals(self, confidence: float = 0.95) -> dict[Any, tuple[float, float]]:
        """For every state, an interval that contains its optimal value in the real world, not only in the learned model.

        All of them hold at once with probability confidence, if no reward is outside reward_range and the world does not
        change. They come from Hoeffding's inequality, so they are wide until a lot has been seen.

        Args:
            confidence: above 0 and below 1.

        Returns:
            A dict of (lower, upper) by state.

        Raises:
            ValueError: the agent has no reward_range, or confidence is out of range.
        """
    def mdp(self) -> MDP:
        """The learned model as an MDP: to solve it for any objective, to write it for other tools, to ask what-if questions.

        The agent is not changed, nor does the MDP change with it. Actions that were never tried are not in the problem.
        """
    def solve(
        self,
        tolerance: float | None = None,
        objective: Objective | None = None,
        *,
        minimize: bool = False,
        time_limit: float | None = None,
        threads: int | None = None,
    ) -> Solution:
        """Compute the values of the learned model with proven intervals, at any size; same as ``mdp().solve``.

        The agent's own values stay as they are: these are kept near the optimum by ``plan``, and optimistic where little was seen.

        Args:
            tolerance: as for ``MDP.solve``.
            objective: as for ``MDP.solve``; discounted reward if not given.
            minimize: whether to compute the smallest values that a policy attains, not the largest.
            time_limit: stop after this many seconds, with the intervals reached so far.
            threads: the number of threads; all cores if not given.

        Raises:
            ValueError: the objective is not defined for this model; the message says what to do.
        """
    def save(self, path: str | PathLike[str], *, encode: Callable[[Any], Hashable] | None = None) -> None:
        """Write the whole agent to a file, replacing any existing one.

        Args:
            path: the file; a device or pipe is refused.
            encode: a function that turns names other than plain data into plain data, different ones into different data.

        Raises:
            TypeError: a name is not plain data, and there is no encode.
            OSError: the file cannot be written; the old one is unchanged.
        """
    @staticmethod
    def load(path: str | PathLike[str], *, decode: Callable[[Any], Hashable] | None = None) -> Agent:
        """Load an agent from a file: it continues bit for bit as the saved one would have.

        Args:
            path: a file that save wrote.
            decode: the inverse of the encode that it was saved with.

        Raises:
            FileError: the file is damaged, of another version, or not an agent.
            OSError: the file cannot be read.
        """
    def to_bytes(self, *, encode: Callable[[Any], Hashable] | None = None) -> bytes:
        """The bytes that save would write.

        Args:
            encode: as for save.

        Raises:
            TypeError: a name is not plain data, and there is no encode.
        """
    @staticmethod
    def from_bytes(data: bytes, *, decode: Callable[[Any], Hashable] | None = None) -> Agent:
        """Load an agent from the bytes of to_bytes or of a file.

        Args:
            data: the bytes.
            decode: as for load.

        Raises:
            FileError: the bytes are damaged, of another version, or not an agent.
        """
    @staticmethod
    def _restore(data: bytes, others: list[Any]) -> Agent: ...
    @property
    def discount(self) -> float:
        """The discount."""
    @property
    def planner(self) -> str:
        """The name of the planner."""
    @property
    def optimism(self) -> Optimism:
        """The value of an action before it has been seen often enough."""
    @property
    def explore(self) -> Explore | Optimism | None:
        """The way the agent explores; None if it was built without explore, reward_range, start, age_bonus and forgetting."""
    @property
    def forgetting(self) -> Forgetting | None:
        """The way the agent forgets; None if it does not."""
    @property
    def reward_range(self) -> tuple[float, float] | None:
        """The lowest and highest reward of a step, if they were given."""
    @property
    def epsilon(self) -> float:
        """The probability of a random action."""
    @epsilon.setter
    def epsilon(self, value: float, /) -> None: ...
    @property
    def declared_actions(self) -> list[Any] | None:
        """The declared actions, or None if actions are discovered."""
    def _acting_changes(self, before: NDArray[np.uint32], seed: int) -> tuple[NDArray[np.uint32], list[tuple[Any, Any]]]: ...
    def _priorities(self) -> list[float]: ...
    def _explain(self, state: int) -> tuple[float | None, float, list[tuple[int, bool, float, float, float, list[tuple[int, float, float]]]]] | None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, key: object, /) -> bool: ...
    def watch(
        self,
        shape: tuple[int, int],
        *,
        arrows: Mapping[Any, Any] | None = None,
        state_at: Callable[[int, int], Hashable] | None = None,
        port: int = 0,
        open: bool = True,
    ) -> Watch:
        """Show this agent on a page in the browser while it learns.

        The page is read-only: it samples the agent ten times per second and never changes it. While the agent is busy in a long
        call that releases the interpreter, the page shows what it saw last.

        Args:
            shape: (rows, columns) of the grid.
            arrows: the direction of each action, as for ``plot_policy``; an action without one gets no arrow.
            state_at: ``state_at(row, column)`` is the state of a cell; by default it is ``row * columns + column``.
            port: the port of the page; 0 means any free one.
            open: whether to open the page in the browser.

        Returns:
            The page, with its address in ``url``; ``close()`` ends it.
        """

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True, *, action_mask: Any = None
    ) -> tuple[Any, None]:
        """The recommended action for an observation of the environment that the agent learned from, as in Stable-Baselines3.

        Observations and actions are those of the environment, where ``best_action`` takes and returns names. In a state that the
        agent does not know, it is the first action that is possible. An array of observations of a Discrete space, as a vector
        environment returns it, gets an array of actions.

        Args:
            observation: an observation of the environment.
            state: ignored: the policy has no memory.
            episode_start: ignored, for the same reason.
            deterministic: if false, the action is the one of ``act``, which explores and may add the state.
            action_mask: a flag for each action: whether it is possible.

        Returns:
            The action, and ``None`` for the state of the policy.

        Raises:
            ValueError: no action is known in the state, and none is declared.
        """

    def _repr_html_(self) -> str: ...
    def __copy__(self) -> Agent: ...
    def __deepcopy__(self, memo: Any) -> Agent: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class SmallBackupPredictor:
    """Prediction with small backups, which have no step size.

    Args:
        discount: the factor by which a reward one step later counts, from 0 to 1.
        initial_value: the value of a state before it is left for the first time.
        selection: which value is backed up: "most_recent", "round_robin", "random" or "largest".
        iterations: small backups per step; 1 if not given.
        seed: seeds selection="random"; None draws a fresh seed.
    """

    def __new__(
        cls,
        discount: float = 0.99,
        *,
        initial_value: float = 0.0,
        selection: str = "most_recent",
        iterations: int | None = None,
        seed: int | None = None,
    ) -> SmallBackupPredictor: ...
    def observe(
        self, state: Any, reward: SupportsFloat, next_state: Any, terminated: bool = False, truncated: bool = False
    ) -> None:
        """Learn from one step.

        Args:
            state: the state before the step.
            reward: the reward, a finite number.
            next_state: the state after the step.
            terminated: whether the episode ended there, so that nothing follows.
            truncated: whether the episode was cut there; next_state keeps its value.
        """
    def value(self, state: Any) -> float:
        """The value of a state that was seen.

        Args:
            state: a known state.
        """
    def values(self) -> dict[Any, float]:
        """The value of every state that was seen, as a dict."""
    def deviation(self) -> float:
        """The largest distance by which rounding has moved a value."""
    @staticmethod
    def _restore(data: bytes, others: list[Any]) -> SmallBackupPredictor: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __copy__(self) -> SmallBackupPredictor: ...
    def __deepcopy__(self, memo: Any) -> SmallBackupPredictor: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class TD0:
    """TD(0), with a constant step size or one that decays with the visits of a state.

    Args:
        discount: the factor by which a reward one step later counts, from 0 to 1.
        step_size: a constant step size, from 0 to 1; 0.1 if neither it nor decay is given.
        decay: the rate d of a step size 1 / (d (visits - 1) + 1), from 0 to 1.
        initial_value: the value of a state before it is left for the first time.
    """

    def __new__(
        cls,
        discount: float = 0.99,
        *,
        step_size: float | None = None,
        decay: float | None = None,
        initial_value: float = 0.0,
    ) -> TD0: ...
    def observe(
        self, state: Any, reward: SupportsFloat, next_state: Any, terminated: bool = False, truncated: bool = False
    ) -> None:
        """Learn from one step.

        Args:
            state: the state before the step.
            reward: the reward, a finite number.
            next_state: the state after the step.
            terminated: whether the episode ended there, so that nothing follows.
            truncated: whether the episode was cut there; next_state keeps its value.
        """
    def value(self, state: Any) -> float:
        """The value of a state that was seen.

        Args:
            state: a known state.
        """
    def values(self) -> dict[Any, float]:
        """The value of every state that was seen, as a dict."""
    @staticmethod
    def _restore(data: bytes, others: list[Any]) -> TD0: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __copy__(self) -> TD0: ...
    def __deepcopy__(self, memo: Any) -> TD0: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

# A question: kind, reward, label, label to avoid, steps, discount.
_Objective = tuple[str, str | None, str | None, str | None, int | None, float | None]
# A matrix in compressed rows: where rows begin, columns, data.
_Numbers = NDArray[np.float64]

@final
class FunctionModel:
    def __new__(
        cls,
        start: Sequence[Any],
        actions: Callable[[Any], Iterable[Any]],
        outcomes: Callable[[Any, Any], Any],
        discount: float,
        normalize: bool,
    ) -> FunctionModel: ...
    def enumerate(self, limit: int | None = None, progress: Callable[[int, int], None] | None = None) -> str | None: ...
    def explore(
        self,
        tolerance: float,
        value_range: tuple[float, float],
        minimize: bool,
        limit: int | None,
        time_limit: float | None,
    ) -> tuple[tuple[_Numbers, _Numbers, NDArray[np.int64]], tuple[bool, float, str | None]]: ...
    def counts(self) -> tuple[int, int]: ...
    def start(self) -> list[int]: ...
    def model(self, keep: bool) -> KnownModel: ...

@final
class DiskModel:
    """A model in an uncompressed UMB file."""

    def __new__(cls, path: str, arcs_per_block: int) -> DiskModel: ...
    def counts(self) -> tuple[int, int, int, int]: ...
    def initial(self) -> list[int]: ...
    def solve(
        self,
        discount: float,
        reward: str | None,
        minimize: bool,
        tolerance: float,
        relative: float,
        time_limit: float | None,
        progress: Callable[[int, int, int, float], None],
    ) -> tuple[tuple[Any, Any, Any, Any], tuple[bool, int, float, list[str], str | None]]: ...

@final
class StateRows:
    """The states of a vectorized function: rows of whole numbers."""

    def __new__(cls, width: int) -> StateRows: ...
    def __len__(self) -> int: ...
    def numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]: ...
    def rows(self, first: int, to: int) -> NDArray[np.int64]: ...
    def tuples(self) -> list[tuple[int, ...]]: ...

@final
class ModelWriter:
    """Builds a model state by state, in memory or in a file."""

    def __new__(cls, path: str | None = None) -> ModelWriter: ...
    def add(self, n_choices: Any, actions: Any, n_outcomes: Any, targets: Any, probabilities: Any, rewards: Any) -> None: ...
    def finish(self, discount: float, states: StateRows, initial: Sequence[int], actions: Sequence[Any]) -> KnownModel | None: ...

@final
class KnownModel:
    """A known model and what is known about it. Users see `backsweep.MDP`."""

    def __new__(cls, discount: float) -> KnownModel: ...
    @staticmethod
    def from_columns(
        discount: float,
        n_states: int,
        states: NDArray[np.int64],
        actions: NDArray[np.int64],
        action_names: Iterable[Any],
        starts: NDArray[np.int64],
        next_states: NDArray[np.int64],
        probabilities: _Numbers,
        rewards: _Numbers,
        eps: float,
        normalize: bool,
    ) -> KnownModel: ...
    def rename_states(self, names: Iterable[Any]) -> None: ...
    @staticmethod
    def read(
        path: str | PathLike[str], format: str | None, discount: float, progress: Callable[[int], None] | None = None
    ) -> tuple[KnownModel, list[str]]: ...
    def write(self, path: str | PathLike[str], format: str | None, compress: bool) -> list[str]: ...
    def set_outcomes(self, state: Any, action: Any, outcomes: Iterable[tuple[Any, ...]], normalize: bool = False) -> None: ...
    def set_reward(self, state: Any, action: Any, reward: float) -> None: ...
    def remove_action(self, state: Any, action: Any) -> None: ...
    def set_label(self, label: str, states: Iterable[Any]) -> None: ...
    def labels(self) -> dict[str, list[Any]]: ...
    def rewards(self) -> list[str]: ...
    def solve(
        self,
        tolerances: tuple[float, float],
        objective: _Objective | None,
        minimize: bool,
        method: str | None,
        time_limit: float | None,
        threads: int | None,
        device: str,
    ) -> tuple[
        tuple[_Numbers, _Numbers, _Numbers, NDArray[np.int64]],
        tuple[float | None, bool, int, float, list[str], str | None, str, bool],
    ]: ...
    def what_if(
        self,
        changes: Sequence[tuple[Any, Any, Any | None, float | None]],
        tolerances: tuple[float, float] | None,
        objective: _Objective | None,
        minimize: bool,
        time_limit: float | None,
        threads: int | None,
    ) -> tuple[
        tuple[_Numbers, _Numbers],
        tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]],
        tuple[float | None, bool, float, str | None],
    ]: ...
    def evaluate(
        self,
        policy: Sequence[tuple[Any, Any, float]],
        tolerances: tuple[float, float],
        objective: _Objective | None,
        minimize: bool,
        time_limit: float | None,
        threads: int | None,
    ) -> tuple[
        tuple[_Numbers, _Numbers, _Numbers, _Numbers, _Numbers],
        tuple[NDArray[np.uint32], _Numbers, _Numbers],
        tuple[bool, float, str | None, str],
    ]: ...
    def simulate(
        self,
        policy: Sequence[tuple[Any, Any, float]],
        start: Any | None,
        episodes: int,
        max_steps: int,
        seed: int,
    ) -> list[list[tuple[Any, Any, float, Any]]]: ...
    def value_array(self) -> _Numbers: ...
    def values(self) -> dict[Any, float]: ...
    def policy(self) -> dict[Any, Any]: ...
    def states(self) -> list[Any]: ...
    def action_names(self) -> list[Any]: ...
    def value(self, state: Any) -> float: ...
    def best_action(self, state: Any) -> Any: ...
    def action_values(self, state: Any) -> dict[Any, float]: ...
    def actions(self, state: Any) -> list[Any]: ...
    def contains(self, state: Any) -> bool: ...
    def n_states(self) -> int: ...
    def discount(self) -> float: ...
    def planner(self) -> str: ...
    def model(self) -> Model: ...
    def stats(self) -> Stats: ...
    def audit(self) -> Audit: ...
    def save(self, path: str | PathLike[str], encode: Callable[[Any], Hashable] | None = None) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str], decode: Callable[[Any], Hashable] | None = None) -> KnownModel: ...
    def to_bytes(self, encode: Callable[[Any], Hashable] | None = None) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes, decode: Callable[[Any], Hashable] | None = None) -> KnownModel: ...
    def html(self) -> str: ...
    @staticmethod
    def _restore(data: bytes, others: list[Any]) -> KnownModel: ...
    def __copy__(self) -> KnownModel: ...
    def __deepcopy__(self, memo: Any) -> KnownModel: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def command(arguments: Sequence[str]) -> int:
    """Runs a command line, whose first argument is the program's name, and returns the exit code."""

def rust_loop(
    states: NDArray[np.int64],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float64],
    next_states: NDArray[np.int64],
    terminated: NDArray[np.bool_],
    *,
    n_actions: int,
    cycles: int,
    act: bool,
    discount: float = 0.99,
    seed: int = 0,
) -> tuple[float, NDArray[np.float64], int]: ...

@final
class LearnedLog:
    """A policy learned from a log; what ``backsweep.Learned`` is made of."""

    def guesses(self) -> list[str]:
        """The guesses about the columns."""
    def warnings(self) -> list[str]:
        """The parts of the log that are probably not meant as they were read."""
    def states(self) -> dict[str, Any]:
        """The state, action, value, count, logged action, support and probability of each state that was ever left, as columns."""
    def probabilities(self) -> dict[str, dict[str, float]]:
        """The probability of each action in each state, by name."""
    def counts(self) -> dict[str, Any]:
        """The counts as columns; ``next`` is None where the case ended."""
    def decide(self, row: str, seed: int) -> str: ...
    def summary(self) -> str:
        """The summary as JSON."""
    def html(self) -> str:
        """The report as HTML."""
    def save(self, folder: PathLike[str], overwrite: bool) -> list[PathLike[str]]:
        """Write report.html and policy.csv into a folder; returns their paths."""
    def agent(self) -> bytes:
        """The bytes of an agent that knows the supported counts."""

def learn_log(
    paths: list[str],
    table: Table | None,
    columns_of: dict[str, Any],
    options: dict[str, Any],
    settings: dict[str, Any],
) -> LearnedLog:
    """Learn a policy from the files or the columns of a log. See ``backsweep.learn_log``."""

@final
class SuiteWorld:
    """One run in a world of the suite: an environment that keeps the score."""

    def __new__(cls, name: str, seed: int = 0) -> SuiteWorld: ...
    def step(self, action: int) -> tuple[int, float, bool, bool]: ...
    def judge(self, policy: list[int]) -> float: ...
    def result(self) -> tuple[float, int, int, bool]: ...
    def action_counts(self) -> list[int]: ...
    @property
    def state(self) -> int: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def wants_policy(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def discount(self) -> float: ...
    @property
    def reward_range(self) -> tuple[float, float]: ...
    @property
    def score_name(self) -> str: ...
    @property
    def more_is_better(self) -> bool: ...

def suite_names() -> list[str]: ...
