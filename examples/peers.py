"""Regret and time per step on RiverSwim-6, compared with learners that install from PyPI.

    python examples/peers.py [backsweep] [psrl] [ucrl3] [imed_rl] [--steps 10000] [--runs 3]

PSRL, UCRL3 and IMED-RL are those of statisticalrl-learners (pip install statisticalrl-learners). Time is that of the thread, so other
programs do not count; the world's own time is subtracted.
"""

import argparse
import random
import time

STATES, GAIN = 6, 0.428_57


def step(state, action, rng):
    """RiverSwim as Osband defines it."""
    if action == 0:
        return max(state - 1, 0), 0.005 if state == 0 else 0.0
    u = rng.random()
    if state == 0:
        return (1 if u < 0.6 else 0), 0.0
    if state == STATES - 1:
        return (state if u < 0.6 else state - 1), 1.0
    return (state + 1 if u < 0.35 else state if u < 0.95 else state - 1), 0.0


class Backsweep:
    """The agent that ``backsweep.learn`` builds, with its 20 cycles per step."""

    def __init__(self, seed):
        import backsweep

        explore = backsweep.AchievableBonus()
        self.agent = backsweep.Agent(0.99, actions=2, explore=explore, reward_range=(0.0, 1.0), seed=seed)
        self.play = self.agent.act

    def reset(self, state):
        pass

    def update(self, state, action, reward, next_state):
        self.agent.observe(state, action, reward, next_state)
        self.agent.plan(20)


def learner(name, seed):
    """A learner with ``reset``, ``play`` and ``update``."""
    if name == "backsweep":
        return Backsweep(seed)
    import importlib

    import numpy as np

    np.random.seed(seed)
    module, kind = {"psrl": ("PSRL", "PSRL"), "ucrl3": ("UCRL3", "UCRL3_lazy"), "imed_rl": ("IMED_RL", "IMEDRL")}[name]
    kind = getattr(importlib.import_module(f"statisticalrl_learners.MDPs_discrete.{module}"), kind)
    return kind(STATES, 2) if name == "imed_rl" else kind(STATES, 2, delta=0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["backsweep"])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for name in options.names:
        for seed in range(options.runs):
            rng, agent, state, total = random.Random(seed), learner(name, seed), 0, 0.0
            agent.reset(state)
            start = time.thread_time()
            for _ in range(options.steps):
                action = agent.play(state)
                next_state, reward = step(state, action, rng)
                agent.update(state, action, reward, next_state)
                state, total = next_state, total + reward
            used = time.thread_time() - start
            start = time.thread_time()
            for _ in range(options.steps):
                step(state, 1, rng)
            world = time.thread_time() - start
            microseconds = 1e6 * (used - world) / options.steps
            regret = GAIN * options.steps - total
            print(f"{name:10} seed {seed}: regret {regret:8.1f}, {microseconds:8.2f} µs per step", flush=True)


if __name__ == "__main__":
    main()
