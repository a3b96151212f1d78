//! Columns of outcomes from NumPy, read in place.

use crate::errors;
use crate::known::build::{RowBuilder, Sums};
use crate::known::named_mdp::NamedMdp;
use crate::names::{self, Names};
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;

fn slice<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| errors::value("an array is not contiguous"))
}

fn sized<T>(items: &[T], n: usize) -> PyResult<&[T]> {
    if items.len() == n {
        Ok(items)
    } else {
        Err(errors::value(format!("an array has {} items; expected {n}", items.len())))
    }
}

/// The names in an iterable, numbered in its order.
pub fn action_names(given: &Bound<'_, PyAny>) -> PyResult<Names> {
    let mut names = Names::default();
    for name in given.try_iter()? {
        names.id_or_insert(given.py(), names::key(&name?, "action")?, "action")?;
    }
    Ok(names)
}

/// Columns of outcomes: row i is action `actions[i]` (an index into `action_names`) of state `states[i]`, with the outcomes from
/// `starts[i]` to `starts[i + 1]`; a next state of -1 is the end.
#[allow(clippy::too_many_arguments, reason = "one for each column")]
pub fn columns(
    n_states: usize,
    states: &PyReadonlyArray1<'_, i64>,
    actions: &PyReadonlyArray1<'_, i64>,
    action_names: &Bound<'_, PyAny>,
    starts: &PyReadonlyArray1<'_, i64>,
    next_states: &PyReadonlyArray1<'_, i64>,
    probabilities: &PyReadonlyArray1<'_, f64>,
    rewards: &PyReadonlyArray1<'_, f64>,
    sums: Sums,
) -> PyResult<NamedMdp> {
    let names = self::action_names(action_names)?;
    let states = slice(states)?;
    let n_rows = states.len();
    let (actions, starts) = (sized(slice(actions)?, n_rows)?, sized(slice(starts)?, n_rows + 1)?);
    let next_states = slice(next_states)?;
    let n = next_states.len();
    let (probabilities, rewards) = (sized(slice(probabilities)?, n)?, sized(slice(rewards)?, n)?);
    let mut builder = RowBuilder::new(n_states, n_rows, n, sums)?;
    let mut row = 0;
    for state in 0..n_states as i64 {
        while row < n_rows && states[row] == state {
            let range = usize::try_from(starts[row]).ok().zip(usize::try_from(starts[row + 1]).ok());
            let range = range.filter(|(start, end)| start <= end && *end <= n);
            let action = u32::try_from(actions[row]).ok().filter(|&action| (action as usize) < names.len());
            let (Some((start, end)), Some(action)) = (range, action) else {
                return Err(errors::value(format!("row {row} is out of range of the columns")));
            };
            for i in start..end {
                builder.outcome(next_states[i], probabilities[i], rewards[i])?;
            }
            builder.end_row(action)?;
            row += 1;
        }
        builder.end_state();
    }
    if row < n_rows {
        return Err(errors::value(format!("state {} is out of order or out of range", states[row])));
    }
    builder.finish(names)
}
