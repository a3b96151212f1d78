"""A progress bar for terminals and notebooks, without dependencies."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

WIDTH = 24


class Bar:
    """One line that shows the progress, redrawn at most ten times per second. Without a total, only the text is shown."""

    def __init__(self, total: int | None, wanted: bool | None, stream: TextIO | None = None, unit: str = "episodes") -> None:
        self.total, self.unit = total, unit
        self.stream = stream if stream is not None else sys.stderr
        self.notebook = _notebook() if stream is None and wanted is not False else None
        watched = self.notebook is not None or self.stream.isatty()
        self.on = watched if wanted is None else wanted
        self.start = time.perf_counter()
        self.last = 0.0
        self.drawn = False
        self.handle: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.drawn and self.notebook is None:
            self.stream.write("\n")
            self.stream.flush()

    def show(self, done: int, text: str) -> None:
        """Show that ``done`` of the total are done, followed by a text."""
        now = time.perf_counter()
        if not self.on or ((self.total is None or done < self.total) and now - self.last < 0.1):
            return
        self.last = now
        self.drawn = True
        elapsed = now - self.start
        if self.total is None:
            text, bar, value = f"{text}, {elapsed:.0f} s elapsed", "", ""
        else:
            remaining = elapsed / max(done, 1) * (self.total - done)
            text = f"{done}/{self.total} {self.unit}, {text}, {remaining:.0f} s remaining"
            filled = WIDTH * done // max(self.total, 1)
            bar, value = f"[{'█' * filled}{'·' * (WIDTH - filled)}] ", f' value="{done}" max="{self.total}"'
        if self.notebook is None:
            # Only a terminal understands the sequence that clears the rest of the line.
            clear = "\x1b[K" if self.stream.isatty() else ""
            self.stream.write(f"\r{bar}{text} {clear}")
            self.stream.flush()
            return
        page = self.notebook.HTML(f"<progress{value}></progress> {text}")
        if self.handle is None:
            self.handle = self.notebook.display(page, display_id=True)
        else:
            self.handle.update(page)


def _notebook() -> Any:
    """``IPython.display`` in a notebook, where the error stream is not a terminal; otherwise ``None``."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    import IPython.display

    return IPython.display
