//! Why a step was refused: it is raised at the door, and the predictor stays as it was.

use backsweep::State;
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
    /// A state id for which a predictor keeps no room.
    StateId {
        /// The state found.
        state: State,
        /// Ids are below this.
        limit: u32,
    },
    /// The counts are full, or whatever else the core refuses.
    Core(backsweep::Error),
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
                "{state} is too large an id: there is room for ids below {limit}; number the states from 0 on as they \
                 are met"
            ),
            Self::Core(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StepError {}

impl From<backsweep::Error> for StepError {
    fn from(error: backsweep::Error) -> Self {
        Self::Core(error)
    }
}
