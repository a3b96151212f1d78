//! The only error type of the core. It is raised where data enters; the loops inside need no
//! checks.

use crate::{Action, State};
use std::fmt;

/// A `Result` with the core's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Defines the error: each kind with its fields and, behind the arrow, its message.
macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* } => $($message:expr),+;)*) => {
        /// A problem with an input: the place, the value found, the value expected.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$doc])* $name { $($(#[$field_doc])* $field: $type,)* },)*
        }

        impl fmt::Display for Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name { $($field),* } => write!(f, $($message),+),)*
                }
            }
        }
    };
}

errors! {
    /// A number among the settings lies outside its range.
    Setting {
        /// The setting's name.
        name: &'static str,
        /// The value found.
        found: f64,
        /// The values that are accepted.
        expected: &'static str,
    } => "{name} is {found}; expected {expected}";
    /// A state id that the model does not have.
    NoSuchState {
        /// The state requested.
        state: State,
        /// The number of states of the model.
        n_states: usize,
    } => "{state} does not exist: the model has {n_states} states (0 to {}); add the state first", n_states.saturating_sub(1);
    /// An action id that the state does not have.
    NoSuchAction {
        /// The state.
        state: State,
        /// The action requested.
        action: Action,
        /// The number of actions of the state.
        n_actions: usize,
    } => "{action} does not exist in {state}, which has {n_actions} actions (0 to {})", n_actions.saturating_sub(1);
    /// A step out of a state that has no actions.
    Terminal {
        /// The state.
        state: State,
    } => "{state} is terminal (it has no actions); expected a step out of a state with actions";
    /// A choice among no actions.
    NoActions {
        /// The state.
        state: State,
    } => "no actions to choose from in {state}; expected at least one";
    /// A reward that is NaN, infinite or too large.
    Reward {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The reward found.
        found: f64,
    } => "reward of {action} in {state} is {found}; expected a finite number from -1e150 to 1e150";
    /// A weight of a transition that is zero, too small, NaN or infinite.
    Weight {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The weight found.
        found: f64,
        /// The weights that are accepted.
        expected: &'static str,
    } => "weight of {action} in {state} is {found}; expected {expected}";
    /// A probability outside `[0, 1]`, or above 0 and below the smallest weight.
    Probability {
        /// The state.
        state: State,
        /// The action.
        action: Action,
        /// The probability found.
        found: f64,
    } => "probability of an outcome of {action} in {state} is {found:?}; expected 0, or 1e-100 to 1";
    /// Probabilities of a pair's outcomes that do not sum to 1.
    ProbabilitySum {
        /// The state.
        state: State,
        /// The action.
        action: Action,
        /// The sum found.
        found: f64,
    } => "probabilities of the outcomes of {action} in {state} sum to {found}; expected 1 (within 1e-9)";
    /// More was undone than was recorded.
    NotRecorded {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The weight to undo.
        taken: f64,
        /// The recorded weight.
        recorded: f64,
    } => "cannot undo weight {taken} of {action} in {state}: only {recorded} was recorded for that outcome";
    /// A reward was undone that cannot have been recorded.
    RewardNotRecorded {
        /// The state of the transition.
        state: State,
        /// The action of the transition.
        action: Action,
        /// The reward to undo.
        taken: f64,
        /// The mean of the recorded rewards.
        recorded: f64,
    } => "cannot undo reward {taken} of {action} in {state}: it was never recorded (the mean of what was recorded \
          is {recorded})";
    /// A pair has more weight than `f64` can count exactly, or there are more ids than fit in 32
    /// bits.
    Full {
        /// The resource that ran out.
        what: &'static str,
        /// The largest number supported.
        limit: u64,
    } => "too many {what}: at most {limit} are supported";
    /// A name that no table has.
    Unknown {
        /// The kind of thing that was looked up.
        what: &'static str,
        /// The name found.
        found: String,
        /// The names that are known.
        known: String,
    } => "no {what} is called '{found}'; expected one of: {known}";
    /// A setting that others need and that was not given.
    Missing {
        /// The setting.
        name: &'static str,
        /// The feature that needs it.
        needed_by: &'static str,
        /// The requirement.
        expected: &'static str,
    } => "{needed_by} needs {name}: {expected}";
    /// Settings that exclude each other.
    Conflict {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// The remedy.
        remedy: &'static str,
    } => "{first} and {second} cannot be combined; {remedy}";
    /// Two numbers that are not a range.
    Range {
        /// The setting's name.
        name: &'static str,
        /// The lower end found.
        low: f64,
        /// The upper end found.
        high: f64,
        /// The accepted values.
        expected: &'static str,
    } => "{name} is ({low}, {high}); expected {expected}";
    /// A planner that cannot do what it is needed for.
    Planner {
        /// The planner.
        name: &'static str,
        /// The missing feature.
        lacks: &'static str,
        /// The replacement.
        expected: &'static str,
    } => "the planner {name} {lacks}; expected {expected}";
    /// A call that the settings of the agent rule out.
    RuledOut {
        /// The reason that rules it out.
        by: &'static str,
        /// The accepted values.
        expected: &'static str,
    } => "{by}; expected {expected}";
    /// A snapshot that does not describe a planner or a model.
    Snapshot {
        /// The part of the snapshot.
        part: String,
        /// The problem.
        problem: String,
    } => "snapshot, part '{part}': {problem}";
}

impl std::error::Error for Error {}

impl Error {
    /// Checks a setting: an error unless `ok`, which says that it is in its range.
    ///
    /// # Errors
    /// [`Setting`](Self::Setting) with these fields.
    pub fn ensure(ok: bool, name: &'static str, found: f64, expected: &'static str) -> Result<()> {
        if ok { Ok(()) } else { Err(Self::Setting { name, found, expected }) }
    }
}
