//! Everything that can be wrong with an experiment, its results or their folder.

use std::fmt;

/// A `Result` with the laboratory's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why the laboratory stops. Each message is one line: the place, what was found, what is expected, how to fix it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// An experiment, a choice of settings or a file of results is not valid.
    #[error("{0}")]
    Invalid(String),
    /// A folder or file cannot be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// Its path.
        path: std::path::PathBuf,
        /// The operation that is impossible, and the reason.
        problem: String,
    },
    /// A world cannot be built.
    #[error(transparent)]
    World(#[from] backsweep_worlds::Error),
    /// A model or planner refuses what it is given.
    #[error(transparent)]
    Agent(#[from] backsweep::Error),
    /// A predictor refuses a step.
    #[error(transparent)]
    Prediction(#[from] backsweep_predict::StepError),
    /// One of these in a place: a file, a line of it, a setting.
    #[error("{place}: {error}")]
    At {
        /// The place.
        place: String,
        /// The problem.
        error: Box<Error>,
    },
}

impl Error {
    /// Something that is not valid, in one line.
    pub fn new(line: impl Into<String>) -> Self {
        Self::Invalid(line.into())
    }

    /// A file that cannot be read or written.
    pub fn file(path: impl Into<std::path::PathBuf>, problem: impl Into<String>) -> Self {
        Self::File { path: path.into(), problem: problem.into() }
    }

    /// The same error in a place: `place: …`.
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self::At { place: place.to_string(), error: Box::new(self) }
    }
}
