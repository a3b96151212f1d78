//! Why nothing was measured.

/// A `Result` with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing was measured, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option is out of range.
    #[error("--{name}: found {found}, expected {expected}")]
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: String,
        /// The values that it may have.
        expected: String,
    },
    /// A text is not a time.
    #[error("found `{0}`, expected a time above 0 such as 100us, 1.5ms or 2s")]
    Time(String),
    /// The library refuses a setting.
    #[error(transparent)]
    Agent(#[from] backsweep::Error),
    /// The result cannot be written.
    #[error("cannot write the result: {0}")]
    Write(std::io::Error),
}
