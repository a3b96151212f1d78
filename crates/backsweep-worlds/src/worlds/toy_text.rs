//! Gymnasium's small text worlds, from their rules; the tests compare them with the package's own tables.

use crate::grid::{COMPASS, Grid, stepped};
use crate::table::{TabularWorld, end, to};
use crate::world::{Score, World};
use backsweep::State;

const LAKE_4: [&str; 4] = ["SFFF", "FHFH", "FFFH", "HFFG"];
const LAKE_8: [&str; 8] =
    ["SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"];

/// Left, down, right, up.
const LAKE_DIRECTIONS: [(isize, isize); 4] = [(0, -1), (1, 0), (0, 1), (-1, 0)];

/// FrozenLake, slippery, of side 4.
pub fn frozen_lake_4() -> World {
    frozen_lake("frozen_lake_4x4", "FrozenLake 4x4", &LAKE_4, 100)
}

/// FrozenLake, slippery, of side 8.
pub fn frozen_lake_8() -> World {
    frozen_lake("frozen_lake_8x8", "FrozenLake 8x8", &LAKE_8, 200)
}

/// A lake of this map: a move goes as intended or to either side, each equally likely. Holes and the goal end the episode; the
/// goal gives 1.
pub(super) fn frozen_lake<R: AsRef<str>>(name: &str, title: &str, map: &[R], limit: u64) -> World {
    let side = map.len();
    let kind = |cell: usize| map[cell / side].as_ref().as_bytes()[cell % side];
    let table = TabularWorld::new(side * side, |s| {
        if matches!(kind(s), b'H' | b'G') {
            return Vec::new();
        }
        let slid = |a: usize| {
            let next = stepped((side, side), s, LAKE_DIRECTIONS[a % 4]);
            match kind(next) {
                b'G' => end(1.0 / 3.0, 1.0),
                b'H' => end(1.0 / 3.0, 0.0),
                _ => to(1.0 / 3.0, next, 0.0),
            }
        };
        (0..4).map(|a| vec![slid(a + 3), slid(a), slid(a + 1)]).collect()
    });
    let rows: Vec<&str> = map.iter().map(AsRef::as_ref).collect();
    let text = rows.join("\n").replace('F', ".").replace('H', "x") + "\nx = 0 end\nG = 1\n";
    let world =
        World::lasting(name, title, table, 100_000).with_grid(Grid::of_cells(&text, &LAKE_DIRECTIONS));
    World {
        discount: 0.99,
        episode_limit: Some(limit),
        score: Score::StepsTo { fraction: 0.95, every: 250 },
        ..world
    }
}

/// CliffWalking: every step costs 1, the cliff 100 and the way back to the start; the goal ends the episode.
pub fn cliff_walking() -> World {
    const START: usize = 36;
    let table = TabularWorld::new(48, |s| {
        let moved = |direction| match stepped((4, 12), s, direction) {
            37..=46 => vec![to(1.0, START, -100.0)],
            47 => vec![end(1.0, -1.0)],
            next => vec![to(1.0, next, -1.0)],
        };
        if s >= 37 { Vec::new() } else { COMPASS.map(moved).to_vec() }
    });
    let text = "............\n............\n............\nSxxxxxxxxxxG\nx = -100\nG = -1\n";
    let table = table.starting_in(vec![State(START as u32)]);
    let world = World::lasting("cliff_walking", "CliffWalking", table, 5_000);
    let world = World { discount: 0.99, score: Score::PerEpisode, ceiling: Some(-13.0), ..world };
    world.with_grid(Grid::of_cells(text, &COMPASS))
}

/// Walls of Taxi: cells with a wall to their right.
const WALL_RIGHT: [(usize, usize); 6] = [(0, 1), (1, 1), (3, 0), (3, 2), (4, 0), (4, 2)];
/// Where passengers wait and want to go: red, green, yellow, blue.
const STANDS: [(usize, usize); 4] = [(0, 0), (0, 4), (4, 0), (4, 3)];
const IN_TAXI: usize = 4;

/// Taxi: pick up a passenger at one of 4 stands and drop them off at another. Every step costs 1, a wrong pick-up or
/// drop-off 10; the delivery gives 20 and ends the episode.
///
/// State = ((row × 5 + column) × 5 + passenger) × 4 + destination. Actions: south, north, east, west, pick up, drop off.
pub fn taxi() -> World {
    const DIRECTIONS: [(isize, isize); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
    let encode = |cell: usize, passenger: usize, destination: usize| (cell * 5 + passenger) * 4 + destination;
    let table = TabularWorld::new(500, |s| {
        let (cell, passenger, destination) = (s / 20, s / 4 % 5, s % 4);
        let here = (cell / 5, cell % 5);
        let moved = |(down, right): (isize, isize)| {
            let blocked = match right {
                1 => WALL_RIGHT.contains(&here),
                -1 => here.1 > 0 && WALL_RIGHT.contains(&(here.0, here.1 - 1)),
                _ => false,
            };
            let next = if blocked { cell } else { stepped((5, 5), cell, (down, right)) };
            vec![to(1.0, encode(next, passenger, destination), -1.0)]
        };
        let pick_up = if passenger < IN_TAXI && STANDS[passenger] == here {
            to(1.0, encode(cell, IN_TAXI, destination), -1.0)
        } else {
            to(1.0, s, -10.0)
        };
        let stand = STANDS.iter().position(|&stand| stand == here);
        let set_down = match stand.filter(|_| passenger == IN_TAXI) {
            Some(stand) if stand == destination => end(1.0, 20.0),
            Some(stand) => to(1.0, encode(cell, stand, destination), -1.0),
            None => to(1.0, s, -10.0),
        };
        let mut actions = DIRECTIONS.map(moved).to_vec();
        actions.extend([vec![pick_up], vec![set_down]]);
        actions
    });
    let waits = |s: &usize| s / 4 % 5 < IN_TAXI && s / 4 % 5 != s % 4;
    let starts = (0..500).filter(waits).map(|s| State(s as u32)).collect();
    let world = World::lasting("taxi", "Taxi", table.starting_in(starts), 20_000);
    World { discount: 0.99, episode_limit: Some(200), ..world }.with_grid(taxi_grid())
}

/// Walls stand between cells, so every second column of the picture is a wall or a passage.
fn taxi_grid() -> Grid {
    let cell = |row: usize, column: usize| match (column % 2, STANDS.contains(&(row, column / 2))) {
        (0, true) if (row, column) == (0, 0) => 'S',
        (0, true) => 'G',
        (1, _) if WALL_RIGHT.contains(&(row, column / 2)) => '#',
        _ => '.',
    };
    let rows = (0..5).map(|row| (0..9).map(|column| cell(row, column)).chain(['\n']).collect::<String>());
    let cells = (0..500).map(|s| Some((s / 100, 2 * (s / 20 % 5)))).collect();
    let directions = vec![vec![(1, 0), (-1, 0), (0, 1), (0, -1), (0, 0), (0, 0)]];
    Grid { cells, directions, ..Grid::of_cells(&rows.collect::<String>(), &[]) }
}
