//! A known model and its answers under the names that the user gave: what Python asks by state.

use crate::known::named_mdp::NamedMdp;
use crate::names;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

impl NamedMdp {
    /// Gives the states these names, in order.
    ///
    /// # Errors
    /// If there are more or fewer of them, or two are the same.
    pub fn rename_states(&mut self, py: Python<'_>, names: &[Bound<'_, PyAny>]) -> PyResult<()> {
        let mut states = names::Names::default();
        for name in names {
            states.id_or_insert(py, names::key(name, "state")?, "state")?;
        }
        if states.len() != self.states.len() {
            let (found, expected) = (states.len(), self.states.len());
            return Err(crate::errors::value(format!(
                "found {found} different names of states; expected {expected}"
            )));
        }
        self.states = states;
        Ok(())
    }

    /// Labels states; `init` are the initial ones.
    pub fn set_label(&mut self, label: String, states: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut ids = Vec::new();
        for state in states.try_iter()? {
            ids.push(self.state_id(&state?)?);
        }
        ids.sort_unstable();
        ids.dedup();
        self.session.set_label(label, ids);
        Ok(())
    }

    /// The states of each label.
    pub fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let mdp = self.session.model().mdp();
        let initial = (!mdp.initial.is_empty()).then_some(("init", &mdp.initial));
        for (name, states) in
            initial.into_iter().chain(mdp.labels.iter().map(|l| (l.name.as_str(), &l.states)))
        {
            let names = states.iter().map(|&state| self.states.object(py, state));
            found.set_item(name, PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(found)
    }

    /// The value of every state.
    pub fn named_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (state, value) in (0..).zip(self.values()) {
            found.set_item(self.states.object(py, state)?, value)?;
        }
        Ok(found)
    }

    /// The best action of every state that has one.
    pub fn named_policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for state in 0..self.states.len() as u32 {
            if let Some(action) = self.best(state) {
                found.set_item(self.states.object(py, state)?, self.actions.object(py, action)?)?;
            }
        }
        Ok(found)
    }

    /// The value of a state; 0 for one seen only as the end of an episode.
    pub fn named_value(&mut self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.find_state(state)?.map_or(0.0, |state| self.session.value(state)))
    }

    /// The best action in a state; `None` if it has none.
    pub fn best_action<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let best = self.find_state(state)?.and_then(|state| self.best(state));
        best.map(|action| self.actions.object(state.py(), action)).transpose()
    }

    /// The value of each action of a state.
    pub fn action_values<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = state.py();
        let found = PyDict::new(py);
        if let Some(id) = self.find_state(state)? {
            for choice in self.session.model().choices_of(id) {
                let action = self.actions.object(py, self.session.model().action_of()[choice as usize])?;
                found.set_item(action, self.action_value(id, choice)?)?;
            }
        }
        Ok(found)
    }

    /// The actions of a state.
    pub fn actions<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = state.py();
        let found = PyList::empty(py);
        if let Some(id) = self.find_state(state)? {
            for choice in self.session.model().choices_of(id) {
                found.append(self.actions.object(py, self.session.model().action_of()[choice as usize])?)?;
            }
        }
        Ok(found)
    }

    /// Returns whether a state is known, even if only as an end.
    pub fn contains(&mut self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = state.py();
        let key = names::key(state, "state")?;
        Ok(self.states.id(py, &key, "state")?.is_some() || self.ends.id(py, &key, "state")?.is_some())
    }
}
