//! What changes would do: by small backups where possible, otherwise on a copy of the model.

use crate::errors::show;
use crate::known::editing::Edit;
use crate::known::solving::{Answer, Effort, Question, Solved, wrong};
use crate::known::stopping::Stopping;
use crate::outcomes::outcomes;
use backsweep_solve::{Change, Limits, NO_CHOICE, Query};
use pyo3::prelude::*;

/// A change: state, action, outcomes, reward.
pub type GivenChange<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<f64>);

/// What changes would do.
pub struct Compared {
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    pub bound: Option<f64>,
    pub converged: bool,
    /// The states where the policy takes another action, with both actions.
    pub moved: Vec<(u32, u32, u32)>,
}

impl Solved {
    /// Answers what changes would do. One without outcomes or reward is a removal.
    pub fn what_if<'py>(
        &mut self,
        py: Python<'py>,
        changes: &[GivenChange<'py>],
        question: &Question,
        effort: &Effort,
        stopping: &Stopping,
    ) -> PyResult<Compared> {
        let ready = self.ready(py, question, effort, stopping)?;
        let mut edits = Vec::with_capacity(changes.len());
        for (state, action, given, reward) in changes {
            let pair = || format!("action {} in state {}", show(action), show(state));
            let edit = match (given, reward) {
                (Some(given), _) => Edit::Outcomes(outcomes(given, &pair)?),
                (None, Some(reward)) => Edit::Reward(*reward),
                (None, None) => Edit::Remove,
            };
            edits.push((state.clone(), action.clone(), edit));
        }
        let (found, added) = self.changes(edits)?;
        let compared = if ready { self.compare(py, (&found, &added), effort, stopping)? } else { None };
        match compared {
            Some(compared) if compared.converged || stopping.stop() => Ok(compared),
            _ => {
                let mut other = Solved::new(self.model.copied(py)?, self.discount);
                for (state, action, given, reward) in changes {
                    match (given, reward) {
                        (Some(given), _) => other.set_outcomes(state, action, given, false)?,
                        (None, Some(reward)) => other.set_reward(state, action, *reward)?,
                        (None, None) => other.remove(state, action)?,
                    }
                }
                let after = other.solve(py, question, effort, stopping)?;
                Ok(Compared::new(self.solve(py, question, effort, stopping)?, after))
            }
        }
    }

    /// Solves, and prepares for questions about changes if small backups can answer them; returns whether they can.
    fn ready(
        &mut self,
        py: Python<'_>,
        question: &Question,
        effort: &Effort,
        stopping: &Stopping,
    ) -> PyResult<bool> {
        self.solve(py, question, effort, stopping)?;
        if self.tracked.as_ref().is_some_and(|tracked| tracked.is_ready_for(question)) {
            return Ok(true);
        }
        let stop = || stopping.stop();
        let limits = Limits { tolerance: effort.tolerance, stop: &stop, threads: effort.threads };
        Ok(self.track(py, question, &limits)?.is_some())
    }

    /// What changes would do, by small backups, once all is [`ready`](Self::ready). `actions` are those of the choices that
    /// the changes add.
    fn compare(
        &mut self,
        py: Python<'_>,
        (changes, actions): (&[Change], &[u32]),
        effort: &Effort,
        stopping: &Stopping,
    ) -> PyResult<Option<Compared>> {
        let stop = || stopping.stop();
        let limits = Limits { tolerance: effort.tolerance, stop: &stop, threads: effort.threads };
        let Some(tracked) = self.tracked.as_mut() else { return Ok(None) };
        // Without discount, rounded rewards are counted in the repair itself.
        let off = match tracked.question.query {
            Query::Discounted { discount, .. } => {
                self.model.reward_error / (1.0 - discount) * (1.0 + 4.0 * f64::EPSILON)
            }
            _ => {
                tracked.repair.count_reward_error(self.model.reward_error);
                0.0
            }
        };
        let repair = &mut tracked.repair;
        let answer = py.detach(|| repair.what_if(changes, &limits)).map_err(wrong)?;
        let n = self.model.action_of.len();
        let action = |choice: u32| match choice {
            NO_CHOICE => NO_CHOICE,
            choice if (choice as usize) < n => self.model.action_of[choice as usize],
            choice => actions.get(choice as usize - n).copied().unwrap_or(NO_CHOICE),
        };
        let moved = answer.policy_changes.iter().zip(&answer.choices_after);
        // Where the choice does not matter, the answer still names an action, and no other is better.
        let before = |state: u32| match tracked.repair.choice(state as usize) {
            NO_CHOICE => self.answer.as_ref().map_or(NO_CHOICE, |answer| answer.policy[state as usize]),
            choice => action(choice),
        };
        let added =
            |state: u32| changes.iter().any(|c| matches!(c, Change::Add { state: s, .. } if *s == state));
        let gone = |choice: u32| changes.contains(&Change::Remove { choice });
        let emptied = |state: u32| !added(state) && self.model.choices_of(state).all(gone);
        let moved = moved.filter(|(state, after)| **after != NO_CHOICE || emptied(**state));
        let moved = moved.map(|(&state, &after)| (state, before(state), action(after)));
        let moved = moved.filter(|(_, before, after)| before != after);
        let bound = answer.bound + off;
        Ok(Some(Compared {
            moved: moved.collect(),
            before: answer.before,
            after: answer.after,
            bound: Some(bound).filter(|bound| bound.is_finite()),
            converged: answer.repaired.converged && bound <= effort.tolerance,
        }))
    }
}

impl Compared {
    /// Two answers to the same question, before and after changes.
    fn new(before: &Answer, after: &Answer) -> Self {
        let policies = (0..).zip(before.policy.iter().zip(&after.policy));
        let moved = policies.filter(|(_, (before, after))| before != after);
        Self {
            before: before.values.clone(),
            after: after.values.clone(),
            bound: before.error_bound().zip(after.error_bound()).map(|(a, b)| a.max(b)),
            converged: before.converged && after.converged,
            moved: moved.map(|(state, (&before, &after))| (state, before, after)).collect(),
        }
    }
}
