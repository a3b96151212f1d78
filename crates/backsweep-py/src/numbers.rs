//! Numbers that Python passes in, checked; `name` is the argument's, for messages.

use crate::errors;
use backsweep::planner::MAX_REWARD;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

/// The requirement on rewards, for messages.
pub const A_REWARD: &str = "a finite number of at most 1e150 in magnitude";

/// Returns whether a number can be a reward: none is so large that a sum of rewards overflows.
#[inline]
pub fn is_reward(number: f64) -> bool {
    number.abs() <= MAX_REWARD
}

/// A whole number, 0 or more. Numbers that do not fit become the largest that does.
#[inline]
pub fn count(object: &Bound<'_, PyAny>, name: &str) -> PyResult<u64> {
    if object.is_exact_instance_of::<PyInt>()
        && let Ok(count) = object.extract::<u64>()
    {
        return Ok(count);
    }
    if object.is_instance_of::<PyFloat>() {
        return Err(errors::wrong_type(format!(
            "{name} is {}; expected a whole number",
            errors::show(object)
        )));
    }
    match object.extract::<i128>() {
        Ok(found) if found >= 0 => Ok(u64::try_from(found).unwrap_or(u64::MAX)),
        Ok(found) => Err(errors::value(format!("{name} is {found}; expected a whole number, 0 or more"))),
        Err(_) if object.is_instance_of::<PyInt>() => {
            if object.lt(0)? {
                Err(errors::value(format!("{name} is negative; expected a whole number, 0 or more")))
            } else {
                Ok(u64::MAX)
            }
        }
        Err(_) => {
            Err(errors::wrong_type(format!("{name} is {}; expected a whole number", errors::show(object))))
        }
    }
}

/// A number.
#[inline]
pub fn number(object: &Bound<'_, PyAny>, name: &str) -> PyResult<f64> {
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        return Ok(number.value());
    }
    object.extract::<f64>().map_err(|_| {
        if object.is_instance_of::<PyInt>() {
            errors::value(format!("{name} is too large for a floating-point number"))
        } else {
            errors::wrong_type(format!("{name} is {}; expected a number", errors::show(object)))
        }
    })
}
