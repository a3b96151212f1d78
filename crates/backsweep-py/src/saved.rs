//! Copies of a named agent: in memory and in files.

use crate::errors::{self, show};
use crate::named_agent::NamedAgent;
use crate::names::{self, Names};
use crate::stored::{self, Translate};
use backsweep::Agent;
use backsweep_io::{Learner, LearnerNames};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

impl NamedAgent {
    /// A copy with the same names.
    pub fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self {
            agent: self.agent.clone(),
            random: self.random.clone(),
            states: self.states.copied(py)?,
            actions: self.actions.copied(py)?,
            ends: self.ends.copied(py)?,
            default: self.default.clone(),
            identity: self.identity,
            rows: self.rows.clone(),
        })
    }

    /// All of it, to be saved.
    pub fn store<'py>(&self, py: Python<'py>, mut encode: Option<Translate<'_, 'py>>) -> PyResult<Learner> {
        let mut stored = |names: &Names| {
            let each = names.named().iter().map(|name| {
                let encode: Option<Translate<'_, 'py>> = match &mut encode {
                    Some(encode) => Some(&mut **encode),
                    None => None,
                };
                stored::store(py, name, encode)
            });
            each.collect::<PyResult<Vec<_>>>()
        };
        let names = LearnerNames {
            states: stored(&self.states)?,
            actions: stored(&self.actions)?,
            ends: stored(&self.ends)?,
            default_actions: self.default.clone(),
            rows: self.rows.clone(),
        };
        Ok(Learner { agent: self.agent.clone(), random: self.random.clone(), names: Some(names) })
    }

    /// What was saved. A learner without names gets whole numbers.
    pub fn restore<'py>(
        py: Python<'py>,
        learner: Learner,
        mut decode: Option<Translate<'_, 'py>>,
    ) -> PyResult<Self> {
        let names = learner.names.unwrap_or_else(|| plain_names(&learner.agent));
        let mut restored = |names: &[backsweep_io::Name], word| {
            let mut table = Names::default();
            for name in names {
                let decode: Option<Translate<'_, 'py>> = match &mut decode {
                    Some(decode) => Some(&mut **decode),
                    None => None,
                };
                let object = stored::restore(py, name, decode)?;
                if !table.id_or_insert(py, names::key(&object, word)?, word)?.1 {
                    return Err(errors::file(py, format!("{word} {} is there twice", show(&object))));
                }
            }
            Ok(table)
        };
        let default = names.default_actions;
        Ok(Self {
            states: restored(&names.states, "state")?,
            actions: restored(&names.actions, "action")?,
            ends: restored(&names.ends, "end")?,
            agent: learner.agent,
            random: learner.random,
            identity: default.iter().flatten().enumerate().all(|(i, &id)| i as u32 == id),
            default,
            rows: names.rows,
        })
    }

    /// For pickle: a call of `_restore` of the class `T` with the bytes of a file, and the names that are no plain data, which
    /// pickle treats itself.
    pub fn reduce<'py, T: PyTypeInfo>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let others = PyList::empty(py);
        let mut encode = |object: &Bound<'py, PyAny>| {
            others.append(object)?;
            Ok((others.len() - 1).into_pyobject(py)?.into_any())
        };
        let learner = self.store(py, Some(&mut encode))?;
        let bytes = learner.to_bytes().map_err(|error| errors::from_io(py, error))?;
        let restore = py.get_type::<T>().getattr("_restore")?;
        (restore, (PyBytes::new(py, &bytes), others)).into_pyobject(py)
    }

    /// What [`reduce`](Self::reduce) has put away.
    pub fn unreduce<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        let mut decode = |index: &Bound<'py, PyAny>| others.get_item(index.extract::<usize>()?);
        let learner = Learner::from_bytes(data).map_err(|error| errors::from_io(py, error))?;
        Self::restore(py, learner, Some(&mut decode))
    }
}

/// Whole numbers as names, for a learner that was saved from Rust without any.
fn plain_names(agent: &Agent) -> LearnerNames {
    let ints = |n: usize| (0..n as i64).map(backsweep_io::Name::Int).collect();
    let model = agent.model();
    let n_actions = || model.states().map(|state| model.n_actions(state));
    LearnerNames {
        states: ints(model.n_states()),
        actions: ints(n_actions().max().unwrap_or(0)),
        default_actions: None,
        rows: n_actions().map(|n| Some((0..n as u32).collect())).collect(),
        ends: Vec::new(),
    }
}
