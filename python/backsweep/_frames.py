"""Data frames of any kind as columns that the native part reads in chunks.

Python never handles single rows: a chunk of a column is a NumPy array, and each distinct text is encoded once.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

try:
    import pyarrow
except ImportError:  # Columns are then read through NumPy and lists.
    pyarrow = None

__all__ = ["Table", "table_of"]

# A chunk of a column: its kind, its values, which of them are missing, and anything else the kind needs.
Piece = tuple[str, Any, Any, Any]


class Table:
    """The columns of a data frame. ``part`` is called from several threads."""

    def __init__(self, title: str, names: list[str], n_rows: int, column: Callable[[str], Any], *, nan_is_missing: bool = False) -> None:
        self.title, self.names, self.n_rows = title, names, n_rows
        self._column, self._nan_is_missing = column, nan_is_missing
        self._ready: dict[str, Any] = {}
        self._lock = threading.Lock()

    def part(self, columns: list[str], start: int, stop: int) -> list[Piece]:
        """Some rows of some columns."""
        pieces = []
        for name in columns:
            column = self._prepared(name)
            try:
                if isinstance(column, _Coded):
                    pieces.append(column.part(start, stop))
                elif isinstance(column, np.ndarray):
                    pieces.append(_numpy_part(column[start:stop], self._nan_is_missing))
                else:
                    piece = column.slice(start, stop - start)
                    pieces.append(_arrow_part(piece.to_arrow() if hasattr(piece, "to_arrow") else piece))
            except _Refused as refused:
                place = "" if refused.row is None else f" in row {start + refused.row + 1}"
                raise ValueError(f"column '{name}' {refused.problem}{place}; expected {refused.expected}") from None
        return pieces

    def _prepared(self, name: str) -> Any:
        """A NumPy or Arrow array, a Polars series that turns into one, or coded texts; made when the column is first needed."""
        with self._lock:
            if name not in self._ready:
                try:
                    column = self._column(name)
                except _Refused as refused:
                    raise ValueError(f"column '{name}' {refused.problem}; expected {refused.expected}") from None
                if len(column) != self.n_rows:
                    raise ValueError(f"column '{name}' has {len(column)} rows; expected {self.n_rows}, as in '{self.names[0]}'")
                self._ready[name] = column
            return self._ready[name]


class _Refused(Exception):
    """The problem with a column."""

    def __init__(self, problem: str, expected: str, row: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.expected, self.row = problem, expected, row


_ANY = "text, numbers, flags, dates or times"


def table_of(log: Any) -> Table | None:
    """The columns of a data frame or of a mapping; None if it is neither."""
    if isinstance(log, Mapping):
        names = [str(name) for name in log]
        by_name = dict(zip(names, log.values()))
        first = next(iter(log.values()), ())
        n_rows = len(first) if hasattr(first, "__len__") else 0
        return Table("the columns", names, n_rows, lambda name: _plain(by_name[name]))
    module = type(log).__module__.partition(".")[0]
    if module == "polars":
        frame = log.collect() if hasattr(log, "collect") else log
        return Table("the data frame", list(frame.columns), frame.height, lambda name: _plain(frame.get_column(name)))
    if module == "pyarrow" and hasattr(log, "schema"):
        return Table("the table", list(log.schema.names), log.num_rows, log.column)
    if module == "pandas" and hasattr(log, "columns"):
        names = [str(name) for name in log.columns]
        return Table("the data frame", names, len(log), lambda name: _plain(log.iloc[:, names.index(name)]), nan_is_missing=True)
    if pyarrow is not None and hasattr(log, "__arrow_c_stream__"):
        table = pyarrow.table(log)
        return Table("the table", list(table.schema.names), table.num_rows, table.column)
    return None


def _plain(values: Any) -> Any:
    """A column of any kind as a NumPy or Arrow array; as coded texts if it is neither."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise _Refused(f"has {values.ndim} dimensions", "one")
        if values.dtype.kind in "biufM":
            return values
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise _Refused(f"is {type(values).__name__}", "an array or a list")
    module = type(values).__module__.partition(".")[0]
    if module == "pandas" and getattr(values.dtype, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    if module == "pandas" and isinstance(values.dtype, np.dtype) and values.dtype.kind in "biufM":
        return values.to_numpy()
    if pyarrow is not None:
        try:
            if isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray)):
                return values
            if module == "polars":
                values.slice(0, 1).to_arrow()
                return values
            return pyarrow.array(values, from_pandas=module == "pandas")
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
            pass  # Several types in one column: read as a list.
    if module == "pandas":
        values = values.astype(object).where(values.notna(), None)
    elif module == "polars" and not values.null_count() and values.dtype.is_numeric() and not values.dtype.is_decimal():
        return values.to_numpy()
    return _from_list(values.to_list() if hasattr(values, "to_list") else list(values))


