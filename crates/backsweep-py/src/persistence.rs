//! Named agents as copies, and as files or their bytes.

use crate::action_row::ActionRow;
use crate::agent::Agent;
use crate::errors::{self, show};
use crate::name_codec::{self, Translate};
use crate::named_agent::NamedAgent;
use crate::names::{self, Names, Role};
use crate::pickle;
use backsweep::save::{AgentNames, Name, SavedAgent, encode_names};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCFunction, PyList, PyTuple};
use rustc_hash::FxHashMap;
use std::path::PathBuf;

impl NamedAgent {
    /// A copy that shares the names.
    pub fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self {
            agent: self.agent.clone(),
            random: self.random.clone(),
            states: self.states.copied(py)?,
            actions: self.actions.copied(py)?,
            ends: self.ends.copied(py)?,
            declared: self.declared.clone(),
            rows: self.rows.clone(),
            is_recommendation_cut: self.is_recommendation_cut,
        })
    }

    /// A copy whose names are deep copies.
    pub fn deep_copied<'py>(&self, py: Python<'py>, memo: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut copy = self.copied(py)?;
        copy.states = self.states.deep_copied(py, memo, "state")?;
        copy.actions = self.actions.deep_copied(py, memo, "action")?;
        copy.ends = self.ends.deep_copied(py, memo, "end")?;
        Ok(copy)
    }

    /// The saved object.
    ///
    /// # Errors
    /// If a name cannot be stored, or if two names would be stored as the same: no program could load that file.
    pub fn to_learner<'py>(
        &self,
        py: Python<'py>,
        encode: Option<Translate<'_, 'py>>,
    ) -> PyResult<SavedAgent> {
        let names = AgentNames {
            states: stored(py, &self.states, encode, "state")?,
            actions: stored(py, &self.actions, encode, "action")?,
            ends: stored(py, &self.ends, encode, "end")?,
            default_actions: self.declared.as_ref().map(|row| row.as_slice().to_vec()),
            rows: self.rows.iter().map(|row| row.as_ref().map(|row| row.as_slice().to_vec())).collect(),
        };
        Ok(SavedAgent { agent: self.agent.clone(), random: self.random.clone(), names: Some(names) })
    }

    /// The saved object. A learner without names gets whole numbers.
    pub fn from_learner<'py>(
        py: Python<'py>,
        learner: SavedAgent,
        decode: Option<Translate<'_, 'py>>,
    ) -> PyResult<Self> {
        let names = learner.names.unwrap_or_else(|| whole_numbers(&learner.agent));
        let states = loaded(py, &names.states, decode, "state")?;
        let actions = loaded(py, &names.actions, decode, "action")?;
        let ends = loaded(py, &names.ends, decode, "end")?;
        Ok(Self {
            states,
            actions,
            ends,
            agent: learner.agent,
            random: learner.random,
            declared: names.default_actions.map(ActionRow::new),
            rows: names.rows.into_iter().map(|row| row.map(ActionRow::new)).collect(),
            is_recommendation_cut: false,
        })
    }

    /// The bytes of a file.
    fn bytes<'py>(&self, py: Python<'py>, encode: Option<Translate<'_, 'py>>) -> PyResult<Vec<u8>> {
        self.to_learner(py, encode)?.to_bytes().map_err(|error| errors::from_io(py, error))
    }

    /// For Python's garbage collector.
    pub fn traverse(&self, visit: &pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        [&self.states, &self.actions, &self.ends].into_iter().try_for_each(|names| names.traverse(visit))
    }

    /// Drops all names; the rest is never used again.
    pub fn clear(&mut self) {
        (self.states, self.actions, self.ends) = Default::default();
        self.declared = None;
        self.rows = Vec::new();
    }
}

