"""The time of a step from Python: the same steps in Python, in Rust and in pure Python, in one run.

    python examples/speed.py [steps]

Prints a table. python/tests/test_speed.py checks that it runs and compares like with like.
"""

import sys
import time
from pathlib import Path

import numpy as np

import backsweep
from backsweep._backsweep import rust_loop

sys.path.insert(0, str(Path(__file__).parent))
from pure_python_sweeping import PureSweeping  # noqa: E402

N_STATES, N_ACTIONS, DISCOUNT = 1000, 4, 0.95


def record(steps, seed=0):
    """Steps of a random walk in a random world of 1000 states with 4 actions, 3 outcomes each; one step in 100 ends."""
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(N_STATES, size=(N_STATES, N_ACTIONS, 3))
    rewards = rng.normal(size=(N_STATES, N_ACTIONS))
    actions = rng.integers(N_ACTIONS, size=steps)
    which = rng.integers(3, size=steps)
    ends = rng.random(steps) < 0.01
    starts = rng.integers(N_STATES, size=steps)
    states, next_states = np.empty(steps, np.int64), np.empty(steps, np.int64)
    state = 0
    for i in range(steps):
        states[i] = state
        next_states[i] = outcomes[state, actions[i], which[i]]
        state = starts[i] if ends[i] else next_states[i]
    return states, actions.astype(np.int64), rewards[states, actions], next_states, ends


def seconds(call):
    """The processor time of a call, so that other programs do not count."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def python_steps(columns):
    """observe, one cycle and act for each step."""
    rows = list(zip(*(column.tolist() for column in columns)))
    agent = backsweep.Agent(discount=DISCOUNT, actions=N_ACTIONS, seed=0)

    def loop():
        observe, plan, act = agent.observe, agent.plan, agent.act
        for state, action, reward, next_state, terminated in rows:
            observe(state, action, reward, next_state, terminated)
            plan(cycles=1)
            act(state if terminated else next_state)

    return seconds(loop)


def rust_steps(columns):
    return seconds(lambda: rust_loop(*columns, n_actions=N_ACTIONS, cycles=1, act=True, discount=DISCOUNT))


def rust_observe(columns):
    return seconds(lambda: rust_loop(*columns, n_actions=N_ACTIONS, cycles=0, act=False, discount=DISCOUNT))


def observe_many(columns):
    agent = backsweep.Agent(discount=DISCOUNT, actions=N_ACTIONS)
    return seconds(lambda: agent.observe_many(*columns))


def pure_steps(columns):
    rows = list(zip(*(column.tolist() for column in columns)))
    learner = PureSweeping(DISCOUNT, N_ACTIONS)

    def loop():
        for state, action, reward, next_state, terminated in rows:
            learner.observe(state, action, reward, next_state, terminated)
            learner.plan(1)
            learner.act(state if terminated else next_state)

    return seconds(loop)


def pairs(one, other, columns, repeats):
    """Nanoseconds per step of two runs, one right after the other, so that both see the machine in the same state."""
    steps = len(columns[0])
    return np.array([(one(columns), other(columns)) for _ in range(repeats)]) / steps * 1e9


def measure(steps, repeats):
    """Medians: of each time, of the differences of pairs and of their ratios."""
    columns = record(steps)
    step = pairs(rust_steps, python_steps, columns, repeats)
    many = pairs(rust_observe, observe_many, columns, repeats)
    part = tuple(column[: steps // 10] for column in columns)
    return {
        "rust_steps": np.median(step[:, 0]),
        "python_steps": np.median(step[:, 1]),
        "over": np.median(step[:, 1] - step[:, 0]),
        "rust_observe": np.median(many[:, 0]),
        "observe_many": np.median(many[:, 1]),
        "ratio": np.median(many[:, 1] / many[:, 0]),
        "pure_steps": pure_steps(part) / len(part[0]) * 1e9,
    }


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    ns = measure(steps, repeats=15)
    print(f"{steps} steps, {N_STATES} states, {N_ACTIONS} actions; nanoseconds of processor time per step, medians of 15 pairs")
    print(f"  observe + plan(cycles=1) + act, Rust              {ns['rust_steps']:8.0f}")
    print(f"  the same from Python                              {ns['python_steps']:8.0f}")
    print(f"    over Rust                                       {ns['over']:8.0f}")
    print(f"  the same in pure Python (heapq and dicts)         {ns['pure_steps']:8.0f}")
    print(f"  observe, Rust                                     {ns['rust_observe']:8.0f}")
    print(f"  observe_many from NumPy columns                   {ns['observe_many']:8.0f}")
    print(f"    times Rust                                      {ns['ratio']:8.2f}")


if __name__ == "__main__":
    main()
