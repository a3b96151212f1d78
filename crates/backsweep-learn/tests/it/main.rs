//! The tests of this crate from outside, in one binary.

mod common;
mod decisions;
mod estimates;
mod intervals;
mod reports;
mod sepsis;
mod spibb;
mod support;
