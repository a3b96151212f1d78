//! A known model and its answers under the names that the user gave: what Python asks by state.

use crate::known::solving::Solved;
use crate::names;
use backsweep_mdp::Label;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

impl Solved {
    /// Labels states; `init` are the initial ones.
    pub fn set_label(&mut self, label: String, states: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut ids = Vec::new();
        for state in states.try_iter()? {
            ids.push(self.state_id(&state?)?);
        }
        ids.sort_unstable();
        ids.dedup();
        let mdp = &mut self.model.mdp;
        if label == "init" && mdp.labels.iter().all(|known| known.name != label) {
            mdp.initial = ids;
        } else if let Some(known) = mdp.labels.iter_mut().find(|known| known.name == label) {
            known.states = ids;
        } else {
            mdp.labels.push(Label { name: label, states: ids });
        }
        // An answer depends on labels.
        self.forget_labels();
        Ok(())
    }

    /// The states of each label.
    pub fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let mdp = &self.model.mdp;
        let initial = (!mdp.initial.is_empty()).then_some(("init", &mdp.initial));
        for (name, states) in
            initial.into_iter().chain(mdp.labels.iter().map(|l| (l.name.as_str(), &l.states)))
        {
            let names = states.iter().map(|&state| self.model.states.object(py, state));
            found.set_item(name, PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(found)
    }

    /// The value of every state.
    pub fn named_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (state, value) in (0..).zip(self.values()) {
            found.set_item(self.model.states.object(py, state)?, value)?;
        }
        Ok(found)
    }

    /// The best action of every state that has one.
    pub fn named_policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for state in 0..self.model.states.len() as u32 {
            if let Some(action) = self.best(state) {
                found
                    .set_item(self.model.states.object(py, state)?, self.model.actions.object(py, action)?)?;
            }
        }
        Ok(found)
    }

    /// The value of a state; 0 for one seen only as the end of an episode.
    pub fn named_value(&mut self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.find_state(state)?.map_or(0.0, |state| self.value(state)))
    }

    /// The best action in a state; `None` if it has none.
    pub fn best_action<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let best = self.find_state(state)?.and_then(|state| self.best(state));
        best.map(|action| self.model.actions.object(state.py(), action)).transpose()
    }

    /// The value of each action of a state.
    pub fn action_values<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = state.py();
        let found = PyDict::new(py);
        if let Some(id) = self.find_state(state)? {
            for choice in self.model.choices_of(id) {
                let action = self.model.actions.object(py, self.model.action_of[choice as usize])?;
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
            for choice in self.model.choices_of(id) {
                found.append(self.model.actions.object(py, self.model.action_of[choice as usize])?)?;
            }
        }
        Ok(found)
    }

    /// Whether a state is known, even if only as an end.
    pub fn contains(&mut self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = state.py();
        let key = names::key(state, "state")?;
        Ok(self.model.states.id(py, &key, "state")?.is_some()
            || self.model.ends.id(py, &key, "state")?.is_some())
    }
}
