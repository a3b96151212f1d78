//! Worlds in which an episode ends at a goal that pays 1, and nothing else pays: an agent that takes its own curiosity for
//! a reward stays away from it.

use super::mazes::corners;
use crate::grid::{COMPASS, Grid, stepped};
use crate::table::{TabularWorld, end, to};
use crate::world::World;
use backsweep::planner::Outcome;

/// Four rooms in a square of this odd side (5 or more), with one door between neighbors (Sutton, Precup & Singh 1999): from one
/// corner to the other. A move slips with probability 1/3, in each other direction with the same.
pub fn rooms(side: usize) -> World {
    let (middle, doors) = (side / 2, [side / 4, side - 1 - side / 4]);
    let is_wall = |cell: usize| {
        let (row, column) = (cell / side, cell % side);
        row == middle && !doors.contains(&column) || column == middle && !doors.contains(&row)
    };
    let goal = side * side - 1;
    let table = TabularWorld::new(side * side, |s| {
        let moved = |a: usize, p: f64| match stepped((side, side), s, COMPASS[a % 4]) {
            next if next == goal => end(p, 1.0),
            next if is_wall(next) => to(p, s, 0.0),
            next => to(p, next, 0.0),
        };
        let slips = |a: usize| {
            (0..4).map(|turn| moved(a + turn, if turn == 0 { 2.0 / 3.0 } else { 1.0 / 9.0 })).collect()
        };
        if s == goal || is_wall(s) { Vec::new() } else { (0..4).map(slips).collect() }
    });
    let mut text: Vec<u8> = corners(side).into_bytes();
    (0..goal)
        .filter(|&cell| is_wall(cell))
        .for_each(|cell| text[cell / side * (side + 1) + cell % side] = b'#');
    let grid = Grid::of_cells(&String::from_utf8_lossy(&text), &COMPASS);
    let world =
        World::lasting(&format!("rooms_{side}"), &format!("Four rooms, {side}x{side}"), table, 20_000);
    World { discount: 0.99, episode_limit: Some(300), ..world }.with_grid(grid)
}

/// A corridor of `n` cells (2 or more) with the goal at its end; a step goes the other way with probability 0.2.
pub fn corridor(n: usize) -> World {
    let table = TabularWorld::new(n - 1, |s| {
        let step = |p: f64, forward: bool| match forward {
            true if s + 2 == n => end(p, 1.0),
            true => to(p, s + 1, 0.0),
            false => to(p, s.saturating_sub(1), 0.0),
        };
        [false, true].map(|forward| vec![step(0.8, forward), step(0.2, !forward)]).to_vec()
    });
    let world = World::lasting(&format!("corridor_{n}"), &format!("Corridor of {n} cells"), table, 5_000);
    World { discount: 0.99, episode_limit: Some(20 * n as u64), ..world }
}

/// Two rooms of 5 rows and `n` columns (2 or more) with a locked door between them: the key lies in the first, the goal in the
/// second. A move goes astray with probability 0.1, to either side.
///
/// State = 3 × cell + what was done: nothing, the key was taken, the door was opened. Actions: up, right, down, left, take, open.
pub fn key_door(n: usize) -> World {
    const ROWS: usize = 5;
    let n_columns = 2 * n + 1;
    let size = (ROWS, n_columns);
    let (key, door, goal) = ((ROWS - 1) * n_columns, ROWS / 2 * n_columns + n, ROWS * n_columns - 1);
    let start = n_columns / 4;
    let table = TabularWorld::new(3 * ROWS * n_columns, |s| {
        let (cell, done) = (s / 3, s % 3);
        if cell == goal {
            return Vec::new();
        }
        let moved = |a: usize, p: f64| -> Outcome {
            let next = stepped(size, cell, COMPASS[a % 4]);
            match next {
                next if next == goal => end(p, 1.0),
                next if next % n_columns == n && (next != door || done < 2) => to(p, s, 0.0),
                next => to(p, 3 * next + done, 0.0),
            }
        };
        let mut actions: Vec<Vec<Outcome>> =
            (0..4).map(|a| vec![moved(a, 0.9), moved(a + 1, 0.05), moved(a + 3, 0.05)]).collect();
        let takes = done == 0 && cell == key;
        let opens = done == 1 && cell + 1 == door;
        for succeeds in [takes, opens] {
            actions.push(vec![to(1.0, if succeeds { s + 1 } else { s }, 0.0)]);
        }
        actions
    });
    let table = table.starting_in(vec![backsweep::State(3 * start as u32)]);
    let title = format!("Key and door, {} states", 3 * ROWS * n_columns);
    let world = World::lasting(&format!("key_door_{n}"), &title, table, 30_000);
    World { discount: 0.99, episode_limit: Some(300), ..world }
}
