//! Errors in a scene, a command of a viewer, or a file.

/// A `Result` with the page's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a command is not carried out. Each message is one line: what was found, what is expected, how to fix it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A setting, a command or a file is refused, or the system does not provide something.
    #[error("{0}")]
    Refused(String),
    /// The world cannot be built.
    #[error(transparent)]
    World(#[from] backsweep_worlds::Error),
    /// A model or planner refuses what it is given.
    #[error(transparent)]
    Agent(#[from] backsweep::Error),
    /// One of these in a file.
    #[error("{}: {error}", path.display())]
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
