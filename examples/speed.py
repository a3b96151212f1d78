"""How fast is a step from Python? The same steps in Python, in Rust and in pure Python, in one run.

    python examples/speed.py [steps]

Prints a table. The limits that the project promises are checked by python/tests/test_speed.py.
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


def python_steps(columns):
    """Seconds for observe, one cycle and act for each step; and the agent."""
    rows = list(zip(*(column.tolist() for column in columns)))
    agent = backsweep.Agent(discount=DISCOUNT, actions=N_ACTIONS, seed=0)
    observe, plan, act = agent.observe, agent.plan, agent.act
    start = time.perf_counter()
    for state, action, reward, next_state, terminated in rows:
        observe(state, action, reward, next_state, terminated)
        plan(cycles=1)
        act(state if terminated else next_state)
    return time.perf_counter() - start, agent


def empty_loop(columns):
    """Seconds that Python's own loop takes."""
    rows = list(zip(*(column.tolist() for column in columns)))
    start = time.perf_counter()
    for state, action, reward, next_state, terminated in rows:
        pass
    return time.perf_counter() - start


def rust_steps(columns):
    return rust_loop(*columns, n_actions=N_ACTIONS, cycles=1, act=True, discount=DISCOUNT)[0]


def rust_observe(columns):
    return rust_loop(*columns, n_actions=N_ACTIONS, cycles=0, act=False, discount=DISCOUNT)[0]


def observe_many(columns):
    agent = backsweep.Agent(discount=DISCOUNT, actions=N_ACTIONS)
    start = time.perf_counter()
    agent.observe_many(*columns)
    return time.perf_counter() - start


def pure_steps(columns):
    rows = list(zip(*(column.tolist() for column in columns)))
    learner = PureSweeping(DISCOUNT, N_ACTIONS)
    start = time.perf_counter()
    for state, action, reward, next_state, terminated in rows:
        learner.observe(state, action, reward, next_state, terminated)
        learner.plan(1)
        learner.act(state if terminated else next_state)
    return time.perf_counter() - start


def measure(steps, repeats=5):
    """Nanoseconds a step of each, the best of some repeats taken in turn, so that a busy moment hits all alike."""
    columns = record(steps)
    part = tuple(column[: steps // 10] for column in columns)
    runs = {
        "rust_steps": lambda: rust_steps(columns),
        "python_steps": lambda: python_steps(columns)[0],
        "empty_loop": lambda: empty_loop(columns),
        "rust_observe": lambda: rust_observe(columns),
        "observe_many": lambda: observe_many(columns),
    }
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for name, run in runs.items():
            best[name] = min(best[name], run() / steps * 1e9)
    best["pure_steps"] = pure_steps(part) / len(part[0]) * 1e9
    return best


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
    ns = measure(steps)
    print(f"{steps} steps, {N_STATES} states, {N_ACTIONS} actions; nanoseconds a step, best of 5")
    print(f"  observe + plan(cycles=1) + act, Rust              {ns['rust_steps']:8.0f}")
    print(f"  the same from Python                              {ns['python_steps']:8.0f}")
    print(f"    that is over Rust                               {ns['python_steps'] - ns['rust_steps']:8.0f}")
    print(f"    of which Python's empty loop                    {ns['empty_loop']:8.0f}")
    print(f"  the same in pure Python (heapq and dicts)         {ns['pure_steps']:8.0f}")
    print(f"  observe, Rust                                     {ns['rust_observe']:8.0f}")
    print(f"  observe_many from NumPy columns                   {ns['observe_many']:8.0f}")
    print(f"    that is times Rust                              {ns['observe_many'] / ns['rust_observe']:8.2f}")


if __name__ == "__main__":
    main()
