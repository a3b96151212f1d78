//! Errors in a scene, a command of a viewer, or a file.

use std::fmt;

/// A `Result` with the page's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a command is not carried out. Each message is one line: what was found, what is expected, how to fix it.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A setting, a command or a file is refused, or the system does not provide something.
    Refused(String),
    /// The world cannot be built.
    World(backsweep_worlds::Error),
    /// A model or planner refuses what it is given.
    Agent(backsweep::Error),
    /// One of these in a file.
    In {
        /// The file.
        path: std::path::PathBuf,
        /// The error there.
        error: Box<Error>,
    },
}

impl Error {
    /// A refusal in one line.
    pub fn new(line: impl Into<String>) -> Self {
        Self::Refused(line.into())
    }

    /// The same error in a file: `path: …`.
    pub fn at(self, path: &std::path::Path) -> Self {
        Self::In { path: path.to_owned(), error: Box::new(self) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(line) => f.write_str(line),
            Self::World(error) => error.fmt(f),
            Self::Agent(error) => error.fmt(f),
            Self::In { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {}

impl From<backsweep::Error> for Error {
    fn from(error: backsweep::Error) -> Self {
        Self::Agent(error)
    }
}

impl From<backsweep_worlds::Error> for Error {
    fn from(error: backsweep_worlds::Error) -> Self {
        Self::World(error)
    }
}
