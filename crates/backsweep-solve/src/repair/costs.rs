//! Total costs without discount: small backups with a bound in proportion to the value.
//!
//! Every step costs at least c > 0 until the run ends (at the goal, or at the end of the episode). Let J be values of 0 or
//! more with a residual of at most e < c everywhere: `|J - min (cost + mean J)| <= e`, and let d = e / (c - e).
//!
//! * Along the policy whose choices are best up to e, `(1 + d) J` is backed up to at most
//!   `(1 + d) (J + e) - d c = (1 + d) J`, since each step costs at least c. The policy therefore costs at most that; its
//!   total is finite, and every step costs at least c, so it ends with probability 1. Nothing needs to be known about the
//!   graph.
//! * No choice backs `(1 - d) J` up to less than `(1 - d) (J - e) + d c >= (1 - d) J`. A policy that ends costs no less
//!   than the limit of its repeated backups; one that may not end has infinite cost.
//!
//! States of infinite cost stay infinite while no choice of *theirs* changes: if one could reach the end with certainty after
//! changes elsewhere, it could have reached the states of finite cost before, and the end from there.

use super::{Ends, Margin, Repair, Upkeep};
use crate::undiscounted::{ComponentMethod, ObjectiveKind, Resolved, SolveTask, UNIT, View};
use crate::{Limits, Result, Solution};
use backsweep_mdp::NO_CHOICE;
use backsweep_mdp::SUM_SLACK;

/// The state that costs need besides values.
#[derive(Clone)]
pub(super) struct Costs {
    /// No choice that counts costs less per step.
    least: f64,
    /// Choices that never count: those of goals, and those that may end the episode elsewhere, which costs an infinite amount.
    dead: Vec<bool>,
    /// True if a change went beyond what small backups can repair.
    stale: bool,
}

impl Costs {
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// The margin that a residual proves.
    pub fn margin(&self, residual: f64) -> Margin {
        let left = (self.least - residual).next_down();
        let relative = if left > 0.0 {
            residual / left * (1.0 + 4.0 * f64::EPSILON) + f64::MIN_POSITIVE
        } else {
            f64::INFINITY
        };
        Margin { absolute: 0.0, relative }
    }

    /// The residual that proves values up to `largest` within a tolerance.
    pub fn residual_for(&self, tolerance: f64, largest: f64) -> f64 {
        match self.least {
            least if least.is_infinite() => f64::MAX,
            least => least * tolerance / (largest + tolerance),
        }
    }
}

impl Repair {
    /// Returns whether a choice takes part: not removed, not dead.
    pub(super) fn counts(&self, choice: usize) -> bool {
        let dead = matches!(&self.upkeep, Upkeep::Costs(costs) if costs.dead[choice]);
        !dead && !self.rows.removed[choice]
    }

    /// Returns whether a state without relevant choices is an end, worth 0, and not one from which the goal is missed.
    pub(super) fn ends(&self, state: usize) -> bool {
        match (&self.upkeep, &self.resolved) {
            (Upkeep::Costs(_), Some(Resolved { kind: ObjectiveKind::Until, goal, .. })) => goal[state],
            (Upkeep::Costs(_), _) => self.rows.choices_of(state).next().is_none(),
            _ => true,
        }
    }

    /// Takes a changed or new choice into account.
    pub(super) fn count_cost(&mut self, choice: usize) {
        let Some(resolved) = &self.resolved else { return };
        let (dead, cost) = (self.is_dead(resolved, choice), self.cost(resolved, choice));
        let infinite = self.values.get(self.rows.owner[choice] as usize) == Some(&f64::NEG_INFINITY);
        if let Upkeep::Costs(costs) = &mut self.upkeep {
            costs.dead.resize(choice.max(costs.dead.len().saturating_sub(1)) + 1, false);
            costs.dead[choice] = dead;
            costs.stale |= infinite;
            if !dead && !self.rows.removed[choice] {
                costs.stale |= cost <= 0.0;
                costs.least = costs.least.min(cost);
            }
        }
    }

    /// The least cost of a choice.
    fn cost(&self, resolved: &Resolved, choice: usize) -> f64 {
        let [low, high] = resolved.rewards.get(choice).copied().unwrap_or_default();
        if self.sign > 0.0 { -high } else { low }
    }

    fn is_dead(&self, resolved: &Resolved, choice: usize) -> bool {
        let sum = || self.rows.row(choice).1.iter().sum::<f64>();
        resolved.kind == ObjectiveKind::Until
            && (resolved.goal[self.rows.owner[choice] as usize] || 1.0 - sum() > SUM_SLACK)
    }

