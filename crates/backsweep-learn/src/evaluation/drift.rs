//! The gain over time.
//!
//! All cases that are known in full are compared, training cases included: what was fitted to them was fitted to all periods, so
//! that it hides no difference between periods.

use super::Estimate;
use crate::bootstrap::mean_interval;
use serde::Serialize;

/// Into how many periods of about the same number of cases time is cut.
const PERIODS: usize = 3;
/// The fewest cases per period.
const MIN_PERIOD: usize = 20;

/// The gain per period of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The gain of the cases that began in each period, the earliest first.
    #[serde(rename = "gain_by_period")]
    pub periods: Vec<Estimate>,
    /// By how many standard errors the gain of one period differs from that of the others, at most.
    #[serde(rename = "standard_errors")]
    pub errors: f64,
}

/// The gains of cases by when they began; `None` if that is unknown, or for too few cases.
pub(super) fn drift(gains: &[f64], order: &[u32]) -> Option<Drift> {
    if order.len() != gains.len() || gains.len() < PERIODS * MIN_PERIOD {
        return None;
    }
    let mut sorted: Vec<usize> = (0..gains.len()).collect();
    sorted.sort_by_key(|&i| order[i]);
    if order[sorted[0]] == order[sorted[sorted.len() - 1]] {
        return None;
    }
    let cut = |period: usize| period * sorted.len() / PERIODS;
    let moments = |cases: &mut dyn Iterator<Item = usize>| {
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for gain in cases.map(|i| gains[i]) {
            (n, sum, squares) = (n + 1.0, sum + gain, squares + gain * gain);
        }
        let mean: f64 = sum / n;
        (mean, (squares / n - mean * mean).max(0.0) / (n - 1.0))
    };
    let (mut periods, mut errors) = (Vec::new(), 0.0_f64);
    for period in 0..PERIODS {
        let (from, to) = (cut(period), cut(period + 1));
        let own: Vec<f64> = sorted[from..to].iter().map(|&i| gains[i]).collect();
        periods.push(mean_interval(&own));
        let (mean, variance) = moments(&mut sorted[from..to].iter().copied());
        let (others, of_others) = moments(&mut sorted[..from].iter().chain(&sorted[to..]).copied());
        let error = (variance + of_others).sqrt();
        if error > 0.0 {
            errors = errors.max((mean - others).abs() / error);
        }
    }
    Some(Drift { periods, errors })
}
