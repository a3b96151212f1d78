//! The laboratory: experiments as data, statistics and figures.
//!
//! ```text
//! experiment file ──▶ settings ──▶ runs (worlds × agents) ──▶ rows ──▶ summary ──▶ figures, report, verdict
//! ```
//!
//! Results are plain structs with public fields; drawing and printing read only those.

pub mod check;
pub mod control;
mod cost;
mod error;
pub mod experiment;
mod exploration;
pub mod figures;
mod growth;
mod hash;
pub mod manifest;
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
pub mod theory;
pub mod verdict;

pub use error::{Error, Result};
pub use hash::fnv1a;