    /// Returns the state that small backups of costs need, if every choice that counts costs something.
    fn as_costs(&self, resolved: &Resolved) -> Option<Costs> {
        let fits = match resolved.kind {
            ObjectiveKind::Until => self.sign < 0.0,
            ObjectiveKind::Total => true,
            _ => false,
        };
        if !fits {
            return None;
        }
        let dead: Vec<bool> = (0..self.rows.n_choices()).map(|c| self.is_dead(resolved, c)).collect();
        let counts = |&c: &usize| !dead[c] && !self.rows.removed[c];
        let all = (0..dead.len()).filter(counts).map(|c| self.cost(resolved, c));
        let least = all.fold(f64::INFINITY, f64::min);
        (least > 0.0).then_some(Costs { least, dead, stale: false })
    }

    /// Solves the current model without discount. If `warm`, sweeps start from the current values. Then small backups take
    /// over where possible.
    pub(super) fn answer(&mut self, limits: &Limits, warm: bool) -> Result<u64> {
        let Some(resolved) = &self.resolved else { return Ok(0) };
        let costs = self.as_costs(resolved);
        let direction = self.direction();
        self.rows.update_arrays()?;
        let (mdp, ids) = self.rows.arrays();
        let view = match &self.ends {
            Some(Ends { of_choices, slack }) => {
                View::with_ends(mdp, ids.iter().map(|&id| of_choices[id as usize]).collect(), *slack)
            }
            None => {
                let mut view = View::new(mdp)?;
                // Room for later rows whose sums are rounded a little more.
                view.slack = view.slack.max(4.0 * UNIT);
                let mut of_choices = vec![0.0; self.q.len().max(mdp.n_choices())];
                ids.iter().zip(&view.ends).for_each(|(&id, &end)| of_choices[id as usize] = end);
                self.ends = Some(Ends { of_choices, slack: view.slack });
                view
            }
        };
        let rewards: Vec<[f64; 2]> = if resolved.rewards.is_empty() {
            Vec::new()
        } else {
            ids.iter().map(|&id| resolved.rewards[id as usize]).collect()
        };
        let share = if costs.is_some() { 0.5 } else { 1.0 };
        let mut start = std::mem::take(&mut self.warm);
        // Sweeps for the long run do not start from its values.
        let is_warm = warm && resolved.kind != ObjectiveKind::Average && !self.values.is_empty();
        if is_warm {
            start.values.clone_from(&self.values);
        }
        let task = SolveTask {
            tolerance: share * limits.tolerance,
            stop: &|| (limits.stop)(),
            method: ComponentMethod::Automatic,
            warm: is_warm.then_some(&start),
            keep: matches!(resolved.kind, ObjectiveKind::Reach | ObjectiveKind::Until | ObjectiveKind::Total),
        };
        let (mut solution, mut kept, next) = resolved.answer(&view, &rewards, direction, &task);
        if let Some(kept) = &mut kept {
            kept.renumber(ids);
        }
        solution.policy.iter_mut().filter(|c| **c != NO_CHOICE).for_each(|c| *c = ids[*c as usize]);
        let narrow = |(l, u): (&f64, &f64)| l == u || u - l <= 2.0 * limits.tolerance;
        solution.converged = solution.lower.iter().zip(&solution.upper).all(narrow);
        // A change of an infinite value is solved again, so small backups are for models that have few.
        let n_states = solution.lower.len();
        let n_infinite = || (0..n_states).filter(|&s| solution.value(s).is_infinite()).count();
        let costs = costs.filter(|_| 2 * n_infinite() <= n_states);
        (self.solved, self.kept, self.warm) = (None, None, next);
        self.effort = (solution.iterations, solution.explanation.clone());
        if let (Some(costs), true) = (costs, solution.converged) {
            self.upkeep = Upkeep::Costs(costs);
            self.adopt(self.signed_values(&solution), solution.policy.clone());
            let (backups, settled) = self.settle(limits, self.budget);
            if settled == super::work::Settled::Done && self.converged() {
                return Ok(backups);
            }
            self.keep(solution);
            return Ok(backups);
        }
        self.keep(solution);
        self.kept = kept;
        Ok(0)
    }

    fn signed_values(&self, solution: &Solution) -> Vec<f64> {
        (0..solution.lower.len()).map(|s| self.sign * solution.value(s)).collect()
    }

    /// Keeps an answer as it is.
    fn keep(&mut self, solution: Solution) {
        self.upkeep = Upkeep::Solve;
        self.values = self.signed_values(&solution);
        self.policy.clone_from(&solution.policy);
        self.queue.clear();
        self.solved = Some(solution);
    }

    /// Forgets the answer: nothing is known.
    pub(super) fn forget(&mut self) {
        let n = self.rows.n_states();
        self.keep(Solution {
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
            policy: vec![NO_CHOICE; n],
            converged: false,
            iterations: 0,
            explanation: Vec::new(),
        });
    }
}
