//! Values of known MDPs, each inside an interval that is proven to contain it.
//!
//! | to | use |
//! |---|---|
//! | answer a question | [`solve`], with a [`Question`](backsweep_mdp::Question) |
//! | get the answer again after a change, or before making one | [`Repair`], [`WhatIf`] |
//! | keep a model, its answers and edits together | [`Session`] |
//! | solve what an agent has learned, or have it as an MDP | [`solve_learned`], [`learned_mdp`] |
//!
//! [`Limits`] bound the work, and a [`Solution`] says what was proven within them.

mod discounted;
mod entry;
mod error;
mod incidence;
mod learned;
mod repair;
mod scc;
mod session;
mod solution;
mod undiscounted;

pub use discounted::{DISCOUNTED_METHODS, DiscountedMethod};
pub use entry::{caution, solve, solve_for_repair};
pub(crate) use entry::{reward_error, reward_rounding};
pub use error::{ChangeProblem, Error, Result};
pub use learned::{LearnedSolution, action_names, learned_mdp, solve_learned};
pub use repair::{Repair, Repaired, Start, WhatIf};
pub use session::{Answer, ChoiceRow, Edit, EditComparison, EditableMdp, Session};
pub use solution::{Limits, Solution};
