"""Small decision trees that say what a policy does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np

__all__ = ["PolicyTree"]

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def columns_of(state: Any) -> tuple[Any, ...]:
    """The columns of a state; a state that is not a sequence has one."""
    return tuple(state) if isinstance(state, (tuple, list, np.ndarray)) else (state,)


@dataclass(repr=False, eq=False)
class _Node:
    """A leaf with an action or, once split, a test ``state[column] <= threshold``."""

    action: int
    # The states that come here, and how many of them the action does not suit.
    states: np.ndarray[Any, Any]
    n_wrong: int
    column: int = -1
    threshold: float = 0.0
    yes: _Node | None = None
    no: _Node | None = None


@dataclass(repr=False, eq=False)
class PolicyTree:
    """A policy as a decision tree; see ``MDP.policy_tree``. Calling it with a state returns the action."""

    columns: list[str]
    """The names of the columns of a state."""
    actions: list[Any]
    """The actions that leaves name."""
    n_leaves: int
    """The number of leaves."""
    n_mismatched: int
    """The number of states where the tree takes an action that is not one of the best."""
    loss: float
    """In no state is the best policy proven to be better than the tree by more than this."""
    _root: _Node

    def __call__(self, state: Any) -> Any:
        """The action in a state."""
        row = columns_of(state)
        if len(row) != len(self.columns):
            raise ValueError(f"state has {len(row)} columns; expected {len(self.columns)}: {', '.join(self.columns)}")
        node = self._root
        while node.yes is not None and node.no is not None:
            node = node.yes if row[node.column] <= node.threshold else node.no
        return self.actions[node.action]

    def to_c(self, name: str = "policy_action") -> str:
        """A C function from the columns of a state to the number of an action, with the actions in a comment.

        Args:
            name: the name of the function.
        """
        if not name.isidentifier() or not name.isascii():
            raise ValueError(f"name is {name!r}; expected an identifier of C")
        known = "\n".join(f" *   {i}: {_comment(action)}" for i, action in enumerate(self.actions))
        order = "\n".join(f" *   state[{i}]: {_comment(column)}" for i, column in enumerate(self.columns))
        body = "\n".join(self._lines("    ", lambda i: f"return {i};", "if (state[{column}] <= {threshold!r}) {{", "}} else {{", "}}"))
        return f"/* A policy, written by Backsweep. Columns:\n{order}\n * Actions:\n{known}\n */\nint {name}(const double *state) {{\n{body}\n}}\n"

    def __str__(self) -> str:
        return "\n".join(self._lines("", lambda i: repr(self.actions[i]), "if {name} <= {threshold:g}:", "else:", None))

    def __repr__(self) -> str:
        return f"<backsweep.PolicyTree: {self.n_leaves} leaves, {self.n_mismatched} states differ, loss at most {self.loss:.3g}>"

    def _lines(self, indent: str, leaf: Any, opening: str, middle: str, closing: str | None) -> Iterator[str]:
        stack: list[tuple[_Node | str, str]] = [(self._root, indent)]
        while stack:
            node, indent = stack.pop()
            if isinstance(node, str):
                yield indent + node
            elif node.yes is None or node.no is None:
                yield indent + leaf(node.action)
            else:
                words = {"column": node.column, "name": self.columns[node.column], "threshold": node.threshold}
                yield indent + opening.format(**words)
                if closing is not None:
                    stack.append((closing.format(), indent))
                stack += [(node.no, indent + "    "), (middle.format(), indent), (node.yes, indent + "    ")]


def _comment(text: Any) -> str:
    """Text that cannot end a comment of C."""
    return repr(text).replace("*/", "* /")


def grow(rows: Numbers, suits: Flags, max_leaves: int | None) -> tuple[_Node, int, int]:
    """A tree on the rows of states; ``suits[state, action]`` says which actions are right. Returns it with its number of
    leaves and of states that it gets wrong.

    The leaf with the most states wrong is split next, where that leaves the fewest wrong.
    """
    everything = np.arange(len(rows))
    root = _leaf(everything, suits)
    leaves, n_leaves = [root], 1
    while leaves and (max_leaves is None or n_leaves < max_leaves):
        node = max(leaves, key=lambda leaf: leaf.n_wrong)
        leaves.remove(node)
        if node.n_wrong == 0:
            break
        found = _best_split(rows[node.states], suits[node.states])
        if found is None:
            continue
        node.column, node.threshold = found
        below = rows[node.states, node.column] <= node.threshold
        node.yes, node.no = _leaf(node.states[below], suits), _leaf(node.states[~below], suits)
        leaves += [node.yes, node.no]
        n_leaves += 1
    return root, n_leaves, _n_wrong(root)


def _leaf(states: np.ndarray[Any, Any], suits: Flags) -> _Node:
    counts = suits[states].sum(axis=0)
    action = int(np.argmax(counts))
    return _Node(action, states, len(states) - int(counts[action]))


def _n_wrong(root: _Node) -> int:
    total, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.yes is None or node.no is None:
            total += node.n_wrong
        else:
            stack += [node.yes, node.no]
    return total


def _best_split(rows: Numbers, suits: Flags) -> tuple[int, float] | None:
    """The test after which the fewest states are wrong; among equals, the one whose halves are purest."""
    best: tuple[float, float] | None = None
    found: tuple[int, float] | None = None
    for column in range(rows.shape[1]):
        order = np.argsort(rows[:, column], kind="stable")
        values = rows[order, column]
        ends = np.flatnonzero(values[1:] > values[:-1])
        if not len(ends):
            continue
        below = np.cumsum(suits[order], axis=0, dtype=np.int64)
        above = below[-1] - below[ends]
        below = below[ends]
        n_below = ends + 1
        wrong = n_below - below.max(axis=1) + (len(rows) - n_below) - above.max(axis=1)
        # The sum of squared shares: larger where one action suits more states than the others do.
        pure = (below**2).sum(axis=1) / n_below + (above**2).sum(axis=1) / (len(rows) - n_below)
        i = np.lexsort((-pure, wrong))[0]
        key = (float(wrong[i]), -float(pure[i]))
        if best is None or key < best:
            low, high = float(values[ends[i]]), float(values[ends[i] + 1])
            middle = low + (high - low) / 2
            best, found = key, (column, middle if low <= middle < high else low)
    return found
