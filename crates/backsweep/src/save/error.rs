//! Errors of files, each with a one-line message.

use std::path::{Path, PathBuf};

/// A `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be saved or resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    System {
        /// The operation, such as `open`.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The message of the operating system.
        source: std::io::Error,
    },
    /// The bytes do not start like a Backsweep file.
    #[error("this is not a Backsweep file; expected one that save wrote")]
    NotBacksweep,
    /// The file has another version of the format.
    #[error("the file has format version {found}, but this program reads version {expected}; {}", remedy(found > expected))]
    Version {
        /// The version found.
        found: u32,
        /// The version that this program reads.
        expected: u32,
    },
    /// The bytes are not those that were written.
    #[error("the file is damaged: {part}: {problem}; use another copy of it")]
    Damaged {
        /// The part: header or a section.
        part: String,
        /// The problem.
        problem: String,
    },
    /// The parts are intact but do not describe an agent.
    #[error("the file does not describe an agent: {0}")]
    Core(#[from] crate::Error),
    /// Any of the above, in a file.
    #[error("{}: {problem}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        #[source]
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

/// The way to read a file of another version.
fn remedy(is_newer: bool) -> &'static str {
    if is_newer { "upgrade backsweep to read it" } else { "save it again with this version" }
}
