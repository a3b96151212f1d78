//! Values of known MDPs, each with an interval that is proven to contain it.

mod discounted;
pub mod families;
mod scc;
mod solution;
mod undiscounted;

pub use discounted::{METHODS, Method, solve_discounted};
pub use solution::{Direction, Limits, NO_CHOICE, Solution};
