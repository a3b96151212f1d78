"""``agent.watch(shape=…)``: the page of ``backsweep watch`` for your own agent while it learns. Read-only."""

from __future__ import annotations

import base64
import json
import math
import secrets
import struct
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, Callable, Hashable, Mapping

from ._plot import WORDS

__all__ = ["Watch", "watch"]

MAX_CELLS = 10_000
SAMPLE_TIME = 0.1
# (right, down) to the bit of an arrow: the compass, clockwise from north.
BITS = {(0, -1): 1, (1, -1): 2, (1, 0): 4, (1, 1): 8, (0, 1): 16, (-1, 1): 32, (-1, 0): 64, (-1, -1): 128}
SIGNS = {1: "↑", 2: "↗", 4: "→", 8: "↘", 16: "↓", 32: "↙", 64: "←", 128: "↖"}
KNOWN, VISITED, QUEUED = 1, 2, 4
# How many of the most urgent cells are listed.
LISTED = 32
# Every fourth of the page's own colors, viridis.
COLORS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#27ad81", "#5cc863", "#aadc32", "#fde725"]
PAGE = resources.files(__package__) / "_page"
TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Watch:
    """A page that shows an agent. It ends with :meth:`close`, with a ``with`` block, or with the program.

    ``agent.watch`` opens one.

    Args:
        agent: the agent.
        shape: (rows, columns) of the grid.
        arrows: the direction of each action.
        state_at: ``state_at(row, column)`` is the state of a cell.
        port: the port of the page; 0 means any free one.
    """

    url: str
    """The address to open."""

    def __init__(
        self,
        agent: Any,
        shape: tuple[int, int],
        arrows: Mapping[Any, Any] | None,
        state_at: Callable[[int, int], Hashable] | None,
        port: int,
    ) -> None:
        rows, columns = shape
        if rows < 1 or columns < 1 or rows * columns > MAX_CELLS:
            raise ValueError(f"shape is {shape}; expected (rows, columns) of at least 1 and at most {MAX_CELLS} cells together")
        self._agent = agent
        self._shape = (rows, columns)
        self._cells = [i if state_at is None else state_at(i // columns, i % columns) for i in range(rows * columns)]
        self._arrows = {**WORDS, **{action: _direction(action, where) for action, where in (arrows or {}).items()}}
        self._session = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._sampled = 0.0
        self._is_closed = False
        self._number = 0
        self._values: dict[Any, float] = {}
        self._indices = {cell: i for i, cell in enumerate(self._cells)}
        self._frame = b""
        self._sample(first=True)
        self._server = _Server(self, port)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, name="backsweep-watch", daemon=True).start()

    def close(self) -> None:
        """End the page."""
        self._is_closed = True
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Watch({self.url!r})"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">Watch the agent: {self.url}</a>'

    def _bit(self, action: Any) -> int:
        try:
            return BITS.get(self._arrows[action], 0)
        except (KeyError, TypeError):
            return 0

    def _sample(self, first: bool = False) -> bytes:
        """The latest frame. An agent that is busy in another thread is sampled again later."""
        with self._lock:
            now = time.monotonic()
            if now - self._sampled < SAMPLE_TIME and not first:
                return self._frame
            self._sampled = now
            try:
                values, policy, stats = self._agent.values(), self._agent.policy(), self._agent.stats
                priorities = dict(zip(self._agent.states, self._agent._priorities()))
            except RuntimeError:
                if self._frame:
                    return self._frame
                values, policy, stats, priorities = {}, {}, None, {}
            self._number += 1
            self._frame = json.dumps(self._json(values, policy, stats, priorities)).encode()
            self._values = values
            return self._frame

    def _json(self, values: dict[Any, float], policy: dict[Any, Any], stats: Any, priorities: dict[Any, float]) -> dict[str, Any]:
        shown = [values[cell] for cell in self._cells if cell in values]
        low, high = min(shown, default=0.0), max(shown, default=0.0)
        span = (high - low) or 1.0
        packed = bytearray()
        for cell in self._cells:
            value = values.get(cell)
            if value is None:
                packed += bytes(5)
                continue
            before = self._values.get(cell, value)
            change = min(255, int(255 * abs(value - before) / span))
            flags = KNOWN | VISITED | (QUEUED if priorities.get(cell, 0.0) > 0.0 else 0)
            packed += struct.pack(">HBBB", int(65535 * (value - low) / span), flags, self._bit(policy.get(cell)), change)
        waiting = [(priority, self._indices[state]) for state, priority in priorities.items() if priority > 0 and state in self._indices]
        waiting.sort(key=lambda entry: (-entry[0], entry[1]))
        urgent = [[cell, _number(priority)] for priority, cell in waiting[:LISTED]]
        agent = {
            "planner": self._agent.planner, "cells": base64.b64encode(b"".join(packed[k::5] for k in range(5))).decode(), "low": low, "high": high,
            "position": None, "trail": [], "steps": 0, "episodes": 0, "last": None, "mean": None,
            "cycles": stats.cycles if stats else 0, "backups": stats.backups if stats else 0, "idle": 0,
            "queue": stats.queue_length if stats else 0, "urgent": urgent, "speed": 0,
            "states": stats.n_states if stats else 0,
            "returns": {"stride": 1, "means": ""}, "work": {"stride": 1, "means": ""},
        }  # fmt: skip
        return {
            "number": self._number, "revision": 1, "life": 1, "running": True, "busy": False, "touched": False, "problem": None,
            "closed": False, "undo": False, "optimum": None, "agents": [agent], "courses": [], "cycles": [],
        }  # fmt: skip

    def _about(self) -> dict[str, Any]:
        planner = self._agent.planner
        return {
            "session": self._session, "read_only": True, "max_viewers": 64, "free_seats": 64, "colors": COLORS,
            "planners": [{"name": planner, "title": planner.replace("_", " ")}], "mazes": [], "figure_3": [], "defaults": {},
        }  # fmt: skip

    def _scene(self) -> dict[str, Any]:
        rows, columns = self._shape
        scene = {
            "planner": self._agent.planner, "rival": None, "race": "steps", "maze": ("." * columns + "\n") * rows, "speed": None,
            "cycles": 0, "discount": self._agent.discount, "min_visits": self._agent.optimism.min_visits, "epsilon": self._agent.epsilon,
            "seed": 0, "law": "four", "intended": 1, "world": None, "explore": "paper", "forget": "never",
        }  # fmt: skip
        layout = {"pointers": [[]], "texts": [], "episodes": True}
        return {"session": self._session, "revision": 1, "scene": scene, "layout": layout, "results": {"trials": [], "runs": []}}

    def _cell(self, index: int) -> dict[str, Any] | None:
        if not 0 <= index < len(self._cells):
            return None
        state = self._cells[index]
        try:
            q = self._agent.action_values(state) if state in self._agent else {}
            value = self._agent.value(state) if state in self._agent else 0.0
            states = self._agent.states
            explained = self._agent._explain(states.index(state)) if state in self._agent else None
        except RuntimeError:
            return None
        names = [f"{SIGNS.get(self._bit(action), '')} {action}".strip() for action in q]
        agent = {
            "value": value, "relied_on": None, "q": list(q.values()), "names": names, "visits": None, "known": bool(q),
            "priority": None, "discount": self._agent.discount, "min_visits": 1, "made": None,
        }  # fmt: skip
        if explained:
            relied_on, priority, actions = explained
            made = []
            for visits, known, reward, bonus, ended, terms in actions:
                # The page knows cells by their place, and states that have none by their name.
                named = [[self._indices.get(states[next], str(states[next])), *rest] for next, *rest in terms]
                made.append({"visits": visits, "known": known, "reward": reward, "bonus": bonus, "ended": ended, "terms": named})
            agent |= {
                "relied_on": relied_on, "visits": [one["visits"] for one in made], "known": all(one["known"] for one in made),
                "priority": _number(priority), "min_visits": self._agent.optimism.min_visits, "made": made,
            }  # fmt: skip
        return {"number": self._number, "life": 1, "cell": index, "agents": [agent]}


def _number(priority: float) -> float | str:
    """A priority as it is sent; JSON has no infinity."""
    return priority if math.isfinite(priority) else "first"


def _direction(action: Any, where: Any) -> tuple[int, int]:
    pair = WORDS.get(where, where) if isinstance(where, str) else where
    try:
        right, down = (int(part) for part in pair)
    except (TypeError, ValueError):
        raise ValueError(f"arrows[{action!r}] is {where!r}; expected a word such as 'left' or 'north', or a pair (right, down)") from None
    return right, down


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, watch: Watch, port: int) -> None:
        self.watch = watch
        super().__init__(("127.0.0.1", port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        watch = self.server.watch
        port = watch.url.rsplit(":", 1)[1].rstrip("/")
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            return self._send(403, "text/plain", b"unknown host\n")
        path = self.path.split("?")[0]
        if path == "/":
            text = (PAGE / "index.html").read_text(encoding="utf-8")
            text = text.replace("{token}", "").replace("{session}", watch._session).replace("{arrival}", "typed")
            return self._send(200, "text/html", text.encode())
        if path == "/api/about":
            return self._send(200, "application/json", json.dumps(watch._about()).encode())
        if path == "/api/frames":
            return self._stream()
        if path.startswith("/api/cell/"):
            found = watch._cell(int(path[10:])) if path[10:].isdecimal() else None
            return self._send(200 if found else 404, "application/json", json.dumps(found).encode())
        name = path[1:]
        kind = TYPES.get(name.rpartition(".")[2])
        if kind and "/" not in name and (PAGE / name).is_file():
            return self._send(200, kind, (PAGE / name).read_bytes())
        return self._send(404, "text/plain", b"not found\n")

    def _head(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self._head(status, kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        watch = self.server.watch
        self._head(200, "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(b"event: scene\ndata: " + json.dumps(watch._scene()).encode() + b"\n\n")
            while not watch._is_closed:
                self.wfile.write(b"event: frame\ndata: " + watch._sample() + b"\n\n")
                time.sleep(SAMPLE_TIME)
        except OSError:
            pass  # The viewer has disconnected.

    def log_message(self, format: str, *args: Any) -> None:
        pass


def watch(
    self: Any,
    shape: tuple[int, int],
    *,
    arrows: Mapping[Any, Any] | None = None,
    state_at: Callable[[int, int], Hashable] | None = None,
    port: int = 0,
    open: bool = True,
) -> Watch:
    """Show this agent on a page in the browser while it learns.

    The page is read-only: it samples the agent ten times per second and never changes it. While the agent is busy in a long
    call that releases the interpreter, the page shows what it saw last.

    Args:
        shape: (rows, columns) of the grid.
        arrows: the direction of each action, as for ``plot_policy``; an action without one gets no arrow.
        state_at: ``state_at(row, column)`` is the state of a cell; by default it is ``row * columns + column``.
        port: the port of the page; 0 means any free one.
        open: whether to open the page in the browser.

    Returns:
        The page, with its address in ``url``; ``close()`` ends it.
    """
    page = Watch(self, shape, arrows, state_at, port)
    if open:
        webbrowser.open(page.url)
    return page
