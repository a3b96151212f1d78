//! Values of known MDPs with a discount, computed on an NVIDIA card.
//!
//! The card proposes and the processor proves: [`propose`] returns values without any claim, and
//! [`backsweep_solve::solve_from`] turns them into proven intervals with a sweep of its own; [`solve`] does both. Nothing that a card computes wrongly can make an interval wrong.
//!
//! The driver is all that a machine needs. Its library is loaded when a card is first opened, so that this crate builds and runs
//! without one; the kernels are PTX in this crate (`kernels/sweep.cu`, compiled by `scripts/ptx`).

mod card;
mod driver;
mod error;
mod iterate;
mod layout;
mod pack;
mod parallel;
mod propose;
mod solve;

pub use card::{Card, CardEngine, memory};
pub use error::{Error, Result};
pub use iterate::{SweepChange, SweepCounts, SweepEngine, SweepGoal, iterate};
pub use layout::{LONG_ROW, Layout, LayoutOptions, TILE_ARCS, TILE_ROWS, Tile};
pub use pack::Codes;
pub use propose::{MIN_ARCS, Prepared, Proposal, Task, propose};
pub use solve::{Device, solve};

/// The kernels.
const PTX: &str = include_str!("../kernels/sweep.ptx");

/// The oldest version of CUDA that a driver may support: 12.0, drivers from 525 on.
const MIN_DRIVER: i32 = 12000;
