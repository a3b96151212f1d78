//! A known model and its answers under the names that the user gave: what Python asks by state.

use crate::known::KnownModel;
use crate::known::named_mdp::NamedMdp;
use crate::names;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

impl NamedMdp {
    /// Gives the states these names, in order.
    ///
    /// # Errors
    /// If there are more or fewer of them, or two are the same.
    pub fn rename_states(&mut self, names: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut states = names::Names::default();
        for name in names.try_iter()? {
            states.id_or_insert(names.py(), names::key(&name?, "state")?, "state")?;
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

    /// The name of the action that a choice stands for.
    fn action_of<'py>(&self, py: Python<'py>, choice: u32) -> PyResult<Bound<'py, PyAny>> {
        self.actions.object(py, self.session.model().action_of()[choice as usize])
    }
}

#[pymethods]
impl KnownModel {
    /// Labels states; `init` are the initial ones.
    fn set_label(&self, label: String, states: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut known = self.0.lock()?;
        let mut ids = Vec::new();
        for state in states.try_iter()? {
            ids.push(known.state_id(&state?)?);
        }
        ids.sort_unstable();
        ids.dedup();
        known.session.set_label(label, ids);
        Ok(())
    }

    /// The states of each label.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = self.0.lock()?;
        let found = PyDict::new(py);
        let mdp = known.session.model().mdp();
        let initial = (!mdp.initial.is_empty()).then_some(("init", &mdp.initial));
        for (name, states) in
            initial.into_iter().chain(mdp.labels.iter().map(|l| (l.name.as_str(), &l.states)))
        {
            let names = states.iter().map(|&state| known.states.object(py, state));
            found.set_item(name, PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(found)
    }

    fn value_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.lock()?.values().into_pyarray(py))
    }

    /// The value of every state.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = self.0.lock()?;
        let found = PyDict::new(py);
        for (state, value) in (0..).zip(known.values()) {
            found.set_item(known.states.object(py, state)?, value)?;
        }
        Ok(found)
    }

    /// The best action of every state that has one.
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = self.0.lock()?;
        let found = PyDict::new(py);
        for state in 0..known.states.len() as u32 {
            if let Some(action) = known.best(state) {
                found.set_item(known.states.object(py, state)?, known.actions.object(py, action)?)?;
            }
        }
        Ok(found)
    }

    /// The value of a state; 0 for one seen only as the end of an episode.
    fn value(&self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        let mut known = self.0.lock()?;
        Ok(known.find_state(state)?.map_or(0.0, |state| known.session.value(state)))
    }

    /// The best action in a state; `None` if it has none.
    fn best_action<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut known = self.0.lock()?;
        let best = known.find_state(state)?.and_then(|state| known.best(state));
        best.map(|action| known.actions.object(state.py(), action)).transpose()
    }

    /// The value of each action of a state.
    fn action_values<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let mut known = self.0.lock()?;
        let found = PyDict::new(state.py());
        if let Some(id) = known.find_state(state)? {
            for choice in known.session.model().choices_of(id) {
                found.set_item(known.action_of(state.py(), choice)?, known.action_value(id, choice)?)?;
            }
        }
        Ok(found)
    }

    /// The actions of a state.
    fn actions<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let mut known = self.0.lock()?;
        let found = PyList::empty(state.py());
        if let Some(id) = known.find_state(state)? {
            for choice in known.session.model().choices_of(id) {
                found.append(known.action_of(state.py(), choice)?)?;
            }
        }
        Ok(found)
    }

    /// Returns whether a state is known, even if only as an end.
    fn contains(&self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (mut known, py) = (self.0.lock()?, state.py());
        let key = names::key(state, "state")?;
        Ok(known.states.id(py, &key, "state")?.is_some() || known.ends.id(py, &key, "state")?.is_some())
    }
}
