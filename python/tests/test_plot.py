"""Plots show what they should. Their look was checked by eye."""

import gymnasium as gym
import numpy as np
import pytest
from matplotlib import pyplot

import backsweep


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def arrows(ax):
    drawn = [a for a in ax.texts if getattr(a, "arrow_patch", None) is not None]
    return {tuple(np.round((np.add(a.xy, a.xyann)) / 2).astype(int).tolist()): np.sign(np.round(np.subtract(a.xy, a.xyann), 6)).tolist() for a in drawn}


def test_values_and_policy(tmp_path):
    mdp = backsweep.MDP.from_gymnasium(gym.make("FrozenLake-v1", is_slippery=False), discount=0.9)
    mdp.solve()
    ax = backsweep.plot_values(mdp, shape=(4, 4))
    assert np.allclose(ax.images[0].get_array(), [[mdp.value(4 * r + c) for c in range(4)] for r in range(4)])
    assert [t.get_text() for t in ax.texts][:2] == ["0.59", "0.656"]
    ax = backsweep.plot_policy(mdp, shape=(4, 4), arrows={0: "left", 1: "down", 2: "right", 3: "up"})
    assert arrows(ax)[2, 3] == [1, 0]  # beside the goal: right
    ax.figure.savefig(tmp_path / "policy.png")
    assert (tmp_path / "policy.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("world", "shape", "directions"),
    [
        ("FrozenLake-v1", (4, 4), {0: [-1, 0], 1: [0, 1], 2: [1, 0], 3: [0, -1]}),
        ("CliffWalking-v1", (4, 12), {0: [0, -1], 1: [1, 0], 2: [0, 1], 3: [-1, 0]}),
    ],
)
def test_the_arrows_of_a_grid_come_from_the_model(world, shape, directions):
    mdp = backsweep.MDP.from_gymnasium(gym.make(world), discount=0.9)
    mdp.solve()
    drawn = arrows(backsweep.plot_policy(mdp, shape))
    cells = [(row, column) for row, column in np.ndindex(*shape) if row * shape[1] + column in mdp]
    best = {(column, row): mdp.best_action(row * shape[1] + column) for row, column in cells}
    assert drawn == {cell: directions[action] for cell, action in best.items() if action is not None}


def test_an_agent_that_slips_has_arrows_and_one_that_has_seen_nothing_has_none():
    agent = backsweep.Agent(0.99, optimism=backsweep.Optimism(value=1.0, min_visits=4), seed=0)
    backsweep.learn(gym.make("FrozenLake-v1", map_name="8x8"), agent, episodes=300, seed=0, progress=False)
    drawn = arrows(backsweep.plot_policy(agent, shape=(8, 8)))
    best = {(state % 8, state // 8): action for state, action in agent.policy().items()}
    assert drawn == {cell: [[-1, 0], [0, 1], [1, 0], [0, -1]][action] for cell, action in best.items()}
    assert not backsweep.plot_policy(backsweep.Agent(0.9, actions=4), shape=(2, 2)).texts


def test_agents_with_names_and_unknown_cells():
    agent = backsweep.Agent(0.9)
    agent.observe((0, 0), "south", -1.0, (1, 0))
    agent.observe((1, 0), "odd", -1.0, "out", terminated=True)
    ax = backsweep.plot_policy(agent, shape=(2, 2), state_at=lambda row, column: (row, column))
    assert arrows(ax) == {(0, 0): [0, 1]}
    assert "odd" in [text.get_text() for text in ax.texts]
    assert ax.images[0].get_array().mask.tolist() == [[False, True], [False, True]]
    ax = backsweep.plot_policy(agent, shape=(2, 2), state_at=lambda r, c: (r, c), arrows={"south": "up", "odd": (1, 1)})
    assert arrows(ax) == {(0, 0): [0, -1], (0, 1): [1, 1]}
    _, mine = pyplot.subplots()
    assert backsweep.plot_values(agent, (2, 2), state_at=lambda r, c: (r, c), ax=mine, numbers=False) is mine
    assert not mine.texts
    with pytest.raises(ValueError, match="shape is"):
        backsweep.plot_values(agent, (0, 2))


def test_the_history():
    history = backsweep.History(returns=[1.0, 2.0, 6.0], lengths=[1, 2, 3], planning_seconds=[0.0] * 3, terminated=[True] * 3)
    ax = history.plot(window=2)
    assert ax.lines[1].get_ydata().tolist() == [1, 1.5, 4]
    assert ax.get_title(loc="left") == "3 episodes, 6 steps"
    ax.figure.canvas.draw()
    (title,) = (child for child in ax.get_children() if getattr(child, "get_text", str)() == "3 episodes, 6 steps")
    assert title.get_window_extent().ymin >= ax.get_legend().get_window_extent().ymax
