//! Prediction: the value of each state under the policy that produced the transitions.

mod small_backups;
mod td0;

pub use small_backups::{Selection, SmallBackupPredictor};
pub use td0::{StepSize, Td0};

use crate::{Error, Next, Result, State};

/// State ids lie below this. Predictors keep arrays with an entry for every id up to the largest one met, so a single huge id
/// would take all memory; at this one it is some 4 GB.
pub const MOST_STATES: u32 = 1 << 26;

/// Larger numbers than this in a stored predictor could overflow in the next step.
const LARGEST: f64 = 1e200;

/// A method that learns state values from transitions (s, r, s').
pub trait Predictor: Send {
    /// Learns from one transition. States are taken in as they are met.
    ///
    /// # Errors
    /// If the reward is not finite, or a state id is [`MOST_STATES`] or more.
    fn observe(&mut self, state: State, reward: f64, next: Next) -> Result<()>;

    /// V(s); a state that was not met is worth the initial value.
    fn value(&self, state: State) -> f64;
}

/// The checks at the door that all predictors share.
fn check(state: State, reward: f64, next: Next) -> Result<()> {
    if reward.is_nan() || reward.abs() > crate::MAX_REWARD {
        return Err(Error::StepReward { state, found: reward });
    }
    for state in next.state().into_iter().chain([state]) {
        if state.0 >= MOST_STATES {
            return Err(Error::StateId { state, limit: MOST_STATES });
        }
    }
    Ok(())
}

fn check_settings(discount: f64, initial_value: f64) -> Result<()> {
    Error::unless((0.0..=1.0).contains(&discount), "discount", discount, "a number from 0 to 1")?;
    let is_start = initial_value.abs() <= crate::MAX_REWARD;
    Error::unless(is_start, "initial value", initial_value, "a finite number from -1e150 to 1e150")
}
