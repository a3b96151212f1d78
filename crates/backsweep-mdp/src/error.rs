//! Problems with a model, its file, or a question about it, and their places.

use crate::MAX_REWARD;
use std::borrow::Cow;
use std::fmt;

/// A `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A choice of a model, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoicePlace {
    /// The name of its state, or the state's number.
    pub state: String,
    /// Its number within the state.
    pub choice: usize,
}

/// The problem with the outcomes of a choice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// An arc leads to a state that does not exist.
    #[error("leads to state {found}; the model has states 0 to {}", *n_states as i64 - 1)]
    Target {
        /// The target found.
        found: u32,
        /// The number of states.
        n_states: usize,
    },
    /// A probability is not above 0 and at most 1.
    #[error("the probability of state {target} is {found}; expected one above 0 and at most 1")]
    Probability {
        /// The state that the arc leads to.
        target: u32,
        /// The probability found.
        found: f64,
    },
    /// The probabilities sum to more than 1.
    #[error("the probabilities sum to {found}; expected at most 1")]
    Sum {
        /// The sum found.
        found: f64,
    },
}

/// Why a model could not be read, written, built or used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to open, read or write a file.
    System {
        /// The file.
        path: String,
        /// The operation: open, read or write.
        doing: &'static str,
        /// The number that the system gives to the problem, if there is one.
        code: Option<i32>,
        /// The problem in the system's words.
        problem: String,
    },
    /// A file, or the arrays in it, are malformed.
    Malformed {
        /// Where: `model.drn:3:7`, `model.umb: branch-to-target.bin[12]`.
        place: String,
        /// The value found, and the one expected.
        problem: String,
    },
    /// A row has numbers out of range.
    Row {
        /// The choice.
        place: ChoicePlace,
        /// The problem.
        problem: RowProblem,
    },
    /// A reward is not a number of a size that can be summed.
    Reward {
        /// The state, or the choice.
        place: String,
        /// The name of the rewards.
        rewards: String,
        /// The reward found.
        found: f64,
    },
    /// No rewards have this name, or a name is needed and none was given.
    UnknownRewards {
        /// The name found.
        found: Option<String>,
        /// The names of the model's rewards.
        known: Vec<String>,
    },
    /// No states have this label.
    UnknownLabel {
        /// The label found.
        found: String,
        /// The labels of the model.
        known: Vec<String>,
    },
    /// No state has this name.
    UnknownState {
        /// The name found.
        found: String,
        /// The number of states.
        n_states: usize,
    },
    /// A state has no action of this name.
    UnknownAction {
        /// The name of the state.
        state: String,
        /// The name found.
        found: String,
        /// The actions of the state.
        known: Vec<String>,
    },
    /// An error within something larger, such as a file.
    Within {
        /// The larger thing.
        outer: String,
        /// The error.
        error: Box<Error>,
    },
}

impl Error {
    /// Something is malformed somewhere.
    pub(crate) fn new(place: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self::Malformed { place: place.to_string(), problem: problem.into() }
    }

    /// The system refused.
    pub(crate) fn system(path: impl fmt::Display, doing: &'static str, error: &std::io::Error) -> Self {
        let (code, problem) = (error.raw_os_error(), error.to_string());
        Self::System { path: path.to_string(), doing, code, problem }
    }

    /// The same within something larger, such as a file.
    pub fn within(self, outer: impl fmt::Display) -> Self {
        Self::Within { outer: outer.to_string(), error: Box::new(self) }
    }
}

impl fmt::Display for ChoicePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state {}, choice {}", self.state, self.choice)
    }
}

/// Text without characters that control a terminal, such as a message with names from a file.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.raw_message()))
    }
}

impl Error {
    /// The message with names as they are in the file.
    fn raw_message(&self) -> String {
        match self {
            Self::System { path, doing, problem, .. } => {
                format!("{path}: cannot {doing} the file ({problem})")
            }
            Self::Malformed { place, problem } => format!("{place}: {problem}"),
            Self::Row { place, problem } => format!("{place}: {problem}"),
            Self::Reward { place, rewards, found } => {
                let range = format!("-{MAX_REWARD:e} and {MAX_REWARD:e}");
                format!("{place}: the reward '{rewards}' is {found:?}; expected a number between {range}")
            }
            Self::UnknownRewards { found: None, known } if known.is_empty() => {
                "the model has no rewards; expected a model with a reward structure".to_owned()
            }
            Self::UnknownRewards { found: None, known } => {
                format!("the model has several rewards; expected the name of one of: {}", list(known))
            }
            Self::UnknownRewards { found: Some(name), known } => match &known[..] {
                [] => format!("no rewards are called '{name}': the model has none"),
                [only] if only.is_empty() => {
                    format!(
                        "no rewards are called '{name}'; the model's only rewards have no name, so omit the name"
                    )
                }
                known => format!("no rewards are called '{name}'; expected one of: {}", list(known)),
            },
            Self::UnknownLabel { found, known } if known.is_empty() => {
                format!("no states are labeled '{found}', and none has this name: the model has no labels")
            }
            Self::UnknownLabel { found, known } => {
                format!("no states are labeled '{found}'; expected one of: {}", list(known))
            }
            Self::UnknownState { found, n_states } => {
                let states = if *n_states == 1 { "state" } else { "states" };
                format!("state '{found}' is not in the model; expected one of its {n_states} {states}")
            }
            Self::UnknownAction { state, found, known } => {
                let known =
                    if known.is_empty() { "none, as it has no actions".to_owned() } else { known.join(", ") };
                format!("state '{state}' has no action '{found}'; expected one of: {known}")
            }
            Self::Within { outer, error } => format!("{outer}: {}", error.raw_message()),
        }
    }
}

impl std::error::Error for Error {}

/// Names for a message; at most twenty of them.
fn list(names: &[String]) -> String {
    let mut text = names[..names.len().min(20)].join(", ");
    if names.len() > 20 {
        text.push_str(&format!(" and {} more", names.len() - 20));
    }
    text
}
