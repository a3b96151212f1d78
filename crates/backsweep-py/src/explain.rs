//! Errors of the engine in the user's words.

use crate::errors;
use crate::named_agent::NamedAgent;
use backsweep::{Action, Error, State};
use pyo3::prelude::*;

impl NamedAgent {
    /// An error of the engine in the user's words.
    #[cold]
    pub fn explain(&self, py: Python<'_>, error: Error) -> PyErr {
        let state_name = |state: State| self.states.show(py, state.0);
        let pair = |state: State, action: Action| {
            let id = self.row(state.0).get(action.index());
            let action =
                id.map_or_else(|| action.to_string(), |&id| format!("action {}", self.actions.show(py, id)));
            format!("{action} in state {}", state_name(state))
        };
        match error {
            Error::Setting { .. }
            | Error::Unknown { .. }
            | Error::Missing { .. }
            | Error::Conflict { .. }
            | Error::Range { .. }
            | Error::Planner { .. }
            | Error::RuledOut { .. }
            | Error::Weight { .. } => errors::value(error.to_string()),
            Error::Reward { state, action, found } => errors::value(format!(
                "reward of {}, or the sum of its rewards, is {found:?}; expected a number of at most 1e150 in magnitude",
                pair(state, action)
            )),
            Error::NotRecorded { state, action, .. } | Error::RewardNotRecorded { state, action, .. } => {
                let recorded = error.to_string();
                let reason = recorded.split_once(": ").map_or("", |(_, reason)| reason);
                errors::value(format!("cannot undo a step of {}: {reason}", pair(state, action)))
            }
            Error::NoSuchAction { state, action, .. } => {
                errors::unknown(py, format!("{} is not known", pair(state, action)))
            }
            Error::Terminal { state } => errors::unknown(
                py,
                format!("no actions are known in state {}; pass actions=[...]", state_name(state)),
            ),
            Error::Probability { state, action, found } => errors::value(format!(
                "probability of an outcome of {} is {found:?}; expected 0, or a number from 1e-100 to 1",
                pair(state, action)
            )),
            Error::ProbabilitySum { state, action, found } => errors::value(format!(
                "probabilities of the outcomes of {} sum to {found}; expected 1 (within 1e-9), or normalize=True",
                pair(state, action)
            )),
            other => errors::error(py, other.to_string()),
        }
    }
}
