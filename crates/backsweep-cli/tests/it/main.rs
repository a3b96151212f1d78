//! The command as a user runs it.

mod commands;
mod common;
mod documents;
mod explore;
mod logs;
mod models;
mod solve;
mod solve_changes;
mod watch;
