//! What is wrong with a model or its file, and where.

use std::fmt;

/// A `Result` with this module's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a model could not be read, written or used.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// Where: `model.drn:3:7`, `model.umb: branch-to-target.bin[12]`, `state 4, choice 1`.
    pub place: String,
    /// What was found, and what was expected.
    pub problem: String,
}

impl Error {
    /// Something is wrong somewhere.
    pub fn new(place: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self { place: place.to_string(), problem: problem.into() }
    }

    /// The same within something larger, such as a file.
    pub(crate) fn within(self, outer: impl fmt::Display) -> Self {
        Self { place: format!("{outer}: {}", self.place), problem: self.problem }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for Error {}
