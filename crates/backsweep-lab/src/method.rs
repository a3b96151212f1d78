//! The methods whose results are compared: their names in files, their titles, and their order.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The method that a result belongs to, by its name in files: one of the paper's, a user's, or an agent of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method(Cow<'static, str>);

/// The names and titles of the paper's methods, in the order of tables and legends: its own first.
const PAPER: [(&str, &str); 10] = [
    ("small_backups", "Small backups"),
    ("reversed_full_backups", "Reversed full backups"),
    ("moore_atkeson", "Moore & Atkeson"),
    ("peng_williams", "Peng & Williams"),
    ("wiering_schmidhuber", "Wiering & Schmidhuber"),
    ("value_iteration", "Value iteration"),
    ("r_max", "R-max"),
    ("small_backup", "One small backup per step"),
    ("td_constant", "TD(0), constant step size"),
    ("td_decaying", "TD(0), decaying step size"),
];

impl Method {
    /// Value iteration after every observation.
    pub const VALUE_ITERATION: Self = Self(Cow::Borrowed("value_iteration"));
    /// R-max: value iteration on a model whose pairs are frozen once they are trusted.
    pub const R_MAX: Self = Self(Cow::Borrowed("r_max"));
    /// Prediction with one small backup per step.
    pub const SMALL_BACKUP: Self = Self(Cow::Borrowed("small_backup"));
    /// TD(0) with a constant step size.
    pub const TD_CONSTANT: Self = Self(Cow::Borrowed("td_constant"));
    /// TD(0) with a decaying step size.
    pub const TD_DECAYING: Self = Self(Cow::Borrowed("td_decaying"));

    /// The name in files.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The name in figures and tables.
    pub fn title(&self) -> String {
        if let Some((_, title)) = PAPER.get(self.rank()) {
            return (*title).to_owned();
        }
        let words = self.0.replace('_', " ");
        let mut letters = words.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }

    /// The place in tables and legends; methods that are not in the paper come last.
    pub fn rank(&self) -> usize {
        PAPER.iter().position(|(name, _)| *name == self.0).unwrap_or(PAPER.len())
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        Self(Cow::Owned(name.to_owned()))
    }
}
