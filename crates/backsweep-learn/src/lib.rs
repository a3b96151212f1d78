//! From the counts of a log to a policy you can defend.
//!
//! ```text
//! Counts ──folds──▶ FittedModel (training) ──support──▶ Mdp ──solve──▶ Policy ──▶ PolicyEvaluation (held-out cases and counts) ──▶ report
//! ```
//!
//! An action is considered only where it was seen often enough; a state without such an action keeps the logged mixture of
//! actions, so no state is ever worth more than what was seen. [`learn`] is the entry point; `docs/logs.md` explains every
//! number.
//!
//! | to find | look in |
//! |---|---|
//! | settings, checked once | [`settings`] |
//! | counts as a fitted model | [`fitted_model`] |
//! | which actions may be taken, and the policy | [`supported_policy`] |
//! | the value of a policy in a fitted model | [`evaluated_policy`] |
//! | estimates on held-out cases: importance sampling, doubly robust | [`off_policy`], [`bootstrap`] |
//! | whether states lack something | [`history`] |
//! | the findings, in words | [`conclusion`] |
//! | an agent that can continue learning | [`agent`] |
//! | files | [`output`], [`report`] |
//! | how often held-out cases were used | `hold_out_uses` |
//! | decisions for rows | [`decider`] |
//! | errors | [`Error`] |
#![forbid(unsafe_code)]

pub mod agent;
pub mod bootstrap;
pub mod conclusion;
pub mod decider;
mod error;
pub mod evaluated_policy;
pub mod evaluation;
pub mod fitted_model;
pub mod history;
mod hold_out_uses;
pub mod learned;
pub mod off_policy;
pub mod output;
pub mod report;
pub mod settings;
pub mod states;
pub mod supported_policy;

pub use conclusion::{Conclusion, PolicyFinding};
pub use decider::{Decider, Decision};
pub use error::{Error, Result};
pub use evaluation::{Against, Estimate, PolicyEvaluation};
pub use fitted_model::FittedModel;
pub use learned::{Learned, learn};
pub use off_policy::Cases;
pub use settings::{LearnSettings, hold_out};
pub use states::StateComparison;
