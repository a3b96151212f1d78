//! Logs of decisions, counted.
//!
//! A log holds *cases*: what happened to one patient, order or machine, step by step. [`Counts`] is the summary of a log from which
//! everything else is computed; [`Case`] is one case in full, which only estimates by importance sampling need.
#![forbid(unsafe_code)]

pub mod counts;

pub use counts::{Case, CountRow, Counts, End, Start, Step};
