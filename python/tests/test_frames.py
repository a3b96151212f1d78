"""Data frames as logs: every kind of frame and every type of column gives the same bits as a CSV file of the same rows."""

import datetime
import decimal

import numpy as np
import pytest

import backsweep
from backsweep import _frames

pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

N_CASES = 25_000  # With four rows each, more than one part.


def columns(n=N_CASES):
    random = np.random.default_rng(3)
    rows = 4 * n
    return {
        "case": np.repeat(np.arange(n), 4),
        "t": np.tile(np.arange(4), n),
        "state": random.integers(0, 7, rows),
        "action": random.integers(0, 3, rows),
        "reward": np.round(random.normal(size=rows), 2),
    }


def counts(log, **changes):
    named = dict(case="case", order="t", state="state", action="action", reward="reward", discount=0.9, hold_out=0.0)
    found = backsweep.learn_log(log, **(named | changes)).counts
    return {name: list(column) for name, column in found.items()}


@pytest.fixture(params=["pyarrow", "without pyarrow"])
def arrow(request, monkeypatch):
    if request.param != "pyarrow":
        monkeypatch.setattr(_frames, "pyarrow", None)
    return request.param == "pyarrow"


def every_make(of):
    """The same columns in every kind of table that can be read without pyarrow."""
    lists = {name: list(column) for name, column in of.items()}
    return {"columns": of, "lists": lists, "pandas": pandas.DataFrame(of), "polars": polars.DataFrame(lists, strict=False)}


def test_frames_of_several_parts_give_the_bits_of_csv(tmp_path, arrow):
    of = columns()
    of["state"] = np.array([f"s{i}" for i in range(7)])[of["state"]]
    pandas.DataFrame(of).to_csv(tmp_path / "log.csv", index=False)
    expected = counts(tmp_path / "log.csv")
    makes = every_make(of)
    if arrow:
        table = pyarrow.table(of)
        makes |= {
            "table": table,
            "batch": table.combine_chunks().to_batches()[0],
            "chunks": pyarrow.concat_tables([table.slice(0, 5), table.slice(5)]),
            "lazy": makes["polars"].lazy(),
        }
    for make, log in makes.items():
        assert counts(log) == expected, make


KINDS = {
    "integers": [3, -1, 12, 3],
    "floats": [1.0, 2.5, -0.125, 1.0],
    "flags": [True, False, True, True],
    "text": ["a", "b", "with, comma", "ä\"ö"],
    "large": [2**62, 5, 5, 2**62],
    "dates": [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), datetime.date(2024, 2, 29), datetime.date(2000, 1, 1)],
    "several types": ["a", 1, True, "a"],
}


def spelled(value):
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"'.replace('"', '""')[1:-1] if isinstance(value, str) else str(value)


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_every_type_are_those_of_csv(tmp_path, arrow, kind):
    states = KINDS[kind]
    text = "case,t,state,action,reward\n" + "".join(f"{i // 2},{i % 2},{spelled(s)},go,1\n" for i, s in enumerate(states))
    (tmp_path / "log.csv").write_text(text)
    expected = counts(tmp_path / "log.csv")
    of = {"case": [0, 0, 1, 1], "t": [0, 1, 0, 1], "state": states, "action": ["go"] * 4, "reward": [1] * 4}
    makes = {"lists": of, "pandas": pandas.DataFrame(of)}
    if kind != "several types":
        makes["polars"] = polars.DataFrame(of)
        makes["pandas category"] = pandas.DataFrame(of | {"state": pandas.Categorical(states)})
        if arrow:
            makes["table"] = pyarrow.table(of)
            makes["dictionary"] = pyarrow.table(of | {"state": pyarrow.array(states).dictionary_encode()})
    for make, log in makes.items():
        assert counts(log) == expected, make


def test_exact_rewards(arrow):
    of = small(reward=[decimal.Decimal(text) for text in ("0.1", "0.2", "1e2", "-3")])
    for log in (of, pandas.DataFrame(of), polars.DataFrame(of)):
        assert counts(log) == counts(small(reward=[0.1, 0.2, 100, -3]))