def _from_list(values: list[Any]) -> Any:
    """Objects of one type as an array; of several types as texts."""
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    present = [value for value in values if value is not None]
    kinds = set(map(type, present))
    if len(present) == len(values) and present:
        if kinds == {bool}:
            return np.array(values, dtype=bool)
        if kinds <= {int, float}:
            try:
                return np.array(values, dtype=np.int64 if kinds == {int} else np.float64)
            except OverflowError:
                pass
        if kinds == {datetime.date}:
            return np.array(values, dtype="datetime64[D]")
        if kinds == {datetime.datetime} and not any(value.tzinfo for value in values):
            return np.array(values, dtype="datetime64[us]")
    if kinds <= {int, float} and float in kinds:
        values = [None if value is None else float(value) for value in values]
    return _Coded(values)


class _Coded:
    """Distinct texts, and the index of each row's text."""

    def __init__(self, values: list[Any]) -> None:
        seen: dict[str, int] = {}
        codes = (0 if value is None else seen.setdefault(_text(value), len(seen)) for value in values)
        self._codes = np.fromiter(codes, dtype=np.int32, count=len(values))
        self._missing = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
        texts = [text.encode() for text in seen]
        self._texts = (np.cumsum([0, *map(len, texts)], dtype=np.int64), np.frombuffer(b"".join(texts), dtype=np.uint8))

    def __len__(self) -> int:
        return len(self._codes)

    def part(self, start: int, stop: int) -> Piece:
        missing = self._missing[start:stop]
        return "text", self._codes[start:stop], missing if missing.any() else None, self._texts


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (str, int, float)) or type(value).__module__ in ("datetime", "decimal"):
        return str(value)
    raise _Refused(f"holds {type(value).__name__}", _ANY)


_DTYPES = {"integer": np.int64, "float": np.float64, "float32": np.float32, "flag": np.bool_, "time": np.int64, "text": np.int32}


def _piece(kind: str, values: Any, missing: Any = None, more: Any = None) -> Piece:
    return kind, np.ascontiguousarray(values, dtype=_DTYPES[kind]), missing, more


def _numpy_part(values: Any, nan_is_missing: bool) -> Piece:
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "M":
        unit = np.datetime_data(values.dtype)[0]
        if unit not in ("D", "s", "ms", "us", "ns") or np.datetime_data(values.dtype)[1] != 1:
            values, unit = values.astype("datetime64[us]"), "us"
        missing = np.isnat(values)
        return _piece("time", values.view(np.int64), missing if missing.any() else None, (unit, False))
    if kind == "f":
        missing = np.isnan(values) if nan_is_missing else None
        missing = missing if missing is not None and missing.any() else None
        return _piece("float32" if size < 8 else "float", values, missing)
    if kind == "u" and size == 8:
        _refuse_large(values)
    return _piece("flag" if kind == "b" else "integer", values)


def _refuse_large(values: Any) -> None:
    large = values > np.uint64(2**63 - 1)
    if large.any():
        row = int(large.argmax())
        raise _Refused(f"is {values[row]}", "a number below 2⁶³", row)


def _arrow_part(column: Any) -> Piece:
    if isinstance(column, pyarrow.ChunkedArray):
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    else:
        array = column
    types, kind = pyarrow.types, array.type
    if types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if types.is_null(kind):
        return "nothing", np.empty(0), None, len(array)
    if types.is_boolean(kind):
        return _piece("flag", array.fill_null(False).to_numpy(zero_copy_only=False), missing)
    if types.is_integer(kind):
        values = array.fill_null(0).to_numpy()
        if types.is_uint64(kind):
            _refuse_large(values)
        return _piece("integer", values, missing)
    if types.is_floating(kind):
        short = not types.is_float64(kind)
        values = array.cast(pyarrow.float32()) if types.is_float16(kind) else array
        return _piece("float32" if short else "float", values.fill_null(0.0).to_numpy(), missing)
    if types.is_date(kind):
        days = array.cast(pyarrow.date32()).cast(pyarrow.int32())
        return _piece("time", days.fill_null(0).to_numpy(), missing, ("D", False))
    if types.is_timestamp(kind):
        return _piece("time", array.cast(pyarrow.int64()).fill_null(0).to_numpy(), missing, (kind.unit, kind.tz is not None))
    is_text = types.is_string(kind) or types.is_large_string(kind)
    if not is_text:
        try:
            array = array.cast(pyarrow.large_string())
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            raise _Refused(f"is of type {kind}", _ANY) from None
    coded = array.dictionary_encode()
    _, offsets, data = coded.dictionary.buffers()
    width = np.int32 if types.is_string(coded.dictionary.type) else np.int64
    first, n = coded.dictionary.offset, len(coded.dictionary)
    ends = np.frombuffer(offsets, dtype=width)[first : first + n + 1].astype(np.int64) if n else np.zeros(1, np.int64)
    texts = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    return _piece("text", coded.indices.fill_null(0).to_numpy(), missing, (ends, texts))
