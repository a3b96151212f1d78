//! Checks changes before the first is made.

use super::{Change, Repair};
use crate::discounted::model::in_range;

impl Repair {
    /// Checks changes in order, each against the model that those before it leave.
    pub(super) fn check(&self, changes: &[Change]) -> Result<(), String> {
        let mut n_choices = self.rows.n_choices();
        let mut removed: Vec<u32> = Vec::new();
        let mut facts = self.facts;
        for (i, change) in changes.iter().enumerate() {
            let exists = |choice: u32| {
                let here = (choice as usize) < n_choices && !removed.contains(&choice);
                if here && self.rows.removed.get(choice as usize) != Some(&true) {
                    return Ok(());
                }
                Err(format!(
                    "change {i}: choice {choice} does not exist or was removed; expected one of the model's choices, below \
                     {n_choices}"
                ))
            };
            let mut fits = |outcomes: &[(u32, f64)], reward: f64| {
                facts.add(check_outcomes(i, outcomes, self.rows.n_states())?, outcomes.len(), reward);
                if !in_range(reward) {
                    return Err(format!(
                        "change {i}: the reward is {reward}; expected a number from -1e150 to 1e150"
                    ));
                }
                if self.asked.is_none() && facts.most_factor(self.discount()) >= 1.0 {
                    return Err(format!(
                        "change {i}: the discount times the sum of probabilities is not below 1; scale them to sum to 1"
                    ));
                }
                Ok(())
            };
            match change {
                Change::Outcomes { choice, outcomes } => {
                    exists(*choice)?;
                    fits(outcomes, 0.0)?;
                }
                Change::Reward { choice, reward } => {
                    exists(*choice)?;
                    fits(&[], *reward)?;
                }
                Change::Add { state, reward, outcomes } => {
                    if *state as usize >= self.rows.n_states() {
                        return Err(format!(
                            "change {i}: state {state} does not exist; expected a state below {}",
                            self.rows.n_states()
                        ));
                    }
                    fits(outcomes, *reward)?;
                    n_choices += 1;
                }
                Change::Remove { choice } => {
                    exists(*choice)?;
                    removed.push(*choice);
                }
            }
        }
        Ok(())
    }
}

/// The sum of the probabilities.
fn check_outcomes(i: usize, outcomes: &[(u32, f64)], n_states: usize) -> Result<f64, String> {
    for &(target, p) in outcomes {
        if !(p > 0.0 && p <= 1.0 + 1e-6) || target as usize >= n_states {
            return Err(format!(
                "change {i}: found probability {p} to state {target}; expected a probability above 0 and at most 1, and a \
                 state below {n_states}"
            ));
        }
    }
    let sum: f64 = outcomes.iter().map(|(_, p)| p).sum();
    if sum > 1.0 + 1e-6 {
        return Err(format!(
            "change {i}: the probabilities sum to {sum}; expected at most 1; scale them down"
        ));
    }
    Ok(sum)
}
