//! A setting: one point of one curve, and the work behind it.

use crate::Result;
use crate::result::{SettingKey, Unit};
use std::fmt;

/// The result of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunResult {
    /// The plotted quantity.
    pub score: f64,
    /// Episodes done.
    pub episodes: u64,
    /// Steps taken.
    pub steps: u64,
    /// Episodes cut by the step limit.
    pub capped: u64,
    /// Measured microseconds per unit. All other results depend only on the setting, the seed and the run.
    pub samples: Vec<f64>,
}

/// Work that can be done run by run, in any order and on any thread.
pub trait Work: Send + Sync {
    /// Does one run.
    fn run(&self, seed: u64, run: u32) -> Result<RunResult>;
}

/// One point of one curve.
pub struct Setting {
    /// Its name.
    pub key: SettingKey,
    /// The number of runs.
    pub runs: u32,
    /// The operation that its samples time.
    pub unit: Unit,
    /// True if runs need the machine to themselves, because they measure times.
    pub alone: bool,
    /// Roughly how many seconds a run takes, used only to estimate the remaining time.
    pub seconds: f64,
    /// The work of a run.
    pub work: Box<dyn Work>,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", self.key.name(), self.runs)
    }
}
