//! From the counts of a log to a policy you can defend.
//!
//! ```text
//! Counts ──folds──▶ Table (training) ──support──▶ Mdp ──solve──▶ Policy ──▶ Evaluation (held-out cases and counts) ──▶ report
//! ```
//!
//! An action is considered only where it was seen often enough; a state without such an action keeps the logged mixture of
//! actions, so no state is ever worth more than what was seen. [`learn`] is the entry point; `docs/LOGS.md` explains every
//! number.
//!
//! | to find | look in |
//! |---|---|
//! | settings, checked once | [`settings`] |
//! | counts as a fitted model | [`table`] |
//! | which actions may be taken, and the policy | [`plan`] |
//! | the value of a policy in a fitted model | [`chain`] |
//! | estimates on held-out cases: importance sampling, doubly robust | [`off_policy`], [`bootstrap`] |
//! | whether states lack something | [`memory`] |
//! | the findings, in words | [`verdict`] |
//! | an agent that can continue learning | [`agent`] |
//! | files | [`output`], [`report`] |
#![forbid(unsafe_code)]

pub mod agent;
pub mod bootstrap;
pub mod chain;
pub mod evaluation;
pub mod learned;
pub mod memory;
pub mod off_policy;
pub mod output;
pub mod plan;
pub mod report;
pub mod settings;
pub mod states;
pub mod table;
pub mod verdict;

pub use evaluation::{Against, Estimate, Evaluation};
pub use learned::{Learned, learn};
pub use off_policy::Cases;
pub use settings::{Settings, hold_out};
pub use states::StateRecord;
pub use table::Table;
pub use verdict::Finding;
