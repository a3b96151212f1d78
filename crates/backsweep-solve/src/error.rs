//! Why a question could not be answered, or a change not be made.

use crate::DISCOUNTED_METHODS;
use crate::discounted::DiscountedMethod;
use backsweep_mdp::RowProblem;

/// A `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a question could not be answered, or a change not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The question names something that the model does not have, or the model has numbers out of range.
    #[error(transparent)]
    Model(#[from] backsweep_mdp::Error),
    /// The model has no states.
    #[error("the model is empty; expected at least one state")]
    Empty,
    /// The tolerance cannot be reached by any method.
    #[error("the tolerance is {found}; expected a finite number above 0")]
    Tolerance {
        /// The tolerance found; expected a finite number above 0.
        found: f64,
    },
    /// The discount is out of range.
    #[error("the discount is {found}; expected {expected}")]
    Discount {
        /// The discount found.
        found: f64,
        /// The expectation.
        expected: &'static str,
    },
    /// The discount times the largest sum of probabilities is not below 1, so values have no bound.
    #[error(
        "the discount {discount} times the largest sum of probabilities, {most_mass}, is not below 1; scale the \
         probabilities so that each choice sums to at most 1, or use a smaller discount"
    )]
    NoContraction {
        /// The discount.
        discount: f64,
        /// The largest sum of a choice's probabilities.
        most_mass: f64,
    },
    /// No method has this name.
    #[error("unknown method {found:?}{}", known_methods(found, *discounted))]
    UnknownMethod {
        /// The name found.
        found: String,
        /// True if the question has a discount: there are methods for those with and those without.
        discounted: bool,
    },
    /// The method backward was chosen for a model with cycles.
    #[error(
        "the method backward needs a model without cycles other than self loops, but this one has others; choose \
         another method or none"
    )]
    Cycles,
    /// Values to start from do not fit the model.
    #[error("expected values of {expected} states, found {found}")]
    StartLength {
        /// The number of values found.
        found: usize,
        /// The number of states.
        expected: usize,
    },
    /// A value to start from is no number, or too large.
    #[error("the value of state {state} is {found}; expected a number from -1e150 to 1e150")]
    StartValue {
        /// The state.
        state: usize,
        /// The value found.
        found: f64,
    },
    /// Values to start from are for questions with a discount.
    #[error("values to start from need a question with a discount")]
    StartWithoutDiscount,
    /// Only models with one reward structure can be edited.
    #[error(
        "the model has several rewards ({}), but only models with one can be changed; write it, remove the others, \
         and read it again", names.join(", ")
    )]
    SeveralRewards {
        /// The names of the rewards found.
        names: Vec<String>,
    },
    /// A state does not have an action.
    #[error("state {state} has no action {action}; expected one of its actions")]
    UnknownAction {
        /// The state.
        state: u32,
        /// The action found.
        action: u32,
    },
    /// A range of values is empty or out of range.
    #[error("the range of values is {least} to {most}; expected finite numbers in ascending order")]
    ValueRange {
        /// Its lower end.
        least: f64,
        /// Its upper end.
        most: f64,
    },
    /// A value is outside the range that was promised.
    #[error("state {state} is worth {lower} to {upper}; expected a range of values that contains this")]
    BeyondRange {
        /// The state.
        state: u32,
        /// It is worth at least `lower` and at most `upper`.
        lower: f64,
        /// See `lower`.
        upper: f64,
    },
    /// A policy does not fit the model.
    #[error("state {state}: {problem}")]
    Policy {
        /// The name of the state.
        state: String,
        /// The fault.
        problem: String,
    },
    /// Nothing was asked yet.
    #[error("nothing was solved")]
    Unanswered,
    /// A change was refused.
    #[error("change {index}: {problem}")]
    Change {
        /// Its place among the changes, from 0 on.
        index: usize,
        /// The fault.
        problem: ChangeProblem,
    },
}

/// The fault of a change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeProblem {
    /// The choice does not exist or was removed.
    #[error(
        "choice {found} does not exist or was removed; expected one of the model's choices, below {below}"
    )]
    Choice {
        /// The choice found.
        found: u32,
        /// Choices are numbered below this.
        below: usize,
    },
    /// The state does not exist.
    #[error("state {found} does not exist; expected a state below {below}")]
    State {
        /// The state found.
        found: u32,
        /// States are numbered below this.
        below: usize,
    },
    /// The reward is no number, or too large.
    #[error("the reward is {found}; expected a number from -1e150 to 1e150")]
    Reward {
        /// The reward found.
        found: f64,
    },
    /// The outcomes are out of range.
    #[error(transparent)]
    Row(RowProblem),
    /// The discount times the sum of probabilities is not below 1.
    #[error("the discount times the sum of probabilities is not below 1; scale them to sum to 1")]
    NoContraction,
}

/// The rest of the message about an unknown method.
fn known_methods(found: &str, discounted: bool) -> String {
    let known = DISCOUNTED_METHODS.map(DiscountedMethod::name);
    if discounted {
        return format!("; expected one of {}", known.join(", "));
    }
    let only = if known.contains(&found) { " (that one needs a discount)" } else { "" };
    format!("{only}; expected elimination or sweeps, or none for an automatic choice")
}
