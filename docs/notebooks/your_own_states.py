# %% [markdown]
# # Your own states
#
# States and actions are any hashable objects. This page models a small shop: its state is a frozen dataclass, and its actions differ
# from state to state. We learn it from steps, solve it as a known problem, and save it.

# %%
from dataclasses import dataclass, replace

import numpy as np

import backsweep


@dataclass(frozen=True)
class Shop:
    """How many boxes are on the shelf, and whether a delivery is on its way."""

    stock: int
    ordered: bool = False


ROOM = 5
SELL = {0: 0.3, 1: 0.4, 2: 0.3}  # how many customers come


# %% [markdown]
# What can be done depends on the state: ordering is possible only if nothing is on order and there is room.

# %%
def actions(shop):
    return ["wait"] if shop.ordered or shop.stock == ROOM else ["wait", "order"]


def outcomes(shop, action):
    """(probability, next state, reward, terminated), as in Gymnasium's tables."""
    rows = []
    for customers, probability in SELL.items():
        sold = min(customers, shop.stock)
        reward = 4.0 * sold - 0.2 * shop.stock - (5.0 if action == "order" else 0.0)
        stock = min(ROOM, shop.stock - sold + (3 if shop.ordered else 0))
        rows.append((probability, Shop(stock, ordered=action == "order"), reward, False))
    return rows


# %% [markdown]
# ## Learning from steps
# `act` takes the actions that are possible and adds the new ones. Nothing else has to be declared.

# %%
rng = np.random.default_rng(0)
agent = backsweep.Agent(discount=0.9, epsilon=0.2, optimism=backsweep.Optimism(value=40.0, min_visits=3), seed=0)
shop = Shop(3)
for _ in range(20_000):
    action = agent.act(shop, actions=actions(shop))
    possible = outcomes(shop, action)
    _, next_shop, reward, _ = possible[rng.choice(len(possible), p=[row[0] for row in possible])]
    agent.observe(shop, action, reward, next_shop)
    agent.plan(cycles=2)
    shop = next_shop

for stock in range(ROOM + 1):
    print(Shop(stock), "->", agent.best_action(Shop(stock)), round(agent.value(Shop(stock)), 2))
assert agent.actions(Shop(ROOM)) == ["wait"]

# %% [markdown]
# ## Solving the known problem
# The same shop with its probabilities, and a proof of how far off the values can be.

# %%
mdp = backsweep.MDP(discount=0.9)
for stock in range(ROOM + 1):
    for ordered in (False, True):
        for action in actions(Shop(stock, ordered)):
            mdp.set_outcomes(Shop(stock, ordered), action, outcomes(Shop(stock, ordered), action))
solution = mdp.solve(tolerance=1e-9)
print("no value is further off than", solution.error_bound)
assert solution.error_bound <= 1e-9

agent.plan(until=1e-9)
off = max(abs(agent.value(state) - mdp.value(state)) for state in agent.states)
print("what was learned from 20000 steps is off by at most", round(off, 2), "of about", round(mdp.value(Shop(3)), 1))
assert off < 4

# %% [markdown]
# Ordering becomes more expensive. Only what changes is recomputed, starting from the old values.

# %%
for stock in range(ROOM):
    rows = [(p, to, reward - 1.0, end) for p, to, reward, end in outcomes(Shop(stock), "order")]
    mdp.set_outcomes(Shop(stock), "order", rows)
dearer = mdp.solve(tolerance=1e-9)
print("value of a shop with 3 boxes:", round(float(solution.values[solution.states.index(Shop(3))]), 3), "then", round(mdp.value(Shop(3)), 3))
assert mdp.value(Shop(3)) < solution.values[solution.states.index(Shop(3))]

# %% [markdown]
# ## The model as matrices
# Counts and probabilities are SciPy matrices that share memory with the arrays below them.

# %%
model = agent.model
print(model.counts.shape, "rows are (state, action), for example", model.rows[0])
assert np.allclose(model.probabilities.sum(axis=1), model.visits > 0)

# %% [markdown]
# ## Saving your own names
# Files hold plain data only, never pickles. A dataclass needs a function that turns it into plain data, and one that turns it back.

# %%
try:
    agent.save("shop.backsweep")
except TypeError as error:
    print(error)
agent.save("shop.backsweep", encode=lambda shop: (shop.stock, shop.ordered))
again = backsweep.Agent.load("shop.backsweep", decode=lambda pair: Shop(*pair))
assert again.values() == agent.values()

# %% [markdown]
# ## When something is wrong
# Messages name states and actions as you wrote them.

# %%
for wrong in (
    lambda: agent.value(Shop(99)),
    lambda: agent.observe(shop, "wait", float("nan"), shop),
    lambda: agent.act([1, 2, 3]),
    lambda: mdp.set_outcomes(shop, "wait", [(0.5, replace(shop, stock=0), 0.0, False)]),
):
    try:
        wrong()
        raise AssertionError("that should not have worked")
    except (KeyError, ValueError, TypeError) as error:
        print(type(error).__name__ + ":", error)
