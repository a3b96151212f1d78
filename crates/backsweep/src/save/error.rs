//! Errors of files, each with a one-line message.

use std::fmt;
use std::path::{Path, PathBuf};

/// A `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be saved or resumed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    System {
        /// The operation, such as `open`.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The message of the operating system.
        source: std::io::Error,
    },
    /// The bytes do not start like a Backsweep file.
    NotBacksweep,
    /// The file has another version of the format.
    Version {
        /// The version found.
        found: u32,
        /// The version that this program reads.
        expected: u32,
    },
    /// The bytes are not those that were written.
    Damaged {
        /// The part: header or a section.
        part: String,
        /// The problem.
        problem: String,
    },
    /// The parts are intact but do not describe an agent.
    Core(crate::Error),
    /// Any of the above, in a file.
    InFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: Box<Error>,
    },
}

impl Error {
    pub(crate) fn damaged(part: &str, problem: impl Into<String>) -> Self {
        Self::Damaged { part: part.to_owned(), problem: problem.into() }
    }

    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::InFile { path: path.to_owned(), problem: Box::new(self) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { doing, path, source } => write!(f, "cannot {doing} {}: {source}", path.display()),
            Self::NotBacksweep => {
                write!(f, "this is not a Backsweep file; expected one that save wrote")
            }
            Self::Version { found, expected } => {
                let remedy = if found > expected {
                    "upgrade backsweep to read it"
                } else {
                    "save it again with this version"
                };
                write!(
                    f,
                    "the file has format version {found}, but this program reads version {expected}; {remedy}"
                )
            }
            Self::Damaged { part, problem } => {
                write!(f, "the file is damaged: {part}: {problem}; use another copy of it")
            }
            Self::Core(error) => write!(f, "the file does not describe an agent: {error}"),
            Self::InFile { path, problem } => write!(f, "{}: {problem}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Core(error) => Some(error),
            Self::InFile { problem, .. } => Some(problem),
            _ => None,
        }
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Core(error)
    }
}
