//! Values of known MDPs, each inside an interval that is proven to contain it.
//!
//! | to | use |
//! |---|---|
//! | ask a question by name, as the command does | [`Query`] |
//! | solve with discount | [`solve_discounted`] |
//! | solve without: reachability, total reward, horizon, average | [`solve_undiscounted`] with an [`Objective`] |
//! | get the answer again after a change, or before making one | [`Repair`], [`WhatIf`] |
//! | solve what an agent has learned, or have it as an MDP | [`solve_learned`], [`learned_mdp`] |
//!
//! [`Limits`] bound the work, and a [`Solution`] says what was proven within them.

mod discounted;
pub mod families;
mod learned;
mod query;
mod repair;
mod scc;
mod solution;
mod undiscounted;

pub use discounted::{METHODS, Method, solve_discounted, sweep_values};
pub use learned::{LearnedSolution, action_names, learned_mdp, solve_learned};
pub use query::{Query, reward_error, reward_rounding};
pub use repair::{Change, Repair, Repaired, Start, WhatIf};
pub use solution::{Direction, Limits, NO_CHOICE, Solution};
pub use undiscounted::{Method as UndiscountedMethod, Objective, solve_undiscounted, solve_undiscounted_by};
