//! What every solver of this crate returns, and its limits.

/// No choice: the policy of a terminal state, or of one where the choice does not matter.
pub const NO_CHOICE: u32 = u32::MAX;

/// Whether values are the largest or the smallest that a policy attains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The best policy has the largest value.
    Maximize,
    /// The best policy has the smallest value.
    Minimize,
}

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
    /// The choice that the policy takes in each state (an index into the model's choices), or [`NO_CHOICE`].
    pub policy: Vec<u32>,
    /// Whether every interval is proven and no wider than twice the tolerance.
    pub converged: bool,
    /// Sweeps over all or part of the states, eliminations counted as one.
    pub iterations: u64,
    /// What was done and why, for `--explain`: one line per decision.
    pub explanation: Vec<String>,
}

impl Solution {
    /// The middle of a state's interval; the infinite value itself where it is infinite.
    pub fn value(&self, state: usize) -> f64 {
        let (lower, upper) = (self.lower[state], self.upper[state]);
        if lower == upper { lower } else { lower + (upper - lower) / 2.0 }
    }
}

/// How far to go.
pub struct Limits<'a> {
    /// The tolerance: every value should be within this of the truth; above 0.
    pub tolerance: f64,
    /// Called now and then; `true` ends the work with the intervals reached so far, which are still proven.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// The number of threads to use; results are the same bytes for any number.
    pub threads: usize,
}
