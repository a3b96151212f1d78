"""Ten thousand random sequences of calls with valid and invalid arguments: only documented exceptions, and an agent that stays
consistent."""

import copy
import math
import pickle

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import backsweep

DOCUMENTED = (ValueError, TypeError, KeyError, backsweep.Error)

NAMES = st.one_of(
    st.integers(0, 5), st.sampled_from(["a", "b", "", ("t", 1), None, True, 0.5, b"x", 2**70, -3, np.int64(2), np.float32(0.5)]),
)  # fmt: skip
ODD = st.one_of(
    NAMES, st.sampled_from([[], {}, {1}, math.nan, math.inf, (1, math.nan), np.array([1, 2]), np.array([0.5]), np.zeros((2, 2), int), object(), int])
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-3, 3), st.floats(-5, 5), st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, "x", None, np.float32(1), True])
)  # fmt: skip
COUNTS = st.one_of(st.integers(-2, 6), st.sampled_from([None, 1.5, "x", np.int64(3)]))
FLAGS = st.sampled_from([False, True, np.bool_(True), None, 1, "x", math.nan, 2])
MASKS = st.sampled_from([np.array([0, 1, 1], np.int8), np.array([True, False]), [True, False, True], [0, 0, 1], np.ma.masked_array([1], [True])])
LISTS = st.lists(ODD, max_size=3)


def calls():
    def call(name, *arguments, **named):
        return st.tuples(st.just(name), st.tuples(*arguments), st.fixed_dictionaries({}, optional=named))

    good = call("observe", NAMES, NAMES, st.floats(-5, 5), NAMES, st.booleans())
    return st.one_of(
        good,
        good,
        call("observe", ODD, ODD, NUMBERS, ODD, terminated=FLAGS, truncated=FLAGS),
        call("observe_many", LISTS, LISTS, st.lists(NUMBERS, max_size=3), LISTS, cycles=COUNTS),
        columns(),
        call("act", ODD, actions=st.one_of(st.none(), LISTS, ODD, MASKS), action_mask=st.one_of(LISTS, ODD, MASKS)),
        call("plan", cycles=COUNTS, microseconds=st.sampled_from([None, 0, 10, -1, math.nan, "x"]), until=st.sampled_from([None, 1e-3, 0.1, -1, math.nan])),
        call("value", ODD),
        call("action_values", ODD),
        call("best_action", ODD),
        call("actions", ODD),
        call("__contains__", ODD),
        call("add_state", ODD, actions=st.one_of(LISTS, ODD)),
        call("declare_actions", st.one_of(LISTS, COUNTS)),
        call("policy"),
        call("audit"),
        call("copied", st.sampled_from(["bytes", "pickle", "copy", "deepcopy"])),
        call("__setattr__", st.just("epsilon"), NUMBERS),
    )  # fmt: skip


def columns():
    """Columns of one length, mostly valid."""
    row = st.tuples(NAMES, NAMES, st.one_of(st.floats(-5, 5), NUMBERS), st.one_of(NAMES, NAMES, ODD), st.one_of(st.booleans(), FLAGS))
    rows = st.lists(row, max_size=4).map(lambda rows: tuple(map(list, zip(*rows))) if rows else ([], [], [], [], []))
    return st.tuples(st.just("observe_many"), rows, st.fixed_dictionaries({}, optional={"cycles": st.integers(0, 3)}))


def size(agent):
    """What a call that is refused must not change."""
    return agent.stats, agent.model.visits.sum(), len(agent)


def copied(agent, how):
    match how:
        case "bytes":
            return backsweep.Agent.from_bytes(agent.to_bytes())
        case "pickle":
            return pickle.loads(pickle.dumps(agent))
        case "copy":
            return copy.copy(agent)
        case "deepcopy":
            return copy.deepcopy(agent)


PLANNERS = st.sampled_from(
    ["reversed_full_backups", "small_backups", "moore_atkeson", "peng_williams", "wiering_schmidhuber", "value_iteration",
     backsweep.SmallBackups(queue="bucket"), "nonsense", None]
)  # fmt: skip


@settings(max_examples=10_000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.fixed_dictionaries(
        {"discount": st.sampled_from([0.0, 0.5, 0.9, 1.0, 2.0, math.nan])},
        optional={"planner": PLANNERS, "actions": st.one_of(COUNTS, LISTS), "epsilon": st.sampled_from([0.0, 0.5, 1.0, -1]),
                  "seed": COUNTS, "optimism": st.sampled_from([None, backsweep.Optimism(2.0, 2), backsweep.Optimism(math.nan), 3]),
                  "freeze_at": COUNTS},
    ),
    st.lists(calls(), max_size=12),
)  # fmt: skip
def test_random_sequences(arguments, sequence):
    try:
        agent = backsweep.Agent(**arguments)
    except DOCUMENTED:
        return
    for name, positional, named in sequence:
        before_call = size(agent) if name in ("observe", "observe_many") else None
        try:
            if name == "copied":
                before = list(agent.values().values())  # a copy of object() is another object
                agent = copied(agent, *positional)
                assert list(agent.values().values()) == before
            else:
                getattr(agent, name)(*positional, **named)
        except DOCUMENTED:
            if before_call is not None:
                assert size(agent) == before_call, (name, positional, named)
    # Whatever was refused, the agent is consistent: every value is a number and the model's relation holds.
    values = agent.values()
    assert len(values) == len(agent) == agent.stats.n_states
    assert all(math.isfinite(value) for value in values.values()) or any(abs(r) > 1e300 for r in agent.model.mean_rewards)
    model = agent.model
    assert model.counts.shape == (len(model.visits), len(agent))
    if agent.planner in ("reversed_full_backups", "small_backups") and np.abs(model.mean_rewards).max(initial=0) < 1e300:
        assert agent.audit().relative_relation < 1e-9
