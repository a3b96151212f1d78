//! Worlds in which an episode ends at a goal that pays 1, and nothing else pays: an agent that takes its own curiosity for
//! a reward stays away from it.

use super::mazes::corners;
use crate::grid::{COMPASS, Grid, stepped};
use crate::table::{TabularWorld, end, to};
use crate::world::World;
use backsweep::State;
use backsweep::planner::Outcome;

/// Sutton, Precup & Singh's four rooms.
const FOUR_ROOMS: [&str; 11] = [
    "S....#.....",
    ".....#.....",
    "...........",
    ".....#.....",
    ".....#.....",
    "#.####.....",
    ".....###.##",
    ".....#.....",
    ".....#.....",
    "...........",
    ".....#....G",
];

/// Four rooms (Sutton, Precup & Singh 1999), from one corner to the other.
pub fn four_rooms() -> World {
    let is_wall = |cell: usize| FOUR_ROOMS[cell / 11].as_bytes()[cell % 11] == b'#';
    between_corners("four_rooms", "Four rooms", 11, is_wall)
}

/// Four rooms in a square of this odd side (5 or more), with one door between neighbors.
pub fn rooms(side: usize) -> World {
    let (middle, doors) = (side / 2, [side / 4, side - 1 - side / 4]);
    let is_wall = |cell: usize| {
        let (row, column) = (cell / side, cell % side);
        row == middle && !doors.contains(&column) || column == middle && !doors.contains(&row)
    };
    between_corners(&format!("rooms_{side}"), &format!("Four rooms, {side}x{side}"), side, is_wall)
}

/// From the top left corner of a square to the bottom right one. A move slips with probability 1/3, to either side.
fn between_corners(name: &str, title: &str, side: usize, is_wall: impl Fn(usize) -> bool) -> World {
    let goal = side * side - 1;
    let table = TabularWorld::new(side * side, |s| {
        let moved = |a: usize, p: f64| match stepped((side, side), s, COMPASS[a % 4]) {
            next if next == goal => end(p, 1.0),
            next if is_wall(next) => to(p, s, 0.0),
            next => to(p, next, 0.0),
        };
        let slips = |a: usize| vec![moved(a, 2.0 / 3.0), moved(a + 1, 1.0 / 6.0), moved(a + 3, 1.0 / 6.0)];
        if s == goal || is_wall(s) { Vec::new() } else { (0..4).map(slips).collect() }
    });
    let mut text: Vec<u8> = corners(side).into_bytes();
    (0..goal)
        .filter(|&cell| is_wall(cell))
        .for_each(|cell| text[cell / side * (side + 1) + cell % side] = b'#');
    let grid = Grid::of_cells(&String::from_utf8_lossy(&text), &COMPASS);
    let world = World::lasting(name, title, table, 20_000);
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

/// Two rooms of 5 rows and `n` columns (2 or more) with a locked door between them. The key lies at the bottom left, the goal at
/// the top right; an episode starts anywhere in the left room but on the key. A move goes astray with probability 0.1, to
/// either side.
///
/// State = 3 × cell + what was done: nothing, the key was taken, the door was opened. Actions: up, right, down, left, take, open.
pub fn key_door(n: usize) -> World {
    const ROWS: usize = 5;
    let n_columns = 2 * n + 1;
    let size = (ROWS, n_columns);
    let (key, door, goal) = ((ROWS - 1) * n_columns, ROWS / 2 * n_columns + n, n_columns - 1);
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
    let starts = (0..ROWS * n_columns).filter(|&cell| cell % n_columns < n && cell != key);
    let table = table.starting_in(starts.map(|cell| State(3 * cell as u32)).collect());
    let title = format!("Key and door, {} states", 3 * ROWS * n_columns);
    let world = World::lasting(&format!("key_door_{n}"), &title, table, 30_000);
    World { discount: 0.99, episode_limit: Some(250), ..world }
}
