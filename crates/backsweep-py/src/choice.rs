//! Choosing among some of a state's actions.

use crate::errors;
use crate::named_agent::NamedAgent;
use crate::names;
use backsweep::{Action, State};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The items of any iterable of actions.
pub fn actions_of<'py>(actions: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let items = actions.try_iter().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(actions.py()) {
            errors::wrong_type(format!("actions is {}; expected a list of actions", errors::show(actions)))
        } else {
            error
        }
    })?;
    items.collect()
}

/// The actions that a mask allows: of the declared ones, or of 0, 1, 2 … if none are declared.
fn masked<'py>(learner: &NamedAgent, mask: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = mask.py();
    let mut flags = Vec::new();
    for flag in actions_of(mask).map_err(|_| {
        errors::wrong_type(format!("action_mask is {}; expected a list of flags", errors::show(mask)))
    })? {
        flags.push(flag.is_truthy()?);
    }
    let on = || flags.iter().enumerate().filter(|(_, on)| **on).map(|(i, _)| i);
    match learner.declared() {
        Some(declared) if declared.len() != flags.len() => Err(errors::value(format!(
            "action_mask has {} flags; expected one for each of the {} declared actions",
            flags.len(),
            declared.len()
        ))),
        Some(declared) => on().map(|i| learner.actions.object(py, declared[i])).collect(),
        None => on().map(|i| Ok(i.into_pyobject(py)?.into_any())).collect(),
    }
}

/// Chooses an action by the policy, of all that the state has or of those given.
#[inline]
pub fn act<'py>(
    learner: &mut NamedAgent,
    state: &Bound<'py, PyAny>,
    actions: Option<&Bound<'py, PyAny>>,
    mask: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = state.py();
    let key = names::key(state, "state")?;
    let id = match (actions, mask) {
        (None, None) => {
            let id = match learner.states.id(py, &key, "state")? {
                Some(id) => id,
                None if learner.declared().is_some() => learner.add(py, key, None)?,
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
            return Err(errors::wrong_type("actions and action_mask are both given; expected one of them"));
        }
        (Some(actions), None) => (key, actions_of(actions)?),
        (None, Some(mask)) => (key, masked(learner, mask)?),
    };
    let (key, allowed) = id;
    if allowed.is_empty() {
        let which = if mask.is_some() { "action_mask allows no action" } else { "actions is empty" };
        return Err(errors::value(format!("{which} in state {}; expected one action at least", key.show())));
    }
    let state = learner.add_state(py, key, Some(&allowed))?;
    let mut places =
        allowed.iter().map(|action| learner.known_place(state, action)).collect::<PyResult<Vec<_>>>()?;
    places.sort_unstable();
    places.dedup();
    let chosen = learner.agent.act_among(State(state), &places, &mut learner.random);
    let chosen = chosen.map_err(|error| learner.explain(py, error))?;
    named(py, learner, state, chosen)
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
            "no actions are known in state {state}; pass actions=[...], or declare those of all states: \
             Agent(actions=...)"
        ),
    )
}
