//! The tests of this crate from outside, in one binary.

mod bins;
mod common;
mod counts_files;
mod decimals;
mod events;
mod frames;
mod gymnasium;
mod malformed;
#[cfg(feature = "parquet")]
mod parquet;
mod reading;
mod same_bits;
mod warnings;
