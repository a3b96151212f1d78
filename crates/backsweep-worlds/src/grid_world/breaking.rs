//! Breaking the world on purpose: a wall across the path that an agent takes, or a shortcut that it does not know.

use super::{EIGHT_DIRECTIONS, GridWorld};
use crate::{CellKind, Error, Result};
use backsweep::State;
use std::collections::VecDeque;

const FAR: usize = usize::MAX;
/// The number of places on a path that are tried, from its middle on: each takes a search through the maze.
const PLACES: usize = 48;

impl GridWorld {
    /// Returns whether there is no path from a start to a goal. In every world, moves lead where actions point, or slip to where
    /// another action points.
    pub fn is_closed(&self) -> bool {
        self.is_closed_by(&[])
    }

    /// Returns whether no path would remain if these cells were walls too.
    fn is_closed_by(&self, walls: &[usize]) -> bool {
        let distances = self.distances_to_goal(walls);
        !self.cells_of(CellKind::Start).any(|cell| distances[cell] != FAR)
    }

    /// The world with a wall on the path that a policy takes from the start, closing the whole passage if there is another
    /// way round. `best` gives the best directions of a cell as bits of [`EIGHT_DIRECTIONS`].
    ///
    /// # Errors
    /// If every such wall would cut the goal off.
    pub fn with_wall_on_path(&self, best: impl Fn(usize) -> u8) -> Result<Self> {
        let path = self.path(best);
        let middle = path.len() / 2;
        let mut places: Vec<usize> = (1..path.len().saturating_sub(1)).collect();
        places.sort_by_key(|&k| k.abs_diff(middle));
        places.truncate(PLACES);
        // The whole passage first, anywhere on the path; then single cells.
        for is_whole in [true, false] {
            for &k in &places {
                let cells = if is_whole { self.passage(path[k], path[k + 1]) } else { vec![path[k]] };
                if cells.iter().any(|&cell| self.kind(State(cell as u32)) != CellKind::Free) {
                    continue;
                }
                if !self.is_closed_by(&cells) {
                    return self.with_cells(&cells, '#');
                }
            }
        }
        Err(Error::Painting(
            "every wall on this path would cut off the goal, since there is no other way; open a shortcut first"
                .to_owned(),
        ))
    }

    /// The world with the one wall opened whose removal shortens the path from start to goal most.
    ///
    /// # Errors
    /// If no single wall does.
    pub fn with_shortcut(&self) -> Result<Self> {
        let (from, to) = (self.distances_from_start(), self.distances_to_goal(&[]));
        let now = self.cells_of(CellKind::Start).map(|cell| to[cell]).min().unwrap_or(FAR);
        let through = |cell: usize| {
            let into = self.before(cell).map(|before| from[before]).min().unwrap_or(FAR);
            let out = self.neighbors(cell).map(|next| to[next]).min().unwrap_or(FAR);
            into.saturating_add(out).saturating_add(2)
        };
        let walls = self.cells_of(CellKind::Wall).map(|cell| (through(cell), cell));
        match walls.min() {
            Some((length, cell)) if length < now => self.with_cells(&[cell], '.'),
            _ => Err(Error::Painting(
                "removing any one wall would not shorten the path to the goal; build some walls first"
                    .to_owned(),
            )),
        }
    }

    fn cells_of(&self, kind: CellKind) -> impl Iterator<Item = usize> {
        (0..self.n_states()).filter(move |&cell| self.kind(State(cell as u32)) == kind)
    }

    /// The cells to which actions of a cell point, walls included.
    fn neighbors(&self, cell: usize) -> impl Iterator<Item = usize> {
        self.rules.directions(cell).iter().filter_map(move |&direction| self.beside(cell, direction))
    }

    fn beside(&self, cell: usize, direction: (isize, isize)) -> Option<usize> {
        super::beside((self.n_rows(), self.n_columns()), cell, direction)
    }

