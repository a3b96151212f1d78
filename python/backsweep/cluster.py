"""Many actors, one learner, on Ray (``pip install 'backsweep[ray]'``).

Workers act with a policy table, each in an environment of its own, and send what they saw in batches; the learner merges the
batches, plans, and answers with the rows of the table that changed. Counts commute: batches of any number of actors, merged in any
order, give the same model, so a worker whose table is old explores worse and spoils nothing.

    from backsweep.cluster import Team
    with Team(lambda: gymnasium.make("FrozenLake-v1"), agent=lambda: backsweep.Agent(0.99), workers=8) as team:
        team.learn(steps=1_000_000)
        agent = team.agent()

Each batch carries its actor and a sequence number. The learner applies each batch once and in order, stores itself with the last
number of every actor, and workers keep a batch until it is stored. A worker that dies is replaced; a learner that dies is
restarted by Ray from what it stored, and its answer to the next batch says what it lacks.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any, Callable, Hashable, NamedTuple, Sequence

import numpy as np

from ._backsweep import Agent
from ._errors import Error, FileError
from ._explore import PosteriorSampling
from ._world import World

__all__ = ["Batch", "Learner", "Reply", "Team", "Worker", "counts"]

# A learner that does not answer for so long is given up.
PATIENCE_SECONDS = 120.0
NO_ACTION = np.zeros(0, np.uint32)


class Batch(NamedTuple):
    """Steps of one actor, in columns."""

    states: Any
    actions: Any
    rewards: Any
    next_states: Any
    terminated: Any
    truncated: Any


class Reply(NamedTuple):
    """The answer of the learner."""

    last: int
    """The number of the actor's last batch that was applied; the next one is expected now."""
    stored: int
    """The number of the actor's last batch that is stored; earlier ones need not be kept."""
    total: int
    """The steps of all actors so far."""
    version: int
    """The state of the policy table with these rows."""
    states: Any
    """The states whose row changed since the version that the actor has, in a column."""
    actions: Any
    """Their actions now."""

    @property
    def rows(self) -> dict[Hashable, Hashable]:
        """The changed rows: action by state."""
        return dict(zip(*(column.tolist() if isinstance(column, np.ndarray) else column for column in (self.states, self.actions))))


class _Table:
    """The policy by one agent's values, and when each row changed."""

    def __init__(self, agent: Agent, seed: int) -> None:
        self.agent, self.seed = agent, seed
        self.places = NO_ACTION
        self.version = 0
        self.changes: dict[Hashable, tuple[int, Hashable]] = {}

    def update(self) -> None:
        self.places, changed = self.agent._acting_changes(self.places, self.seed)
        if not changed:
            return
        self.version += 1
        for state, action in changed:
            # Changed rows move to the end, so that the newest are found without a look at the others.
            self.changes.pop(state, None)
            self.changes[state] = (self.version, action)

    def since(self, version: int) -> tuple[Any, Any]:
        if version == self.version:
            return [], []
        newest = itertools.takewhile(lambda row: row[1][0] > version, reversed(self.changes.items()))
        rows = [(state, action) for state, (_, action) in newest]
        return _column([state for state, _ in rows]), _column([action for _, action in rows])


