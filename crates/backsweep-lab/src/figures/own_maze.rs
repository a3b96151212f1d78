//! The maze of a user's own experiment, with the best that an agent can learn in it.

use super::Figure;
use super::maze_picture::{Solved, maze_svg};
use super::user::file_name;
use crate::number::number;
use crate::query;
use crate::result::{MazeInfo, Results};
use backsweep::{Action, PlannerKind, Settings, State, solve_unless};
use backsweep_worlds::{Kind, Maze, MazeTask};
use std::fmt::Write;

/// Larger mazes would make files that viewers cannot open.
const MOST_CELLS: usize = 10_000;
/// How often the solver may check whether to stop: about two seconds. With a discount close to 1, a report would otherwise
/// take too long.
const MOST_QUESTIONS: u32 = 50_000;
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
            " Colours are the optimal values, from {low} (light) to {high} (dark), and arrows the optimal actions, computed \
             from the true probabilities at discount {discount}: what learning can reach."
        );
    }
    let svg = maze_svg(&id, &title, task.maze(), &solved);
    Some(Figure { id, title, caption, svg, files: Vec::new() })
}

/// The optimal values and actions; `None` if they are not defined or take too long.
fn solved(task: &MazeTask, discount: f64) -> Option<Solved> {
    let model = task.model().ok()?;
    let mut planner =
        PlannerKind::ReversedFullBackups.build(Settings { discount, ..Settings::default() }).ok()?;
    let mut n_questions = 0;
    let mut stop = || {
        n_questions += 1;
        n_questions > MOST_QUESTIONS
    };
    solve_unless(&mut *planner, &model, TOLERANCE, &mut stop).ok().flatten().filter(|s| s.converged)?;
    let values = planner.values();
    let cells = (0..task.n_states() as u32).map(State).filter_map(|state| {
        let q = |action| model.pair(state, Action(action)).map(|pair| values.action_value(pair));
        let is_best = [0, 1, 2, 3].map(|a| q(a).is_ok_and(|q| q >= values.value(state) - 2.0 * TOLERANCE));
        Some((task.cell(state)?, values.value(state), is_best))
    });
    Some(Solved { cells: cells.collect() })
}

/// What each kind of cell gives.
fn rewards(maze: &Maze, step_reward: f64) -> String {
    let of = |wanted: fn(Kind) -> bool| {
        let cells = maze.cells().filter(|&cell| wanted(maze.kind(cell)));
        let mut rewards: Vec<f64> = cells.filter_map(|cell| maze.reward(cell)).collect();
        rewards.sort_by(f64::total_cmp);
        rewards.dedup();
        rewards.iter().map(f64::to_string).collect::<Vec<_>>().join(" or ")
    };
    let mut text = format!("A step gives {step_reward}");
    for (rewards, what) in [
        (of(|kind| kind == Kind::Goal), "a goal"),
        (of(|kind| kind == Kind::Start), "a start"),
        (of(|kind| kind == Kind::Free), "a yellow cell"),
        (of(|kind| kind == Kind::Trap), "a pink cell, which ends the episode,"),
    ] {
        if !rewards.is_empty() {
            let _ = write!(text, "; {what} {rewards}");
        }
    }
    text.replace('-', "−") + "."
}
