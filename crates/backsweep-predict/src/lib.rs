//! **Prediction**: the value of each state under the policy that produced the transitions.
//!
//! | to | use |
//! |---|---|
//! | learn without a step size, exactly for what was seen | [`SmallBackupPredictor`] (Algorithm 1) |
//! | compare with the classical method | [`Td0`] |
//! | write a predictor | the trait [`Predictor`] |
//! | stop and resume | `store` and `restore` of each; files are in `backsweep::save` |

mod small_backups;
mod step_error;
mod td0;

pub use small_backups::{PredictorSettings, Selection, SmallBackupPredictor};
pub use step_error::StepError;
pub use td0::{StepSize, Td0};

use backsweep_core::{Error, MAX_REWARD, Next, State};

/// State ids lie below this. Predictors keep arrays with an entry for every id up to the largest one seen, so a single huge
/// id would take all memory; this limit takes about 4 GB.
pub const MOST_STATES: u32 = 1 << 26;

/// Numbers larger than this in a stored predictor could overflow in the next step.
const MAX_STORED: f64 = 1e200;

/// A method that learns state values from transitions (s, r, s').
pub trait Predictor: Send {
    /// Learns from one transition. States are added as they occur.
    ///
    /// # Errors
    /// If the reward is not finite or too large, or a state id is [`MOST_STATES`] or more.
    fn observe(&mut self, state: State, reward: f64, next: Next) -> Result<(), StepError>;

    /// V(s); an unseen state has the initial value.
    fn value(&self, state: State) -> f64;
}

/// The checks on entry that all predictors share.
fn check_step(state: State, reward: f64, next: Next) -> Result<(), StepError> {
    if reward.is_nan() || reward.abs() > MAX_REWARD {
        return Err(StepError::Reward { state, found: reward });
    }
    for state in next.state().into_iter().chain([state]) {
        if state.0 >= MOST_STATES {
            return Err(StepError::StateId { state, limit: MOST_STATES });
        }
    }
    Ok(())
}

/// The same for the settings that all predictors share.
fn check_settings(discount: f64, initial_value: f64) -> backsweep_core::Result<()> {
    check_fraction("discount", discount)?;
    let (ok, expected) = (initial_value.abs() <= MAX_REWARD, "a finite number from -1e150 to 1e150");
    Error::ensure(ok, "initial value", initial_value, expected)
}

fn check_fraction(name: &'static str, found: f64) -> backsweep_core::Result<()> {
    Error::ensure((0.0..=1.0).contains(&found), name, found, "a number from 0 to 1")
}

/// The example of the crate's README runs too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PredictReadme;
