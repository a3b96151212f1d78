//! Grids: slippery squares, Dearden's maze with flags, and Sutton & Barto's two mazes that change.

use crate::grid::{COMPASS, Grid, stepped};
use crate::table::{TabularWorld, end, to};
use crate::world::{Horizon, Phase, World};
use backsweep::State;
use backsweep::planner::Outcome;

/// A square of `side` × `side` cells: a move goes as intended with probability .8, otherwise to either side; in the far
/// corner every action gives 1 and leads back to the start.
pub fn square(side: usize, steps: u64) -> World {
    let n = side * side;
    let table = TabularWorld::new(n, |s| {
        let turned = |a: usize, p: f64| to(p, stepped((side, side), s, COMPASS[a % 4]), 0.0);
        let moves = |a: usize| vec![turned(a, 0.8), turned(a + 1, 0.1), turned(a + 3, 0.1)];
        if s == n - 1 { vec![vec![to(1.0, 0, 1.0)]; 4] } else { (0..4).map(moves).collect() }
    });
    let grid = Grid::of_cells(&corners(side), &COMPASS);
    World::lasting(&format!("grid_{side}"), &format!("Grid{side}"), table, steps).with_grid(grid)
}

/// A square that is free from the start, top left, to the goal, bottom right.
pub(crate) fn corners(side: usize) -> String {
    let mut text: Vec<u8> = [vec![b'.'; side], vec![b'\n']].concat().repeat(side);
    text[0] = b'S';
    text[side * (side + 1) - 2] = b'G';
    String::from_utf8_lossy(&text).into_owned()
}

/// Flags are `1`, `2` and `3`: characters that a maze file would have to explain, so the drawn text shows free cells.
const DEARDEN: [&str; 6] = ["S#2.#.G", ".#..#..", ".......", "##...##", "......3", "1.....#"];

/// Dearden's maze (Dearden, Friedman & Russell 1998), as Guez et al. define it: three flags; every action in the goal gives
/// the number of flags collected and leads back to the start without them. A move slips to either side with probability .05.
///
/// State = 8 × (number of the free cell, column by column) + flags as bits.
pub fn dearden() -> World {
    let kind = |row: usize, column: usize| DEARDEN[row].as_bytes()[column];
    let free: Vec<(usize, usize)> = (0..7)
        .flat_map(|column| (0..6).map(move |row| (row, column)))
        .filter(|&(row, column)| kind(row, column) != b'#')
        .collect();
    let number = |cell: (usize, usize)| free.iter().position(|&other| other == cell);
    let table = TabularWorld::new(8 * free.len(), |s| {
        let (from, flags) = (free[s / 8], s % 8);
        if kind(from.0, from.1) == b'G' {
            return vec![vec![to(1.0, 0, f64::from((flags as u8).count_ones()))]; 4];
        }
        let turned = |a: usize, p: f64| -> Outcome {
            let (down, right) = COMPASS[a % 4];
            let row = from.0.checked_add_signed(down);
            let next = row.zip(from.1.checked_add_signed(right)).filter(|&cell| number(cell).is_some());
            let cell = next.unwrap_or(from);
            let flag = match kind(cell.0, cell.1) {
                flag @ b'1'..=b'3' => 1 << (flag - b'1'),
                _ => 0,
            };
            to(p, 8 * number(cell).unwrap_or(s / 8) + (flags | flag), 0.0)
        };
        (0..4).map(|a| vec![turned(a, 0.9), turned(a + 1, 0.05), turned(a + 3, 0.05)]).collect()
    });
    let text = DEARDEN.join("\n").replace(['1', '2', '3'], ".") + "\n";
    let cells = (0..8 * free.len()).map(|s| Some(free[s / 8])).collect();
    let grid = Grid { cells, ..Grid::of_cells(&text, &COMPASS) };
    let world = World::lasting("dearden_maze", "Dearden's maze", table, 20_000).with_grid(grid);
    World { reward_range: (0.0, 3.0), ..world }
}

/// Sutton & Barto's example 8.2: the short way is blocked after 1,000 steps and a longer one opens.
pub fn blocking() -> World {
    changing("blocking_maze", "Blocking maze", [0..=7, 1..=8], 1_000, 3_000)
}

/// Sutton & Barto's example 8.3: a shorter way opens after 3,000 steps; nothing that the agent does on its way shows it.
pub fn shortcut() -> World {
    changing("shortcut_maze", "Shortcut maze", [1..=8, 1..=7], 3_000, 6_000)
}

/// A maze of 6 × 9 cells whose wall, in row 3, covers first the one and then the other columns.
fn changing(
    name: &str,
    title: &str,
    walls: [std::ops::RangeInclusive<usize>; 2],
    change: u64,
    steps: u64,
) -> World {
    const SIZE: (usize, usize) = (6, 9);
    const START: usize = 5 * 9 + 3;
    const GOAL: usize = 8;
    let phase = |wall: &std::ops::RangeInclusive<usize>, from: u64| {
        let is_wall = |cell: usize| cell / 9 == 3 && wall.contains(&(cell % 9));
        // Every cell is a state in both phases, so that ids stay; nothing leads into a wall or out of the goal.
        let table = TabularWorld::new(SIZE.0 * SIZE.1, |s| {
            let moved = |direction: (isize, isize)| match stepped(SIZE, s, direction) {
                GOAL => vec![end(1.0, 1.0)],
                next if is_wall(next) => vec![to(1.0, s, 0.0)],
                next => vec![to(1.0, next, 0.0)],
            };
            if s == GOAL { Vec::new() } else { COMPASS.map(moved).to_vec() }
        });
        let cell = |i: usize| match i {
            START => 'S',
            GOAL => 'G',
            i if is_wall(i) => '#',
            _ => '.',
        };
        let rows =
            (0..6).map(|row| (0..9).map(|column| cell(9 * row + column)).chain(['\n']).collect::<String>());
        let grid = Grid::of_cells(&rows.collect::<String>(), &COMPASS);
        Phase { from, table: table.starting_in(vec![State(START as u32)]), grid: Some(grid) }
    };
    let phases = vec![phase(&walls[0], 0), phase(&walls[1], change)];
    let world = World::lasting(name, title, phases[0].table.clone(), steps);
    World { phases, horizon: Horizon::Steps(steps), ..world }
}
