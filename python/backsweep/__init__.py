"""Prioritized sweeping with small backups: fast planning in learned and known Markov decision processes.

An agent learns a model of its environment and updates its values after every step, the most urgent first.

    >>> import backsweep
    >>> agent = backsweep.Agent(discount=0.9)
    >>> agent.observe("hall", "north", 0.0, "yard")
    >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
    >>> agent.plan(cycles=10)
    2
    >>> agent.value("hall")
    0.9

In a Gymnasium environment, with an agent that explores by itself:

    history = backsweep.learn("FrozenLake-v1", steps=20_000, evaluate_every=2_000)
    history.plot()                                  # what was earned, and what the policy is worth
    backsweep.evaluate("FrozenLake-v1", history.agent).mean
    action, _ = history.agent.predict(observation)  # as in Stable-Baselines3

Solve a known problem, each value with a proven interval:

    mdp = backsweep.MDP.from_gymnasium(gymnasium.make("FrozenLake-v1"), discount=0.99)
    mdp.solve(tolerance=1e-9).values

To do                                   Use
--------------------------------------  ------------------------------------------------
learn from steps, act, plan             Agent, with observe, act, plan
learn in a Gymnasium environment        learn, evaluate, History; Discretize for real numbers
follow it: files, TensorBoard, a page   CsvWriter, TensorBoardWriter, Agent.watch
many actors, one learner, on Ray        backsweep.cluster
compare agents                          compare, backsweep.bench for a suite of worlds
explore, forget                         CountBonus, AchievableBonus, ..., Forgetting
learn a policy from a log               learn_log
solve, change, what-if                  MDP, with Reach, Total, Average, Horizon, Discounted
solve a model larger than memory        StreamedMDP
values of a fixed policy                SmallBackupPredictor, TD0
draw                                    plot_values, plot_policy, History.plot

Each of these explains itself: help(backsweep.learn), help(backsweep.Agent.observe). The guide is docs/python.md.
"""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._backsweep import TD0, Agent, SmallBackupPredictor
from ._compare import Comparison, Run, compare
from ._errors import Error, FileError, UnknownName
from ._explore import (
    AchievableBonus,
    BayesBonus,
    CountBonus,
    EpsilonGreedy,
    Explore,
    Forgetting,
    PosteriorSampling,
    VarianceBonus,
)
from ._learn import Checkpoint, Evaluation, History, Step, evaluate, learn
from ._learn_log import Learned, LogReport, learn_log
from ._mdp import MDP
from ._objectives import Average, Discounted, Horizon, Reach, Total
from ._plot import plot_policy, plot_values
from ._predict import predict as _predict
from ._solution import PolicyValue, Solution, WhatIf
from ._tree import PolicyTree
from ._spaces import name_of
from ._streamed import StreamedMDP, StreamedSolution
from ._types import (
    Audit,
    Model,
    MooreAtkeson,
    Optimism,
    PengWilliams,
    Planner,
    ReversedFullBackups,
    SmallBackups,
    Stats,
    ValueIteration,
    WieringSchmidhuber,
)
from ._watch import Watch, watch
from ._writers import CsvWriter, TensorBoardWriter, Writer

if _TYPE_CHECKING:
    from ._discretize import Discretize

# These are Python; the agent is not.
Agent.watch = watch  # type: ignore[method-assign]
Agent.predict = _predict  # type: ignore[method-assign]


def __getattr__(name: str) -> object:
    """``Discretize`` is a ``gymnasium.Wrapper``; importing Gymnasium takes longer than all the rest."""
    if name == "Discretize":
        from ._discretize import Discretize

        return Discretize
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AchievableBonus",
    "Agent",
    "Audit",
    "Average",
    "BayesBonus",
    "Checkpoint",
    "Comparison",
    "CountBonus",
    "CsvWriter",
    "Discounted",
    "Discretize",
    "EpsilonGreedy",
    "Error",
    "Evaluation",
    "Explore",
    "FileError",
    "Forgetting",
    "History",
    "Horizon",
    "Learned",
    "LogReport",
    "MDP",
    "Model",
    "MooreAtkeson",
    "Optimism",
    "PengWilliams",
    "Planner",
    "PolicyTree",
    "PolicyValue",
    "PosteriorSampling",
    "Reach",
    "ReversedFullBackups",
    "Run",
    "SmallBackupPredictor",
    "SmallBackups",
    "Solution",
    "Stats",
    "Step",
    "StreamedMDP",
    "StreamedSolution",
    "TD0",
    "TensorBoardWriter",
    "Total",
    "UnknownName",
    "ValueIteration",
    "VarianceBonus",
    "Watch",
    "WhatIf",
    "WieringSchmidhuber",
    "Writer",
    "compare",
    "evaluate",
    "learn",
    "learn_log",
    "name_of",
    "plot_policy",
    "plot_values",
]

__version__ = _version("backsweep")