    fn is_wall(&self, cell: usize) -> bool {
        self.kind(State(cell as u32)) == CellKind::Wall
    }

    /// The cells with an action that points to a given cell.
    fn before(&self, cell: usize) -> impl Iterator<Item = usize> {
        EIGHT_DIRECTIONS.into_iter().filter_map(move |(down, right)| {
            let from = self.beside(cell, (-down, -right))?;
            self.rules.directions(from).contains(&(down, right)).then_some(from)
        })
    }

    /// Steps from every cell to the nearest goal, with some cells as additional walls; FAR if there is no path.
    fn distances_to_goal(&self, walls: &[usize]) -> Vec<usize> {
        self.distances(CellKind::Goal, walls, |cell| self.before(cell))
    }

    /// Steps from the nearest start to every cell; FAR if there is no path.
    fn distances_from_start(&self) -> Vec<usize> {
        self.distances(CellKind::Start, &[], |cell| self.neighbors(cell))
    }

    fn distances<I: Iterator<Item = usize>>(
        &self,
        kind: CellKind,
        walls: &[usize],
        beside: impl Fn(usize) -> I,
    ) -> Vec<usize> {
        let mut is_open: Vec<bool> = (0..self.n_states()).map(|cell| !self.is_wall(cell)).collect();
        walls.iter().for_each(|&cell| is_open[cell] = false);
        let mut distances = vec![FAR; self.n_states()];
        let mut open: VecDeque<usize> = self.cells_of(kind).collect();
        open.iter().for_each(|&cell| distances[cell] = 0);
        while let Some(cell) = open.pop_front() {
            for next in beside(cell) {
                if distances[next] == FAR && is_open[next] {
                    distances[next] = distances[cell] + 1;
                    open.push_back(next);
                }
            }
        }
        distances
    }

    /// The cells from a start to a goal by the best actions; where they lead nowhere, by the shortest way.
    fn path(&self, best: impl Fn(usize) -> u8) -> Vec<usize> {
        let to_goal = self.distances_to_goal(&[]);
        let Some(mut cell) = self.cells_of(CellKind::Start).next() else { return Vec::new() };
        let (mut path, mut is_seen) = (vec![cell], vec![false; self.n_states()]);
        while self.kind(State(cell as u32)) != CellKind::Goal {
            is_seen[cell] = true;
            let is_free = |next: &usize| !self.is_wall(*next) && !is_seen[*next];
            let bits = best(cell);
            let chosen = (0..EIGHT_DIRECTIONS.len()).filter(|k| bits & 1 << k > 0);
            let by_policy = chosen.filter_map(|k| self.beside(cell, EIGHT_DIRECTIONS[k])).find(is_free);
            let by_distance = || self.neighbors(cell).filter(is_free).min_by_key(|&next| to_goal[next]);
            let Some(next) = by_policy.or_else(by_distance) else { break };
            cell = next;
            path.push(cell);
        }
        path
    }

    /// The cells from wall to wall at a right angle to a step; for a diagonal step, the cell alone.
    fn passage(&self, cell: usize, next: usize) -> Vec<usize> {
        if !self.neighbors(next).any(|back| back == cell) {
            return vec![cell];
        }
        let is_across = cell.abs_diff(next) == self.n_columns(); // a step north or south
        let sides = if is_across { [(0, 1), (0, -1)] } else { [(1, 0), (-1, 0)] };
        let mut cells = vec![cell];
        for side in sides {
            let mut last = cell;
            while let Some(beside) = self.beside(last, side).filter(|&beside| !self.is_wall(beside)) {
                cells.push(beside);
                last = beside;
            }
        }
        cells
    }

    fn with_cells(&self, cells: &[usize], character: char) -> Result<Self> {
        let mut rows = self.rows.clone();
        for &cell in cells {
            rows[cell / self.n_columns()][cell % self.n_columns()] = character;
        }
        self.with_rows(rows, &self.legend)
    }
}
