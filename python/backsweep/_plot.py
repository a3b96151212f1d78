"""Plots of what was learned. Needs matplotlib: ``pip install 'backsweep[plot]'``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Hashable, Mapping

import numpy as np

from ._mdp import MDP
from ._world import interface_of

if TYPE_CHECKING:
    from ._compare import Comparison
    from ._learn import History

__all__ = ["plot_policy", "plot_values"]

INK = "#22313f"
FAINT = "#9fb3c1"
ACCENT = "#0b7285"
SECOND = "#d4570f"
# The height of a legend above the axes, in points: the title stands over it.
LEGEND = 22
# Words for directions, as (right, down). Single letters are not among them: "s" may be south, stay or start.
WORDS = {
    "left": (-1, 0), "west": (-1, 0), "←": (-1, 0),
    "right": (1, 0), "east": (1, 0), "→": (1, 0),
    "up": (0, -1), "north": (0, -1), "↑": (0, -1),
    "down": (0, 1), "south": (0, 1), "↓": (0, 1),
}  # fmt: skip


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'backsweep[plot]'") from error
    return pyplot


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    return _pyplot().subplots(figsize=size, layout="constrained")[1]


def _grid(
    agent: Any, shape: tuple[int, int], state_at: Callable[[int, int], Hashable] | None
) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[list[Any]]]:
    """The value and the best action of each cell; NaN and ``None`` where the state is unknown."""
    rows, columns = shape
    if rows < 1 or columns < 1:
        raise ValueError(f"shape is {shape}; expected (rows, columns) of at least 1")
    _check_shape(agent, shape, state_at)
    values = np.full((rows, columns), np.nan)
    best: list[list[Any]] = [[None] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            state = _state(shape, state_at, row, column)
            if state in agent:
                values[row, column] = agent.value(state)
                best[row][column] = agent.best_action(state)
    return values, best


def _check_shape(agent: Any, shape: tuple[int, int], state_at: Callable[[int, int], Hashable] | None) -> None:
    """Refuse a shape with another number of cells than there are states, where that number is known."""
    known = interface_of(agent)
    n = getattr(known.space, "n", None) if known is not None else None
    if n is None and isinstance(agent, MDP):
        n = len(agent.states)
    if state_at is None and isinstance(n, (int, np.integer)) and shape[0] * shape[1] != n:
        raise ValueError(
            f"shape is {shape}, which has {shape[0] * shape[1]} cells; expected {n}, one for each state; if only some states have a "
            "cell, say which: state_at="
        )


def _state(shape: tuple[int, int], state_at: Callable[[int, int], Hashable] | None, row: int, column: int) -> Hashable:
    return row * shape[1] + column if state_at is None else state_at(row, column)


def _draw_values(ax: Any, values: Any, cmap: str, colorbar: bool) -> Any:
    pyplot = _pyplot()
    colors = pyplot.get_cmap(cmap).with_extremes(bad="#eef1f3")
    image = ax.imshow(np.ma.masked_invalid(values), cmap=colors, interpolation="nearest")
    rows, columns = values.shape
    # Matplotlib drops a minor tick where there is a major one, and its grid line with it.
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.85, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, colors=INK)
        bar.set_label("value", color=INK)
    return image


def _ink_on(image: Any, value: float) -> str:
    """Dark or light, whichever is readable on the color of a value."""
    red, green, blue = (np.asarray(image.cmap(image.norm(value))[:3]) ** 2.2).tolist()
    # About the luminance at which white and INK are equally readable.
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.28 else "white"


def plot_values(
    agent: Any,
    shape: tuple[int, int],
    *,
    state_at: Callable[[int, int], Hashable] | None = None,
    numbers: bool | None = None,
    cmap: str = "YlGnBu_r",
    title: str = "Values",
    ax: Any = None,
) -> Any:
    """Draw the values of an agent or MDP on a grid.

    Args:
        agent: an Agent, an MDP, or anything else with ``value``, ``best_action`` and ``in``.
        shape: (rows, columns) of the grid.
        state_at: ``state_at(row, column)`` is the state of a cell; by default it is ``row * columns + column``. Cells whose
            state is unknown, such as walls, are gray.
        numbers: whether to write the values into the cells; by default if they fit.
        cmap: the name of a matplotlib color map.
        title: the title of the picture.
        ax: matplotlib axes to draw on; new ones by default.

    Returns:
        The axes.
    """
    values, _ = _grid(agent, shape, state_at)
    rows, columns = shape
    ax = _axes(ax, (1.2 + 0.62 * columns, 0.6 + 0.62 * rows))
    image = _draw_values(ax, values, cmap, colorbar=True)
    if numbers if numbers is not None else max(shape) <= 12:
        for row, column in zip(*np.nonzero(np.isfinite(values))):
            value = values[row, column]
            text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
            ax.text(column, row, text, ha="center", va="center", fontsize=8, color=_ink_on(image, value))
    ax.set_title(title, color=INK, loc="left")
    return ax


def plot_policy(
    agent: Any,
    shape: tuple[int, int],
    *,
    arrows: Mapping[Any, Any] | None = None,
    state_at: Callable[[int, int], Hashable] | None = None,
    cmap: str = "YlGnBu_r",
    title: str = "Policy",
    ax: Any = None,
) -> Any:
    """Draw the best action of each cell on the heat map of values.

    Args:
        agent: an Agent, an MDP, or anything else with ``value``, ``best_action`` and ``in``.
        shape: (rows, columns) of the grid.
        arrows: the direction of each action: a word such as "left" or "north", or a pair (right, down). For FrozenLake:
            ``{0: "left", 1: "down", 2: "right", 3: "up"}``. By default, actions that are such words point there, and so do
            the four actions of a grid if the model shows that they lead in four different directions. Nothing is guessed: an
            action without a direction is written as text.
        state_at: as for ``plot_values``.
        cmap: the name of a matplotlib color map.
        title: the title of the picture.
        ax: matplotlib axes to draw on; new ones by default.

    Returns:
        The axes.
    """
    values, best = _grid(agent, shape, state_at)
    moves = _moves(agent, shape, state_at) if arrows is None else {}
    rows, columns = shape
    ax = _axes(ax, (1.2 + 0.62 * columns, 0.6 + 0.62 * rows))
    image = _draw_values(ax, values, cmap, colorbar=True)
    for row in range(rows):
        for column in range(columns):
            action = best[row][column]
            if action is None:
                continue
            color = _ink_on(image, values[row, column])
            direction = _direction(action, arrows) or moves.get(action)
            if direction is None:
                ax.text(column, row, str(action), ha="center", va="center", fontsize=8, color=color)
                continue
            x, y = 0.3 * direction[0], 0.3 * direction[1]
            ax.annotate(
                "",
                xy=(column + x, row + y),
                xytext=(column - x, row - y),
                arrowprops={"arrowstyle": "-|>,head_width=0.22,head_length=0.4", "color": color, "lw": 1.6,
                            "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
    ax.set_title(title, color=INK, loc="left")
    return ax


def _direction(action: Any, arrows: Mapping[Any, Any] | None) -> tuple[float, float] | None:
    given = arrows.get(action) if arrows is not None else action
    if isinstance(given, str):
        direction = WORDS.get(given.lower())
        if direction is None and arrows is not None:
            raise ValueError(f"arrows gives {given!r} for action {action!r}; expected a word such as 'left', or (right, down)")
        return direction
    if isinstance(given, (tuple, list)) and len(given) == 2 and arrows is not None:
        right, down = (float(part) for part in given)
        length = float(np.hypot(right, down))
        return (right / length, down / length) if length > 0 else None
    return None


def _moves(agent: Any, shape: tuple[int, int], state_at: Callable[[int, int], Hashable] | None) -> dict[Any, tuple[float, float]]:
    """Where the four actions of a grid lead, as (right, down); empty unless these are four different directions."""
    model: Any = getattr(agent, "model", None)
    if len(getattr(model, "action_names", ())) != 4:
        return {}
    place = {_state(shape, state_at, row, column): (column, row) for row, column in np.ndindex(*shape)}
    places = np.array([place.get(state, (np.nan, np.nan)) for state in model.states]).reshape(-1, 2)
    row_of = np.repeat(np.arange(len(model.visits)), np.diff(model.row_starts))
    steps = places[model.columns] - places[model.state_index[row_of]]
    # Only steps to a neighbor: a jump, as from the cliff to the start, is not the direction of an action.
    near = np.abs(steps).sum(axis=1) == 1
    moves = {}
    for number, action in enumerate(model.action_names):
        chosen = near & (model.action_index[row_of] == number)
        # Slips to the left and right of an action cancel out.
        mean = (steps[chosen] * model.probability_data[chosen, None]).sum(axis=0)
        right, down = np.sign(mean) * (np.abs(mean) == np.abs(mean).max())
        moves[action] = (float(right), float(down))
    return moves if set(moves.values()) == {(-1, 0), (1, 0), (0, -1), (0, 1)} else {}


def plot_history(history: History, *, window: int = 100, ax: Any = None) -> Any:
    """Draw the return of each episode as a faint dot, the running mean as a line, and evaluations with their standard errors."""
    ax = _axes(ax, (7.0, 3.8))
    episodes = np.arange(1, len(history) + 1)
    ax.plot(episodes, history.returns, ".", markersize=2.5, color=FAINT, alpha=0.6, label="episode", rasterized=True)
    ax.plot(episodes, history.smoothed(window), color=ACCENT, linewidth=2, label=f"mean of {window}")
    if history.evaluations:
        points = [(point.episodes, point.mean, np.nan_to_num(point.evaluation.standard_error)) for point in history.evaluations]
        at, means, errors = zip(*points)
        ax.errorbar(at, means, errors, fmt="o-", markersize=3.5, linewidth=1.2, color=SECOND, label="recommended policy")
    ax.set_title(f"{len(history)} episodes, {history.n_steps} steps", color=INK, loc="left", pad=LEGEND)
    _finish(ax, "episode", markerscale=3 if not history.evaluations else 1)
    return ax


def plot_comparison(comparison: Comparison, *, window: int = 100, axes: Any = None) -> list[Any]:
    """Draw the learning curves of each environment by steps: the mean of an agent's seeds, and their range."""
    envs, agents = comparison._names("env"), comparison._names("agent")
    if axes is None:
        axes = _pyplot().subplots(1, len(envs), figsize=(5.5 * len(envs), 3.8), layout="constrained", squeeze=False)[1]
    found = list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
    if len(found) != len(envs):
        raise ValueError(f"axes has {len(found)} axes; expected {len(envs)}, one for each environment")
    for ax, env in zip(found, envs):
        for i, agent in enumerate(agents):
            histories = [run.history for run in comparison.runs if (run.env, run.agent) == (env, agent) and len(run.history)]
            if not histories:
                continue
            ends = [np.cumsum(history.lengths) for history in histories]
            steps = np.linspace(max(end[0] for end in ends), max(end[-1] for end in ends), 200)
            curves = [np.interp(steps, end, history.smoothed(window)) for end, history in zip(ends, histories)]
            color = f"C{i}"
            ax.plot(steps, np.mean(curves, axis=0), color=color, linewidth=2, label=agent)
            ax.fill_between(steps, np.min(curves, axis=0), np.max(curves, axis=0), color=color, alpha=0.15, linewidth=0)
        ax.set_title(env, color=INK, loc="left", pad=LEGEND)
        _finish(ax, "step")
    return found


def _finish(ax: Any, unit: str, markerscale: float = 1) -> None:
    """The labels, grid and legend of all learning curves."""
    ax.set_xlabel(unit, color=INK)
    ax.set_ylabel("return", color=INK)
    ax.grid(axis="y", color="#e3e8eb", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)
    ax.tick_params(colors=INK)
    ax.margins(x=0.01)
    place = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderpad": 0}
    ax.legend(frameon=False, labelcolor=INK, ncols=3, markerscale=markerscale, **place)
