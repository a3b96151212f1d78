//! Why a step was refused. The error is raised on entry, and the predictor is unchanged.

use backsweep_core::State;
use std::fmt;

/// Why a predictor did not learn from a step: the place, what was found, what is expected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// A reward that is NaN, infinite or too large.
    Reward {
        /// The state of the step.
        state: State,
        /// The reward found.
        found: f64,
    },
    /// A state id that is too large for a predictor.
    StateId {
        /// The state found.
        state: State,
        /// Ids are below this.
        limit: u32,
    },
    /// The counts are full, or the core refuses something else.
    Core(backsweep_core::Error),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reward { state, found } => write!(
                f,
                "reward of a step out of {state} is {found}; expected a finite number from -1e150 to 1e150"
            ),
            Self::StateId { state, limit } => write!(
                f,
                "{state} is too large an id: there is room for ids below {limit}; number the states consecutively from 0"
            ),
            Self::Core(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StepError {}

impl From<backsweep_core::Error> for StepError {
    fn from(error: backsweep_core::Error) -> Self {
        Self::Core(error)
    }
}
