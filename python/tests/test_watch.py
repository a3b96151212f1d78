"""``agent.watch``: the page for your own agent."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request

import pytest

import backsweep

FOUR = {0: "left", 1: "down", 2: "right", 3: "up"}


def corridor() -> backsweep.Agent:
    agent = backsweep.Agent(discount=0.9, actions=4)
    for state in range(4):
        agent.observe(state, 2, -1.0, state + 1, terminated=state == 3)
    agent.plan(cycles=20)
    return agent


def get(page: backsweep.Watch, path: str) -> bytes:
    with urllib.request.urlopen(page.url + path, timeout=60) as answer:
        return answer.read()


def frame(page: backsweep.Watch) -> dict:
    with urllib.request.urlopen(page.url + "api/frames", timeout=60) as stream:
        for line in stream:
            if line.startswith(b"data:") and b'"agents"' in line:
                return json.loads(line[5:])
    raise AssertionError("no frame came")


def test_the_page_shows_what_the_agent_knows_as_it_learns():
    agent = corridor()
    with agent.watch((1, 5), arrows=FOUR, open=False) as page:
        assert b"<title>Backsweep" in get(page, "")
        assert get(page, "main.js").startswith(b"// The page")
        cells = base64.b64decode(frame(page)["agents"][0]["cells"])
        assert len(cells) == 25
        assert all(cells[5 * 2 + i] & 1 for i in range(4))
        assert [cells[5 * 3 + i] for i in range(4)] == [64] * 4, "west: an action that was not tried counts as 0, which is more than −1"
        cell = json.loads(get(page, "api/cell/3"))["agents"][0]
        assert cell["value"] == agent.value(3)
        assert cell["q"] == list(agent.action_values(3).values())
        assert cell["names"][2] == "→ 2"
        before = frame(page)["agents"][0]["backups"]
        for _ in range(5):
            agent.observe(3, 0, 5.0, 2)
            agent.plan(cycles=20)
        while frame(page)["agents"][0]["backups"] == before:
            pass
        assert json.loads(get(page, "api/cell/3"))["agents"][0]["value"] == agent.value(3)


def test_the_queue_and_the_terms_of_a_q_are_those_of_the_agent():
    agent = backsweep.Agent(discount=0.9, actions=4)
    for state in range(4):
        agent.observe(state, 2, -1.0 if state < 3 else 10.0, state + 1, terminated=state == 3)
    with agent.watch((1, 4), arrows=FOUR, open=False) as page:
        seen = frame(page)["agents"][0]
        assert seen["urgent"][0] == [3, 10.0], "the surprise at the end waits"
        cells = base64.b64decode(seen["cells"])
        assert cells[4 * 2 + 3] & 4 and not cells[4 * 2] & 4
        before = agent.values()
        agent.plan(cycles=1)
        while frame(page)["agents"][0]["urgent"][0][0] != 2:
            pass
        card = json.loads(get(page, "api/cell/2"))["agents"][0]
        part = card["made"][2]
        assert part["terms"] == [[3, 1.0, 10.0]] and part["reward"] == -1.0
        assert card["q"][2] == part["reward"] + 0.9 * 10.0
        assert card["priority"] > 0 and card["visits"] == [0, 0, 1, 0]
        assert before != agent.values()
    outside = backsweep.Agent(discount=0.9, actions=1)
    outside.observe("in", 0, 1.0, "out")
    outside.observe("out", 0, 2.0, "in")
    with outside.watch((1, 1), state_at=lambda row, column: "in", open=False) as page:
        part = json.loads(get(page, "api/cell/0"))["agents"][0]["made"][0]
        assert part["terms"][0][0] == "out", "a state that has no cell goes by its name"


def refused(page: backsweep.Watch, path: str, data: bytes | None = None, **headers: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(urllib.request.Request(page.url + path, data, headers), timeout=60)
    error.value.close()
    return error.value.code


def test_nothing_else_is_served_and_commands_are_refused():
    with corridor().watch((1, 5), open=False) as page:
        for path in ["nothing", "_watch.py", "../_watch.py", "api/cell/99", "api/cell/-1", "api/cell/x"]:
            assert refused(page, path) == 404, path
        assert refused(page, "", Host="evil.example") == 403
        assert refused(page, "api/order", data=b"{}") == 501


def test_shapes_and_arrows_are_checked():
    agent = corridor()
    with pytest.raises(ValueError, match="expected .rows, columns. of at least 1"):
        agent.watch((0, 5), open=False)
    with pytest.raises(ValueError, match="arrows.0. is 'sideways'; expected a word"):
        agent.watch((1, 5), arrows={0: "sideways"}, open=False)
