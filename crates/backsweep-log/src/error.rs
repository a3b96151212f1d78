//! Errors of logs, each with a one-line message.

use std::fmt;

/// Why a log or a file of counts was refused: where, what was found, what was expected, how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// An error in one file.
    pub(crate) fn at(place: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self(format!("{place}: {message}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// A value of a log for a message: shortened, and without characters that would garble a terminal.
pub(crate) fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let mut short: String =
        text.chars().take(40).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    format!("'{short}'")
}
