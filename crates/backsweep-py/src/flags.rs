//! The values that count as a flag: `True` and `False`, and the numbers 1 and 0. Anything else is refused, because Python would
//! treat "False" and NaN as true.

use crate::columns::{array_kind, contiguous, items, listen};
use crate::errors::{self, show};
use crate::names::is_numpy_scalar;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// One flag; `None` is one that was not given, and counts as false.
#[inline]
pub fn flag(object: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<bool> {
    let Some(object) = object else { return Ok(false) };
    match object.cast_exact::<PyBool>() {
        Ok(flag) => Ok(flag.is_true()),
        Err(_) => flag_of_other(object, name),
    }
}

#[cold]
fn flag_of_other(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let number = if object.is_instance_of::<PyBool>() || object.is_instance_of::<PyInt>() {
        object.extract::<i64>().map_or(f64::NAN, |number| number as f64)
    } else if let Ok(number) = object.cast::<PyFloat>() {
        number.value()
    } else if is_numpy_scalar(object)? {
        let item = object.call_method0("item")?;
        if is_numpy_scalar(&item)? { f64::NAN } else { return flag(Some(&item), name) }
    } else {
        return Err(errors::wrong_type(format!("{name} is {}; expected True or False", show(object))));
    };
    match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ => Err(errors::value(format!("{name} is {}; expected True or False (or 1 or 0)", show(object)))),
    }
}

/// Reads a column of flags; errors say which row is wrong. A column that is not given has none set.
pub fn column(column: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<Option<Vec<bool>>> {
    let Some(column) = column else { return Ok(None) };
    let py = column.py();
    if let Some(kind) = array_kind(column) {
        if kind == b'b' {
            let flags: PyReadonlyArray1<'_, bool> = contiguous(column, "bool")?.extract()?;
            return Ok(Some(flags.as_array().to_vec()));
        }
        if matches!(kind, b'i' | b'u' | b'f') {
            let numbers: PyReadonlyArray1<'_, f64> = contiguous(column, "float64")?.extract()?;
            let numbers = numbers.as_array();
            return match numbers.iter().position(|&number| number != 0.0 && number != 1.0) {
                None => Ok(Some(numbers.iter().map(|&number| number == 1.0).collect())),
                Some(row) => Err(errors::value(format!(
                    "row {row}: {name} is {}; expected True or False (or 1 or 0)",
                    numbers[row]
                ))),
            };
        }
    }
    let flags = items(column, name)?.into_iter().enumerate().map(|(row, object)| {
        listen(py, row)?;
        // Only a whole column may be omitted.
        let flag = match object.is_none() {
            true => Err(errors::wrong_type(format!("{name} is None; expected True or False"))),
            false => flag(Some(&object), name),
        };
        flag.map_err(|error| errors::with_context(py, error, &format!("row {row}: "), ""))
    });
    flags.collect::<PyResult<_>>().map(Some)
}
