//! Intervals for the values of the real world: two problems between which it lies, solved with proof.

use crate::agent::Agent;
use crate::errors;
use crate::known::stopping::Stopping;
use backsweep::explore::ConfidenceBonuses;
use backsweep::planner::Model;
use backsweep_mdp::{Mdp, Objective};
use backsweep_solve::{Limits, learned_mdp_with};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymethods]
impl Agent {
    /// For every state, an interval that contains its optimal value in the real world, not only in the learned model.
    ///
    /// All of them hold at once with probability confidence, if no reward is outside reward_range and the world does not
    /// change. They come from Hoeffding's inequality, so they are wide until a lot has been seen.
    ///
    /// Args:
    ///     confidence: above 0 and below 1.
    ///
    /// Returns:
    ///     A dict of (lower, upper) by state.
    ///
    /// Raises:
    ///     ValueError: the agent has no reward_range, or confidence is out of range.
    #[pyo3(signature = (confidence=0.95))]
    fn intervals<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<Bound<'py, PyDict>> {
        let learner = &*self.0.lock()?;
        let bonuses =
            learner.agent.confidence_bonuses(confidence).map_err(|error| learner.explain(py, error))?;
        let objective = Objective::Discounted { reward: None, discount: learner.discount() };
        let stopping = Stopping::new(None);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let limits =
            Limits { tolerance: bonuses.tolerance, stop: &|| stopping.stop(), threads, ..Limits::default() };
        let solved = py.detach(|| {
            [-1.0, 1.0].map(|sign| {
                let mdp = shifted(learner.agent.model(), &bonuses, sign)?;
                backsweep_solve::solve(&mdp, &objective.clone().maximize(), None, &limits)
            })
        });
        if let Some(what) = stopping.reason(py)? {
            return Err(PyKeyboardInterrupt::new_err(format!("{what} while intervals were computed")));
        }
        let [lower, upper] = solved;
        let (lower, upper) = (lower.map_err(errors::refused)?.lower, upper.map_err(errors::refused)?.upper);
        let within = |value: f64| value.clamp(bonuses.least, bonuses.most);
        let intervals = PyDict::new(py);
        for (state, (lower, upper)) in (0..).zip(lower.into_iter().zip(upper)) {
            intervals.set_item(learner.states.object(py, state)?, (within(lower), within(upper)))?;
        }
        Ok(intervals)
    }
}

/// The learned model with bonuses added to its rewards, or subtracted. An untried action ends the episode with the extreme
/// value.
fn shifted(model: &Model, bonuses: &ConfidenceBonuses, sign: f64) -> backsweep_mdp::Result<Mdp> {
    let untried = if sign < 0.0 { bonuses.least } else { bonuses.most };
    let mut bonuses = bonuses.bonuses.iter();
    learned_mdp_with(model, |pair| {
        let shift = sign * bonuses.next()?;
        Some(if model.weight(pair) > 0.0 { model.mean_reward(pair) + shift } else { untried })
    })
}
