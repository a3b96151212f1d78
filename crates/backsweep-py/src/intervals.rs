//! Intervals for the values of the real world: two problems between which it lies, solved with proof.

use crate::errors;
use crate::known::stopping::Stopping;
use crate::named_agent::NamedAgent;
use backsweep::explore::ConfidenceBonuses;
use backsweep::planner::Model;
use backsweep_mdp::{Mdp, MdpBuilder, Objective, Rewards};
use backsweep_solve::Limits;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

impl NamedAgent {
    /// For every state, an interval for its true value.
    ///
    /// # Errors
    /// If the agent does not allow any, or on Ctrl-C.
    pub fn intervals<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<Bound<'py, PyDict>> {
        let bonuses = self.agent.confidence_bonuses(confidence).map_err(|error| self.explain(py, error))?;
        let objective = Objective::Discounted { reward: None, discount: self.discount() };
        let stopping = Stopping::new(None);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let limits =
            Limits { tolerance: bonuses.tolerance, stop: &|| stopping.stop(), threads, ..Limits::default() };
        let solved = py.detach(|| {
            [-1.0, 1.0].map(|sign| {
                let mdp = shifted(self.agent.model(), &bonuses, sign)?;
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
            intervals.set_item(self.states.object(py, state)?, (within(lower), within(upper)))?;
        }
        Ok(intervals)
    }
}

/// The learned model with bonuses added to its rewards, or subtracted. An untried action ends the episode with the extreme
/// value.
fn shifted(model: &Model, bonuses: &ConfidenceBonuses, sign: f64) -> backsweep_mdp::Result<Mdp> {
    let untried = if sign < 0.0 { bonuses.least } else { bonuses.most };
    let mut builder = MdpBuilder::default();
    let mut rewards = Rewards::default();
    let mut bonuses = bonuses.bonuses.iter();
    for state in model.states() {
        for (pair, bonus) in model.pairs(state).zip(&mut bonuses) {
            let weight = model.weight(pair);
            for next in model.successors(pair).filter(|next| next.weight > 0.0) {
                // After weights were undone, rounding may leave a sum slightly above the whole.
                builder.add_arc(next.state.0, (next.weight / weight).min(1.0));
            }
            builder.end_choice();
            rewards.choices.push(if weight > 0.0 { model.mean_reward(pair) + sign * bonus } else { untried });
        }
        builder.end_state();
    }
    let mut mdp = builder.finish()?;
    mdp.rewards.push(rewards);
    mdp.check()?;
    Ok(mdp)
}
