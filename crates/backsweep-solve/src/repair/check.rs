//! Checks changes before the first is made.

use super::Repair;
use crate::discounted::model::in_range;
use crate::{ChangeProblem, Error, Result};
use backsweep_mdp::{Change, check_row};

impl Repair {
    /// Checks changes in order, each against the model that those before it leave.
    pub(super) fn check(&self, changes: &[Change]) -> Result<()> {
        let (n_states, mut n_choices) = (self.rows.n_states(), self.rows.n_choices());
        let mut removed: Vec<u32> = Vec::new();
        let mut facts = self.facts;
        for (index, change) in changes.iter().enumerate() {
            let exists = |choice: u32| {
                let here = (choice as usize) < n_choices && !removed.contains(&choice);
                if here && self.rows.removed.get(choice as usize) != Some(&true) {
                    return Ok(());
                }
                Err(ChangeProblem::Choice { found: choice, below: n_choices })
            };
            let mut fits = |outcomes: &[(u32, f64)], reward: f64| {
                let sum = check_row(outcomes.iter().copied(), n_states).map_err(ChangeProblem::Row)?;
                facts.add(sum, outcomes.len(), reward);
                if !in_range(reward) {
                    return Err(ChangeProblem::Reward { found: reward });
                }
                if self.resolved.is_none() && facts.most_factor(self.discount()) >= 1.0 {
                    return Err(ChangeProblem::NoContraction);
                }
                Ok(())
            };
            let checked = match change {
                Change::Outcomes { choice, outcomes } => exists(*choice).and_then(|()| fits(outcomes, 0.0)),
                Change::Reward { choice, reward } => exists(*choice).and_then(|()| fits(&[], *reward)),
                Change::Add { state, .. } if *state as usize >= n_states => {
                    Err(ChangeProblem::State { found: *state, below: n_states })
                }
                Change::Add { reward, outcomes, .. } => fits(outcomes, *reward),
                Change::Remove { choice } => exists(*choice),
            };
            checked.map_err(|problem| Error::Change { index, problem })?;
            match change {
                Change::Add { .. } => n_choices += 1,
                Change::Remove { choice } => removed.push(*choice),
                Change::Outcomes { .. } | Change::Reward { .. } => {}
            }
        }
        Ok(())
    }
}
