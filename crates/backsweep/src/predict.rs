//! Prediction: the value of each state under the policy that produced the transitions.

mod small_backups;
mod td0;

pub use small_backups::{Selection, SmallBackupPredictor};
pub use td0::{StepSize, Td0};

use crate::{Error, Next, Result, State};

/// A method that learns state values from transitions (s, r, s').
pub trait Predictor: Send {
    /// Learns from one transition. States are taken in as they are met.
    ///
    /// # Errors
    /// If the reward is not finite, or a state id is above what memory could hold.
    fn observe(&mut self, state: State, reward: f64, next: Next) -> Result<()>;

    /// V(s); a state that was not met is worth the initial value.
    fn value(&self, state: State) -> f64;
}

/// The checks at the door that all predictors share.
fn check(state: State, reward: f64, next: Next) -> Result<()> {
    if !reward.is_finite() {
        return Err(Error::Reward { state, action: crate::Action(0), found: reward });
    }
    for state in next.state().into_iter().chain([state]) {
        if state.0 == u32::MAX {
            return Err(Error::NoSuchState { state, n_states: u32::MAX as usize });
        }
    }
    Ok(())
}

fn check_settings(discount: f64, initial_value: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&discount) {
        return Err(Error::Setting { name: "discount", found: discount, expected: "a number from 0 to 1" });
    }
    if !initial_value.is_finite() {
        return Err(Error::Setting {
            name: "initial value",
            found: initial_value,
            expected: "a finite number",
        });
    }
    Ok(())
}
