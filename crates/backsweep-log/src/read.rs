//! From bytes to the values of rows: files, compression, formats, blocks and threads.

#[cfg(feature = "parquet")]
mod arrow;
pub(crate) mod blocks;
pub(crate) mod cells;
pub(crate) mod csv;
pub(crate) mod frame;
pub(crate) mod input;
mod json;
pub(crate) mod parallel;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod typed;
pub(crate) mod xes;
mod zstd;
