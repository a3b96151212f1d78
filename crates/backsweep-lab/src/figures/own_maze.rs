//! The maze of a user's own experiment.

use super::Figure;
use super::maze_picture::maze_svg;
use super::user::file_name;
use crate::query;
use crate::result::{MazeInfo, Results};
use backsweep_worlds::{CellKind, Maze};
use std::fmt::Write;

/// Larger mazes would make files that viewers cannot open.
const MOST_CELLS: usize = 10_000;

/// The picture of a maze; `None` if it is too large.
pub fn figure(results: &Results, experiment: &str, info: &MazeInfo) -> Option<Figure> {
    let task = info.task().ok().filter(|task| task.maze().cells().count() <= MOST_CELLS)?;
    let title = query::task_title(results, experiment, &info.task);
    let id = format!("{}-maze-{}", file_name(experiment), file_name(&info.task));
    let (caption, svg) = (rewards(task.maze(), info.step_reward), maze_svg(&id, &title, task.maze()));
    Some(Figure { id, title, caption, svg, files: Vec::new() })
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
