//! The worlds against their definitions.

mod mazes;
mod painting;
mod runs;
mod suite;
mod tasks;
