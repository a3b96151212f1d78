"""Steps that it takes to learn: Backsweep compared with tabular Q-learning and Dyna-Q, which are written here.

    python examples/learning.py [--runs 5] [--out learning.png]

Every few steps the greedy policy of each learner is evaluated exactly, by a linear solve on the environment's table: its
expected discounted return (0.99) from the start. "Reached" is the first of three evaluations in a row with at least 95 % of the
optimal return. All learners explore by optimism (what they have not tried seems good) and by random actions now and then.

The settings were tuned by hand on two or three of the seeds that are also reported, and not equally far. FrozenLake: 26
settings of Backsweep, of which two were then run on all ten seeds and the better one kept; 3 of Dyna-Q (step size 0.02) and
4 of Q-learning (0.02 and 0.05). Taxi: 8 of Backsweep, 8 of Dyna-Q, 6 of Q-learning (step sizes 0.2 to 1). So the comparison on
FrozenLake favors Backsweep.
"""

import argparse
import random

import gymnasium as gym
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

import backsweep

DISCOUNT = 0.99


class QLearning:
    """Watkins (1989), with optimistic first values and a little random exploration."""

    def __init__(self, n_states, n_actions, optimism, step_size, epsilon, seed):
        self.q = np.full((n_states, n_actions), optimism).tolist()
        self.step_size, self.epsilon = step_size, epsilon
        self.rng = random.Random(seed)

    def act(self, state):
        row = self.q[state]
        if self.rng.random() < self.epsilon:
            return self.rng.randrange(len(row))
        highest = max(row)
        return self.rng.choice([a for a, q in enumerate(row) if q == highest])

    def observe(self, state, action, reward, next_state, terminated):
        target = reward if terminated else reward + DISCOUNT * max(self.q[next_state])
        self.q[state][action] += self.step_size * (target - self.q[state][action])

    def greedy(self):
        return np.argmax(self.q, axis=1)


class DynaQ(QLearning):
    """Sutton (1990): after each step, ``planning`` updates from remembered steps drawn at random."""

    def __init__(self, *arguments, planning=10, **named):
        super().__init__(*arguments, **named)
        self.planning = planning
        self.seen = {}  # (state, action) -> all outcomes seen, so that draws follow their frequencies
        self.pairs = []

    def observe(self, state, action, reward, next_state, terminated):
        super().observe(state, action, reward, next_state, terminated)
        if (state, action) not in self.seen:
            self.seen[state, action] = []
            self.pairs.append((state, action))
        self.seen[state, action].append((reward, next_state, terminated))
        for _ in range(self.planning):
            pair = self.rng.choice(self.pairs)
            super().observe(*pair, *self.rng.choice(self.seen[pair]))


class Backsweep:
    """The agent of this package, with a number of update cycles per step."""

    def __init__(self, n_states, n_actions, optimism, min_visits, epsilon, cycles, seed):
        optimism = backsweep.Optimism(optimism, min_visits)
        self.agent = backsweep.Agent(DISCOUNT, actions=n_actions, optimism=optimism, epsilon=epsilon, seed=seed)
        self.n_states, self.cycles = n_states, cycles
        self.act = self.agent.act

    def observe(self, state, action, reward, next_state, terminated):
        self.agent.observe(state, action, reward, next_state, terminated)
        self.agent.plan(self.cycles)

    def greedy(self):
        policy = self.agent.policy()
        return np.array([policy.get(state, 0) for state in range(self.n_states)])


class Judge:
    """Exact returns of policies in an environment with a table."""

    def __init__(self, env):
        mdp = backsweep.MDP.from_gymnasium(env, discount=DISCOUNT)
        self.start = np.asarray(env.unwrapped.initial_state_distrib, float)
        self.optimum = float(self.start @ mdp.solve(1e-9).values)
        model = mdp.model  # rows by state and action
        self.n_states, self.n_actions = len(model.states), env.action_space.n
        self.p, self.r = model.probabilities, model.mean_rewards

    def score(self, policy):
        """The policy's return as a fraction of the optimal one."""
        rows = np.arange(self.n_states) * self.n_actions + policy
        matrix = sparse.eye_array(self.n_states, format="csr") - DISCOUNT * self.p[rows]
        return float(self.start @ spsolve(matrix.tocsc(), self.r[rows])) / self.optimum


