//! Everything that can be wrong with a world.

use std::fmt;

/// A `Result` with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a world cannot be built. Each message says what was found, what is expected and how to fix it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The text of a maze is wrong in a place.
    #[error("{place}: {problem}")]
    Text {
        /// The place: lines and columns, counted from 1.
        place: TextPlace,
        /// The value found there and the one expected.
        problem: String,
    },
    /// A maze has too many cells.
    #[error(
        "the maze has {} × {} cells; expected at most {limit} in all, which take 4 GB; use a smaller one", size.0, size.1
    )]
    TooLarge {
        /// The numbers of rows and columns.
        size: (usize, usize),
        /// The most cells.
        limit: usize,
    },
    /// A maze does not have the size of the one that it replaces.
    #[error("the maze has a different size; expected the same rows and columns")]
    OtherSize,
    /// A number is out of range.
    #[error("{what} {found}; expected {expected}")]
    OutOfRange {
        /// The name of the number, with its verb: `intended is`.
        what: &'static str,
        /// The number.
        found: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// No world has this name; `known` lists those that there are.
    #[error("no world is called '{name}'; expected one of: {known}")]
    UnknownWorld {
        /// The name.
        name: String,
        /// The names, with `_N` for a size.
        known: String,
    },
    /// A world cannot be drawn, painted or broken like that.
    #[error("{0}")]
    Painting(String),
    /// The model of a world cannot be built, or its values are undefined.
    #[error(transparent)]
    Model(#[from] backsweep::Error),
}

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPlace {
    /// A whole line.
    Line(usize),
    /// A line and a column.
    Column(usize, usize),
    /// From one line to another.
    Lines(usize, usize),
}

impl Error {
    pub(crate) fn text(place: TextPlace, problem: impl Into<String>) -> Self {
        Self::Text { place, problem: problem.into() }
    }

    pub(crate) fn out_of_range(what: &'static str, found: f64, expected: &'static str) -> Self {
        Self::OutOfRange { what, found, expected }
    }
}

impl fmt::Display for TextPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Column(line, column) => write!(f, "line {line}, column {column}"),
            Self::Lines(first, last) => write!(f, "lines {first} to {last}"),
        }
    }
}
