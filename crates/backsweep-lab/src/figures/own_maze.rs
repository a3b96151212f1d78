//! The maze of a user's own experiment, with the best that an agent can learn in it.

use super::Figure;
use super::maze_picture::{MazeOverlay, maze_svg};
use super::user::file_name;
use crate::number::number;
use crate::query;
use crate::result::{MazeInfo, Results};
use backsweep::planner::{Model, Planner, ReversedFullBackups, audit, plan};
use backsweep::{Action, Budget, Settings, State};
use backsweep_worlds::{CellKind, Maze, MazeTask};
use std::fmt::Write;

/// Larger mazes would make files that viewers cannot open.
const MOST_CELLS: usize = 10_000;
/// The number of update cycles that the values may take: about two seconds. With a discount close to 1, a report would otherwise take
/// too long.
const MAX_CYCLES: u64 = 3_200_000;
/// Values are accurate to within this, and actions that differ by less are equally good.
const TOLERANCE: f64 = 1e-6;

/// The picture of a maze; `None` if it is too large.
pub fn figure(results: &Results, experiment: &str, info: &MazeInfo) -> Option<Figure> {
    let task = info.task().ok().filter(|task| task.maze().cells().count() <= MOST_CELLS)?;
    let title = query::task_title(results, experiment, &info.task);
    let id = format!("{}-maze-{}", file_name(experiment), file_name(&info.task));
    let solved = solved(&task, info.discount).unwrap_or_default();
    let mut caption = rewards(task.maze(), info.step_reward);
    if !solved.cells.is_empty() {
        let (low, high) = solved.span();
        let (low, high, discount) = (number(low, 2), number(high, 2), info.discount);
        let _ = write!(
            caption,
            " Colors are the optimal values, from {low} (light) to {high} (dark), and arrows the optimal actions, computed \
             from the true probabilities at discount {discount}: what learning can reach."
        );
    }
    let svg = maze_svg(&id, &title, task.maze(), &solved);
    Some(Figure { id, title, caption, svg, files: Vec::new() })
}

/// The optimal values and actions; `None` if they are not defined or take too long.
fn solved(task: &MazeTask, discount: f64) -> Option<MazeOverlay> {
    let model = task.model().ok()?;
    let settings = Settings { discount, ..Settings::default() }.accurate_to(TOLERANCE);
    let mut planner = ReversedFullBackups::new(settings).ok()?;
    planner.grow(&model);
    let planned = plan(&mut planner, &model, Budget::Until { tolerance: 0.0, max_cycles: MAX_CYCLES });
    // Without discount, values that start at 0 approach the optimum from the right side if rewards have one sign.
    let is_proven = match audit(&model, &planner).error_bound {
        Some(bound) => bound <= TOLERANCE,
        None => rewards_have_one_sign(&model),
    };
    if !planned.is_idle || !is_proven {
        return None;
    }
    let values = planner.values();
    let cells = (0..task.n_states() as u32).map(State).filter_map(|state| {
        let q = |action| model.pair(state, Action(action)).map(|pair| values.action_value(pair));
        let is_best = [0, 1, 2, 3].map(|a| q(a).is_ok_and(|q| q >= values.value(state) - 2.0 * TOLERANCE));
        Some((task.cell(state)?, values.value(state), is_best))
    });
    Some(MazeOverlay { cells: cells.collect() })
}

fn rewards_have_one_sign(model: &Model) -> bool {
    let rewards = || model.states().flat_map(|state| model.pairs(state)).map(|pair| model.mean_reward(pair));
    rewards().all(|reward| reward >= 0.0) || rewards().all(|reward| reward <= 0.0)
}

/// The reward of each kind of cell.
fn rewards(maze: &Maze, step_reward: f64) -> String {
    let of = |wanted: fn(CellKind) -> bool| {
        let cells = maze.cells().filter(|&cell| wanted(maze.kind(cell)));
        let mut rewards: Vec<f64> = cells.filter_map(|cell| maze.reward(cell)).collect();
        rewards.sort_by(f64::total_cmp);
        rewards.dedup();
        rewards.iter().map(f64::to_string).collect::<Vec<_>>().join(" or ")
    };
    let mut text = format!("A step gives {step_reward}");
    for (rewards, what) in [
        (of(|kind| kind == CellKind::Goal), "a goal"),
        (of(|kind| kind == CellKind::Start), "a start"),
        (of(|kind| kind == CellKind::Free), "a yellow cell"),
        (of(|kind| kind == CellKind::Trap), "a pink cell, which ends the episode,"),
    ] {
        if !rewards.is_empty() {
            let _ = write!(text, "; {what} {rewards}");
        }
    }
    text.replace('-', "−") + "."
}
