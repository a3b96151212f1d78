//! The errors of the command line: what is printed before it ends with code 2.

use backsweep_mdp::printable;
use std::fmt;

/// A `Result` with the command's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One line for the user: the place, what was found, what is expected, how to fix it.
///
/// Names from files are printed without characters that control a terminal. Nothing handles it but the program's end, so any error of a library turns into its line with `?`.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// An error with this line.
    pub fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }

    /// An error in a place: `place: problem`.
    pub fn at(place: impl fmt::Display, problem: impl fmt::Display) -> Self {
        Self(format!("{place}: {problem}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.0))
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}
