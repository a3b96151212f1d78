"""Builds problems whose answers are known, from functions and simulators, and compares.

    python examples/known_answers.py [inventory] [puzzle] [half_turns] [quarter_turns] [gymnasium] [minigrid] [atari]

Prints states, seconds, the peak of memory and what was compared. Gymnasium, minigrid and ale-py come from PyPI.
"""

import resource
import subprocess
import sys
import time
import warnings

import numpy as np

import backsweep
from backsweep._spaces import name_of


# Perishable stock (De Moor, Gijsbrechts and Boute 2022): orders in transit, newest first, then stock, freshest first.
def demand(mean=4.0, largest=100):
    """The probabilities of 0, 1, 2 ... of a gamma distribution with shape 4, rounded."""
    x = (np.arange(largest + 1) + 0.5) * 4 / mean
    below = 1 - np.exp(-x) * (1 + x + x**2 / 2 + x**3 / 6)
    below[-1] = 1.0
    return np.diff(below, prepend=0.0)


def perishable(life, lead, fifo):
    """The start and the vectorized outcomes of one product that expires after some periods."""
    p = demand()
    ages = range(life - 1, -1, -1) if fifo else range(life)

    def outcomes(states, order):
        n = len(states)
        need = np.tile(np.arange(len(p)), (n, 1))
        pipeline = np.repeat(states[:, None, : lead - 1], len(p), axis=1)
        stock = np.repeat(states[:, None, lead - 1 :], len(p), axis=1)
        for age in ages:
            used = np.minimum(stock[:, :, age], need)
            stock[:, :, age] -= used
            need -= used
        cost = 3 * order + 5 * need + 7 * stock[:, :, -1] + stock[:, :, :-1].sum(axis=2)
        # The pipeline with the new order, whose oldest part arrives; what is left ages, and the oldest expires.
        arriving = np.concatenate([np.full((n, len(p), 1), order), pipeline], axis=2)
        return np.tile(p, (n, 1)), np.concatenate([arriving, stock[:, :, :-1]], axis=2), cost

    return (0,) * (lead - 1 + life), outcomes


