//! The errors of the command line: what is printed before it ends with code 2.

use backsweep_mdp::printable;
use std::fmt;
use std::path::Path;

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

    /// A file that the system did not let us read.
    pub fn unread(path: &Path, error: impl fmt::Display) -> Self {
        Self::at(path.display(), format_args!("cannot read the file ({error})"))
    }

    /// A file that the system did not let us write.
    pub fn unwritten(path: &Path, error: impl fmt::Display) -> Self {
        Self::at(path.display(), format_args!("cannot write the file ({error})"))
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
