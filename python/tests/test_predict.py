"""Prediction: values of the policy that took the steps, by small backups and by TD(0)."""

import copy

import numpy as np
import pytest

import backsweep


def chain(predictor, steps=20_000, seed=0):
    """A ring of five states, forwards with 0.7; reward 1 for arriving in state 0."""
    rng = np.random.default_rng(seed)
    state = 0
    for forward in (rng.random(steps) < 0.7).tolist():
        next_state = (state + (1 if forward else -1)) % 5
        predictor.observe(("room", state), float(next_state == 0), ("room", next_state))
        state = next_state
    p = np.zeros((5, 5))
    for s in range(5):
        p[s, (s + 1) % 5], p[s, (s - 1) % 5] = 0.7, 0.3
    exact = np.linalg.solve(np.eye(5) - 0.9 * p, p[:, 0])
    return np.array([predictor.value(("room", s)) for s in range(5)]), exact


@pytest.mark.parametrize("selection", ["most_recent", "round_robin", "random", "largest"])
def test_small_backups(selection):
    predictor = backsweep.SmallBackupPredictor(0.9, selection=selection, iterations=2, seed=1)
    found, exact = chain(predictor)
    assert np.abs(found - exact).max() < 0.05
    assert predictor.deviation() < 1e-10 and len(predictor) == 5


@pytest.mark.parametrize("arguments", [{"step_size": 0.02}, {"decay": 0.05}])
def test_td0(arguments):
    found, exact = chain(backsweep.TD0(0.9, **arguments))
    assert np.abs(found - exact).max() < 0.25


def test_by_hand():
    predictor = backsweep.SmallBackupPredictor(0.9)
    predictor.observe("b", 1.0, "end", terminated=True)
    predictor.observe("a", 0.0, "b", truncated=True)
    assert predictor.values() == {"b": 1.0, "a": 0.9}
    td = backsweep.TD0(0.5, step_size=0.5, initial_value=2.0)
    td.observe("a", 1.0, "b")
    assert td.value("a") == 2.0 and td.value("b") == 2.0
    td.observe("a", 1.0, "b", True)
    assert td.value("a") == 1.5
    other = copy.copy(td)
    other.observe("a", 9.0, "b", True)
    assert td.value("a") == 1.5 and len(td) == 2


def test_refusals():
    with pytest.raises(ValueError, match="selection is 'best'; expected one of: most_recent"):
        backsweep.SmallBackupPredictor(selection="best")
    with pytest.raises(ValueError, match="discount"):
        backsweep.SmallBackupPredictor(-1)
    with pytest.raises(ValueError, match="decay rate is 2"):
        backsweep.TD0(decay=2)
    with pytest.raises(TypeError, match="both given"):
        backsweep.TD0(decay=0.1, step_size=0.1)
    predictor = backsweep.SmallBackupPredictor()
    with pytest.raises(ValueError, match="reward in state 's' is inf"):
        predictor.observe("s", float("inf"), "t")
    with pytest.raises(TypeError, match="cannot be a name"):
        predictor.observe("s", 0, [])
    assert len(predictor) == 0
    with pytest.raises(KeyError, match="state 's' is not known"):
        predictor.value("s")


@pytest.mark.parametrize("predictor", [backsweep.SmallBackupPredictor(0.9), backsweep.TD0(0.9, step_size=1.0)])
def test_huge_whole_numbers_are_names_like_any_other(predictor):
    predictor.observe(4_000_000_000, 1.0, 10**30, terminated=False)
    predictor.observe(-(2**63), 2.0, 4_000_000_000)
    assert len(predictor) == 3 and predictor.value(-(2**63)) == 2.9
