//! Turns errors of the engine into exceptions that name things as the user wrote them.

use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::Path;

/// The exceptions are written in Python, where one can inherit from two classes.
fn raise(py: Python<'_>, name: &str, message: String) -> PyErr {
    let class = py
        .import("backsweep._errors")
        .and_then(|module| module.getattr(name)?.cast_into().map_err(PyErr::from));
    class.map_or_else(|error| error, |class: Bound<'_, PyType>| PyErr::from_type(class, message))
}

/// `backsweep.Error`: neither a wrong value nor an unknown name.
pub fn error(py: Python<'_>, message: String) -> PyErr {
    raise(py, "Error", message)
}

/// `backsweep.UnknownName`: a state or action that the agent has not seen; also a `KeyError`.
pub fn unknown(py: Python<'_>, message: String) -> PyErr {
    raise(py, "UnknownName", message)
}

/// `backsweep.FileError`: a file or bytes that cannot be read as an agent; also a `ValueError`.
pub fn file(py: Python<'_>, message: String) -> PyErr {
    raise(py, "FileError", message)
}

/// Refuses a class where an object of it is expected: its attributes are those of a default object.
pub fn not_a_class(object: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    match object.cast::<PyType>() {
        Ok(class) => {
            let class = class.name()?;
            Err(wrong_type(format!(
                "{name} is the class {class}; expected an object of it, such as {class}()"
            )))
        }
        Err(_) => Ok(()),
    }
}

/// `ValueError` with the engine's own words.
pub fn refused(error: impl std::fmt::Display) -> PyErr {
    value(error.to_string())
}

pub fn value(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

pub fn wrong_type(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

/// An earlier call on the same object panicked: a bug in backsweep, and the object cannot be trusted.
pub fn broken() -> PyErr {
    PyRuntimeError::new_err(
        "an earlier call on this object failed inside the engine, so its contents cannot be trusted; load a saved copy, and \
         please report the first error",
    )
}

/// The same exception with words before and after its message if it is one of ours; with a note if it is not.
pub fn with_context(py: Python<'_>, error: PyErr, before: &str, after: &str) -> PyErr {
    let class = error.get_type(py);
    let ours = class.is(PyValueError::type_object(py))
        || class.is(PyTypeError::type_object(py))
        || class.module().is_ok_and(|module| module == "backsweep");
    if ours {
        return PyErr::from_type(class, format!("{before}{}{after}", error.value(py)));
    }
    let note = [before.trim_end_matches(": "), after.trim_start_matches("; ")];
    noted(py, error, &note.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": "))
}

/// The same exception with a note, which Python prints beneath its message.
pub fn noted(py: Python<'_>, error: PyErr, note: &str) -> PyErr {
    // An exception that takes no notes is raised without one.
    let _ = error.value(py).call_method1("add_note", (note,));
    error
}

/// An error of saving or loading.
pub fn from_io(py: Python<'_>, found: backsweep::save::Error) -> PyErr {
    match found {
        backsweep::save::Error::System { path, source, .. } => match source.raw_os_error() {
            Some(code) => system(code, &path),
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        other => file(py, other.to_string()),
    }
}

/// An error of the system by its number. With these three arguments Python picks the class: FileNotFoundError and so on.
pub fn system(code: i32, path: &Path) -> PyErr {
    let text = std::io::Error::from_raw_os_error(code).to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((code, text, path.display().to_string()))
}

/// `repr(object)`, cut where it would fill the screen.
pub fn show(object: &Bound<'_, PyAny>) -> String {
    let text = object.repr().map(|text| text.to_string_lossy().into_owned());
    let text = text.unwrap_or_else(|_| format!("<{} without repr>", type_name(object)));
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A number of bytes in readable units.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["MB", "GB", "TB", "PB"];
    let mut amount = bytes as f64 / 1e6;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    if amount < 10.0 {
        format!("{amount:.1} {}", UNITS[unit])
    } else {
        format!("{amount:.0} {}", UNITS[unit])
    }
}
