//! Exploration: how an agent explores and forgets, and worlds in which that is measured.
//!
//! [`exploring`] builds an agent of the core that explores as an [`Exploration`] says: its acting values are optimistic where
//! little was seen, and its recommended ones are exactly what its model says. [`restore`] reads any stored agent.
//!
//! A [`World`] is a [`Table`] of outcomes (or several in sequence, if it changes), with its discount, horizon, range of
//! rewards and score, and its [`Grid`] if it can be drawn as one. Worlds keep no state: a table is an environment of the core, and
//! the random generator is passed in. [`AgentSettings`] are agents as data, for any world.

mod agent;
mod exploration;
mod grid;
mod run;
mod table;
mod world;
mod worlds;

pub use agent::AgentSettings;
pub use exploration::{Exploration, Explore, Forgetting, exploration, exploring, intervals, restore};
pub use grid::{COMPASS, Grid};
pub use run::{Run, RunScore};
pub use table::Table;
pub use world::{Horizon, Phase, Score, World};
pub use worlds::{UnknownWorld, names, world};

/// The example of the README runs too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CratePage;