class Learner:
    """Merges batches into one model and plans. ``Team`` runs it as a Ray actor; it needs no Ray itself.

    Args:
        agent: makes the agent to begin with.
        actions: the actions of every state.
        checkpoint: a folder to store it in, and to resume from if it holds a learner; None stores nothing.
        checkpoint_every: store after this many steps.
        cycles: update cycles per step.
        draws: the number of draws of the posterior that are kept for workers to act by; 0 for one table by the agent's own values.
        seed: seeds the draws.
    """

    def __init__(
        self,
        agent: Callable[[], Agent],
        *,
        actions: list[Hashable],
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100_000,
        cycles: int = 1,
        draws: int = 0,
        seed: int = 0,
    ) -> None:
        self.folder = Path(checkpoint) if checkpoint is not None else None
        self.checkpoint_every, self.cycles = checkpoint_every, cycles
        self.last: dict[str, int] = {}
        self.total = 0
        found = self._stored()
        if found is None:
            self.agent = agent()
            self.agent.declare_actions(actions)
            self.drawn = [_drawn(self.agent, actions, seed + draw) for draw in range(draws)]
        else:
            self.last, self.total, stored_draws = _progress(found / "learner.json")
            if stored_draws != draws:
                raise FileError(f"{found} holds {stored_draws} draws; expected {draws}")
            self.agent = Agent.load(found / "agent.backsweep")
            self.drawn = [Agent.load(found / f"draw{draw}.backsweep") for draw in range(draws)]
        self.stored = dict(self.last)
        self.stored_total = self.total
        self.tables = [_Table(one, seed + i) for i, one in enumerate(self.drawn or [self.agent])]
        # Versions of a learner that was restarted continue above those that workers have seen.
        self.era = time.time_ns()
        self._publish()

    def apply(self, actor: str, sequence: int, batch: Batch, table: int = 0, version: int = 0) -> Reply:
        """Learn from a batch unless it was applied before or an earlier one is missing; the reply's ``last`` says which is next.

        Args:
            actor: who sends it.
            sequence: its number among the actor's, from 1.
            batch: the steps; empty ones are refused.
            table: which table the actor acts by.
            version: the version of the table that the actor has.
        """
        last = self.last.get(actor, 0)
        if sequence == last + 1:
            for agent in [self.agent, *self.drawn]:
                n = agent.observe_many(*batch, cycles=self.cycles)
            self.last[actor] = sequence
            self.total += n
            self.unpublished += n
            # Publishing takes a pass over the states, so it waits for a share of that many steps.
            if self.unpublished * 16 >= len(self.agent):
                self._publish()
            if self.folder is not None and self.total - self.stored_total >= self.checkpoint_every:
                self.store()
        return self._reply(actor, table, version)

    def poll(self, actor: str, table: int = 0, version: int = 0) -> Reply:
        """The reply to an actor that has nothing to send."""
        return self._reply(actor, table, version)

    def store(self) -> None:
        """Store the agent and the last number of every actor, in one step: a crash leaves the old files or the new ones."""
        if self.folder is None:
            raise ValueError("this learner has no checkpoint folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=self.folder))
        self.agent.save(new / "agent.backsweep")
        for draw, agent in enumerate(self.drawn):
            agent.save(new / f"draw{draw}.backsweep")
        about = {"last": self.last, "total": self.total, "draws": len(self.drawn)}
        with open(new / "learner.json", "w") as file:
            json.dump(about, file)
            file.flush()
            os.fsync(file.fileno())
        # Only what a learner wrote is removed: whatever else is in the folder stays.
        old = [path for name in ("at-*", "new-*") for path in self.folder.glob(name) if path != new]
        place = self.folder / f"at-{self.total:020}"
        while place in old:
            place = place.with_name(place.name + "+")
        new.rename(place)
        self.stored, self.stored_total = dict(self.last), self.total
        for path in old:
            shutil.rmtree(path, ignore_errors=True)

    def state(self) -> tuple[bytes, dict[str, int], int]:
        """The agent as bytes, the last batch of every actor, and the number of steps."""
        return self.agent.to_bytes(), dict(self.last), self.total

    def pid(self) -> int:
        """The process that it runs in."""
        return os.getpid()

    def _stored(self) -> Path | None:
        # Folders that begin otherwise were being written when their writer died.
        found = sorted(self.folder.glob("at-*")) if self.folder is not None and self.folder.is_dir() else []
        return found[-1] if found else None

    def _publish(self) -> None:
        self.unpublished = 0
        for table in self.tables:
            table.update()

    def _reply(self, actor: str, table: int, version: int) -> Reply:
        mine = self.tables[table % len(self.tables)]
        last = self.last.get(actor, 0)
        # Without a folder nothing can be asked for again.
        stored = self.stored.get(actor, 0) if self.folder is not None else last
        since = version - self.era if version > self.era else 0
        return Reply(last, stored, self.total, self.era + mine.version, *mine.since(since))


def _progress(path: Path) -> tuple[dict[str, int], int, int]:
    """Reads the last batch of every actor, the steps and the number of draws that ``Learner.store`` wrote beside the agents."""
    try:
        about = json.loads(path.read_text())
        last, total, draws = dict(about["last"]), about["total"], about["draws"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{path} is damaged: {error!r}") from error
    if not all(type(number) is int and number >= 0 for number in [total, draws, *last.values()]):
        raise FileError(f"{path} is damaged: expected whole numbers, 0 or more")
    return last, total, draws


def _drawn(agent: Agent, actions: list[Hashable], seed: int) -> Agent:
    """An agent that acts by its own draw of the posterior."""
    if agent.reward_range is None:
        raise ValueError("draws of the posterior need the agent's reward_range; expected Agent(reward_range=(lowest, highest))")
    return Agent(
        agent.discount, explore=PosteriorSampling(), reward_range=agent.reward_range, actions=actions, seed=seed, planner=agent.planner
    )


class Worker:
    """Acts in one environment and sends what it sees. ``Team`` runs it as a Ray actor.

    Args:
        env: makes the environment.
        learner: the handle of the learner's Ray actor.
        actor: the worker's name.
        table: which table it acts by.
        batch: steps per batch.
        epsilon: the probability of a random action.
        seed: seeds the environment and random actions.
    """

    def __init__(
        self, env: Callable[[], Any], learner: Any, actor: str, *, table: int = 0, batch: int = 1000, epsilon: float = 0.0, seed: int = 0
    ) -> None:
        self.world = World(env())
        self.learner, self.actor, self.table, self.size, self.epsilon, self.seed = learner, actor, table, batch, epsilon, seed
        self.random = np.random.default_rng(seed)
        self.policy: dict[Hashable, Hashable] = {}
        self.version = 0
        self.sequence = 0
        self.kept: deque[tuple[int, Batch]] = deque()
        self.place: Hashable = None
        self.is_over = True

    def run(self, until: int) -> int:
        """Act and send until all actors together have taken so many steps and all own batches are applied; returns how many
        steps this worker took."""
        reply = self._take(self._ask("poll", self.actor, self.table, self.version))
        steps = 0
        sent: Any = None
        while reply.total < until:
            batch = self._act()
            steps += self.size
            self.sequence += 1
            self.kept.append((self.sequence, batch))
            # One batch is under way while the next one is collected.
            if sent is not None:
                reply = self._settle(self.sequence - 1, sent)
            sent = self.learner.apply.remote(self.actor, self.sequence, batch, self.table, self.version)
        if sent is not None:
            self._settle(self.sequence, sent)
        return steps

    def latency(self, repeats: int = 100) -> list[float]:
        """The seconds that a question to the learner takes, several times."""
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            self._take(self._ask("poll", self.actor, self.table, self.version))
            times.append(time.perf_counter() - start)
        return times

    def pid(self) -> int:
        """The process that it runs in."""
        return os.getpid()

    def _act(self) -> Batch:
        rows: list[tuple[Any, ...]] = []
        actions = self.world.actions
        for _ in range(self.size):
            if self.is_over:
                self.place = self._state(self.world.reset(self.seed if not self.sequence and not rows else None))
            action = self.policy.get(self.place)
            if action is None or (self.epsilon > 0.0 and self.random.random() < self.epsilon):
                action = actions[int(self.random.integers(len(actions)))]
            place, reward, terminated, truncated = self.world.step(action)
            state = self._state(place)
            rows.append((self.place, action, reward, state, terminated, truncated))
            self.place, self.is_over = state, terminated or truncated
        states, taken, rewards, next_states, terminated_, truncated_ = zip(*rows)
        flags = np.array(terminated_, bool), np.array(truncated_, bool)
        return Batch(_column(states), _column(taken), np.array(rewards, float), _column(next_states), *flags)

    def _state(self, place: Any) -> Hashable:
        if place.actions is not None:
            raise ValueError("the environment masks actions; expected one where every action is possible everywhere")
        return place.state  # type: ignore[no-any-return]

    def _settle(self, sequence: int, sent: Any) -> Reply:
        """The reply to a batch, after whatever the learner lacks was sent again."""
        reply = self._take(self._ask("apply", sent=sent))
        while reply.last < sequence:
            missing = next((one for one in self.kept if one[0] == reply.last + 1), None)
            if missing is None:
                raise Error(f"the learner asks {self.actor} for batch {reply.last + 1}, which is no longer kept")
            reply = self._take(self._ask("apply", self.actor, *missing, self.table, self.version))
        return reply

    def _take(self, reply: Reply) -> Reply:
        self.policy.update(reply.rows)
        self.version = reply.version
        while self.kept and self.kept[0][0] <= reply.stored:
            self.kept.popleft()
        return reply

    def _ask(self, method: str, *arguments: Any, sent: Any = None) -> Reply:
        """Calls the learner; while it is being restarted, again and again."""
        import ray

        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                if sent is None:
                    sent = getattr(self.learner, method).remote(*arguments)
                return ray.get(sent)  # type: ignore[no-any-return]
            except ray.exceptions.RayActorError:
                if time.monotonic() > deadline:
                    raise
                # What was sent is kept; the answer to a poll says which batch is next.
                sent, method, arguments = None, "poll", (self.actor, self.table, self.version)
                time.sleep(0.05)


def _column(names: Sequence[Any]) -> Any:
    """Whole numbers travel as an array."""
    if all(type(name) is int for name in names):
        try:
            return np.array(names, np.int64)
        except OverflowError:
            pass
    return list(names)


class Team:
    """A learner and its workers, on the Ray cluster that this process is connected to, or else on this machine.

    Args:
        env: makes a Gymnasium environment; called once per worker.
        agent: makes the learner's agent; its actions are declared by the team.
        workers: the number of workers that act.
        batch: steps per batch.
        cycles: update cycles per step.
        draws: the number of draws of the posterior that workers act on, so that they do not all explore the same corner; worker ``i`` acts
            by draw ``i % draws``. 0: all act by the agent's own values. Needs the agent's ``reward_range``.
        epsilon: the probability that a worker takes a random action.
        checkpoint: a folder that the learner stores itself in, and resumes from; it must be reachable from every node that the learner
            may run on. Without it, a learner that dies ends the team.
        checkpoint_every: store after this many steps.
        seed: seeds workers and draws.
        cpus: processors that Ray reserves per worker.
    """

    def __init__(
        self,
        env: Callable[[], Any],
        agent: Callable[[], Agent],
        *,
        workers: int,
        batch: int = 1000,
        cycles: int = 1,
        draws: int = 0,
        epsilon: float = 0.0,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100_000,
        seed: int = 0,
        cpus: float = 1.0,
    ) -> None:
        for name, given, least in [("workers", workers, 1), ("batch", batch, 1), ("checkpoint_every", checkpoint_every, 1)]:
            if given < least:
                raise ValueError(f"{name} is {given}; expected {least} or more")
        if not 0.0 <= epsilon <= 1.0:
            raise ValueError(f"epsilon is {epsilon}; expected 0 to 1")
        try:
            import ray
        except ImportError as error:
            raise ImportError("a team needs Ray: pip install 'backsweep[ray]'") from error
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        self._ray: Any = ray
        world = World(env())
        restarts = 0 if checkpoint is None else -1
        self.learner: Any = (
            ray.remote(Learner)
            .options(num_cpus=0, max_restarts=restarts)
            .remote(
                agent,
                actions=list(world.actions),
                checkpoint=os.path.abspath(checkpoint) if checkpoint is not None else None,
                checkpoint_every=checkpoint_every,
                cycles=cycles,
                draws=draws,
                seed=seed,
            )
        )
        self._start = time.time_ns()
        self._env, self._seed, self._draws = env, seed, draws
        self._options = {"batch": batch, "epsilon": epsilon}
        self._worker = ray.remote(Worker).options(num_cpus=cpus)
        self._starts = [0] * workers
        self._seeds: dict[str, int] = {}
        self.workers: list[Any] = [None] * workers
        for slot in range(workers):
            self._start_worker(slot)

    def learn(self, steps: int) -> int:
        """Learn until all actors together have taken this many more steps; returns how many the learner has seen in all.

        A worker that dies is replaced. One whose environment raises an exception is not: the exception is raised here.

        Args:
            steps: the number of steps; a few batches more may be taken.
        """
        ray = self._ray
        until = self._state()[2] + steps
        running = {worker.run.remote(until): slot for slot, worker in enumerate(self.workers)}
        while running:
            done, _ = ray.wait(list(running), num_returns=1)
            slot = running.pop(done[0])
            try:
                ray.get(done[0])
            except ray.exceptions.RayTaskError:
                raise
            except ray.exceptions.RayActorError:
                running[self._start_worker(slot).run.remote(until)] = slot
        return self._state()[2]

    def agent(self) -> Agent:
        """A copy of the learner's agent."""
        return Agent.from_bytes(self._state()[0])

    def applied(self) -> dict[str, int]:
        """The number of batches of each actor in the model."""
        return self._state()[1]

    def seeds(self) -> dict[str, int]:
        """The seed of every actor's environment, dead ones included."""
        return dict(self._seeds)

    def close(self) -> None:
        """End the workers and the learner; what the learner stored stays."""
        for worker in self.workers:
            self._ray.kill(worker)
        self._ray.kill(self.learner)

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _state(self) -> tuple[bytes, dict[str, int], int]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self._ray.get(self.learner.state.remote())  # type: ignore[no-any-return]
            except self._ray.exceptions.RayTaskError:
                raise
            except self._ray.exceptions.RayActorError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _start_worker(self, slot: int) -> Any:
        # A replacement is another actor: its batches count from 1, and it draws other numbers.
        self._starts[slot] += 1
        name = f"{self._start}.{slot}.{self._starts[slot]}"
        seed = int(np.random.SeedSequence([self._seed, slot, self._starts[slot]]).generate_state(1)[0])
        self._seeds[name] = seed
        self.workers[slot] = self._worker.remote(self._env, self.learner, name, table=slot, seed=seed, **self._options)
        return self.workers[slot]


def counts(agent: Agent) -> dict[Hashable, dict[Hashable, tuple[float, float, dict[Hashable, float]]]]:
    """The observations of an agent, independent of their order: visits, mean reward and counts of next states, by state and
    action. The rest of the visits ended an episode.

    Args:
        agent: the agent.
    """
    model = agent.model
    starts, columns, data = model.row_starts.tolist(), model.columns.tolist(), model.count_data.tolist()
    found: dict[Hashable, dict[Hashable, tuple[float, float, dict[Hashable, float]]]] = {}
    for row, (state, action) in enumerate(model.rows):
        if model.visits[row] > 0:
            arcs = range(starts[row], starts[row + 1])
            nexts = {model.states[columns[arc]]: data[arc] for arc in arcs}
            found.setdefault(state, {})[action] = (float(model.visits[row]), float(model.mean_rewards[row]), nexts)
    return found