#[pymethods]
impl Agent {
    /// Write the whole agent to a file, replacing any existing one.
    ///
    /// Args:
    ///     path: the file; a device or pipe is refused.
    ///     encode: a function that turns names other than plain data into plain data, different ones into different data.
    ///
    /// Raises:
    ///     TypeError: a name is not plain data, and there is no encode.
    ///     OSError: the file cannot be written; the old one is unchanged.
    #[pyo3(signature = (path, *, encode=None))]
    fn save<'py>(&self, py: Python<'py>, path: PathBuf, encode: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let learner = self.0.lock()?.to_learner(py, encode.as_ref())?;
        py.detach(|| learner.save(path)).map_err(|error| errors::from_io(py, error))
    }

    /// Load an agent from a file: it continues bit for bit as the saved one would have.
    ///
    /// Args:
    ///     path: a file that save wrote.
    ///     decode: the inverse of the encode that it was saved with.
    ///
    /// Raises:
    ///     FileError: the file is damaged, of another version, or not an agent.
    ///     OSError: the file cannot be read.
    #[staticmethod]
    #[pyo3(signature = (path, *, decode=None))]
    fn load<'py>(py: Python<'py>, path: PathBuf, decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let learner = py
            .detach(|| SavedAgent::load_among(&path, &backsweep_baselines::PLANNERS))
            .map_err(|error| errors::from_io(py, error))?;
        let place = format!("{}: ", path.display());
        let named = NamedAgent::from_learner(py, learner, decode.as_ref());
        named.map(Self::new).map_err(|error| errors::with_context(py, error, &place, ""))
    }

    /// The bytes that save would write.
    ///
    /// Args:
    ///     encode: as for save.
    ///
    /// Raises:
    ///     TypeError: a name is not plain data, and there is no encode.
    #[pyo3(signature = (*, encode=None))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        encode: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.lock()?.bytes(py, encode.as_ref())?))
    }

    /// Load an agent from the bytes of to_bytes or of a file.
    ///
    /// Args:
    ///     data: the bytes.
    ///     decode: as for load.
    ///
    /// Raises:
    ///     FileError: the bytes are damaged, of another version, or not an agent.
    #[staticmethod]
    #[pyo3(signature = (data, *, decode=None))]
    fn from_bytes<'py>(py: Python<'py>, data: &[u8], decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let learner = SavedAgent::from_bytes_among(data, &backsweep_baselines::PLANNERS)
            .map_err(|error| errors::from_io(py, error))?;
        NamedAgent::from_learner(py, learner, decode.as_ref()).map(Self::new)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce::<Self>(py, |put_aside| self.0.lock()?.bytes(py, Some(put_aside)))
    }

    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        Self::from_bytes(py, data, Some(pickle::take_back(others)?))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::new(self.0.lock()?.copied(py)?))
    }

    /// Names are copied as copy.deepcopy copies them.
    fn __deepcopy__<'py>(&self, py: Python<'py>, memo: Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self::new(self.0.lock()?.deep_copied(py, &memo)?))
    }
}

/// The names of a table as they are saved, all different.
fn stored<'py>(
    py: Python<'py>,
    names: &Names,
    encode: Option<Translate<'_, 'py>>,
    role: Role,
) -> PyResult<Vec<Name>> {
    let mut stored = Vec::with_capacity(names.len());
    let mut seen: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
    for (id, name) in names.named().iter().enumerate() {
        let plain = name_codec::to_plain(py, name, encode)?;
        // Only converted names can collide: plain names are saved as they are, and already differ.
        if !matches!(plain, Name::Int(_) | Name::Text(_)) {
            let bytes =
                encode_names(std::slice::from_ref(&plain)).map_err(|error| errors::from_io(py, error))?;
            if let Some(other) = seen.insert(bytes, id) {
                return Err(errors::value(format!(
                    "{role}s {} and {} would both be saved as {}; expected encode to give different names for \
                     different objects; nothing was saved",
                    names.show(py, other as u32),
                    names.show(py, id as u32),
                    name_codec::to_object(py, &plain, Some(&unchanged(py)?))
                        .map_or_else(|_| "the same name".to_owned(), |object| show(&object))
                )));
            }
        }
        stored.push(plain);
    }
    Ok(stored)
}

/// Shows a name that an encoder has made plain as it is.
fn unchanged(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyCFunction::new_closure(py, None, None, |plain, _| plain.get_item(0).map(Bound::unbind))?.into_any())
}

/// The saved names. Errors in them are errors in the file, unless `decode` caused them.
fn loaded<'py>(
    py: Python<'py>,
    names: &[Name],
    decode: Option<Translate<'_, 'py>>,
    role: Role,
) -> PyResult<Names> {
    let mut table = Names::default();
    for name in names {
        let object = name_codec::to_object(py, name, decode)?;
        let key = names::key(&object, role);
        let inserted = key.and_then(|key| table.id_or_insert(py, key, role)).map_err(|error| {
            if name.is_plain() { errors::file(py, error.value(py).to_string()) } else { error }
        });
        if !inserted?.1 {
            return Err(errors::file(
                py,
                format!("{role} {} occurs twice; expected different names", show(&object)),
            ));
        }
    }
    Ok(table)
}

/// Whole numbers as names, for a learner that was saved from Rust without names.
fn whole_numbers(agent: &backsweep::Agent) -> AgentNames {
    let ints = |n: usize| (0..n as i64).map(Name::Int).collect();
    let model = agent.model();
    let n_actions = || model.states().map(|state| model.n_actions(state));
    AgentNames {
        states: ints(model.n_states()),
        actions: ints(n_actions().max().unwrap_or(0)),
        default_actions: None,
        rows: n_actions().map(|n| Some((0..n as u32).collect())).collect(),
        ends: Vec::new(),
    }
}
