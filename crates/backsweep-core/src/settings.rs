//! The settings of planners, checked once on entry.

use crate::queue::QueueKind;
use crate::{Error, Result};

/// Optimism in the face of uncertainty: a pair is treated as worth `value` until it has been seen
/// `min_visits` times.
///
/// This is the one place that defines which value of a pair counts (Departure 1): planners keep
/// `value` as the pair's Q until then, so every maximum, every priority and every choice of an
/// action sees the same number. The value is not a pseudo-count: it is dropped without a trace when
/// the pair has been seen often enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimism {
    /// The value of a pair until then; finite. It is also what values start from.
    pub value: f64,
    /// The visit from which the model is trusted. 0 and 1 mean the same for counts: an unseen pair
    /// has no model.
    pub min_visits: u32,
}

impl Default for Optimism {
    /// Values start at 0 and the model is trusted from the first visit on.
    fn default() -> Self {
        Self { value: 0.0, min_visits: 1 }
    }
}

/// The settings of a planner.
///
/// ```
/// use backsweep_core::{Optimism, Settings};
/// let settings = Settings { discount: 0.95, optimism: Optimism { value: 0.0, min_visits: 4 }, ..Settings::default() };
/// assert!(settings.check().is_ok());
/// assert!(Settings { discount: 1.5, ..settings }.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// γ, from 0 to 1. With 1, values are defined only where every policy ends, or where rewards
    /// have one sign and values start at 0; planners leave it to the user to check that.
    pub discount: f64,
    /// The value of pairs that were hardly seen.
    pub optimism: Optimism,
    /// Priorities at or below this are not queued; 0 or more. Departure 4.
    pub threshold: f64,
    /// Which queue to use.
    pub queue: QueueKind,
}

impl Default for Settings {
    /// Discount 0.99, no optimism, threshold 1e-9, the exact queue.
    fn default() -> Self {
        Self { discount: 0.99, optimism: Optimism::default(), threshold: 1e-9, queue: QueueKind::default() }
    }
}

impl Settings {
    /// These settings with a threshold so low that the values of a sweeping planner with nothing
    /// left to do are within `tolerance` of the optimum, up to rounding: no value is further from
    /// it than γp / (1 − γ), with p the threshold.
    ///
    /// ```
    /// use backsweep_core::ReversedFullBackups;
    /// use backsweep_core::{Action, Budget, Model, Next, Outcome, Planner, Settings, State, audit, plan};
    /// let mut model = Model::with_states([1, 1])?;
    /// let sure = |reward, next| [Outcome { probability: 1.0, reward, next }];
    /// model.set_outcomes(State(0), Action(0), &sure(0.0, Next::Continue(State(1))))?;
    /// model.set_outcomes(State(1), Action(0), &sure(10.0, Next::Terminated))?;
    /// let settings = Settings { discount: 0.9, ..Settings::default() }.accurate_to(1e-6);
    /// let mut planner = ReversedFullBackups::new(settings)?;
    /// planner.grow(&model);
    /// assert!(plan(&mut planner, &model, Budget::UNTIL_IDLE).is_idle);
    /// assert!(audit(&model, &planner).error_bound.unwrap() <= 1e-6);
    /// # Ok::<(), backsweep_core::Error>(())
    /// ```
    pub fn accurate_to(self, tolerance: f64) -> Self {
        Self { threshold: tolerance * (1.0 - self.discount).max(1e-6) / 2.0, ..self }
    }

    /// These settings if every number is in its range.
    ///
    /// # Errors
    /// Names the setting, the value found and the values accepted.
    pub fn check(self) -> Result<Self> {
        let Self { discount, optimism, threshold, .. } = self;
        let is_start = optimism.value.abs() <= crate::MAX_REWARD;
        Error::ensure((0.0..=1.0).contains(&discount), "discount", discount, "a number from 0 to 1")?;
        Error::ensure(is_start, "optimism value", optimism.value, "a finite number from -1e150 to 1e150")?;
        let is_threshold = threshold >= 0.0 && threshold.is_finite();
        Error::ensure(is_threshold, "threshold", threshold, "a finite number, 0 or more")?;
        Ok(self)
    }
}
