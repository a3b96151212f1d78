//! Changes that leave the graph analysis valid, where small backups do not keep the answer: the components with a changed
//! row are solved again, and those before them if bounds move. See [`KeptSolver`] for which changes these are.

use super::Repair;
use super::work::Undo;
use crate::Limits;
use crate::undiscounted::{
    ComponentMethod, KeptSolver, NewRow, ReducedRow, Resolved, SolveTask, ends_and_slack, missing_mass,
};

/// The property of a reward that graph analysis uses.
fn class([low, high]: [f64; 2]) -> (bool, bool, bool) {
    ([low, high] == [0.0; 2], low >= 0.0, high <= 0.0)
}

impl Repair {
    /// Returns whether the solver can be kept through the changes made, given how to undo them.
    pub(super) fn all_fit(&self, kept: &KeptSolver, made: &[Undo]) -> bool {
        let Some(resolved) = &self.resolved else { return false };
        made.iter().all(|change| match change {
            Undo::Reward(..) if !resolved.kind.has_rewards() => true,
            Undo::Reward(choice, _, before) => {
                let (targets, probabilities) = self.rows.row(*choice);
                self.never_asked(resolved, *choice)
                    || (class(before.unwrap_or_default()) == class(self.bounds_of(resolved, *choice))
                        && self.fits(resolved, kept, *choice, (targets, probabilities)))
            }
            Undo::Outcomes(choice, before) => {
                let (targets, probabilities): (Vec<u32>, Vec<f64>) = before.iter().copied().unzip();
                self.never_asked(resolved, *choice)
                    || self.fits(resolved, kept, *choice, (&targets, &probabilities))
            }
            Undo::Added(_) | Undo::Removed(_) => false,
        })
    }

    fn bounds_of(&self, resolved: &Resolved, choice: usize) -> [f64; 2] {
        resolved.rewards.get(choice).copied().unwrap_or_default()
    }

    fn fits(&self, resolved: &Resolved, kept: &KeptSolver, choice: usize, before: (&[u32], &[f64])) -> bool {
        let known = |state: usize| {
            let (low, high) = self.interval(state);
            low == high && low.is_finite()
        };
        kept.fits(resolved.kind, self.sign < 0.0, &self.new_row(resolved, choice, before), known)
    }

    fn new_row<'r>(
        &'r self,
        resolved: &Resolved,
        choice: usize,
        (targets_before, probabilities_before): (&'r [u32], &[f64]),
    ) -> NewRow<'r> {
        let (targets, probabilities) = self.rows.row(choice);
        let [low, high] = self.bounds_of(resolved, choice);
        let reward = if self.sign > 0.0 { [low, high] } else { [0.0 - high, 0.0 - low] };
        let (ends, slack) = ends_and_slack(missing_mass(probabilities));
        let row = ReducedRow { targets, probabilities, ends, reward };
        let ended_before = ends_and_slack(missing_mass(probabilities_before)).0 > 0.0;
        NewRow {
            state: self.rows.owner[choice],
            choice: choice as u32,
            row,
            slack,
            targets_before,
            ended_before,
        }
    }

    /// Passes the rows of changes, or of undone ones, to the solver.
    pub(super) fn replace_rows(&self, kept: &mut KeptSolver, choices: impl Iterator<Item = usize>) {
        if let Some(resolved) = &self.resolved {
            let asked_of = |&choice: &usize| !self.never_asked(resolved, choice);
            choices
                .filter(asked_of)
                .for_each(|choice| kept.replace(&self.new_row(resolved, choice, (&[], &[]))));
        }
    }

    /// Re-solves what depends on the changes passed to the solver. Returns the number of states visited; `None` if the model
    /// has to be solved from scratch.
    pub(super) fn reuse(&mut self, kept: &mut KeptSolver, made: &[Undo], limits: &Limits) -> Option<u64> {
        let solved = self.solved.as_mut()?;
        let task = SolveTask {
            tolerance: limits.tolerance,
            stop: &|| (limits.stop)(),
            method: ComponentMethod::Automatic,
            warm: None,
            keep: true,
        };
        let (rows, sign) = (&self.rows, self.sign);
        let changed = made.iter().map(|change| rows.owner[change.choice()]);
        let predecessors = |state: u32, call: &mut dyn FnMut(u32)| {
            let arcs = rows.arcs_into(state as usize).filter(|arc| arc.probability > 0.0);
            arcs.for_each(|arc| call(rows.owner[arc.choice as usize]));
        };
        let mut n_states = 0;
        let same_arcs = made.iter().all(|change| match change {
            Undo::Outcomes(choice, before) => {
                let (targets, probabilities) = rows.row(*choice);
                let (targets_before, before): (Vec<u32>, Vec<f64>) = before.iter().copied().unzip();
                let may_end = |row: &[f64]| ends_and_slack(missing_mass(row)).0 > 0.0;
                targets_before == targets && may_end(&before) == may_end(probabilities)
            }
            _ => true,
        });
        let done = kept.resolve(changed, same_arcs, predecessors, &task, |state, [low, high], choice| {
            n_states += 1;
            let (low, high) = if sign > 0.0 { (low, high) } else { (0.0 - high, 0.0 - low) };
            (solved.lower[state], solved.upper[state], solved.policy[state]) = (low, high, choice);
            self.policy[state] = choice;
            self.values[state] = sign * solved.value(state);
        });
        if !done {
            return None;
        }
        self.effort = (kept.solver.iterations, kept.solver.explanation.clone());
        (solved.iterations, solved.explanation) = self.effort.clone();
        Some(n_states)
    }
}
