"""Policies from logs."""

import json

import numpy as np
import pytest

import backsweep


def columns(n=2000, seed=0):
    """Cases of two steps; a high dose is better in all states."""
    random = np.random.default_rng(seed)
    high = random.integers(0, 2, (n, 2))
    paid = random.random((n, 2)) < 0.3 + 0.4 * high
    ward = np.where(random.random(n) < 0.5, "A", "B")
    case = np.repeat(np.arange(n), 2)
    return {
        "stay": case,
        "t": np.tile([0, 1], n),
        "ward": np.repeat(ward, 2),
        "hours": np.tile([1.5, 7.0], n),
        "dose": np.where(high.ravel() == 1, "high", "low"),
        "paid": paid.astype(int).ravel(),
        "outcome": np.repeat(np.where(paid[:, 1], "well", "ill"), 2),
    }


def learn(log, **changes):
    settings = dict(case="stay", order="t", state=["ward", "hours:0|5|10"], action="dose", reward="paid", discount=1.0)
    return backsweep.learn_log(log, **(settings | changes))


def frames():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    of = columns()
    return [of, pandas.DataFrame(of), polars.DataFrame(of), polars.LazyFrame(of), pyarrow.table(of)]


def test_the_better_action_is_found_and_held_out_cases_agree():
    learned = learn(columns(20_000))
    assert len(learned.policy) == 4 and set(learned.policy.values()) == {"high"}
    summary = learned.report.summary
    assert summary["policy"]["doubly_robust"]["gain"]["low"] > 0
    assert summary["finding"] == "supported by held-out cases" == learned.report.finding
    assert all(abs(value - (1.4 if "0..5" in state else 0.7)) < 0.05 for state, value in learned.values.items())
    assert learned.counts["n"].sum() == 40_000
    assert learned.counts["next_state"].count(None) > 0
    assert all(learned.states["supported"]) and learned.probabilities.keys() == learned.policy.keys()


def test_every_kind_of_table_gives_the_same_bytes(tmp_path):
    pages = [learn(frame).report.summary for frame in frames()]
    assert all(page == pages[0] for page in pages)
    path = tmp_path / "log.csv"
    frames()[1].to_csv(path, index=False)
    assert learn(path).report.summary == pages[0]
    assert learn([str(path)]).report.summary == pages[0]


def test_a_final_rule_stands_for_rewards():
    log = columns()
    by_rule = learn({name: log[name] for name in log if name != "paid"}, reward=None, final={"outcome": {"well": 1, "ill": 0}})
    log["paid"][::2] = 0
    assert by_rule.values == learn(log).values


def test_too_few_cases_are_reported_as_too_few():
    learned = learn(columns(60))
    assert learned.report.finding == "too little data to say"
    assert not any(learned.states["supported"])


def test_the_report_is_written_once(tmp_path):
    learned = learn(columns())
    folder = tmp_path / "out"
    assert sorted(path.name for path in learned.report.save(folder)) == [
        "changes.csv",
        "policy.csv",
        "policy.json",
        "probabilities.csv",
        "report.html",
    ]
    assert (folder / "report.html").read_text() == learned.report.html
    with pytest.raises(ValueError, match="already holds"):
        learned.report.save(folder)
    learned.report.save(folder, overwrite=True)
    assert json.dumps(learned.report.summary)


def test_the_agent_continues_learning_and_is_solved_with_a_bound():
    learned = learn(columns(20_000))
    agent = learned.agent()
    solution = backsweep.MDP.from_bytes(agent.to_bytes()).solve()
    assert solution.converged
    values = dict(zip(solution.states, solution.values))
    assert all(abs(values[state] - value) < 1e-4 for state, value in learned.values.items())
    state = next(iter(learned.policy))
    before = agent.visits(state, "high") if hasattr(agent, "visits") else None
    agent.observe(state, "high", 1.0, None, terminated=True)
    agent.plan(cycles=100)
    assert before is None or agent.visits(state, "high") == before + 1
    assert backsweep.Agent.from_bytes(agent.to_bytes()).best_action(state) == "high"


@pytest.mark.parametrize(
    "changes, message",
    [
        (dict(discount=0.0), "discount"),
        (dict(min_count=0), "minimum count"),
        (dict(hold_out=1.0), "hold out"),
        (dict(state="nowhere"), "nowhere"),
        (dict(final={"outcome": {"well": 1}, "ward": {}}), "expected one"),
        (dict(cut=True, ended_by="outcome"), "at most one"),
    ],
)
def test_errors_say_what_is_wrong(changes, message):
    with pytest.raises(ValueError, match=message):
        learn(columns(), **changes)


def test_what_is_probably_not_meant_is_told_or_refused():
    log = columns()
    log["ward"] = [f"{ward} " if i == 0 else ward for i, ward in enumerate(log["ward"])]
    with pytest.warns(UserWarning, match="states differ only in spaces") as told:
        learned = learn(log)
    assert learned.report.warnings == [str(warning.message) for warning in told]
    assert learned.report.warnings[0] in learned.report.html.replace("&#39;", "'")
    with pytest.raises(ValueError, match="states differ only in spaces.*or omit strict=True"):
        learn(log, strict=True)


def test_what_is_not_a_log_is_refused(tmp_path):
    with pytest.raises(TypeError, match="expected a file"):
        learn(3)
    with pytest.raises(ValueError):
        learn(tmp_path / "missing.csv")
