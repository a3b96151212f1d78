//! c √(Var / n) + d R / n: the empirical Bernstein bound (Maurer & Pontil, *Empirical Bernstein bounds and sample variance
//! penalization*, 2009), with Var the variance of reward plus discounted next value. In a deterministic world it falls
//! as 1/n.
//!
//! Cost: O(successors) per visit. Successors' values may change between two visits while the bonus stays: it is the one
//! computed at the pair's last visit.

use crate::planner::{Model, Pair, Planner};

/// The bonus after `n` visits.
#[inline]
pub(super) fn bonus(c: f64, d: f64, range: f64, n: f64, variance: f64) -> f64 {
    c * (variance / n).sqrt() + d * range / n
}

/// An upper bound on the variance of r + γ U(s') under the pair's model, given that of the reward: their correlation is not
/// known, and the standard deviation of a sum is at most the sum of theirs. An end is worth 0.
pub(super) fn variance(model: &Model, planner: &dyn Planner, pair: Pair, of_reward: f64) -> f64 {
    let weight = model.weight(pair);
    let u = |next: &crate::planner::Successor| {
        planner.backed_up_value(next.state, next.arc).unwrap_or_else(|| planner.values().value(next.state))
    };
    let mean = model.successors(pair).map(|next| next.weight / weight * u(&next)).sum::<f64>();
    let (mut variance, mut left) = (0.0, 1.0);
    for next in model.successors(pair) {
        let p = next.weight / weight;
        variance += p * (u(&next) - mean).powi(2);
        left -= p;
    }
    variance += left.max(0.0) * mean * mean;
    (of_reward.sqrt() + planner.values().discount() * variance.sqrt()).powi(2)
}
