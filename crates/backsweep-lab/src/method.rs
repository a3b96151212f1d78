//! The methods whose results are compared: their names in files, their titles, and their order.

use backsweep::PlannerKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The method that a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Method {
    /// A planner of the library.
    Planner(PlannerKind),
    /// R-max: value iteration on a model whose pairs are frozen once they are trusted.
    RMax,
    /// Prediction with one small backup per step.
    SmallBackup,
    /// TD(0) with a constant step size.
    TdConstant,
    /// TD(0) with a decaying step size.
    TdDecaying,
    /// A name from an experiment file: of a user's method, or of an agent of a suite.
    Other(String),
}

impl Method {
    /// The methods of the paper, in the order in which tables and legends list them: its own first.
    pub const PAPER: [Self; 10] = [
        Self::Planner(PlannerKind::SMALL_BACKUPS),
        Self::Planner(PlannerKind::REVERSED_FULL_BACKUPS),
        Self::Planner(backsweep_baselines::MOORE_ATKESON),
        Self::Planner(backsweep_baselines::PENG_WILLIAMS),
        Self::Planner(backsweep_baselines::WIERING_SCHMIDHUBER),
        Self::Planner(backsweep_baselines::VALUE_ITERATION),
        Self::RMax,
        Self::SmallBackup,
        Self::TdConstant,
        Self::TdDecaying,
    ];

    /// The name in files.
    pub fn name(&self) -> &str {
        match self {
            Self::Planner(kind) => kind.name(),
            Self::RMax => "r_max",
            Self::SmallBackup => "small_backup",
            Self::TdConstant => "td_constant",
            Self::TdDecaying => "td_decaying",
            Self::Other(name) => name,
        }
    }

    /// The name in figures and tables.
    pub fn title(&self) -> String {
        match self {
            Self::Planner(kind) => capitalised(kind.title()),
            Self::RMax => "R-max".to_owned(),
            Self::SmallBackup => "One small backup per step".to_owned(),
            Self::TdConstant => "TD(0), constant step size".to_owned(),
            Self::TdDecaying => "TD(0), decaying step size".to_owned(),
            Self::Other(name) => capitalised(&name.replace('_', " ")),
        }
    }

    /// The place in tables and legends; methods that are not in the paper come last.
    pub fn rank(&self) -> usize {
        Self::PAPER.iter().position(|known| known == self).unwrap_or(Self::PAPER.len())
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        let known = Self::PAPER.into_iter().find(|known| known.name() == name);
        known.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

impl From<String> for Method {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl From<Method> for String {
    fn from(method: Method) -> Self {
        method.to_string()
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
