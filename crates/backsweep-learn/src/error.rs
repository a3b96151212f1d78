//! Errors of learning from counts.

use backsweep_log::printable;
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
        /// The values that it may have.
        expected: &'static str,
    },
    /// All folds are held out.
    AllHeldOut,
    /// A row of the counts is wrong.
    Row {
        /// Its place.
        row: usize,
        /// The problem.
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
    /// A file is not a policy, or a row cannot be asked about.
    Policy(String),
    /// The policy does not decide in a state.
    Undecided {
        /// The state.
        state: String,
        /// Why it does not.
        why: &'static str,
    },
    /// Learning was stopped.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(self.message()))
    }
}

impl Error {
    fn message(&self) -> String {
        match self {
            Self::Setting { name, found, expected } => format!("the {name} is {found}; expected {expected}"),
            Self::AllHeldOut => "all folds are held out; expected some left to learn from".to_owned(),
            Self::Row { row, problem } => format!("row {row} of the counts {problem}"),
            Self::Counts(problem) => (*problem).to_owned(),
            Self::NoSteps => "the log has no steps to learn from; expected at least one row outside the held-out cases".to_owned(),
            Self::ForeignCase => "a held-out case names a state that the counts do not know; expected cases and counts from the same log".to_owned(),
            Self::Endless { state } => format!(
                "state '{state}': a case that reaches it never ends in the fitted model, so its total reward is undefined; \
                 give a discount below 1, such as 0.99, or mark the rows that end a case"
            ),
            Self::AllCut => "no case ever ends in the fitted model, since all were cut; give a discount below 1".to_owned(),
            Self::Solver(error) => format!("{error}"),
            Self::Agent(error) => format!("{error}"),
            Self::NotAFolder(path) => {
                format!("{}: this is a file; expected a folder for policy.csv and report.html", path.display())
            }
            Self::Exists { folder, file } => {
                format!("{}: already holds {file}; choose another folder", folder.display())
            }
            Self::Io { path, message, .. } => format!("{}: cannot write the file ({message})", path.display()),
            Self::Policy(problem) => format!("the policy {problem}"),
            Self::Undecided { state, why } => {
                format!("the policy does not decide in state '{state}': {why}; decide as usual there")
            }
            Self::Interrupted => "stopped before the policy was learned; nothing was written".to_owned(),
        }
    }
}

impl std::error::Error for Error {}
