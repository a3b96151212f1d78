//! Errors of learning from counts.

use std::fmt;
use std::path::PathBuf;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing was learned, or nothing written: what was found, what was expected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A setting is out of range.
    Setting {
        /// The field of [`LearnSettings`](crate::LearnSettings), in words.
        name: &'static str,
        /// Its value.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// All folds are held out.
    AllHeldOut,
    /// A row of the counts is wrong.
    Row {
        /// Its place.
        row: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// The counts name a state that they do not have, or are too large.
    Counts(&'static str),
    /// There are no steps to learn from.
    NoSteps,
    /// A held-out case is not from the log of the counts.
    ForeignCase,
    /// A policy never ends from a state of a fitted model, and the discount is 1.
    Endless {
        /// The state.
        state: String,
    },
    /// No case ended in the log, and the discount is 1.
    AllCut,
    /// The solver refused the fitted model.
    Solver(backsweep_solve::Error),
    /// An agent cannot hold the counts.
    Agent(backsweep::Error),
    /// The folder for results is a file.
    NotAFolder(PathBuf),
    /// The folder for results holds a file that may not be replaced.
    Exists {
        /// The folder.
        folder: PathBuf,
        /// The file.
        file: &'static str,
    },
    /// A file cannot be written.
    Io {
        /// The file.
        path: PathBuf,
        /// The kind of failure.
        kind: std::io::ErrorKind,
        /// The system's words.
        message: String,
    },
    /// Learning was stopped.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name, found, expected } => write!(f, "the {name} is {found}; expected {expected}"),
            Self::AllHeldOut => f.write_str("all folds are held out; expected some left to learn from"),
            Self::Row { row, problem } => write!(f, "row {row} of the counts {problem}"),
            Self::Counts(problem) => f.write_str(problem),
            Self::NoSteps => f.write_str(
                "the log has no steps to learn from; expected at least one row outside the held-out cases",
            ),
            Self::ForeignCase => f.write_str(
                "a held-out case names a state that the counts do not know; expected cases and counts from the same log",
            ),
            Self::Endless { state } => write!(
                f,
                "state '{state}': a case that reaches it never ends in the fitted model, so its total reward is undefined; \
                 give a discount below 1, such as 0.99, or mark the rows that end a case"
            ),
            Self::AllCut => f.write_str(
                "no case ever ends in the fitted model, since all were cut; give a discount below 1",
            ),
            Self::Solver(error) => write!(f, "{error}"),
            Self::Agent(error) => write!(f, "{error}"),
            Self::NotAFolder(path) => {
                write!(f, "{}: this is a file; expected a folder for policy.csv and report.html", path.display())
            }
            Self::Exists { folder, file } => {
                write!(f, "{}: already holds {file}; choose another folder", folder.display())
            }
            Self::Io { path, message, .. } => write!(f, "{}: cannot write the file ({message})", path.display()),
            Self::Interrupted => f.write_str("stopped before the policy was learned; nothing was written"),
        }
    }
}

impl std::error::Error for Error {}
