//! Distinguishing lists of actions from masks; choosing among some of a state's actions.

use crate::agent::Agent;
use crate::columns::{array_kind, plain};
use crate::errors::{self, show};
use crate::flags;
use crate::named_agent::NamedAgent;
use crate::names::{self, Key};
use backsweep::{Action, State};
use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyString, PyTuple};

/// The actions in any iterable except text, whose letters are hardly what the user intended.
pub fn keys_of<'py>(actions: &Bound<'py, PyAny>) -> PyResult<Vec<Key<'py>>> {
    if actions.is_instance_of::<PyString>() || actions.is_instance_of::<PyBytes>() {
        return Err(errors::wrong_type(format!(
            "actions is the text {0}; expected a list of actions, such as [{0}]",
            show(actions)
        )));
    }
    let items = actions.try_iter().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(actions.py()) {
            errors::wrong_type(format!("actions is {}; expected a list of actions", show(actions)))
        } else {
            error
        }
    })?;
    items.map(|action| names::key(&action?, "action")).collect()
}

/// Returns whether a list of actions is really a mask: an array of booleans or of bytes that are 0 or 1, as in Gymnasium, or a list of
/// booleans.
fn is_mask(actions: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(array) = actions.cast::<PyUntypedArray>() {
        return match (array_kind(actions), array.dtype().itemsize()) {
            (Some(b'b'), _) => Ok(true),
            (Some(b'i' | b'u'), 1) => {
                let copy = crate::columns::contiguous(actions, "int64")?;
                let numbers: PyReadonlyArray1<'_, i64> = copy.extract()?;
                Ok(numbers.as_array().iter().all(|number| matches!(number, 0 | 1)))
            }
            _ => Ok(false),
        };
    }
    fn all_flags<'py>(mut items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>) -> bool {
        items.len() > 0 && items.all(|item| item.is_instance_of::<PyBool>())
    }
    if let Ok(list) = actions.cast::<PyList>() {
        return Ok(all_flags(list.iter()));
    }
    Ok(actions.cast::<PyTuple>().is_ok_and(|tuple| all_flags(tuple.iter())))
}

/// Refuses zeros and ones with repetitions: not a list of actions, but not certainly a mask.
fn refuse_ambiguous(actions: &Bound<'_, PyAny>, keys: &[Key<'_>]) -> PyResult<()> {
    let n_of = |bit| keys.iter().filter(|key| matches!(key, Key::Int(number, _) if *number == bit)).count();
    let (zeros, ones) = (n_of(0), n_of(1));
    if zeros + ones == keys.len() && (zeros > 1 || ones > 1) {
        return Err(errors::value(format!(
            "actions is {}, which looks like a mask; expected a list of actions; pass a mask as action_mask=",
            show(actions)
        )));
    }
    Ok(())
}

/// The actions that a mask allows: of the declared ones, or of 0, 1, 2 … if none are declared.
fn allowed_by<'py>(learner: &NamedAgent, mask: &Bound<'py, PyAny>) -> PyResult<Vec<Key<'py>>> {
    let py = mask.py();
    if mask.is_instance_of::<PyString>() || mask.is_instance_of::<PyBytes>() {
        return Err(errors::wrong_type(format!("action_mask is {}; expected a list of flags", show(mask))));
    }
    let flags = flags::column(Some(&plain(mask, "action_mask")?), "action_mask")?.unwrap_or_default();
    let on = flags.iter().enumerate().filter(|(_, on)| **on).map(|(i, _)| i);
    match &learner.declared {
        Some(declared) if declared.len() != flags.len() => Err(errors::value(format!(
            "action_mask has {} flags; expected one for each of the {} declared actions",
            flags.len(),
            declared.len()
        ))),
        Some(declared) => {
            let objects = on.map(|i| learner.actions.object(py, declared.as_slice()[i]));
            objects.map(|object| names::key(&object?, "action")).collect()
        }
        None => Ok(on.map(|i| Key::Int(i as i64, None)).collect()),
    }
}

/// The actions in a list, or those that a mask allows if that is what was passed.
pub fn keys_or_mask<'py>(learner: &NamedAgent, actions: &Bound<'py, PyAny>) -> PyResult<Vec<Key<'py>>> {
    if is_mask(actions)? {
        return allowed_by(learner, actions);
    }
    let keys = keys_of(actions)?;
    refuse_ambiguous(actions, &keys)?;
    Ok(keys)
}

#[pymethods]
impl Agent {
    /// Choose an action: the best one, ties broken at random; with probability epsilon a random one; as explore says, if it
    /// was given.
    ///
    /// Args:
    ///     state: the state to act in.
    ///     actions: the actions that are possible; new ones are added. A list of booleans, or an array of booleans or bytes
    ///         that are 0 or 1, is treated as a mask.
    ///     action_mask: a flag for each declared action, or for 0, 1, 2, ... if none are declared: whether it is possible.
    ///
    /// Raises:
    ///     UnknownName: no actions are known in the state.
    ///     ValueError: no action is possible, or the mask has another length.
    #[pyo3(signature = (state, actions=None, *, action_mask=None))]
    fn act<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        actions: Option<&Bound<'py, PyAny>>,
        action_mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (learner, mask) = (&mut *self.0.lock()?, action_mask);
        let py = state.py();
        let key = names::key(state, "state")?;
        let allowed = match (actions, mask) {
            (None, None) => {
                let id = match learner.states.id(py, &key, "state")? {
                    Some(id) => id,
                    None if learner.declared.is_some() => learner.add(py, key, None)?,
                    None => return Err(no_actions(py, &key.show())),
                };
                if learner.row(id).is_empty() {
                    return Err(no_actions(py, &learner.states.show(py, id)));
                }
                let action = learner.agent.act(State(id), &mut learner.random);
                let action = action.map_err(|error| learner.explain(py, error))?;
                return named(py, learner, id, action);
            }
            (Some(_), Some(_)) => {
                return Err(errors::wrong_type(
                    "actions and action_mask are both given; expected one of them",
                ));
            }
            (None, Some(mask)) => allowed_by(learner, mask)?,
            (Some(actions), None) => keys_or_mask(learner, actions)?,
        };
        if allowed.is_empty() {
            let problem = if mask.is_some() { "action_mask allows no action" } else { "actions is empty" };
            return Err(errors::value(format!(
                "{problem} in state {}; expected at least one action",
                key.show()
            )));
        }
        // Looked up before anything is added, so that an invalid name changes nothing.
        learner.states.id(py, &key, "state")?;
        let row = learner.action_ids(py, allowed)?;
        let state = learner.add_state(py, key, Some(row.clone()))?;
        let mut places: Vec<_> =
            row.as_slice().iter().filter_map(|&action| learner.find_place(state, action)).collect();
        places.sort_unstable();
        let chosen = learner.agent.act_among(State(state), &places, &mut learner.random);
        let chosen = chosen.map_err(|error| learner.explain(py, error))?;
        named(py, learner, state, chosen)
    }
}

fn named<'py>(
    py: Python<'py>,
    learner: &NamedAgent,
    state: u32,
    action: Action,
) -> PyResult<Bound<'py, PyAny>> {
    learner.actions.object(py, learner.row(state).get(action.index()).copied().unwrap_or(u32::MAX))
}

fn no_actions(py: Python<'_>, state: &str) -> PyErr {
    errors::unknown(
        py,
        format!(
            "no actions are known in state {state}; pass actions=[...], or declare the actions of all states: \
             Agent(actions=...)"
        ),
    )
}
