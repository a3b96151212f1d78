"""Event logs: ties, previous activity, elapsed time, conditions, cohorts, XES files, queries."""

import random
import sqlite3

import pytest

import backsweep


def events(n_cases=1500):
    """Columns of a log in which `skip` is faster than `check`; the first two rows of a case have the same time."""
    draw = random.Random(3)
    rows = []
    for case in range(n_cases):
        check, channel = draw.choice(["check", "skip"]), draw.choice(["web", "desk"])
        hours = draw.randint(6, 12) if check == "check" else draw.randint(1, 5)
        day = f"2024-03-{1 + case % 28:02}"
        rows.append((f"k{case}", f"{day}T08:00:00Z", "register", channel))
        rows.append((f"k{case}", f"{day}T08:00:00Z", check, channel))
        rows.append((f"k{case}", f"{day}T{8 + hours:02}:00:00Z", "decide", channel))
    return dict(zip(["case", "time", "activity", "channel"], map(list, zip(*rows))))


HOW = dict(order="time", ties="file", reward="-elapsed(hours)", discount=1.0)


def test_an_event_log_needs_no_pandas():
    learned = backsweep.learn_log(events(), by="channel", unit="hours", **HOW)
    assert learned.report.guesses[-1] == "state = prev(activity) (guessed)"
    assert learned.policy["register"] == "skip"
    assert learned.report.finding.startswith("supported by held-out cases")
    summary = learned.report.summary
    assert summary["headline"].startswith("The policy would gain ") and " hours per case" in summary["headline"]
    assert {found["name"] for found in summary["cohorts"]} == {"web", "desk"}
    assert learned.decide({"prev(activity)": "register"})["action"] == "skip"


def test_ties_order_and_conditions():
    log = events()
    with pytest.raises(ValueError, match=r"have the same order.*take them in file order with ties='file'"):
        backsweep.learn_log(log, order="time", reward="-elapsed(hours)")
    with pytest.raises(ValueError, match="ties is 'any'"):
        backsweep.learn_log(log, ties="any")
    unordered = backsweep.learn_log(log, order=False)
    assert not any("order" in guess for guess in unordered.report.guesses)
    web = backsweep.learn_log(log, where="channel = web", **HOW).report.summary["cases"]
    assert web["training"] + web["held_out"] == log["channel"].count("web") // 3
    with pytest.raises(ValueError, match="no row of the log meets where="):
        backsweep.learn_log(log, where=["channel = fax"], **HOW)
    with pytest.raises(ValueError, match="no comparison"):
        backsweep.learn_log(log, where="channel", **HOW)


def test_xes_files_are_logs(tmp_path):
    log = events(200)
    parts = ['<log xes.version="1.0">']
    for i in range(0, len(log["case"]), 3):
        parts.append(f'<trace><string key="concept:name" value="{log["case"][i]}"/><string key="channel" value="{log["channel"][i]}"/>')
        for j in range(i, i + 3):
            parts.append(f'<event><string key="concept:name" value="{log["activity"][j]}"/>')
            parts.append(f'<date key="time:timestamp" value="{log["time"][j]}"/></event>')
        parts.append("</trace>")
    path = tmp_path / "log.xes"
    path.write_text("\n".join([*parts, "</log>"]))
    learned = backsweep.learn_log(path, ties="file", reward="-elapsed(hours)", discount=1.0, by="case:channel")
    assert learned.values == backsweep.learn_log(log, **HOW).values
    assert len(learned.report.summary["cohorts"]) == 2
    path.write_text("\n".join(parts))
    with pytest.raises(ValueError, match=r"log.xes:\d+: the file ends within <log>"):
        backsweep.learn_log(path)


def sqlite(path, log):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE log (\"case\", time, activity, channel)")
        connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", zip(*log.values()))
    connection.close()


def test_the_rows_of_a_query_are_a_log(tmp_path):
    log = events(200)
    sqlite(tmp_path / "log.db", log)
    expected = backsweep.learn_log(log, **HOW)
    found = backsweep.learn_log(sql="SELECT * FROM log ORDER BY rowid", db=tmp_path / "log.db", **HOW)
    assert found.report.summary == expected.report.summary
    with pytest.raises(ValueError, match="either a log, or both sql and db"):
        backsweep.learn_log(log, sql="SELECT 1", db="log.db")
    with pytest.raises(ValueError, match="either a log, or both sql and db"):
        backsweep.learn_log(sql="SELECT 1")
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        backsweep.learn_log(sql="SELECT 1", db="nowhere.duckdb")
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(ValueError, match="expected a file of DuckDB or SQLite"):
        backsweep.learn_log(sql="SELECT 1", db=tmp_path / "text.db")


def test_duckdb_files_and_relations_are_logs(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    log = events(200)
    expected = backsweep.learn_log(log, **HOW).report.summary
    path = str(tmp_path / "log.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE log (\"case\" TEXT, time TIMESTAMPTZ, activity TEXT, channel TEXT)")
        connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", list(zip(*log.values())))
    assert backsweep.learn_log(sql="SELECT * FROM log ORDER BY rowid", db=path, **HOW).report.summary == expected
    pytest.importorskip("pyarrow")
    with duckdb.connect(path, read_only=True) as connection:
        relation = connection.sql("SELECT * FROM log ORDER BY rowid")
        assert backsweep.learn_log(relation, **HOW).report.summary == expected
