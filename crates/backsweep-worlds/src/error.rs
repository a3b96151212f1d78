//! Everything that can be wrong with a world.

use std::fmt;

/// A `Result` with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a world cannot be built. Each message says what was found, what is expected and how to fix it.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The text of a maze is wrong in a place.
    Text {
        /// The place: lines and columns, counted from 1.
        place: TextPlace,
        /// The value found there and the one expected.
        problem: String,
    },
    /// A maze has too many cells.
    TooLarge {
        /// The numbers of rows and columns.
        size: (usize, usize),
        /// The most cells.
        limit: usize,
    },
    /// A maze does not have the size of the one that it replaces.
    OtherSize,
    /// A number is out of range.
    OutOfRange {
        /// The name of the number, with its verb: `intended is`.
        what: &'static str,
        /// The number.
        found: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// No world has this name; `known` lists those that there are.
    UnknownWorld {
        /// The name.
        name: String,
        /// The names, with `_N` for a size.
        known: String,
    },
    /// A world cannot be drawn, painted or broken like that.
    Painting(String),
    /// The model of a world cannot be built, or its values are undefined.
    Model(backsweep::Error),
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { place, problem } => write!(f, "{place}: {problem}"),
            Self::TooLarge { size: (n_rows, n_columns), limit } => write!(
                f,
                "the maze has {n_rows} × {n_columns} cells; expected at most {limit} in all, which take 4 GB; use a smaller one"
            ),
            Self::OtherSize => {
                f.write_str("the maze has a different size; expected the same rows and columns")
            }
            Self::OutOfRange { what, found, expected } => write!(f, "{what} {found}; expected {expected}"),
            Self::UnknownWorld { name, known } => {
                write!(f, "no world is called '{name}'; expected one of: {known}")
            }
            Self::Painting(problem) => f.write_str(problem),
            Self::Model(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Model(error) => Some(error),
            _ => None,
        }
    }
}

impl From<backsweep::Error> for Error {
    fn from(error: backsweep::Error) -> Self {
        Self::Model(error)
    }
}
