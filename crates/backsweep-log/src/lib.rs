//! Logs of decisions, counted.
//!
//! A log holds *cases*: what happened to one patient, order or machine, step by step. [`Counts`] is the summary of a log from which
//! everything else is computed; [`Case`] is one case in full, which only estimates by importance sampling need.
#![forbid(unsafe_code)]

pub mod bins;
pub mod counts;
pub mod decimal;
mod error;
pub mod md5;
pub mod spec;

pub use bins::Column;
pub use counts::{Case, CountRow, Counts, End, FOLDS, Start, Step};
pub use error::{Error, Result};
pub use spec::{EndRule, Outcome, Spec};
