//! Saving and loading a named agent, shared by `Agent` and `MDP`.

use crate::errors;
use crate::name_codec::Translate;
use crate::named_agent::NamedAgent;
use backsweep::save::SavedAgent;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A callable as a translation of names.
pub fn call<'py>(
    function: Option<Bound<'py, PyAny>>,
) -> Option<impl FnMut(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>> {
    function.map(|function| move |object: &Bound<'py, PyAny>| function.call1((object,)))
}

/// The learner in a file.
pub fn load<'py>(py: Python<'py>, path: PathBuf, decode: Option<Translate<'_, 'py>>) -> PyResult<NamedAgent> {
    let learner = py
        .detach(|| SavedAgent::load_among(&path, &backsweep_baselines::PLANNERS))
        .map_err(|error| errors::from_io(py, error))?;
    NamedAgent::from_learner(py, learner, decode)
        .map_err(|error| errors::with_context(py, error, &format!("{}: ", path.display()), ""))
}

/// The learner in the bytes of a file.
pub fn from_bytes<'py>(
    py: Python<'py>,
    data: &[u8],
    decode: Option<Translate<'_, 'py>>,
) -> PyResult<NamedAgent> {
    let learner = SavedAgent::from_bytes_among(data, &backsweep_baselines::PLANNERS)
        .map_err(|error| errors::from_io(py, error))?;
    NamedAgent::from_learner(py, learner, decode)
}

/// Writes a learner to a file.
pub fn save<'py>(
    py: Python<'py>,
    learner: &NamedAgent,
    path: PathBuf,
    encode: Option<Translate<'_, 'py>>,
) -> PyResult<()> {
    let learner = learner.to_learner(py, encode)?;
    py.detach(|| learner.save(&path)).map_err(|error| errors::from_io(py, error))
}

/// The bytes that [`save`] would write.
pub fn to_bytes<'py>(
    py: Python<'py>,
    learner: &NamedAgent,
    encode: Option<Translate<'_, 'py>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = learner.to_learner(py, encode)?.to_bytes().map_err(|error| errors::from_io(py, error))?;
    Ok(PyBytes::new(py, &bytes))
}

/// A callable as the reference to a function that the codec of names takes.
macro_rules! translate {
    ($function:expr) => {
        $function.as_mut().map(|function| function as &mut dyn FnMut(&Bound<'py, PyAny>) -> PyResult<_>)
    };
}
pub(crate) use translate;
