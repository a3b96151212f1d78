"""Prioritized sweeping with small backups: exact, constant-time planning for learned and known problems.

    >>> import backsweep
    >>> agent = backsweep.Agent(discount=0.9)
    >>> agent.observe("hall", "north", 0.0, "yard")
    >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
    >>> agent.plan(cycles=10)
    2
    >>> agent.value("hall")
    0.9

``Agent`` learns from steps; ``learn`` and ``evaluate`` run it in a Gymnasium environment; ``learn_log`` learns
a policy from a log of decisions; ``MDP`` solves known problems; ``SmallBackupPredictor`` and ``TD0`` learn the values of a policy.
"""

from importlib.metadata import version as _version

from ._backsweep import TD0, Agent, SmallBackupPredictor
from ._discretize import Discretize
from ._errors import Error, FileError, UnknownName
from ._explore import (
    BayesBonus,
    CountBonus,
    EpsilonGreedy,
    Explore,
    Forgetting,
    PosteriorSampling,
    SurpriseBonus,
    VarianceBonus,
)
from ._learn import Evaluation, History, evaluate, learn
from ._learn_log import Learned, LogReport, learn_log
from ._mdp import MDP
from ._objectives import Average, Discounted, Horizon, Reach, Total
from ._plot import plot_policy, plot_values
from ._solution import Solution, WhatIf
from ._spaces import name_of
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

# The page is Python; the agent is not.
Agent.watch = watch  # type: ignore[method-assign]

__all__ = [
    "Agent",
    "Audit",
    "Discretize",
    "Average",
    "BayesBonus",
    "CountBonus",
    "Discounted",
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
    "PosteriorSampling",
    "Reach",
    "ReversedFullBackups",
    "SmallBackupPredictor",
    "SmallBackups",
    "Solution",
    "Stats",
    "SurpriseBonus",
    "TD0",
    "Total",
    "UnknownName",
    "ValueIteration",
    "VarianceBonus",
    "Watch",
    "WhatIf",
    "WieringSchmidhuber",
    "evaluate",
    "learn",
    "learn_log",
    "name_of",
    "plot_policy",
    "plot_values",
]

__version__ = _version("backsweep")
