"""FrozenLake 8x8 and Taxi to 95 % of the optimal return, exactly evaluated; the comparison's own parts."""

import sys

import numpy as np
import pytest
from conftest import ROOT

import backsweep

sys.path.insert(0, str(ROOT / "examples"))
import learning  # noqa: E402


@pytest.mark.parametrize("task", learning.TASKS)
def test_95_percent_of_the_optimal_return(task, capsys):
    """The median of three runs: single runs differ by a factor of four."""
    about = learning.TASKS[task]
    env = about["make"]()
    judge = learning.Judge(env)
    steps = []
    for seed in range(3):
        learner = about["learners"]["Backsweep"](judge.n_states, judge.n_actions, seed)
        scores = learning.run(env, judge, learner, 150_000, about["every"], seed)
        steps.append(learning.reached(scores, about["every"], 150_000))
    with capsys.disabled():
        print(f"\n{task}: 95 % of the optimal return after {steps} steps")
    assert np.median(steps) <= 150_000


def test_the_return_of_real_episodes():
    """The judge agrees with real episodes: Taxi's optimal mean return is about 7.9."""
    env = learning.TASKS["Taxi"]["make"]()
    agent = backsweep.Agent(0.99, optimism=backsweep.Optimism(20.0, 1), actions=6, seed=0)
    learning.run(env, learning.Judge(env), as_learner(agent), 12_000, 6000, seed=0)
    history = backsweep.learn(env, agent, 200, cycles=0, seed=1)
    assert np.mean(history.returns) > 0.95 * 7.9


def as_learner(agent):
    learner = learning.Backsweep(500, 6, 20.0, 1, 0.0, 5, 0)
    learner.agent, learner.act = agent, agent.act
    return learner


@pytest.mark.parametrize("name", ["Q-learning", "Dyna-Q (10)"])
def test_the_others_learn_too(name):
    """The comparison is with learners that work."""
    about = learning.TASKS["Taxi"]
    env = about["make"]()
    judge = learning.Judge(env)
    learner = about["learners"][name](judge.n_states, judge.n_actions, 0)
    scores = learning.run(env, judge, learner, 80_000, 5000, seed=0)
    assert max(scores) >= 0.95


def test_the_figure(tmp_path):
    results = {task: {"Backsweep": ([[0.0, 0.5, 1.0], [0.1, 0.96]], [1500, 1000])} for task in learning.TASKS}
    learning.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000
    assert learning.reached([0, 1, 0, 1, 1, 1], 10, 60) == 40 and learning.reached([0, 1, 0], 10, 30) == np.inf
