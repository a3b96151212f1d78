//! Outcome laws: where an action in a maze may lead, and how likely.

use crate::{COMPASS, Cell, Error, Maze, Result};
use backsweep::Action;
use serde::{Deserialize, Serialize};

/// The way actions 0 to 3 (north, east, south, west) move the agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// One of 15 equally likely displacements: lateral −1, 0, +1 and forward +3, +2, +1, 0, −1. The lateral step comes first
    /// (blocked: none), then forward or backward one cell at a time up to the last free cell. (The task of the paper's
    /// Figure 2; the rule near walls reproduces its four panels: Departure 22.)
    Fifteen,
    /// With probability `intended` the intended neighbor, else one of the four neighbors, each equally likely; blocked
    /// means stay.
    Four {
        /// From 0 to 1. The conference version writes 0.8; its figure fits 0.6.
        intended: f64,
    },
}

impl Law {
    /// The law, if its probability is in range.
    ///
    /// # Errors
    /// If `intended` is not between 0 and 1.
    pub fn check(self) -> Result<Self> {
        match self {
            Self::Four { intended } if !(0.0..=1.0).contains(&intended) => {
                Err(Error::out_of_range("intended is", intended, "a probability from 0 to 1"))
            }
            law => Ok(law),
        }
    }

    /// The exact outcome distribution of an action: each cell once, probabilities above 0 that sum to 1.
    ///
    /// ```
    /// use backsweep::Action;
    /// use backsweep_worlds::{Cell, Law, Maze};
    /// let maze = Maze::parse("S.G").unwrap();
    /// let outcomes = Law::Four { intended: 0.6 }.outcomes(&maze, Cell { row: 0, column: 0 }, Action(1));
    /// assert_eq!(outcomes.len(), 2); // east with 0.6 + 0.1; otherwise it stays
    /// assert!((outcomes[0].1 - 0.7).abs() < 1e-15);
    /// ```
    pub fn outcomes(&self, maze: &Maze, cell: Cell, action: Action) -> Vec<(Cell, f64)> {
        let facing = action.0 as usize % 4;
        let mut outcomes: Vec<(Cell, f64)> = Vec::new();
        match *self {
            Self::Fifteen => {
                // Counted in fifteenths, so that equal outcomes add up without rounding.
                for lateral in [-1, 0, 1] {
                    for forward in [3, 2, 1, 0, -1] {
                        add(&mut outcomes, displaced(maze, cell, facing, lateral, forward), 1.0);
                    }
                }
                outcomes.iter_mut().for_each(|(_, p)| *p /= 15.0);
            }
            Self::Four { intended } => {
                let neighbor = |direction| maze.neighbor(cell, direction).unwrap_or(cell);
                let ahead = neighbor(COMPASS[facing]);
                add(&mut outcomes, ahead, 0.0);
                for direction in COMPASS {
                    add(&mut outcomes, neighbor(direction), 0.25);
                }
                // Quarters add up without rounding, so that a cell to which all four lead gets exactly the rest.
                for (cell, p) in &mut outcomes {
                    *p = *p * (1.0 - intended) + if *cell == ahead { intended } else { 0.0 };
                }
            }
        }
        outcomes.retain(|&(_, p)| p > 0.0);
        outcomes
    }
}

fn add(outcomes: &mut Vec<(Cell, f64)>, cell: Cell, p: f64) {
    match outcomes.iter_mut().find(|(known, _)| *known == cell) {
        Some((_, sum)) => *sum += p,
        None => outcomes.push((cell, p)),
    }
}

/// The lateral step first, then forward or backward one cell at a time, up to the last free cell.
fn displaced(maze: &Maze, mut cell: Cell, facing: usize, lateral: i32, forward: i32) -> Cell {
    let steps = [
        (lateral, COMPASS[(facing + if lateral < 0 { 3 } else { 1 }) % 4]),
        (forward, COMPASS[(facing + if forward < 0 { 2 } else { 0 }) % 4]),
    ];
    for (n, direction) in steps {
        for _ in 0..n.abs() {
            match maze.neighbor(cell, direction) {
                Some(next) => cell = next,
                None => break,
            }
        }
    }
    cell
}
