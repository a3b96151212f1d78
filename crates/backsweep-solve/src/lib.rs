//! Values of known MDPs, each inside an interval that is proven to contain it.
//!
//! | to | use |
//! |---|---|
//! | answer a question | [`solve`], with a [`Question`](backsweep_mdp::Question); [`solve_at`] for some states only |
//! | prove values that come from elsewhere | [`solve_from`] |
//! | get the answer again after a change, or before making one | [`Repair`], [`WhatIf`] |
//! | keep a model, its answers and edits together | [`Session`] |
//! | solve a model that stays on disk | [`solve_streamed`] |
//! | judge a policy, or see runs of it | [`evaluate`], [`simulate`] |
//! | answer about the start of a model that is given by functions | [`explore_from_start`] |
//! | solve what an agent has learned, or have it as an MDP | [`solve_learned`], [`learned_mdp`] |
//!
//! [`Limits`] bound the work, and a [`Solution`] says what was proven within them.

mod discounted;
mod entry;
mod error;
mod exploration;
mod incidence;
mod learned;
mod policy;
mod repair;
mod scc;
mod session;
mod solution;
mod streamed;
mod undiscounted;

pub use discounted::{DISCOUNTED_METHODS, DiscountedMethod};
pub use entry::{caution, solve, solve_at, solve_for_repair, solve_from};
pub(crate) use entry::{discounted_error, reward_error, reward_rounding};
pub use error::{ChangeProblem, Error, Result};
pub use exploration::{ExplorationError, ExplorationGoal, explore_from_start};
pub use learned::{LearnedSolution, action_names, learned_mdp, learned_mdp_with, solve_learned};
pub use policy::{MixedPolicy, PolicyValue, SimulatedStep, StateLoss, evaluate, simulate};
pub use repair::{Repair, Repaired, Start, WhatIf};
pub use session::{Answer, Edit, EditComparison, EditableMdp, Session};
pub use solution::{Limits, Solution};
pub use streamed::{StreamProgress, StreamedSolution, solve_streamed};
