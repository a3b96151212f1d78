//! The engine: what owns the world, the agents and their random numbers, and runs them at the requested speed.

pub mod command;
pub mod evaluator;
pub mod frame;
pub mod history;
pub mod pace;
pub mod recording;
pub mod report;
pub mod state;
pub mod time_to_optimum;
pub mod watched_agent;
