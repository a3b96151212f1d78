//! The one error of the laboratory: a line for the user.

use std::fmt;

/// A `Result` with the laboratory's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What was wrong with an input, in one line: the place, what was found, what is expected, how to fix it.
///
/// No code handles such errors: they are read by the author of the file or the command, so a line is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// An error with this line.
    pub fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }

    /// The same error with its place in front: `place: …`.
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<backsweep::Error> for Error {
    fn from(error: backsweep::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<backsweep_worlds::Error> for Error {
    fn from(error: backsweep_worlds::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<backsweep_predict::StepError> for Error {
    fn from(error: backsweep_predict::StepError) -> Self {
        Self(error.to_string())
    }
}
