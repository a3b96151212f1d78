//! The counts of a log: integers, so that summaries can be added and subtracted in any order with the same bits.

pub(crate) mod builder;
pub(crate) mod file;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

pub use table::COLUMNS;

use crate::decimal::Decimal;
use std::collections::BTreeMap;

/// The counts of a log: how often each state and action led where, and the sum of its rewards.
///
/// Every log has exactly one summary: names and rows are sorted, and [`decimals`](Self::decimals) is as small as the sums
/// allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The names of the states, sorted; a state is named by its position here.
    pub states: Vec<String>,
    /// The names of the actions, sorted; an action is named by its position here.
    pub actions: Vec<String>,
    /// One row per distinct (state, action, next, fold), sorted by that key; an end comes before any state.
    pub rows: Vec<CountRow>,
    /// The number of cases that started in each state, sorted by (state, fold).
    pub starts: Vec<CaseStart>,
    /// A reward sum of 1 stands for 10^-`decimals`.
    pub decimals: u8,
    /// The settings with which the log was read: columns with their bins, the rule for ends; see docs/counts.md.
    pub how: BTreeMap<String, String>,
}

/// The count of one state and action leading to one next state, within one fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountRow {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// Position in [`Counts::actions`].
    pub action: u32,
    /// Position in [`Counts::states`], or `None` where the case ended.
    pub next: Option<u32>,
    /// The fold of the cases counted here, below [`FOLDS`](crate::FOLDS).
    pub fold: u8,
    /// The number of steps.
    pub n: i64,
    /// The sum of their rewards, in units of 10^-[`decimals`](Counts::decimals).
    pub reward_sum: i64,
}

/// The number of cases of one fold that started in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseStart {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// The fold of the cases counted here.
    pub fold: u8,
    /// The number of cases.
    pub n: i64,
}

/// One case in full, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The fold of this case.
    pub fold: u8,
    /// The steps, in order.
    pub steps: Vec<CaseStep>,
    /// The end of the case.
    pub end: CaseEnd,
}

/// One decision of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseStep {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// Position in [`Counts::actions`].
    pub action: u32,
    /// The reward, in units of 10^-[`decimals`](Counts::decimals).
    pub reward: i64,
    /// The probability with which the action was taken, in billionths; 0 if the log does not say.
    pub propensity: u32,
}

/// The end of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseEnd {
    /// It terminated: nothing follows.
    Terminated,
    /// It was cut after its last step, which led to this state.
    Truncated(u32),
}

impl Case {
    /// The state that a step led to; `None` if the case terminated there.
    pub fn next_state(&self, step: usize) -> Option<u32> {
        self.steps.get(step + 1).map(|next| next.state).or_else(|| self.cut_state())
    }

    /// The state in which the case was cut, if it was.
    pub fn cut_state(&self) -> Option<u32> {
        match self.end {
            CaseEnd::Terminated => None,
            CaseEnd::Truncated(state) => Some(state),
        }
    }
}

impl Counts {
    /// The number that a reward, or a sum of rewards, stands for.
    pub fn reward(&self, sum: i64) -> f64 {
        Decimal { mantissa: sum, decimals: self.decimals }.to_f64()
    }

    /// The unit of rewards as text, such as `0.01`.
    pub fn reward_unit(&self) -> String {
        Decimal { mantissa: 1, decimals: self.decimals }.to_string()
    }

    /// The number of steps that were counted.
    pub fn n_steps(&self) -> i64 {
        self.rows.iter().map(|row| row.n).sum()
    }

    /// The number of cases that were counted.
    pub fn n_cases(&self) -> i64 {
        self.starts.iter().map(|start| start.n).sum()
    }

    /// The counts of some folds. States and actions keep their numbers, so that both parts can be compared.
    #[must_use]
    pub fn folds(&self, keep: impl Fn(u8) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| keep(row.fold)).copied().collect();
        let starts = self.starts.iter().filter(|start| keep(start.fold)).copied().collect();
        Self { rows, starts, ..self.clone() }
    }
}
