//! Predictions against what followed.

use super::Estimate;
use serde::Serialize;

/// One group of held-out decisions: what was predicted for the logged policy, and what followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The number of cases.
    pub n: usize,
    /// The mean prediction.
    pub predicted: f64,
    /// The mean return that followed.
    pub observed: Estimate,
}

/// The number of calibration groups, and the fewest cases per group.
const GROUPS: usize = 10;
const MIN_GROUP: usize = 20;

/// Groups of neighbouring predictions, lowest first; none from too few cases.
pub(super) fn calibration(mut predictions: Vec<(f64, f64)>) -> Vec<Calibration> {
    // A stable sort: among equal predictions the order must not depend on what followed.
    predictions.sort_by(|a, b| a.0.total_cmp(&b.0));
    let size = predictions.len().div_ceil(GROUPS).max(MIN_GROUP);
    let mut rest = &predictions[..];
    let mut found = Vec::new();
    while rest.len() >= MIN_GROUP {
        let last = rest[size.min(rest.len()) - 1].0;
        let mut end = rest.partition_point(|pair| pair.0 <= last);
        if rest.len() - end < MIN_GROUP {
            end = rest.len();
        }
        let (now, later) = rest.split_at(end);
        rest = later;
        let n = now.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| now.iter().map(of).sum::<f64>() / n;
        let observed = mean(&|pair| pair.1);
        let variance = mean(&|pair| (pair.1 - observed).powi(2)) * n / (n - 1.0);
        found.push(Calibration {
            n: now.len(),
            predicted: mean(&|pair| pair.0),
            observed: Estimate::around(observed, 1.96 * (variance / n).sqrt()),
        });
    }
    found
}
