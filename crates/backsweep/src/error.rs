//! The one error of the core. It is raised where data enters; the loops inside need no checks.

use crate::{Action, State};
use std::fmt;

/// A `Result` with the core's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What was wrong with an input: the place, what was found, what is expected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A number among the settings lies outside its range.
    Setting {
        /// The setting's name.
        name: &'static str,
        /// The value found.
        found: f64,
        /// The values that are accepted.
        expected: &'static str,
    },
    /// A state id that the model does not have.
    NoSuchState {
        /// The state asked for.
        state: State,
        /// How many states the model has.
        n_states: usize,
    },
    /// A state id for which a predictor keeps no room.
    StateId {
        /// The state found.
        state: State,
        /// Ids are below this.
        limit: u32,
    },
    /// An action id that the state does not have.
    NoSuchAction {
        /// The state.
        state: State,
        /// The action asked for.
        action: Action,
        /// How many actions the state has.
        n_actions: usize,
    },
    /// A step out of a state that has no actions.
    Terminal {
        /// The state.
        state: State,
    },
    /// A choice among no actions.
    NoActions {
        /// The state.
        state: State,
    },
    /// A reward that is NaN, infinite or too large.
    Reward {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The reward found.
        found: f64,
    },
    /// A reward of a step whose action does not matter, NaN, infinite or too large.
    StepReward {
        /// The state of the step.
        state: State,
        /// The reward found.
        found: f64,
    },
    /// A weight of a transition that is zero, too small, NaN or infinite.
    Weight {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The weight found.
        found: f64,
    },
    /// A probability outside `[0, 1]`.
    Probability {
        /// The state.
        state: State,
        /// The action.
        action: Action,
        /// The probability found.
        found: f64,
    },
    /// Probabilities of a pair's outcomes that do not sum to 1.
    ProbabilitySum {
        /// The state.
        state: State,
        /// The action.
        action: Action,
        /// The sum found.
        found: f64,
    },
    /// More was taken back than had been recorded.
    NotRecorded {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The weight that is to be taken back.
        taken: f64,
        /// The weight that is there.
        recorded: f64,
    },
    /// A reward was taken back that cannot have been recorded.
    RewardNotRecorded {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The reward that is to be taken back.
        taken: f64,
        /// The mean of the rewards that are there.
        recorded: f64,
    },
    /// The model has a pair whose weights sum to more than `f64` counts exactly, or more ids than fit in 32 bits.
    Full {
        /// What there is too much of.
        what: &'static str,
        /// The largest number supported.
        limit: u64,
    },
    /// Values without discount are not defined: some policy goes on for ever and rewards have both signs.
    Undiscounted {
        /// A state from which a policy can avoid every end.
        state: State,
    },
    /// Values without discount have no bound: rewards go on for ever.
    Unbounded {
        /// A state whose value has no bound.
        state: State,
    },
    /// A name that no table has.
    Unknown {
        /// What kind of thing was looked up.
        what: &'static str,
        /// The name found.
        found: String,
        /// The names that are known.
        known: String,
    },
    /// Settings of an exploring agent that do not go together, or a call that they rule out.
    Exploration {
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A snapshot that does not describe a planner or a model.
    Snapshot {
        /// The part of the snapshot.
        part: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name, found, expected } => write!(f, "{name} is {found}; expected {expected}"),
            Self::NoSuchState { state, n_states } => write!(
                f,
                "{state} does not exist: the model has {n_states} states (0 to {}); add the state first",
                n_states.saturating_sub(1)
            ),
            Self::StateId { state, limit } => write!(
                f,
                "{state} is too large an id: there is room for ids below {limit}; number the states from 0 on as they are met"
            ),
            Self::NoSuchAction { state, action, n_actions } => write!(
                f,
                "{action} does not exist in {state}, which has {n_actions} actions (0 to {})",
                n_actions.saturating_sub(1)
            ),
            Self::Terminal { state } => {
                write!(
                    f,
                    "{state} is terminal (it has no actions); expected a step out of a state with actions"
                )
            }
            Self::Reward { state, action, found } => {
                write!(
                    f,
                    "reward of {action} in {state} is {found}; expected a finite number from -1e150 to 1e150"
                )
            }
            Self::StepReward { state, found } => {
                write!(
                    f,
                    "reward of a step out of {state} is {found}; expected a finite number from -1e150 to 1e150"
                )
            }
            Self::Weight { state, action, found } => {
                write!(
                    f,
                    "weight of {action} in {state} is {found}; expected a number of at least 1e-100, or of at most -1e-100 to take back"
                )
            }
            Self::Probability { state, action, found } => {
                write!(f, "probability of an outcome of {action} in {state} is {found}; expected 0 to 1")
            }
            Self::NoActions { state } => {
                write!(f, "no actions to choose from in {state}; expected at least one")
            }
            Self::ProbabilitySum { state, action, found } => write!(
                f,
                "probabilities of the outcomes of {action} in {state} sum to {found}; expected 1 (within 1e-9)"
            ),
            Self::NotRecorded { state, action, taken, recorded } => write!(
                f,
                "cannot take back weight {taken} of {action} in {state}: only {recorded} was recorded for that outcome"
            ),
            Self::RewardNotRecorded { state, action, taken, recorded } => write!(
                f,
                "cannot take back reward {taken} of {action} in {state}: it was never recorded (the mean of what was recorded \
                 is {recorded})"
            ),
            Self::Full { what, limit } => write!(f, "too many {what}: at most {limit} are supported"),
            Self::Undiscounted { state } => write!(
                f,
                "discount is 1, but from {state} a policy can go on for ever and rewards have both signs, so values are \
                 not defined; expected a discount below 1, rewards of one sign, or a model in which every policy ends"
            ),
            Self::Unbounded { state } => write!(
                f,
                "discount is 1, and the value of {state} has no bound: rewards go on for ever from there; expected a \
                 discount below 1, or a model in which rewards come to an end"
            ),
            Self::Unknown { what, found, known } => {
                write!(f, "no {what} is called '{found}'; expected one of: {known}")
            }
            Self::Exploration { problem } => f.write_str(problem),
            Self::Snapshot { part, problem } => write!(f, "snapshot, part '{part}': {problem}"),
        }
    }
}

impl std::error::Error for Error {}
