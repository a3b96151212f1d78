//! Errors of logs: where, what was found, what was expected, how to fix it.
//!
//! Problems that are fixed in one way each are texts ([`Wording`]), written where they are found; variants and fields are what code
//! can act on.

use crate::wording::{SpecField, SpecNames, Wording, fields};
use std::{fmt, io};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// For columns that hold something else than text.
pub(crate) const UTF8: &str = "text in UTF-8";
#[cfg(not(feature = "parquet"))]
pub(crate) const NO_PARQUET: &str = "this is a Parquet file, which this build does not support; build with: cargo build --release \
                                     -p backsweep-cli --features parquet";

/// Why a log or a file of counts was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write.
    Io {
        /// The file.
        place: String,
        /// `true` if the file was being written.
        writing: bool,
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The system's words.
        message: String,
    },
    /// A file is not in a form that can be read, or a name does not stand for files.
    File {
        /// The file or pattern.
        place: String,
        /// The problem, and what was expected.
        problem: Wording,
    },
    /// A column does not exist.
    NoColumn {
        /// The file.
        place: String,
        /// The column.
        column: String,
        /// The columns that exist.
        known: Vec<String>,
    },
    /// The values of a column cannot be used.
    Column {
        /// The file or table; empty for the whole log.
        place: String,
        /// The column.
        column: String,
        /// The problem.
        problem: Wording,
    },
    /// A row of a file of counts is wrong.
    Row(BadRow),
    /// There are no rows.
    NoRows,
    /// More rows are bad than [`Spec::skip_bad`](crate::Spec::skip_bad) allows.
    BadRows {
        /// The first of them.
        first: Option<BadRow>,
        /// The number of bad rows.
        n_bad: u64,
        /// The number of rows.
        n_rows: u64,
    },
    /// There are warnings, and [`Spec::strict`](crate::Spec::strict) is set.
    Doubtful(Vec<Wording>),
    /// A setting is missing, is not in its form, or contradicts another.
    Spec(Wording),
    /// A sum of rewards may not fit in 64 bits.
    Overflow(Wording),
    /// Two counts were read differently.
    Incompatible {
        /// The name of the setting that differs.
        key: String,
        /// Its value in one.
        left: String,
        /// Its value in the other.
        right: String,
    },
    /// Counts that are subtracted are not part of the others.
    NotPart(String),
    /// Reading was stopped.
    Interrupted,
    /// A thread failed: a bug of this crate.
    Thread,
}

/// A row that cannot be used, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// The file and the line or row.
    pub place: String,
    /// The problem.
    pub problem: RowProblem,
}

/// The problem with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowProblem {
    /// A value is not what its column needs.
    Value {
        /// The column.
        column: String,
        /// The value.
        found: Vec<u8>,
        /// The values that the column needs.
        expected: Wording,
    },
    /// The row as a whole cannot be used.
    Whole(Wording),
}

impl Error {
    /// An error of the operating system while reading.
    pub(crate) fn io(place: impl fmt::Display, error: &io::Error) -> Self {
        Self::Io { place: place.to_string(), writing: false, kind: error.kind(), message: error.to_string() }
    }

    /// An error in one file.
    pub(crate) fn file(place: impl fmt::Display, problem: impl Into<Wording>) -> Self {
        Self::File { place: place.to_string(), problem: problem.into() }
    }

    /// A column that cannot be used.
    pub(crate) fn column(place: impl fmt::Display, column: &str, problem: impl Into<Wording>) -> Self {
        Self::Column { place: place.to_string(), column: column.to_owned(), problem: problem.into() }
    }

    /// An error in one row.
    pub(crate) fn row(place: impl fmt::Display, problem: RowProblem) -> Self {
        Self::Row(BadRow { place: place.to_string(), problem })
    }

    /// A text that is not in the form of a setting.
    pub(crate) fn syntax(text: &str, problem: impl fmt::Display) -> Self {
        Self::Spec(format!("{text}: {problem}").into())
    }

    /// The message in one line, with settings as a front end calls them.
    pub fn message(&self, names: SpecNames) -> String {
        printable(self.raw_message(names))
    }

