//! Worlds for measuring exploration.
//!
//! A [`World`] is a [`Table`] of outcomes (or several in sequence, if it changes), with its discount, horizon, range of
//! rewards and score, and its [`Grid`] if it can be drawn as one. Worlds keep no state: a table is an environment of the core, and
//! the random generator is passed in.

mod agent;
mod grid;
mod run;
mod table;
mod world;
mod worlds;

pub use agent::AgentSettings;
pub use grid::{COMPASS, Grid};
pub use run::{Run, RunScore};
pub use table::Table;
pub use world::{Horizon, Phase, Score, World};
pub use worlds::{UnknownWorld, names, world};