def run(env, judge, learner, steps, every, seed):
    """The score of the greedy policy, every ``every`` steps."""
    scores = []
    state, _ = env.reset(seed=seed)
    for step in range(1, steps + 1):
        action = learner.act(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        learner.observe(state, action, float(reward), next_state, terminated)
        state = env.reset()[0] if terminated or truncated else next_state
        if step % every == 0:
            scores.append(judge.score(learner.greedy()))
            if len(scores) >= 20 and min(scores[-20:]) >= 0.95:
                break  # the policy is stable
    return scores


def reached(scores, every, steps):
    """The number of steps at which 95 % was reached; infinite if it never was."""
    for i in range(len(scores) - 2):
        if min(scores[i : i + 3]) >= 0.95:
            return (i + 1) * every
    return float("inf")


TASKS = {
    "FrozenLake 8x8": {
        "make": lambda: gym.make("FrozenLake-v1", map_name="8x8"),
        "steps": 600_000,
        "every": 500,
        "learners": {
            "Backsweep": lambda n, m, seed: Backsweep(n, m, 1.0, 10, 0.1, 1, seed),
            "Dyna-Q (10)": lambda n, m, seed: DynaQ(n, m, 1.0, 0.02, 0.1, seed, planning=10),
            "Q-learning": lambda n, m, seed: QLearning(n, m, 1.0, 0.05, 0.0, seed),
        },
    },
    "Taxi": {
        "make": lambda: gym.make("Taxi-v4"),
        "steps": 300_000,
        "every": 500,
        "learners": {
            "Backsweep": lambda n, m, seed: Backsweep(n, m, 20.0, 1, 0.0, 5, seed),
            "Dyna-Q (10)": lambda n, m, seed: DynaQ(n, m, 0.0, 0.5, 0.1, seed, planning=10),
            "Q-learning": lambda n, m, seed: QLearning(n, m, 0.0, 1.0, 0.0, seed),
        },
    },
}


def compare(runs, tasks=TASKS):
    """{task: {learner: (scores of each run, steps to 95 % of each run)}}"""
    results = {}
    for task, about in tasks.items():
        env = about["make"]()
        judge = Judge(env)
        results[task] = {}
        for name, make in about["learners"].items():
            curves = [
                run(env, judge, make(judge.n_states, judge.n_actions, seed), about["steps"], about["every"], seed)
                for seed in range(runs)
            ]
            results[task][name] = curves, [reached(curve, about["every"], about["steps"]) for curve in curves]
    return results


def print_table(results):
    print("steps until the greedy policy has 95 % of the optimal return (median over runs; least to most)")
    for task, learners in results.items():
        for name, (_, steps) in learners.items():
            least, middle, most = min(steps), float(np.median(steps)), max(steps)
            texts = ["not reached" if np.isinf(x) else f"{x:.0f}" for x in (least, middle, most)]
            print(f"  {task:16} {name:12} {texts[1]:>12}   ({texts[0]} to {texts[2]})")


def draw(results, path):
    from matplotlib import pyplot

    colors = {"Backsweep": "#0b7285", "Dyna-Q (10)": "#e8590c", "Q-learning": "#868e96"}
    figure, axes = pyplot.subplots(1, len(results), figsize=(5.4 * len(results), 3.8), layout="constrained")
    for ax, (task, learners) in zip(np.atleast_1d(axes), results.items()):
        every = TASKS[task]["every"]
        for name, (curves, _) in learners.items():
            # A run that stopped early keeps its last score.
            length = max(map(len, curves))
            padded = np.array([curve + [curve[-1]] * (length - len(curve)) for curve in curves])
            x = every * np.arange(1, length + 1)
            middle = np.median(padded, axis=0)
            low, high = padded.min(axis=0), padded.max(axis=0)
            ax.fill_between(x, np.maximum(low, -0.25), np.maximum(high, -0.25), color=colors[name], alpha=0.15, linewidth=0)
            ax.plot(x, middle, color=colors[name], linewidth=2, label=name, zorder=3 if name == "Backsweep" else 2)
        ax.axhline(0.95, color="#22313f", linewidth=0.8, linestyle=(0, (4, 3)))
        ax.text(0.01, 0.94, "95 %", transform=ax.get_yaxis_transform(), fontsize=8, color="#22313f", va="top")
        ax.set_xscale("log")
        ax.set_ylim(-0.2, 1.08)
        ax.set_title(task, loc="left", color="#22313f")
        ax.set_xlabel("steps", color="#22313f")
        ax.grid(axis="y", color="#e3e8eb", linewidth=0.8)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    first = np.atleast_1d(axes)[0]
    first.set_ylabel("return of the greedy policy,\nfraction of the optimum", color="#22313f")
    np.atleast_1d(axes)[-1].legend(frameon=False, loc="center left")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", default="learning.png")
    arguments = parser.parse_args()
    results = compare(arguments.runs)
    print_table(results)
    draw(results, arguments.out)
    print(f"figure: {arguments.out}")


if __name__ == "__main__":
    main()
