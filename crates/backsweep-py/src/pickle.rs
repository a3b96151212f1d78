//! The form in which pickle stores our objects: bytes, and a list of the names that are not plain data, which pickle handles itself.

use crate::name_codec::Translate;
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCFunction, PyList, PyTuple};

/// A call of `_restore` of the class `T` with bytes and a list. `bytes` puts a name aside, and stores its place in the list instead.
pub fn reduce<'py, T: PyTypeInfo>(
    py: Python<'py>,
    bytes: impl FnOnce(Translate<'_, 'py>) -> PyResult<Vec<u8>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let others = PyList::empty(py);
    let list = others.clone().unbind();
    let put_aside = PyCFunction::new_closure(py, None, None, move |names, _| {
        let others = list.bind(names.py());
        others.append(names.get_item(0)?)?;
        Ok::<_, PyErr>(others.len() - 1)
    })?;
    let bytes = bytes(&put_aside)?;
    let restore = py.get_type::<T>().getattr("_restore")?;
    (restore, (PyBytes::new(py, &bytes), others)).into_pyobject(py)
}

/// The inverse: the name at a place in the list.
pub fn take_back<'py>(others: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
    others.getattr("__getitem__")
}
