//! The effect of edits: by small backups where possible, otherwise on a copy of the model.

use super::{Answer, Edit, Session};
use crate::{Limits, Result, discounted_error};
use backsweep_mdp::{Change, NO_CHOICE, Question};

/// The effect of edits.
#[derive(Clone, Debug, PartialEq)]
pub struct EditComparison {
    /// The value of each state without the edits.
    pub before: Vec<f64>,
    /// The value of each state with them.
    pub after: Vec<f64>,
    /// No value of both is further from the truth than this; `None` if some interval is infinite.
    pub bound: Option<f64>,
    /// True if both were answered to within the tolerance.
    pub converged: bool,
    /// The states where the policy takes another action, with both actions.
    pub moved: Vec<(u32, u32, u32)>,
}

impl EditComparison {
    /// Two answers to the same question, before and after edits.
    fn new(before: &Answer, after: &Answer) -> Self {
        let policies = (0..).zip(before.policy.iter().zip(&after.policy));
        let moved = policies.filter(|(_, (before, after))| before != after);
        Self {
            before: before.values.clone(),
            after: after.values.clone(),
            bound: before.error_bound().zip(after.error_bound()).map(|(a, b)| a.max(b)),
            converged: before.solution.converged && after.solution.converged,
            moved: moved.map(|(state, (&before, &after))| (state, before, after)).collect(),
        }
    }
}

impl Session {
    /// Answers what edits of the known states would do, together. The edits are not made.
    ///
    /// # Errors
    /// As [`solve`](Self::solve) and [`edit`](Self::edit).
    pub fn what_if(
        &mut self,
        edits: &[(u32, u32, Edit)],
        question: &Question,
        limits: &Limits,
    ) -> Result<EditComparison> {
        let ready = self.ready(question, limits)?;
        let (changes, added) = self.changes(edits)?;
        let compared = if ready { self.compare(&changes, &added, limits)? } else { None };
        match compared {
            Some(compared) if compared.converged || (limits.stop)() => Ok(compared),
            _ => {
                let mut other = Self { model: self.model.clone(), ..Self::default() };
                for (state, action, edit) in edits {
                    other.edit(*state, *action, edit.clone())?;
                }
                let after = other.solve(question, None, limits)?;
                Ok(EditComparison::new(self.solve(question, None, limits)?, after))
            }
        }
    }

    /// Solves, and prepares for questions about edits if small backups can answer them; returns whether they can.
    fn ready(&mut self, question: &Question, limits: &Limits) -> Result<bool> {
        self.solve(question, None, limits)?;
        if self.tracked.as_ref().is_some_and(|tracked| tracked.is_ready_for(question)) {
            return Ok(true);
        }
        let within = self.for_repair(limits);
        Ok(self.track(question, &within)?.is_some())
    }

    /// Edits as the solver takes them, and the actions of the choices that they add. Nothing is changed.
    fn changes(&mut self, edits: &[(u32, u32, Edit)]) -> Result<(Vec<Change>, Vec<u32>)> {
        self.model.prepare()?;
        let (mut changes, mut added) = (Vec::new(), Vec::new());
        for (state, action, edit) in edits {
            let made = self.model.changes(*state, *action, edit.clone())?;
            added.extend(made.iter().filter(|change| matches!(change, Change::Add { .. })).map(|_| *action));
            changes.extend(made);
        }
        Ok((changes, added))
    }

    /// Computes the effect of changes by small backups, once all is [`ready`](Self::ready). `actions` are those of
    /// the choices that the changes add.
    fn compare(
        &mut self,
        changes: &[Change],
        actions: &[u32],
        limits: &Limits,
    ) -> Result<Option<EditComparison>> {
        let within = self.for_repair(limits);
        let Some(tracked) = self.tracked.as_mut() else { return Ok(None) };
        // Without discount, rounded rewards are counted in the repair itself.
        let off = match tracked.question.objective.discount() {
            Some(discount) => discounted_error(self.model.reward_error, discount),
            None => {
                tracked.repair.count_reward_error(self.model.reward_error);
                0.0
            }
        };
        let answer = tracked.repair.what_if(changes, &within)?;
        let action_of = self.model.action_of();
        let action = |choice: u32| match choice {
            NO_CHOICE => NO_CHOICE,
            choice if (choice as usize) < action_of.len() => action_of[choice as usize],
            choice => actions.get(choice as usize - action_of.len()).copied().unwrap_or(NO_CHOICE),
        };
        // Where the choice does not matter, the answer still names an action, and no other is better.
        let before = |state: u32| match tracked.repair.choice(state as usize) {
            NO_CHOICE => self.answer.as_ref().map_or(NO_CHOICE, |answer| answer.policy[state as usize]),
            choice => action(choice),
        };
        let added =
            |state: u32| changes.iter().any(|c| matches!(c, Change::Add { state: s, .. } if *s == state));
        let gone = |choice: u32| changes.contains(&Change::Remove { choice });
        let emptied = |state: u32| !added(state) && self.model.choices_of(state).all(gone);
        let moved = answer.policy_changes.iter().zip(&answer.choices_after);
        let moved = moved.filter(|(state, after)| **after != NO_CHOICE || emptied(**state));
        let moved = moved.map(|(&state, &after)| (state, before(state), action(after)));
        let bound = answer.bound + off;
        let is_near = |(value, state): (&f64, u32)| {
            bound <= limits.allowed(value - bound, value + bound)
                || self.model.choices_of(state).next().is_none()
        };
        let near = answer.after.iter().zip(0..).all(is_near);
        Ok(Some(EditComparison {
            moved: moved.filter(|(_, before, after)| before != after).collect(),
            before: answer.before,
            after: answer.after,
            bound: Some(bound).filter(|bound| bound.is_finite()),
            converged: answer.repaired.converged && near,
        }))
    }
}
