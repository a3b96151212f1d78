"""Rows of a query, through whatever library is installed: Backsweep itself depends on none."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

__all__ = ["query"]


def query(sql: str, db: str) -> Any:
    """The rows of a query as a table or a mapping of columns."""
    if db.startswith(("postgres://", "postgresql://")):
        return _postgres(sql, db)
    if not os.path.isfile(db):
        raise FileNotFoundError(f"db is {db!r}; there is no such file")
    with open(db, "rb") as file:
        head = file.read(16)
    if head == b"SQLite format 3\0":
        return _sqlite(sql, db)
    if head[8:12] == b"DUCK":
        duckdb = _duckdb("a file of DuckDB")
        with duckdb.connect(db, read_only=True) as connection:
            return _rows(connection, sql)
    raise ValueError(f"db is {db!r}, which is no database that is known; expected a file of DuckDB or SQLite, or postgres://…")


def _duckdb(what: str) -> Any:
    try:
        import duckdb
    except ImportError:
        raise ImportError(f"reading {what} needs duckdb; install it with: pip install duckdb") from None
    return duckdb


def _rows(connection: Any, sql: str) -> Any:
    """The rows of a query of DuckDB: as an Arrow table or, without pyarrow, as columns."""
    found = connection.sql(sql)
    if found is None:
        raise ValueError("the query returns nothing; expected SELECT …")
    try:
        import pyarrow as _  # noqa: F401
    except ImportError:
        return _columns(found.columns, found.fetchall())
    return found.to_arrow_table()


def _columns(names: list[str], rows: list[Any]) -> dict[str, list[Any]]:
    if len(set(names)) < len(names):
        raise ValueError(f"the query names a column twice: {', '.join(names)}; expected each name once")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _sqlite(sql: str, db: str) -> dict[str, list[Any]]:
    connection = sqlite3.connect(f"file:{os.path.abspath(db)}?mode=ro", uri=True)
    try:
        found = connection.execute(sql)
        return _columns([column[0] for column in found.description or ()], found.fetchall())
    finally:
        connection.close()


def _postgres(sql: str, db: str) -> Any:
    try:
        import adbc_driver_postgresql.dbapi as adbc
        import pyarrow as _  # noqa: F401
    except ImportError:
        duckdb = _duckdb("PostgreSQL without adbc_driver_postgresql and pyarrow")
        with duckdb.connect() as connection:
            connection.execute("ATTACH '" + db.replace("'", "''") + "' AS log (TYPE postgres, READ_ONLY)")
            connection.execute("USE log")
            return _rows(connection, sql)
    with adbc.connect(db) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table()