# Sliding puzzles: the tiles row by row, 0 for the gap, which moves.
def sliding(rows, columns):
    """The start, the flags of the possible moves, and the vectorized outcomes, which cost 1 until the tiles are in order."""
    n = rows * columns
    goal = np.arange(n)
    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    place = np.arange(n)
    possible = np.stack(
        [(0 <= place // columns + y) & (place // columns + y < rows) & (0 <= place % columns + x) & (place % columns + x < columns)
         for y, x in moves], axis=1
    )

    def actions(states):
        return possible[(states == 0).argmax(axis=1)] & (states != goal).any(axis=1)[:, None]

    def outcomes(states, action):
        gap = (states == 0).argmax(axis=1)
        to = gap + moves[action][0] * columns + moves[action][1]
        row, following = np.arange(len(states)), states.copy()
        following[row, gap], following[row, to] = states[row, to], 0
        return np.ones((len(states), 1)), following[:, None, :], -np.ones(len(states))

    # One move from the goal, which is an end.
    start = goal.copy()
    start[0], start[1] = 1, 0
    return start, actions, outcomes


# The 2x2x2 cube: which piece is at each of the seven places, then how it is twisted; the eighth corner stays.
TURNS = {
    "U": ([3, 0, 1, 2, 4, 5, 6], [0, 0, 0, 0, 0, 0, 0]),
    "R": ([4, 1, 2, 0, 6, 5, 3], [2, 0, 0, 1, 1, 0, 2]),
    "F": ([1, 5, 2, 3, 0, 4, 6], [1, 2, 0, 0, 2, 1, 0]),
}


def cube(quarter_turns, faces="URF"):
    """The start, the flags of the possible moves, and the vectorized outcomes, which cost 1 until the cube is solved."""
    solved = np.array([*range(7), *[0] * 7])

    def turned(states, face):
        order, twist = np.array(TURNS[face][0]), np.array(TURNS[face][1])
        return np.concatenate([states[:, order], (states[:, 7 + order] + twist) % 3], axis=1)

    moves = [(face, times) for face in faces for times in ((1, 3) if quarter_turns else (1, 2, 3))]

    def actions(states):
        return np.repeat((states != solved).any(axis=1)[:, None], len(moves), axis=1)

    def outcomes(states, action):
        face, times = moves[action]
        for _ in range(times):
            states = turned(states, face)
        return np.ones((len(states), 1)), states[:, None, :], -np.ones(len(states))

    return turned(solved[None, :], faces[0])[0], actions, outcomes


def distances(start, actions, outcomes):
    """The number of states, and the largest number of moves to the goal."""
    mdp = backsweep.MDP.from_function(start, actions, outcomes, discount=1.0, vectorized=True)
    solution = mdp.solve(1e-6)
    assert solution.converged
    return len(mdp), round(-solution.values.min())


def replay(env, mdp, discount, seed=0, max_steps=500):
    """The discounted return of the best policy in the environment itself, and the number of steps."""
    observation, _ = env.reset(seed=seed)
    total = 0.0
    for step in range(max_steps):
        state = name_of(observation, env.observation_space)
        action = mdp.best_action(state)
        if action is None:
            return total, step
        observation, reward, terminated, *_ = env.step(action)
        total += discount**step * float(reward)
        if terminated:
            return total, step + 1
    return total, max_steps


def inventory():
    for life, lead, fifo in [(2, 1, False), (2, 1, True), (3, 2, False)]:
        start, outcomes = perishable(life, lead, fifo)
        mdp = backsweep.MDP.from_function(start, 11, outcomes, discount=0.99, vectorized=True)
        built = time.process_time()
        error = mdp.solve(1e-4, minimize=True).error_bound
        solve = time.process_time() - built
        yield f"inventory, life {life}, {'FIFO' if fifo else 'LIFO'}", mdp, f"cost {mdp.value(start):.3f} ± {error:.0e}, of which {solve:.2f} s to solve"


def puzzle():
    for rows, columns, n_states, moves in [(2, 3, 360, 21), (2, 4, 20_160, 36), (3, 3, 181_440, 31)]:
        found = distances(*sliding(rows, columns))
        assert found == (n_states, moves), found
        yield f"sliding puzzle {rows} x {columns}", n_states, f"at most {moves} moves"


def half_turns():
    found = distances(*cube(quarter_turns=False))
    assert found == (3_674_160, 11), found
    yield "cube 2 x 2 x 2, half turns", found[0], "at most 11 moves"


def quarter_turns():
    found = distances(*cube(quarter_turns=True))
    assert found == (3_674_160, 14), found
    yield "cube 2 x 2 x 2, quarter turns", found[0], "at most 14 moves"


def gymnasium():
    import gymnasium

    for name, options in [("FrozenLake-v1", {"is_slippery": False}), ("CliffWalking-v1", {}), ("Taxi-v4", {})]:
        env = gymnasium.make(name, **options)
        env.reset(seed=3)
        table = backsweep.MDP.from_gymnasium(env, discount=0.99)
        found = backsweep.MDP.from_simulator(env, discount=0.99, seed=3)
        table.solve(), found.solve()
        off = max(abs(found.value(state) - table.value(state)) for state in found.states)
        assert off < 1e-6, off
        yield name, found, f"within {off:.0e} of the table P"


def minigrid():
    import gymnasium
    from minigrid.wrappers import FullyObsWrapper

    for level in ("MiniGrid-Empty-8x8-v0", "MiniGrid-DoorKey-6x6-v0"):
        env = FullyObsWrapper(gymnasium.make(level))
        mdp = backsweep.MDP.from_simulator(env, discount=0.99, seed=0)
        mdp.solve()
        (start,) = mdp.labels["init"]
        total, steps = replay(env, mdp, 0.99)
        assert abs(total - mdp.value(start)) < 1e-6, (total, mdp.value(start))
        yield level, mdp, f"value {total:.4f}, reached in {steps} steps when replayed"


def atari():
    import ale_py
    import gymnasium

    gymnasium.register_envs(ale_py)
    env = gymnasium.make("ALE/SpaceInvaders-v5", obs_type="ram", frameskip=20, repeat_action_probability=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # most of the game is on the frontier
        mdp = backsweep.MDP.from_simulator(env, discount=0.99, seed=0, limit=2_000)
    mdp.solve()
    (start,) = mdp.labels["init"]
    total, steps = replay(env, mdp, 0.99)
    assert abs(total - mdp.value(start)) < 1e-6, (total, mdp.value(start))
    yield "SpaceInvaders, 2,000 expanded", mdp, f"return {total:.2f} in {steps} actions, the same when replayed"


JUDGES = [inventory, puzzle, half_turns, quarter_turns, gymnasium, minigrid, atari]


def main():
    chosen = sys.argv[1:]
    names = [judge.__name__ for judge in JUDGES]
    if unknown := set(chosen) - set(names):
        sys.exit(f"{', '.join(unknown)}: expected some of {', '.join(names)}")
    for judge in JUDGES:
        # A process of its own, so that its peak of memory is its own.
        if len(chosen) != 1 and (not chosen or judge.__name__ in chosen):
            subprocess.run([sys.executable, __file__, judge.__name__], check=True)
        elif [judge.__name__] == chosen:
            start = time.process_time()
            for name, found, text in judge():
                seconds, megabytes = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                size = found if isinstance(found, int) else len(found)
                print(f"{name:30} {size:9,} states {seconds:7.2f} CPU s {megabytes:6,.0f} MB  {text}", flush=True)
                start = time.process_time()


if __name__ == "__main__":
    main()
