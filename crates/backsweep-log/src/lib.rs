//! Logs of decisions, counted.
//!
//! A log holds *cases*: what happened to one patient, order or machine, step by step. [`Counts`] is the summary of a log from
//! which everything else is computed; [`Case`] is one case in full, which only estimates by importance sampling need. [`read`]
//! makes both.
//!
//! ```text
//! files ──read──▶ values of rows ──rows──▶ fragments and counts per thread ──join──▶ whole cases, Counts ──counts──▶ files
//! ```
//!
//! Each stage knows only those before it.
//!
//! | to find | look in |
//! |---|---|
//! | which columns mean what, and how their values are cut | [`Spec`] (`spec`), [`bins`] |
//! | which rows are read | [`Condition`] (`condition`), `rows/selection` |
//! | columns made from the rows before and after | `derived` |
//! | files, compression, data frames, formats | `read/input`, `read/zstd`, `read/frame`, `read/{csv,json,parquet,xes}` |
//! | the blocks that threads take turns to read, and the threads | `read/blocks`, `read/parallel` |
//! | the values of one row, whatever the format | `read/cells`, `read/typed` |
//! | numbers and times, exactly | [`decimal`], `moment` |
//! | what a value means in its column | `rows/layout`, `rows/encoder` |
//! | what one thread counts, and the names it numbers | `rows/counter`, `names` |
//! | the fold of a case | `fold` |
//! | cases put together from the rows of all threads | `join` |
//! | counts: canonical form, sums and differences, files | `counts` |
//! | the whole pipeline; passes over logs that do not fit in memory | `log` |
//! | quantiles, the first rows | `quantiles`, `preview` |
//! | what is read, and probably not meant | `warnings` |
//! | messages, and how they name settings | [`Error`] (`error`), [`Wording`] (`wording`) |
#![forbid(unsafe_code)]

pub mod bins;
mod condition;
mod counts;
pub mod decimal;
mod derived;
mod error;
mod fold;
mod join;
mod log;
mod moment;
mod names;
mod preview;
mod quantiles;
mod read;
mod rows;
mod spec;
mod warnings;
mod wording;

pub use bins::BinnedColumn;
pub use condition::{Comparison, Condition};
pub use counts::{COLUMNS, Case, CaseEnd, CaseStart, CaseStep, CountRow, Counts};
pub use error::{BadRow, Error, Result, RowProblem, printable};
pub use fold::{FOLDS, Folds};
pub use log::{CaseOrder, Cohorts, HoldOutTime, Log, ReadReport, read, read_all_if_small};
pub use moment::{Moment, date_of};
pub use preview::{Preview, preview};
pub use read::blocks::columns;
pub use read::frame::DataFrame;
pub use read::input::Input;
pub use read::parallel::ReadObserver;
pub use read::typed::{ColumnChunk, ColumnValues, Dictionary};
pub use spec::{EndRule, FinalRewards, Spec};
pub use wording::{SpecField, SpecNames, Wording};

/// The example of the crate's README is compiled too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct LogReadme;
