//! The result of every solver of this crate, and its limits.

use crate::{Error, Result};

/// Values of all states with proven intervals, and a policy.
///
/// For every state, `lower <= true value <= upper`, however the solver was stopped. Infinite values are reported as infinite in
/// both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// The value of each state is at least this.
    pub lower: Vec<f64>,
    /// The value of each state is at most this.
    pub upper: Vec<f64>,
    /// The choice that the policy takes in each state (an index into the model's choices), or
    /// [`NO_CHOICE`](backsweep_mdp::NO_CHOICE).
    pub policy: Vec<u32>,
    /// True if every interval is proven and no wider than twice the tolerance, absolute or relative.
    pub converged: bool,
    /// Sweeps over all or part of the states, eliminations counted as one.
    pub iterations: u64,
    /// The decisions with their reasons, one per line. If the answer has not converged and nothing stopped the work,
    /// the last line says what keeps intervals wide.
    pub explanation: Vec<String>,
}

impl Solution {
    /// The middle of a state's interval; the infinite value itself where it is infinite.
    pub fn value(&self, state: usize) -> f64 {
        let (lower, upper) = (self.lower[state], self.upper[state]);
        if lower == upper { lower } else { lower + (upper - lower) / 2.0 }
    }

    /// Widens the intervals of states that choose by the largest effect of `rounded` numbers, which were taken as exact.
    pub(crate) fn widen(&mut self, by: f64, limits: &Limits, chooses: impl Fn(usize) -> bool, rounded: &str) {
        if by <= 0.0 {
            return;
        }
        for state in (0..self.lower.len()).filter(|&state| chooses(state)) {
            self.lower[state] = (self.lower[state] - by).next_down();
            self.upper[state] = (self.upper[state] + by).next_up();
        }
        let is_narrow = limits.are_met(&self.lower, &self.upper);
        if self.converged && !is_narrow {
            self.explanation.push(format!("{rounded} are rounded by more than the tolerance allows"));
        }
        self.converged &= is_narrow;
    }
}

/// The limits of a solve: by default a tolerance of 1e-6, one thread, and no stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The tolerance: every value should be within this of the truth; 0 if only `relative` counts.
    pub tolerance: f64,
    /// The relative tolerance: a value is also good enough if it is within this times its size; 0 for none.
    pub relative: f64,
    /// Called now and then; `true` ends the work with the intervals reached so far, which are still proven.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// The number of threads to use; results are the same bytes for any number.
    pub threads: usize,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self { tolerance: 1e-6, relative: 0.0, stop: &|| false, threads: 1 }
    }
}

impl Limits<'_> {
    /// Returns whether the tolerance can be reached at all.
    pub(crate) fn check(&self) -> Result<()> {
        let is_valid = |tolerance: f64| tolerance >= 0.0 && tolerance.is_finite();
        if !is_valid(self.relative) {
            return Err(Error::Tolerance { found: self.relative });
        }
        if !is_valid(self.tolerance) || (self.tolerance == 0.0 && self.relative == 0.0) {
            return Err(Error::Tolerance { found: self.tolerance });
        }
        Ok(())
    }

    /// The accepted distance from the truth of the value of a state with this interval.
    pub fn allowed(&self, lower: f64, upper: f64) -> f64 {
        let size = lower.abs().min(upper.abs());
        if size.is_finite() { self.tolerance.max(self.relative * size) } else { self.tolerance }
    }

    /// Returns whether an interval is narrow enough.
    fn is_met(&self, lower: f64, upper: f64) -> bool {
        lower == upper || upper - lower <= 2.0 * self.allowed(lower, upper)
    }

    /// Returns whether all of these intervals are narrow enough.
    pub(crate) fn are_met(&self, lower: &[f64], upper: &[f64]) -> bool {
        lower.iter().zip(upper).all(|(&lower, &upper)| self.is_met(lower, upper))
    }

    /// The absolute tolerance to try next, after a solution that is not good enough yet: what the most demanding state needs.
    pub(crate) fn next_tolerance(&self, solution: &Solution, before: f64) -> f64 {
        let unmet = solution.lower.iter().zip(&solution.upper).filter(|(l, u)| !self.is_met(**l, **u));
        let needed =
            unmet.map(|(&l, &u)| if l <= 0.0 && u >= 0.0 { 1e-3 * before } else { self.allowed(l, u) });
        needed.fold(before, f64::min).max(1e-6 * before) * 0.9
    }
}
