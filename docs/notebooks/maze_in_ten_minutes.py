# %% [markdown]
# # A maze in ten minutes
#
# An agent that knows nothing starts in a maze. It counts what it sees (a model) and keeps values of what it expects; after
# every step it propagates the most important changes of value. Run the cells in order, or run the file as a plain Python
# script.

# %%
import random

import backsweep

MAZE = """
#########
#S..#...#
#.#.#.#.#
#.#...#.#
#.###.#.#
#...#.#.#
###...#G#
#########
""".split()
CELLS = {(row, column): letter for row, line in enumerate(MAZE) for column, letter in enumerate(line) if letter != "#"}
START = next(cell for cell, letter in CELLS.items() if letter == "S")
GOAL = next(cell for cell, letter in CELLS.items() if letter == "G")
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

# %% [markdown]
# The world: nine moves out of ten go where they should, the others in a random direction. Every step costs 1.

# %%
rng = random.Random(0)


def step(cell, move):
    """The next cell, the reward, and whether the goal was reached."""
    if rng.random() < 0.1:
        move = rng.choice(list(MOVES))
    ahead = cell[0] + MOVES[move][0], cell[1] + MOVES[move][1]
    cell = ahead if ahead in CELLS else cell
    return cell, -1.0, cell == GOAL


# %% [markdown]
# The agent: states are cells, as tuples; actions are words. Nothing has to be numbered or declared beforehand, but all states here
# have the same actions, so we say so. `Optimism(0.0, 2)` means that an action tried fewer than twice is treated as worth 0. That is
# more than anything can be worth here, so the agent tries it.

# %%
agent = backsweep.Agent(discount=0.98, actions=MOVES, optimism=backsweep.Optimism(value=0.0, min_visits=2), seed=0)

lengths = []
for episode in range(60):
    cell, done, steps = START, False, 0
    while not done:
        move = agent.act(cell)
        next_cell, reward, done = step(cell, move)
        agent.observe(cell, move, reward, next_cell, terminated=done)
        agent.plan(cycles=5)
        cell, steps = next_cell, steps + 1
    lengths.append(steps)

print("steps of the first five episodes:", lengths[:5])
print("steps of the last five episodes: ", lengths[-5:])
assert sum(lengths[-10:]) < sum(lengths[:10]) / 2

# %% [markdown]
# What does it know now? `audit` recomputes everything from the model: the values are exact for what was seen, and no value is
# further from the model's optimum than `error_bound`.

# %%
agent.plan(until=1e-9)
print("value of the start:", round(agent.value(START), 3), " best move:", agent.best_action(START))
print(agent.stats)
print(agent.audit())
assert agent.audit().error_bound < 1e-5

# %% [markdown]
# The way it would go, and a picture of it (if matplotlib is installed).

# %%
cell, way = START, [START]
while cell != GOAL and len(way) < 50:
    move = agent.best_action(cell)
    ahead = cell[0] + MOVES[move][0], cell[1] + MOVES[move][1]
    cell = ahead if ahead in CELLS else cell
    way.append(cell)
print(len(way) - 1, "moves if none slips")
assert cell == GOAL

try:
    shape = len(MAZE), len(MAZE[0])
    axes = backsweep.plot_policy(agent, shape, state_at=lambda row, column: (row, column), title="The way out")
    axes.figure.savefig("maze.png", dpi=120)
except ImportError as error:
    print(error)

# %% [markdown]
# A wall falls: the cell (1, 4) opens a shortcut. The agent is not told. It keeps acting and learning, finds the shortcut, and
# keeps what it learned before.

# %%
CELLS[1, 4] = "."
before = agent.value(START)
for episode in range(60):
    cell, done = START, False
    while not done:
        # One step in five explores.
        move = rng.choice(list(MOVES)) if rng.random() < 0.2 else agent.act(cell)
        next_cell, reward, done = step(cell, move)
        agent.observe(cell, move, reward, next_cell, terminated=done)
        agent.plan(cycles=5)
        cell = next_cell
print("value of the start, before and after:", round(before, 2), round(agent.value(START), 2))
assert agent.value(START) > before

# %% [markdown]
# Keep it for tomorrow. A loaded agent continues bit for bit as this one would.

# %%
agent.save("maze.backsweep")
again = backsweep.Agent.load("maze.backsweep")
assert again.values() == agent.values()
assert [again.act(START) for _ in range(20)] == [agent.act(START) for _ in range(20)]
print(again)