    fn raw_message(&self, names: SpecNames) -> String {
        match self {
            Self::Io { place, writing, message, .. } => {
                let failed = if *writing { "write the file" } else { "read the data" };
                format!("{place}: cannot {failed} ({message})")
            }
            Self::File { place, problem } => format!("{place}: {}", problem.message(names)),
            Self::NoColumn { place, column, known } => {
                let more =
                    if known.len() > 20 { format!(" and {} more", known.len() - 20) } else { String::new() };
                let known: Vec<String> = known.iter().take(20).map(|name| shown(name.as_bytes())).collect();
                format!("{place}: there is no column '{column}'; it has {}{more}", known.join(", "))
            }
            Self::Column { place, column, problem } => {
                let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
                format!("{place}column '{column}' {}", problem.message(names))
            }
            Self::Row(row) => row.message(names),
            Self::NoRows => {
                "the log has no rows; expected at least one below the names of the columns".to_owned()
            }
            Self::BadRows { first, n_bad, n_rows } => {
                let share = 100.0 * *n_bad as f64 / *n_rows as f64;
                let first = first.as_ref().map_or_else(String::new, |row| row.message(names));
                let is_are = if *n_bad == 1 { "is" } else { "are" };
                let text =
                    format!("{first}. {n_bad} of {n_rows} rows {is_are} bad ({share:.2} %); fix the log");
                let percent = (share.ceil() as u64).max(1);
                if percent > 50 {
                    // Settings that most rows contradict are wrong; skipping the rows would hide that.
                    return text + ", or check which columns were named";
                }
                let skip = SpecField::SkipPercent(percent);
                Wording::from(text).offer(", or pass ", skip, " to skip bad rows and their cases").message(names)
            }
            Self::Doubtful(warnings) => {
                let warnings: Vec<String> = warnings.iter().map(|warning| warning.message(names)).collect();
                let text = format!("{}; correct the log", warnings.join("; "));
                Wording::from(text).offer(", or omit ", SpecField::Strict, "").message(names)
            }
            Self::Spec(problem) | Self::Overflow(problem) => problem.message(names),
            Self::NotPart(problem) => problem.clone(),
            Self::Incompatible { key, left, right } => Wording::from(format!(
                "the counts are incompatible: {key} is '{left}' in one and '{right}' in the other; count both with the same \
                 settings"
            ))
            .offer(" (", SpecField::Reuse, " reuses bins)")
            .message(names),
            Self::Interrupted => "stopped before all rows were read; nothing was written".to_owned(),
            Self::Thread => "a thread that was reading the log failed".to_owned(),
        }
    }
}

impl BadRow {
    /// The message in one line, with settings as a front end calls them.
    pub fn message(&self, names: SpecNames) -> String {
        printable(format!("{}: {}", self.place, self.problem.message(names)))
    }
}

impl RowProblem {
    /// A value that is not what its column needs.
    #[cold]
    pub(crate) fn value(column: &str, found: &[u8], expected: impl Into<Wording>) -> Box<Self> {
        // Messages show 40 characters.
        let found = found[..found.len().min(200)].to_vec();
        Box::new(Self::Value { column: column.to_owned(), found, expected: expected.into() })
    }

    /// A row that cannot be used as a whole.
    #[cold]
    pub(crate) fn whole(problem: impl Into<Wording>) -> Box<Self> {
        Box::new(Self::Whole(problem.into()))
    }

    /// The message in one line, with settings as a front end calls them.
    pub fn message(&self, names: SpecNames) -> String {
        match self {
            Self::Value { column, found, expected } => {
                let found = if found.is_empty() { "empty".to_owned() } else { shown(found) };
                printable(format!("column '{column}' is {found}; expected {}", expected.message(names)))
            }
            Self::Whole(problem) => problem.message(names),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(fields))
    }
}

impl std::error::Error for Error {}

/// A value of a log for a message: shortened, and without characters that would garble a terminal.
pub(crate) fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let more = if text.chars().nth(40).is_some() { "…" } else { "" };
    format!("'{}{more}'", printable(text.chars().take(40).collect()))
}

/// A text with control characters spelled out, as in `\u{1b}`: names and paths may hold any, and must not reach a terminal.
pub fn printable(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let spelled = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(spelled).collect()
}
