//! The tests of this crate from outside, in one binary.

mod common;
mod counts_files;
mod frames;
mod gymnasium;
mod malformed;
#[cfg(feature = "parquet")]
mod parquet;
mod reading;
mod same_bits;
mod warnings;
