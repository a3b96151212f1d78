//! The effect of changes, without keeping them.

use super::{Change, Repair, Repaired, work};
use crate::{Limits, Result};

/// The effect of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// The value of each state without the change (middle of its interval).
    pub before: Vec<f64>,
    /// The value of each state with the change.
    pub after: Vec<f64>,
    /// All values of both are within this of the truth.
    pub bound: f64,
    /// The states where the policy takes a different choice.
    pub policy_changes: Vec<u32>,
    /// The choice that the policy takes with the change in each of these states, or [`backsweep_mdp::NO_CHOICE`].
    pub choices_after: Vec<u32>,
    /// The outcome of the repair.
    pub repaired: Repaired,
}

impl Repair {
    /// Answers what changes would do, without keeping them.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn what_if(&mut self, changes: &[Change], limits: &Limits) -> Result<WhatIf> {
        self.check(changes)?;
        let (values, policy) = (self.values.clone(), self.policy.clone());
        let (q, known, n_small) = (self.q.clone(), self.known.clone(), self.n_small.clone());
        let (question, solved, how) = (self.upkeep.clone(), self.solved.clone(), self.effort.clone());
        let numbers = (self.facts, self.largest_value, self.promise, self.tolerance);
        let (bound_before, unfinished) = (self.bound(), !self.queue.is_empty());
        let n_choices = self.rows.n_choices();
        let undo: Vec<work::Undo> = changes.iter().map(|change| self.make(change)).collect();
        // A solver that accepts the changes can undo them; one that does not is set aside.
        let snapshot =
            self.kept.as_ref().filter(|kept| self.all_fit(kept, &undo)).map(|kept| kept.solver.snapshot());
        let aside = if snapshot.is_none() { self.kept.take() } else { None };
        let repaired = self.repair(&undo, limits);
        let signed = |values: &[f64]| values.iter().map(|v| self.sign * v).collect::<Vec<f64>>();
        let differs = |&state: &usize| policy[state] != self.policy[state];
        let changed: Vec<usize> = (0..policy.len()).filter(differs).collect();
        let answer = WhatIf {
            before: signed(&values),
            after: signed(&self.values),
            bound: bound_before.max(self.bound()),
            policy_changes: changed.iter().map(|&state| state as u32).collect(),
            choices_after: changed.iter().map(|&state| self.policy[state]).collect(),
            repaired,
        };
        let changed: Vec<usize> = undo.iter().map(work::Undo::choice).collect();
        for change in undo.into_iter().rev() {
            self.unmake(change);
        }
        self.kept = match (snapshot, self.kept.take()) {
            (Some(snapshot), Some(mut kept)) if !repaired.solved_afresh => {
                self.replace_rows(&mut kept, changed.into_iter());
                kept.solver.restore(snapshot);
                Some(kept)
            }
            _ => aside,
        };
        self.forget_choices(n_choices);
        (self.values, self.policy) = (values, policy);
        (self.q, self.known, self.n_small) = (q, known, n_small);
        (self.upkeep, self.solved, self.effort) = (question, solved, how);
        (self.facts, self.largest_value, self.promise, self.tolerance) = numbers;
        self.queue.clear();
        if unfinished {
            self.requeue();
        }
        Ok(answer)
    }
}
