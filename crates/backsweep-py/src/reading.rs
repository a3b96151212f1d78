//! Reading an agent, in the user's names.

use crate::agent::Agent;
use crate::named_agent::{KnownState, NamedAgent};
use crate::names;
use crate::policy;
use backsweep::planner::QueueView;
use backsweep::{Action, PlannerKind, State};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

impl NamedAgent {
    /// The name of an action that the policy chose in a state; `None` if the state has no named action.
    fn action_name<'py>(
        &self,
        py: Python<'py>,
        state: u32,
        action: Option<Action>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = action.and_then(|action| self.row(state).get(action.index()));
        id.map(|&id| self.actions.object(py, id)).transpose()
    }

    pub fn discount(&self) -> f64 {
        self.agent.planner().values().discount()
    }

    pub fn planner_name(&self) -> &'static str {
        self.agent.planner().kind().map_or("", PlannerKind::name)
    }
}

#[pymethods]
impl Agent {
    /// The value of a state; 0 for one seen only as the end of an episode.
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn value(&self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        let mut learner = self.recommending(state.py())?;
        Ok(match learner.known(state)? {
            KnownState::State(id) => learner.agent.value(State(id)),
            KnownState::End => 0.0,
        })
    }

    /// The values of a state's actions, as a dict.
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn action_values<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = state.py();
        let mut learner = self.recommending(py)?;
        let found = PyDict::new(py);
        if let KnownState::State(id) = learner.known(state)? {
            let values = learner.agent.planner().values().pair_values(learner.agent.model(), State(id));
            for (&action, pair) in learner.row(id).iter().zip(values) {
                found.set_item(learner.actions.object(py, action)?, pair.value())?;
            }
        }
        Ok(found)
    }

    /// The best action in a state; None if no action is known there. Among equally good actions it is the first, or with
    /// discount 1 one that leads to an end (which takes a pass over the model).
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn best_action<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut learner = self.recommending(state.py())?;
        match learner.known(state)? {
            KnownState::State(id) => {
                learner.action_name(state.py(), id, policy::best_action(&learner.agent, State(id)))
            }
            KnownState::End => Ok(None),
        }
    }

    /// The best action of every state with actions, as a dict.
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let learner = self.recommending(py)?;
        let found = PyDict::new(py);
        for (state, action) in (0..).zip(policy::policy(&learner.agent)) {
            if let Some(action) = learner.action_name(py, state, action)? {
                found.set_item(learner.states.object(py, state)?, action)?;
            }
        }
        Ok(found)
    }

    /// The value of every state, as a dict.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let learner = self.recommending(py)?;
        let found = PyDict::new(py);
        for state in 0..learner.states.len() as u32 {
            found.set_item(learner.states.object(py, state)?, learner.agent.value(State(state)))?;
        }
        Ok(found)
    }

    /// The actions known in a state, as a list.
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn actions<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let mut learner = self.0.lock()?;
        let row = match learner.known(state)? {
            KnownState::State(id) => learner.row(id),
            KnownState::End => &[],
        };
        let names = row.iter().map(|&action| learner.actions.object(state.py(), action));
        PyList::new(state.py(), names.collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns whether the state is known, so that value, best_action, actions and action_values accept it.
    fn __contains__(&self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = names::key(state, "state")?;
        Ok(self.0.lock()?.find(state.py(), &key)?.is_some())
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let learner = self.0.lock()?;
        let (model, planner) = (learner.agent.model(), learner.agent.acting_planner());
        let rows = [
            ("planner", learner.planner_name().to_owned()),
            ("discount", learner.discount().to_string()),
            ("states", model.n_states().to_string()),
            ("successors", model.n_arcs().to_string()),
            ("queued", planner.queue().map_or(0, QueueView::n_queued).to_string()),
            ("update cycles", planner.counters().unwrap_or_default().cycles.to_string()),
        ];
        let rows = rows.map(|(name, value)| format!("<tr><th>{name}</th><td>{value}</td></tr>"));
        Ok(format!("<table><caption>backsweep.Agent</caption>{}</table>", rows.concat()))
    }
}
