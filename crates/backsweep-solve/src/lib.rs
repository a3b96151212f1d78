//! Values of known MDPs, each inside an interval that is proven to contain it.

mod discounted;
pub mod families;
mod learned;
mod query;
mod repair;
mod scc;
mod solution;
mod undiscounted;

pub use discounted::{METHODS, Method, solve_discounted, sweep_values};
pub use learned::{LearnedSolution, solve_learned};
pub use query::{Query, reward_error, reward_rounding};
pub use repair::{Change, Repair, Repaired, Start, WhatIf};
pub use solution::{Direction, Limits, NO_CHOICE, Solution};
pub use undiscounted::{Method as UndiscountedMethod, Objective, solve_undiscounted, solve_undiscounted_by};
