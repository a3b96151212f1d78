//! Settings of the learner, checked once.

use crate::error::{Error, Result};
use backsweep_log::FOLDS;

/// The settings of learning from counts.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnSettings {
    /// The weight of a reward one step later, above 0 and at most 1.
    pub discount: f64,
    /// An action is considered in a state only if it was logged there at least this often; at least 1.
    pub min_count: i64,
    /// `true` if actions below the minimum keep their logged probability, so that only the rest is decided (Πb-SPIBB).
    pub keep_logged: bool,
    /// κ: an action seen n times is planned with a reward lower by κ/√n; 0 for none.
    pub pessimism: f64,
    /// Every value of the fitted model is proven to be within this, times the largest reward.
    pub tolerance: f64,
    /// The unit of returns, such as days, for sentences in reports.
    pub unit: Option<String>,
    /// Bit f is set if the cases of fold f are held out.
    pub hold_out: u16,
    /// Threads of the solver; results are the same bytes for any number.
    pub threads: usize,
}

impl Default for LearnSettings {
    fn default() -> Self {
        Self {
            discount: 0.99,
            min_count: 20,
            keep_logged: false,
            pessimism: 0.0,
            tolerance: 1e-6,
            unit: None,
            hold_out: 0b1110_0000_0000_0000,
            threads: 1,
        }
    }
}

/// The folds that are held out for a share of the cases: the last ones, as many as come closest to the share, but at least one
/// and not all. A share of 0 holds out nothing.
///
/// # Errors
/// If the share is not a number from 0 to below 1.
pub fn hold_out(share: f64) -> Result<u16> {
    if !(0.0..1.0).contains(&share) {
        let expected = "a number from 0 to below 1 (or 0% to below 100%)";
        return Err(Error::Setting { name: "share to hold out", found: share, expected });
    }
    if share == 0.0 {
        return Ok(0);
    }
    let n_folds = (share * FOLDS as f64).round().clamp(1.0, FOLDS as f64 - 1.0) as u32;
    Ok(u16::MAX << (FOLDS as u32 - n_folds))
}

impl LearnSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range, with what was expected.
    pub fn check(&self) -> Result<()> {
        let Self { discount, min_count, pessimism, tolerance, hold_out, .. } = self;
        let min_count = *min_count as f64;
        let checks = [
            ("discount", *discount, *discount > 0.0 && *discount <= 1.0, "a number above 0 and at most 1"),
            (
                "minimum count",
                min_count,
                min_count >= 1.0,
                "at least 1: nothing is known about an action never seen",
            ),
            (
                "pessimism",
                *pessimism,
                pessimism.is_finite() && *pessimism >= 0.0,
                "a finite number of at least 0",
            ),
            ("tolerance", *tolerance, tolerance.is_finite() && *tolerance > 0.0, "a finite number above 0"),
        ];
        for (name, found, is_fine, expected) in checks {
            if !is_fine {
                return Err(Error::Setting { name, found, expected });
            }
        }
        if *hold_out == u16::MAX {
            return Err(Error::AllHeldOut);
        }
        Ok(())
    }
}
