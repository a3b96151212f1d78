//! The laboratory: worlds, experiments as data, statistics and figures.
//!
//! ```text
//! experiment file ──▶ settings ──▶ runs (worlds × agents) ──▶ rows ──▶ summary ──▶ figures, report, verdict
//! ```
//!
//! Worlds keep no current state and take their random generator as an argument. Results are plain structs with public
//! fields; drawing and printing read only those.

pub mod check;
pub mod circle;
pub mod control;
mod cost;
mod error;
pub mod experiment;
mod exploration;
pub mod figures;
mod growth;
mod hash;
mod law;
pub mod manifest;
mod maze;
pub mod method;
mod number;
pub mod prediction;
pub mod published;
pub mod query;
pub mod report;
pub mod result;
pub mod runner;
pub mod setting;
pub mod statistics;
pub mod store;
pub mod suite;
mod task;
pub mod verdict;

pub use error::{Error, Result};
pub use hash::fnv1a;
pub use law::Law;
pub use maze::{Cell, Kind, Maze};
pub use task::{ACTION_NAMES, MazeTask, evaluate_policy};

/// The maze of the paper's Figure 2.
pub const PAPER_MAZE: &str = include_str!("../data/maze.txt");
/// The published points of Figure 1.
pub const PUBLISHED_FIGURE_1: &str = include_str!("../data/published-fig1.csv");
/// The published points of Figure 3.
pub const PUBLISHED_FIGURE_3: &str = include_str!("../data/published-fig3.csv");
