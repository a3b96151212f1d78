//! Why nothing was measured.

use std::fmt;
use std::io;

/// A `Result` with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing was measured, in one line.
#[derive(Debug)]
pub enum Error {
    /// An option is out of range.
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: String,
        /// The values it may have.
        expected: String,
    },
    /// A text is not a time.
    Time(String),
    /// The library refuses a setting.
    Agent(backsweep::Error),
    /// The result cannot be written.
    Write(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { name, found, expected } => {
                write!(f, "--{name}: found {found}, expected {expected}")
            }
            Self::Time(text) => {
                write!(f, "found `{text}`, expected a time above 0 such as 100us, 1.5ms or 2s")
            }
            Self::Agent(error) => error.fmt(f),
            Self::Write(error) => write!(f, "cannot write the result: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<backsweep::Error> for Error {
    fn from(error: backsweep::Error) -> Self {
        Self::Agent(error)
    }
}
