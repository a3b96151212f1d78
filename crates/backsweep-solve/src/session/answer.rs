//! An answer to a question about a session's model.

use crate::{Solution, Start};
use backsweep_mdp::Question;

/// An answer: everything by state.
#[derive(Clone)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The tolerance that was asked for.
    pub tolerance: f64,
    /// The relative tolerance that was asked for; 0 for none.
    pub relative: f64,
    /// Intervals, and where they come from. Its `policy` is empty; `iterations` is 0 if nothing had to be done, and counts backups
    /// after a repair.
    pub solution: Solution,
    /// The value of each state.
    pub values: Vec<f64>,
    /// The action that the policy takes, as an id; [`NO_CHOICE`](backsweep_mdp::NO_CHOICE) where a state has none.
    pub policy: Vec<u32>,
    /// True if small backups repaired an earlier answer.
    pub repaired: bool,
    /// True if the model is still the one that was solved.
    pub current: bool,
    pub(super) start: Option<Start>,
}

impl Answer {
    /// An answer that is not about the current model, with values for a repair to start from.
    pub fn new(
        question: Question,
        tolerance: f64,
        solution: Solution,
        policy: Vec<u32>,
        start: Vec<f64>,
    ) -> Self {
        let values =
            solution.lower.iter().zip(&solution.upper).map(|(&low, &high)| middle(low, high)).collect();
        let start = Some(Start { values: start });
        Self {
            question,
            tolerance,
            relative: 0.0,
            solution,
            values,
            policy,
            repaired: false,
            current: false,
            start,
        }
    }

    /// Values for a repair to start from; those of a repair itself are the middles of its intervals.
    /// Without discount there is nothing to start from.
    pub fn start(&self) -> Vec<f64> {
        if self.question.objective.discount().is_none() {
            return vec![0.0; self.values.len()];
        }
        self.start.as_ref().map_or(&self.values, |start| &start.values).clone()
    }

    /// No value is further from the truth than this; `None` if some interval is infinite.
    pub fn error_bound(&self) -> Option<f64> {
        let Solution { lower, upper, .. } = &self.solution;
        let off = |((&value, &lower), &upper): ((&f64, &f64), &f64)| {
            if lower == upper { 0.0 } else { (upper - value).max(value - lower).next_up() }
        };
        let most = self.values.iter().zip(lower).zip(upper).map(off).fold(0.0, f64::max);
        Some(most).filter(|most| most.is_finite())
    }
}

/// The middle of an interval; its finite end if the other is infinite.
fn middle(lower: f64, upper: f64) -> f64 {
    match (lower.is_finite(), upper.is_finite()) {
        _ if lower == upper => lower,
        (true, true) => lower + (upper - lower) / 2.0,
        (true, false) => lower,
        (false, true) => upper,
        (false, false) => f64::NAN,
    }
}
