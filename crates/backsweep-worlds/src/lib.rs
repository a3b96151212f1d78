//! Worlds: everything an agent of [`backsweep`] can be put into.
//!
//! | to | see |
//! |---|---|
//! | read a maze from text, and step through it | [`Maze`], [`Law`], [`MazeTask`] |
//! | predict on the circle tasks of the paper | [`circle`] |
//! | build a world of the exploration suite by name | [`world`], [`names`] |
//! | draw, paint and break a world while an agent learns in it | [`grid_world`] |
//! | run an agent in it, to a score | [`AgentSettings`], [`Run`] |
//!
//! A [`World`] is a [`TabularWorld`] of outcomes (or several in sequence, if it changes), with its discount, horizon, range of
//! rewards and score, and its [`Grid`] if it can be drawn as one. Worlds keep no state: a task or a table is an
//! [`Environment`](backsweep::episode::Environment), and the random generator is passed in. [`AgentSettings`] are agents as data, for
//! any world.

mod agent;
pub mod circle;
mod error;
mod grid;
pub mod grid_world;
mod law;
mod maze;
mod maze_task;
mod run;
mod table;
mod world;
mod worlds;

pub use agent::AgentSettings;
pub use error::{Error, Result, TextPlace};
pub use grid::{COMPASS, Grid};
pub use law::Law;
pub use maze::{Cell, CellKind, Maze};
pub use maze_task::{ACTION_NAMES, MazeTask, sweep_policy};
pub use run::{Run, RunScore};
pub use table::TabularWorld;
pub use world::{Horizon, Phase, Score, World};
pub use worlds::{names, world};

/// The maze of the paper's Figure 2.
pub const PAPER_MAZE: &str = include_str!("../data/maze.txt");

/// The example of the README runs too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct WorldsReadme;
