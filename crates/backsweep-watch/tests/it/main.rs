//! The page, its engine and its server, through the public API and as a client sees them.

mod common;
mod crowd;
mod engine;
mod forged;
mod pace;
mod packed;
mod parts;
mod prompt;
mod still;
mod sweep;
mod tour;
mod worlds;
