//! Why a question could not be answered, or a change not be made.

use crate::DISCOUNTED_METHODS;
use crate::discounted::DiscountedMethod;
use backsweep_mdp::RowProblem;
use std::fmt;

/// A `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a question could not be answered, or a change not be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The question names something that the model does not have, or the model has numbers out of range.
    Model(backsweep_mdp::Error),
    /// The model has no states.
    Empty,
    /// The tolerance cannot be reached by any method.
    Tolerance {
        /// The tolerance found; expected a finite number above 0.
        found: f64,
    },
    /// The discount is out of range.
    Discount {
        /// The discount found.
        found: f64,
        /// The expectation.
        expected: &'static str,
    },
    /// The discount times the largest sum of probabilities is not below 1, so values have no bound.
    NoContraction {
        /// The discount.
        discount: f64,
        /// The largest sum of a choice's probabilities.
        most_mass: f64,
    },
    /// No method has this name.
    UnknownMethod {
        /// The name found.
        found: String,
        /// True if the question has a discount: there are methods for those with and those without.
        discounted: bool,
    },
    /// The method backward was chosen for a model with cycles.
    Cycles,
    /// Values to start from do not fit the model.
    StartLength {
        /// The number of values found.
        found: usize,
        /// The number of states.
        expected: usize,
    },
    /// A value to start from is no number, or too large.
    StartValue {
        /// The state.
        state: usize,
        /// The value found.
        found: f64,
    },
    /// Values to start from are for questions with a discount.
    StartWithoutDiscount,
    /// Only models with one reward structure can be edited.
    SeveralRewards {
        /// The names of the rewards found.
        names: Vec<String>,
    },
    /// A state does not have an action.
    UnknownAction {
        /// The state.
        state: u32,
        /// The action found.
        action: u32,
    },
    /// A range of values is empty or out of range.
    ValueRange {
        /// Its lower end.
        least: f64,
        /// Its upper end.
        most: f64,
    },
    /// A policy does not fit the model.
    Policy {
        /// The name of the state.
        state: String,
        /// The fault.
        problem: String,
    },
    /// Nothing was asked yet.
    Unanswered,
    /// A change was refused.
    Change {
        /// Its place among the changes, from 0 on.
        index: usize,
        /// The fault.
        problem: ChangeProblem,
    },
}

/// The fault of a change.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChangeProblem {
    /// The choice does not exist or was removed.
    Choice {
        /// The choice found.
        found: u32,
        /// Choices are numbered below this.
        below: usize,
    },
    /// The state does not exist.
    State {
        /// The state found.
        found: u32,
        /// States are numbered below this.
        below: usize,
    },
    /// The reward is no number, or too large.
    Reward {
        /// The reward found.
        found: f64,
    },
    /// The outcomes are out of range.
    Row(RowProblem),
    /// The discount times the sum of probabilities is not below 1.
    NoContraction,
}

impl From<backsweep_mdp::Error> for Error {
    fn from(error: backsweep_mdp::Error) -> Self {
        Self::Model(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => write!(f, "{error}"),
            Self::Empty => write!(f, "the model is empty; expected at least one state"),
            Self::Tolerance { found } => {
                write!(f, "the tolerance is {found}; expected a finite number above 0")
            }
            Self::Discount { found, expected } => write!(f, "the discount is {found}; expected {expected}"),
            Self::NoContraction { discount, most_mass } => write!(
                f,
                "the discount {discount} times the largest sum of probabilities, {most_mass}, is not below 1; scale the \
                 probabilities so that each choice sums to at most 1, or use a smaller discount"
            ),
            Self::UnknownMethod { found, discounted: true } => {
                let known = DISCOUNTED_METHODS.map(DiscountedMethod::name).join(", ");
                write!(f, "unknown method {found:?}; expected one of {known}")
            }
            Self::UnknownMethod { found, discounted: false } => {
                let needs_discount = DISCOUNTED_METHODS.iter().any(|method| method.name() == found);
                let only = if needs_discount { " (that one needs a discount)" } else { "" };
                write!(
                    f,
                    "unknown method {found:?}{only}; expected elimination or sweeps, or none for an automatic choice"
                )
            }
            Self::Cycles => write!(
                f,
                "the method backward needs a model without cycles other than self loops, but this one has others; choose \
                 another method or none"
            ),
            Self::StartLength { found, expected } => {
                write!(f, "expected values of {expected} states, found {found}")
            }
            Self::StartValue { state, found } => {
                write!(f, "the value of state {state} is {found}; expected a number from -1e150 to 1e150")
            }
            Self::StartWithoutDiscount => f.write_str("values to start from need a question with a discount"),
            Self::SeveralRewards { names } => write!(
                f,
                "the model has several rewards ({}), but only models with one can be changed; write it, remove the others, \
                 and read it again",
                names.join(", ")
            ),
            Self::UnknownAction { state, action } => {
                write!(f, "state {state} has no action {action}; expected one of its actions")
            }
            Self::ValueRange { least, most } => {
                write!(
                    f,
                    "the range of values is {least} to {most}; expected finite numbers in ascending order"
                )
            }
            Self::Policy { state, problem } => write!(f, "state {state}: {problem}"),
            Self::Unanswered => write!(f, "nothing was solved"),
            Self::Change { index, problem } => write!(f, "change {index}: {problem}"),
        }
    }
}

impl fmt::Display for ChangeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice { found, below } => write!(
                f,
                "choice {found} does not exist or was removed; expected one of the model's choices, below {below}"
            ),
            Self::State { found, below } => {
                write!(f, "state {found} does not exist; expected a state below {below}")
            }
            Self::Reward { found } => {
                write!(f, "the reward is {found}; expected a number from -1e150 to 1e150")
            }
            Self::Row(problem) => write!(f, "{problem}"),
            Self::NoContraction => {
                write!(
                    f,
                    "the discount times the sum of probabilities is not below 1; scale them to sum to 1"
                )
            }
        }
    }
}

impl std::error::Error for Error {}
