//! Logs of decisions, counted.
//!
//! A log holds *cases*: what happened to one patient, order or machine, step by step. [`Counts`] is the summary of a log from which
//! everything else is computed; [`Case`] is one case in full, which only estimates by importance sampling need. [`read`] makes both.
#![forbid(unsafe_code)]

pub mod bins;
mod counter;
pub mod counts;
pub mod counts_file;
mod csv;
pub mod decimal;
mod error;
mod feed;
mod frame;
mod input;
mod json;
mod link;
pub mod md5;
mod moment;
mod names;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_cells;
mod preview;
mod quantiles;
mod read;
mod rows;
mod sheet;
pub mod spec;
mod typed;
mod work;
mod zstd;

pub use bins::Column;
pub use counts::{Case, CountRow, Counts, End, FOLDS, Start, Step};
pub use error::{Error, Result};
pub use feed::columns;
pub use frame::Frame;
pub use input::Input;
pub use preview::{Preview, preview};
pub use read::{Folds, Log, Observer, Report, read};
pub use spec::{EndRule, Outcome, Spec};
pub use typed::{Dictionary, Series, Values};
