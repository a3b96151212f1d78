//! Changes that cannot matter, where small backups do not keep the answer: choices that the policy does not take, and
//! that stay worse than those it takes.
//!
//! Let everything be maximized, v be the true values before, and `low <= v <= high`, where the policy is worth at least low.
//! A policy that takes none of the changed choices is worth what it was, so low still holds. A changed choice c of s whose
//! backup of `high` is below `low(s)` has a backup of v below `v(s)`, so v is its own backup in the current model. A policy
//! that takes c forever loses the difference each time, without end, while v is bounded; one that takes it finitely often is
//! worth at most v, as before. Hence v, and with it the interval, stays.
//!
//! The largest total until a label is infinite where the label may be missed, which does not depend on values: there
//! only rewards may change. For a number of steps and the long run, the values are not those of the remaining run.

use super::Repair;
use super::work::Undo;
use crate::undiscounted::{ObjectiveKind, Resolved};
use backsweep_mdp::NO_CHOICE;
use backsweep_mdp::SUM_SLACK;

impl Repair {
    /// Returns whether the answer holds after the changes made, given how to undo them.
    pub(super) fn unaffected(&self, made: &[Undo]) -> bool {
        let Some(resolved) = &self.resolved else { return false };
        made.iter().all(|change| match *change {
            Undo::Reward(..) if !resolved.kind.has_rewards() => true,
            Undo::Reward(choice, ..) => self.stays_worse(resolved, choice),
            Undo::Outcomes(choice, _) | Undo::Added(choice) => {
                self.never_asked(resolved, choice)
                    || ((resolved.kind != ObjectiveKind::Until || self.sign < 0.0)
                        && self.stays_worse(resolved, choice))
            }
            Undo::Removed(choice) => self.never_asked(resolved, choice) || self.is_spare(resolved, choice),
        })
    }

    /// Returns whether a choice belongs to a state at which the question ends.
    pub(super) fn never_asked(&self, resolved: &Resolved, choice: usize) -> bool {
        let state = self.rows.owner[choice] as usize;
        let within = |set: &[bool]| set.get(state) == Some(&true);
        matches!(resolved.kind, ObjectiveKind::Reach | ObjectiveKind::ReachWithin(_) | ObjectiveKind::Until)
            && (within(&resolved.goal) || within(&resolved.avoid))
    }

    /// Returns whether the policy does not use a choice, in a state of finite value.
    fn is_spare(&self, resolved: &Resolved, choice: usize) -> bool {
        let state = self.rows.owner[choice] as usize;
        matches!(resolved.kind, ObjectiveKind::Reach | ObjectiveKind::Until | ObjectiveKind::Total)
            && ![NO_CHOICE, choice as u32].contains(&self.policy[state])
            && self.signed(state).0.is_finite()
            && self.signed(state).1.is_finite()
    }

    /// Returns whether the policy does not use a choice and the choice is worse than the one it uses.
    fn stays_worse(&self, resolved: &Resolved, choice: usize) -> bool {
        if self.never_asked(resolved, choice) {
            return true;
        }
        if !self.is_spare(resolved, choice) {
            return false;
        }
        let (low, _) = self.signed(self.rows.owner[choice] as usize);
        let best_of_all = if self.sign > 0.0 { 1.0 } else { 0.0 };
        (resolved.kind == ObjectiveKind::Reach && low >= best_of_all)
            || self.at_most(resolved, choice).is_some_and(|most| most < low)
    }

    /// An upper bound on the value of a choice, everything maximized.
    fn at_most(&self, resolved: &Resolved, choice: usize) -> Option<f64> {
        let [least, most] = resolved.rewards.get(choice).copied().unwrap_or_default();
        let reward = if self.sign > 0.0 { most } else { -least };
        let (targets, probabilities) = self.rows.row(choice);
        let mass: f64 = probabilities.iter().sum();
        if resolved.kind == ObjectiveKind::Until && mass < 1.0 - SUM_SLACK {
            return None;
        }
        let (mut sum, mut size, mut largest) = (reward, reward.abs(), 0.0_f64);
        for (&target, p) in targets.iter().zip(probabilities) {
            let (_, high) = self.signed(target as usize);
            sum += p * high;
            if high.is_finite() {
                size += p * high.abs();
                largest = largest.max(high.abs());
            }
        }
        // Each term is rounded at most once per addition and once for its product; a row that is meant to sum to 1 may miss it.
        let missing = if mass < 1.0 - SUM_SLACK { 0.0 } else { (1.0 - mass).abs() };
        let rounding = (targets.len() as f64 + 8.0) * f64::EPSILON * size;
        Some(sum + rounding + 2.0 * missing * largest + f64::MIN_POSITIVE).filter(|most| !most.is_nan())
    }

    /// The interval of a state, everything maximized.
    fn signed(&self, state: usize) -> (f64, f64) {
        let (low, high) = self.interval(state);
        if self.sign > 0.0 { (low, high) } else { (-high, -low) }
    }
}
