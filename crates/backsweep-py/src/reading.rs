//! Reading a named agent, in the user's names: shared by `Agent` and `MDP`.

use crate::named_agent::{KnownState, NamedAgent};
use crate::names;
use crate::policy;
use backsweep::planner::QueueView;
use backsweep::{Action, PlannerKind, State};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

impl NamedAgent {
    /// The value of a state; 0 for one in which episodes ended.
    pub fn value(&mut self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(match self.known(state)? {
            KnownState::State(id) => self.agent.value(State(id)),
            KnownState::End => 0.0,
        })
    }

    /// The value of every state by id.
    pub fn state_values(&self) -> Vec<f64> {
        (0..self.states.len() as u32).map(|state| self.agent.value(State(state))).collect()
    }

    pub fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (state, value) in (0..).zip(self.state_values()) {
            found.set_item(self.states.object(py, state)?, value)?;
        }
        Ok(found)
    }

    /// The name of an action that the policy chose in a state; `None` if the state has no named action.
    pub fn action_name<'py>(
        &self,
        py: Python<'py>,
        state: u32,
        action: Option<Action>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = action.and_then(|action| self.row(state).get(action.index()));
        id.map(|&id| self.actions.object(py, id)).transpose()
    }

    /// The best action of every state that has any.
    pub fn policy<'py>(&self, py: Python<'py>, chosen: &[Option<Action>]) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (state, &action) in (0..).zip(chosen) {
            if let Some(action) = self.action_name(py, state, action)? {
                found.set_item(self.states.object(py, state)?, action)?;
            }
        }
        Ok(found)
    }

    pub fn best_action<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.known(state)? {
            KnownState::State(id) => {
                self.action_name(state.py(), id, policy::best_action(&self.agent, State(id)))
            }
            KnownState::End => Ok(None),
        }
    }

    pub fn action_values<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = state.py();
        let found = PyDict::new(py);
        if let KnownState::State(id) = self.known(state)? {
            let values = self.agent.planner().values().pair_values(self.agent.model(), State(id));
            for (&action, pair) in self.row(id).iter().zip(values) {
                found.set_item(self.actions.object(py, action)?, pair.value())?;
            }
        }
        Ok(found)
    }

    pub fn action_names<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = state.py();
        let row = match self.known(state)? {
            KnownState::State(id) => self.row(id),
            KnownState::End => &[],
        };
        let names = row.iter().map(|&action| self.actions.object(py, action));
        PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)
    }

    pub fn contains(&mut self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = names::key(state, "state")?;
        Ok(self.find(state.py(), &key)?.is_some())
    }

    pub fn discount(&self) -> f64 {
        self.agent.planner().values().discount()
    }

    pub fn planner_name(&self) -> &'static str {
        self.agent.planner().kind().map_or("", PlannerKind::name)
    }

    /// A table for notebooks.
    pub fn html(&self, title: &str) -> String {
        let (model, planner) = (self.agent.model(), self.agent.acting_planner());
        let rows = [
            ("planner", self.planner_name().to_owned()),
            ("discount", self.discount().to_string()),
            ("states", model.n_states().to_string()),
            ("successors", model.n_arcs().to_string()),
            ("queued", planner.queue().map_or(0, QueueView::n_queued).to_string()),
            ("update cycles", planner.counters().unwrap_or_default().cycles.to_string()),
        ];
        let rows = rows.map(|(name, value)| format!("<tr><th>{name}</th><td>{value}</td></tr>"));
        format!("<table><caption>{title}</caption>{}</table>", rows.concat())
    }
}