@pytest.mark.parametrize("dtype", ["Int64", "Int32", "UInt16", "Float64", "boolean", "string", "category", "object", "float32", "int8", "bool"])
def test_types_of_pandas(arrow, dtype):
    of = {"case": [0, 0, 1, 1], "t": [0, 1, 0, 1], "state": [1, 0, 0, 1], "action": ["go"] * 4, "reward": [1] * 4}
    frame = pandas.DataFrame(of)
    states = frame["state"].astype(str) if dtype in ("string", "category", "object") else frame["state"]
    names = {"Float64": ["0.0", "1.0"], "float32": ["0.0", "1.0"], "boolean": ["false", "true"], "bool": ["false", "true"]}
    found = counts(frame.assign(state=states.astype(dtype)))
    assert sorted(set(found["state"])) == names.get(dtype, ["0", "1"])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_are_an_order_and_a_name(arrow, unit):
    times = np.array(["2024-05-01T13:45:00", "2024-05-01T13:44:00", "2024-05-02", "2024-05-01"], dtype=f"datetime64[{unit}]")
    of = {"case": [0, 0, 1, 1], "t": times, "state": ["late", "early", "late", "early"], "action": ["go"] * 4, "reward": [1] * 4}
    zoned = pandas.DataFrame(of).assign(t=pandas.Series(times).dt.tz_localize("UTC").dt.tz_convert("Europe/Vienna"))
    # The md5 of both cases begins with the same digit, so their counts are one row.
    expected = {"state": ["early", "late"], "next_state": ["late", None], "n": [2, 2]}
    logs = [of, pandas.DataFrame(of), zoned]
    if unit != "s":  # Polars has no such times.
        logs.append(polars.DataFrame(of))
    for log in logs:
        found = counts(log)
        assert {name: found[name] for name in expected} == expected
        assert {"2024-05-01 13:45:00", "2024-05-02 00:00:00"} <= set(counts(log, state="t", order=None)["state"])


def small(**changes):
    return {"case": [0, 0, 1, 1], "t": [0, 1, 0, 1], "state": ["a", "b", "a", "b"], "action": ["go"] * 4, "reward": [1.0] * 4} | changes


@pytest.mark.parametrize(
    "changes, message",
    [
        (dict(state=["a", "b", None, "b"]), "row 3: column 'state' is empty"),
        (dict(reward=[1.0, float("nan"), 1.0, 1.0]), "row 2: column 'reward' is (empty|'NaN')"),
        (dict(reward=[1.0, 1.0, 1.0, float("inf")]), "row 4: column 'reward' is 'inf'"),
        (dict(reward=["1", "2", "much", "3"]), "row 3: column 'reward' is 'much'"),
        (dict(reward=[True] * 4), "row 1: column 'reward' is 'true'"),
        (dict(case=[0, 0, None, 1]), "row 3: column 'case' .the case. is empty"),
        (dict(t=[0, None, 0, 1]), "row 2: column 't' is empty"),
        (dict(state=[[1], [2], [3], [4]]), "column 'state' (is of type (large_)?list|holds list)"),
        (dict(state=np.array([1, 2, 2**63, 4], dtype=np.uint64)), "column 'state' is 9223372036854775808 in row 3"),
    ],
)
def test_errors_name_column_and_row(arrow, changes, message):
    of = small(**changes)
    for log in (of, pandas.DataFrame(of), polars.DataFrame(of, strict=False)):
        with pytest.raises(ValueError, match=message):
            counts(log)


@pytest.mark.parametrize(
    "log, message",
    [
        (small(state=["a"]), "column 'state' has 1 rows; expected 4, as in 'case'"),
        (small(state=np.zeros((4, 2))), "has 2 dimensions; expected one"),
        (small(state="abcd"), "column 'state' is str; expected an array or a list"),
        (small() | {"t": 5}, "column 't' is int"),
        ({}, "column"),
        (pandas.DataFrame(small()).set_axis(["case", "t", "state", "state", "reward"], axis=1), "two columns 'state'"),
        (pandas.DataFrame(small()).drop(columns="state"), "there is no column 'state'|no column"),
    ],
)
def test_broken_tables_are_refused(arrow, log, message):
    with pytest.raises(ValueError, match=message):
        counts(log, action="state" if "two" in message else "action")


def test_missing_values_have_a_name(arrow):
    of = small(state=["a", None, "a", "b"])
    for log in (of, pandas.DataFrame(of), polars.DataFrame(of)):
        assert set(counts(log, missing="unknown")["state"]) == {"a", "b", "unknown"}


def test_an_exception_of_a_frame_reaches_the_caller():
    class Odd(dict):
        def values(self):
            return [Broken(), *list(super().values())[1:]]

    class Broken:
        def __len__(self):
            return 4

        def __iter__(self):
            raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        counts(Odd(small()))
