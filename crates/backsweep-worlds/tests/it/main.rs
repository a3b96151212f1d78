//! The worlds against their definitions.

mod mazes;
mod runs;
mod suite;
