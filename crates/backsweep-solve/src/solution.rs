//! What every solver of this crate returns, and its limits.

use crate::{Error, Result};

/// Values of all states with proven intervals, and a policy.
///
/// For every state, `lower <= true value <= upper`, however the solver was stopped. Infinite values are reported as infinite in
/// both.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The value of each state is at least this.
    pub lower: Vec<f64>,
    /// The value of each state is at most this.
    pub upper: Vec<f64>,
    /// The choice that the policy takes in each state (an index into the model's choices), or
    /// [`NO_CHOICE`](backsweep_mdp::NO_CHOICE).
    pub policy: Vec<u32>,
    /// Whether every interval is proven and no wider than twice the tolerance.
    pub converged: bool,
    /// Sweeps over all or part of the states, eliminations counted as one.
    pub iterations: u64,
    /// What was done and why, one line per decision. If the answer has not converged and nothing stopped the work, the last
    /// line says what keeps intervals wide.
    pub explanation: Vec<String>,
}

impl Solution {
    /// The middle of a state's interval; the infinite value itself where it is infinite.
    pub fn value(&self, state: usize) -> f64 {
        let (lower, upper) = (self.lower[state], self.upper[state]);
        if lower == upper { lower } else { lower + (upper - lower) / 2.0 }
    }
}

/// How far to go: by default to a tolerance of 1e-6, on one thread, without a stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The tolerance: every value should be within this of the truth; above 0.
    pub tolerance: f64,
    /// Called now and then; `true` ends the work with the intervals reached so far, which are still proven.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// The number of threads to use; results are the same bytes for any number.
    pub threads: usize,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self { tolerance: 1e-6, stop: &|| false, threads: 1 }
    }
}

impl Limits<'_> {
    /// Whether the tolerance can be reached at all.
    pub(crate) fn check(&self) -> Result<()> {
        if self.tolerance > 0.0 && self.tolerance.is_finite() {
            return Ok(());
        }
        Err(Error::Tolerance { found: self.tolerance })
    }
}
