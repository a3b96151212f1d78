"""Short tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import Iterable


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """An HTML table of names and values."""
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"
