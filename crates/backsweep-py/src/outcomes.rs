//! The outcomes of an action, as Python passes them in.

use crate::errors::{self, show};
use crate::flags::flag;
use crate::numbers::number;
use pyo3::prelude::*;

/// An outcome as in Gymnasium's tables: (probability, next state, reward, terminated).
pub type GivenOutcome<'py> = (f64, Bound<'py, PyAny>, f64, bool);

/// One outcome; `None` if it is something else.
fn outcome<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<GivenOutcome<'py>>> {
    type Four<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
    let Ok((probability, next, reward, terminated)) = object.extract::<Four<'py>>() else { return Ok(None) };
    let probability = number(&probability, "probability")?;
    Ok(Some((probability, next, number(&reward, "reward")?, flag(Some(&terminated), "terminated")?)))
}

/// The outcomes of an action, as a list of tuples.
pub fn outcomes<'py>(
    outcomes: &Bound<'py, PyAny>,
    pair: &impl Fn() -> String,
) -> PyResult<Vec<GivenOutcome<'py>>> {
    let wrong = |found: &Bound<'_, PyAny>| {
        errors::wrong_type(format!(
            "an outcome of {} is {}; expected (probability, next_state, reward, terminated)",
            pair(),
            show(found)
        ))
    };
    let mut rows = Vec::new();
    for item in outcomes.try_iter().map_err(|_| wrong(outcomes))? {
        let item = item?;
        let row = outcome(&item);
        let row = row.map_err(|error| {
            errors::with_context(outcomes.py(), error, &format!("outcome of {}: ", pair()), "")
        })?;
        rows.push(row.ok_or_else(|| wrong(&item))?);
    }
    Ok(rows)
}
