"""Rates of a team on Ray: observations per second into the learner, the time until a changed row reaches a worker, and the steps that
a team of 1 to 16 needs in a large world, against as many agents on their own (simulated time: all act equally fast).

Usage: ray_figures.py [--seeds 5] [--teams 1,2,4,8,16] [--no-ray]
"""

import argparse
import time

import numpy as np

from backsweep import Agent, Optimism
from backsweep.cluster import Batch, Learner, Team, Worker

SIDE, LIMIT, BATCH = 40, 400, 50


class Field:
    """A square of cells, from corner to corner; each step costs a hundredth, and the goal pays 1."""

    def __init__(self, side: int = SIDE) -> None:
        from gymnasium.spaces import Discrete

        self.observation_space, self.action_space = Discrete(side * side), Discrete(4)
        self.side = side

    def reset(self, seed: int | None = None):
        self.at, self.steps = 0, 0
        return self.at, {}

    def step(self, action: int):
        row, column = divmod(self.at, self.side)
        row = min(max(row + (0, 1, 0, -1)[int(action)], 0), self.side - 1)
        column = min(max(column + (1, 0, -1, 0)[int(action)], 0), self.side - 1)
        self.at, self.steps = row * self.side + column, self.steps + 1
        terminated = self.at == self.side**2 - 1
        return self.at, 1.0 if terminated else -0.01, terminated, self.steps == LIMIT and not terminated, {}


def new_agent() -> Agent:
    return Agent(0.999, optimism=Optimism(1.0, min_visits=1), seed=0)


def is_solved(agent: Agent) -> bool:
    """True if the best actions lead to the goal by a shortest path."""
    field = Field()
    state, _ = field.reset()
    for _ in range(2 * (SIDE - 1)):
        if state not in agent.states:
            return False
        state, _, terminated, _, _ = field.step(agent.best_action(state))
        if terminated:
            return True
    return False


def team_steps(workers: int, seed: int, limit: int = 400_000) -> int:
    """The steps of each worker until the learner's policy is best."""
    learner = Learner(new_agent, actions=[0, 1, 2, 3], cycles=5)
    team = [Worker(Field, None, str(i), table=i, batch=BATCH, seed=seed * 100 + i) for i in range(workers)]
    for worker in team:
        # Each explores ties in its own order, as one with a table of its own would.
        worker.epsilon = 0.1
    for step in range(BATCH, limit, BATCH):
        for worker in team:
            batch = worker._act()
            worker.sequence += 1
            worker._take(learner.apply(worker.actor, worker.sequence, batch, worker.table, worker.version))
        if is_solved(learner.agent):
            return step
    return limit


def into_the_learner(batch: int, cycles: int, seconds: float = 3.0) -> float:
    """Observations per second that one learner merges."""
    learner = Learner(new_agent, actions=[0, 1, 2, 3], cycles=cycles)
    random = np.random.default_rng(0)
    n = 100_000
    states = random.integers(0, n, batch)
    columns = Batch(states, random.integers(0, 4, batch), np.zeros(batch), (states + 1) % n, np.zeros(batch, bool), np.zeros(batch, bool))
    done, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        done += 1
        learner.apply("one", done, columns)
    return done * batch / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--teams", default="1,2,4,8,16")
    parser.add_argument("--no-ray", action="store_true")
    given = parser.parse_args()
    for cycles in (0, 1):
        rate = into_the_learner(10_000, cycles)
        print(f"into the learner: {rate / 1e6:.2f} million observations per second, batches of 10,000, {cycles} cycles each", flush=True)
    sizes = [int(size) for size in given.teams.split(",")]
    alone = [team_steps(1, 1000 + seed) for seed in range(max(sizes) * given.seeds)]
    for size in sizes:
        team = [team_steps(size, seed) for seed in range(given.seeds)]
        best = [min(alone[i * size : (i + 1) * size]) for i in range(given.seeds)]
        print(f"{size} workers: {np.mean(team):,.0f} steps each; the first of {size} agents on their own: {np.mean(best):,.0f}", flush=True)
    if given.no_ray:
        return
    import ray

    ray.init(log_to_driver=False, include_dashboard=False)
    with Team(Field, new_agent, workers=2, batch=1000, cpus=0.5) as team:
        start = time.perf_counter()
        steps = team.learn(200_000)
        print(f"a team of 2 on Ray: {steps / (time.perf_counter() - start):,.0f} steps per second, environments in Python")
        times = ray.get(team.workers[0].latency.remote(200))
        print(f"a changed row reaches a worker: median {1e3 * float(np.median(times)):.2f} ms after it asks, 99 % {1e3 * float(np.quantile(times, 0.99)):.2f} ms")


if __name__ == "__main__":
    main()
