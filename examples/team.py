"""The gain of a team of actors and the cost of its learner, without Ray.

    python examples/team.py

First, steps per second into a learner. Then teams of 1 to 16 actors in simulated time (all step at once): time steps until the
learner's policy is worth 95 % of the optimum from the start, against as many agents that each learn alone.
"""

import argparse
import random
import statistics
import time

import numpy as np

import backsweep
from backsweep.cluster import Batch, Learner

N_ACTIONS, DISCOUNT = 4, 0.99


def rates(n=1_000_000, n_states=100_000):
    chance = np.random.default_rng(0)
    states, nexts = chance.integers(0, n_states, n), np.empty(n, np.int64)
    nexts[:] = (states + chance.integers(-3, 4, n)) % n_states
    columns = Batch(states, chance.integers(0, 4, n), -np.ones(n), nexts, chance.random(n) < 1e-3, np.zeros(n, bool))
    for cycles in (0, 1):
        learner = Learner(lambda: backsweep.Agent(DISCOUNT), actions=list(range(4)), cycles=cycles)
        size = 10_000
        start = time.process_time()
        for i in range(n // size):
            part = slice(i * size, (i + 1) * size)
            version = learner.apply("a", i + 1, Batch(*(column[part] for column in columns)), version=0 if i == 0 else version).version
        print(f"{cycles} cycles per step: {n / (time.process_time() - start) / 1e6:.2f} million steps per second")


class Slippery:
    """A grid with a goal far away and small rewards nearby."""

    def __init__(self, side, seed):
        self.side, self.random, self.at = side, random.Random(seed), 0

    def step(self, action):
        before = self.at
        move = action if self.random.random() < 0.9 else self.random.randrange(4)
        row, column = divmod(before, self.side)
        row = min(max(row + (0, 1, 0, -1)[move], 0), self.side - 1)
        column = min(max(column + (1, 0, -1, 0)[move], 0), self.side - 1)
        at = row * self.side + column
        done = at == self.side**2 - 1
        self.at = 0 if done else at
        return before, action, 1.0 if done else 0.0, at, done

    def known(self):
        mdp = backsweep.MDP(discount=DISCOUNT)
        for state in range(self.side**2 - 1):
            row, column = divmod(state, self.side)
            for action in range(4):
                outcomes = {}
                for move in range(4):
                    r = min(max(row + (0, 1, 0, -1)[move], 0), self.side - 1)
                    c = min(max(column + (1, 0, -1, 0)[move], 0), self.side - 1)
                    to = r * self.side + c
                    outcomes[to] = outcomes.get(to, 0.0) + 0.025 + (0.9 if move == action else 0.0)
                end = self.side**2 - 1
                mdp.set_outcomes(state, action, [(p, to, float(to == end), to == end) for to, p in outcomes.items()])
        return mdp


def steps_to_solve(side, n_actors, seed, known, best, draws, batch):
    explore = backsweep.CountBonus(0.05)
    learner = Learner(
        lambda: backsweep.Agent(DISCOUNT, explore=explore, reward_range=(0, 1), seed=seed),
        actions=list(range(4)), cycles=5, draws=draws, seed=seed,
    )
    worlds = [Slippery(side, 1000 * seed + i) for i in range(n_actors)]
    chance = [random.Random(77 + 1000 * seed + i) for i in range(n_actors)]
    tables, versions = [{} for _ in worlds], [0] * n_actors
    for period in range(1, 20_000):
        for i, world in enumerate(worlds):
            rows = []
            for _ in range(batch):
                action = tables[i].get(world.at)
                rows.append(world.step(chance[i].randrange(4) if action is None else action))
            s, a, r, n, d = (np.array(column) for column in zip(*rows))
            reply = learner.apply(str(i), period, Batch(s, a, r, n, d, np.zeros(batch, bool)), i, versions[i])
            tables[i].update(reply.rows)
            versions[i] = reply.version
        if period % 4 == 0:
            policy = learner.agent.policy()
            full = {s: policy.get(s, 0) if policy.get(s) is not None else 0 for s in range(side**2 - 1)}
            if known.evaluate(full, tolerance=1e-4).values[0] >= 0.95 * best:
                return period * batch
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=24)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=50)
    given = parser.parse_args()
    rates()
    known = Slippery(given.side, 0).known()
    best = known.solve(1e-6).values[0]
    seeds = range(given.seeds)
    alone = sorted(steps_to_solve(given.side, 1, seed, known, best, 0, given.batch) for seed in range(max(16, given.seeds)))
    print(f"alone: median {statistics.median(alone):.0f} steps, fastest {alone[0]}, slowest {alone[-1]}")
    print("actors  one table  a draw each  (median time steps; alone: the median of as many agents that learn alone)")
    for n in (1, 2, 4, 8, 16):
        found = [statistics.median(steps_to_solve(given.side, n, seed, known, best, draws, given.batch) for seed in seeds) for draws in (0, n)]
        print(f"{n:6}  {found[0]:9.0f}  {found[1]:11.0f}", flush=True)


if __name__ == "__main__":
    main()
