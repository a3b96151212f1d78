//! Learning from columns. Columns of whole numbers go straight to the engine; others row by row through names.

use crate::errors;
use crate::named_agent::NamedAgent;
use crate::names::Key;
use crate::planning::{self, Amount, number};
use backsweep::{Budget, Next, State, Transition};
use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Rows between two looks for Ctrl-C.
const STRIDE: usize = 4096;
/// Cycles between two.
const MAX_CYCLES: u64 = 16_384;

type Column<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// states, actions, rewards, next_states, terminated, truncated.
pub fn observe_many(
    learner: &mut NamedAgent,
    columns: [Column<'_, '_>; 6],
    cycles: u64,
    heavy: bool,
) -> PyResult<usize> {
    const NAMES: [&str; 6] = ["states", "actions", "rewards", "next_states", "terminated", "truncated"];
    let mut length = None;
    for (column, name) in columns.iter().zip(NAMES) {
        let Some(column) = column else { continue };
        let found = column.len().map_err(|error| {
            if error.is_instance_of::<PyTypeError>(column.py()) {
                errors::wrong_type(format!("{name} is {}; expected an array or a list", errors::show(column)))
            } else {
                error
            }
        })?;
        match length {
            None => length = Some(found),
            Some(length) if length != found => {
                return Err(errors::value(format!(
                    "{name} has {found} rows and states has {length}; expected columns of the same length"
                )));
            }
            Some(_) => {}
        }
    }
    let [Some(states), Some(actions), Some(rewards), Some(next_states), terminated, truncated] = columns
    else {
        return Err(errors::wrong_type("a column is missing"));
    };
    let are_numbers = is_whole(states) && is_whole(actions) && is_whole(next_states) && is_array(rewards);
    if are_numbers && [terminated, truncated].into_iter().flatten().all(is_array) {
        let numbers = Numbers {
            states: contiguous(states, "int64")?.extract()?,
            actions: contiguous(actions, "int64")?.extract()?,
            rewards: contiguous(rewards, "float64")?.extract()?,
            next_states: contiguous(next_states, "int64")?.extract()?,
            terminated: flags(terminated)?,
            truncated: flags(truncated)?,
        };
        return observe_numbers(states.py(), learner, &numbers, cycles, heavy);
    }
    let (terminated, truncated) = (items(terminated)?, items(truncated)?);
    let (states, actions) = (items(Some(states))?, items(Some(actions))?);
    let (rewards, next_states) = (items(Some(rewards))?, items(Some(next_states))?);
    let flag_columns = [(&terminated, columns[4]), (&truncated, columns[5])];
    let fits = |items: &Vec<Bound<'_, PyAny>>| items.len() == states.len();
    if ![&actions, &rewards, &next_states].into_iter().all(fits)
        || flag_columns.iter().any(|(items, column)| column.is_some() && !fits(items))
    {
        return Err(errors::value("a column gives another number of rows than its length says"));
    }
    for (i, (state, action)) in states.iter().zip(&actions).enumerate() {
        let py = state.py();
        let flag = |column: &[Bound<'_, PyAny>]| column.get(i).map_or(Ok(false), |flag| flag.is_truthy());
        let reward = number(&rewards[i], "reward")?;
        learner.observe(state, action, reward, &next_states[i], flag(&terminated)?, flag(&truncated)?)?;
        if cycles > 0 {
            planning::run(py, &mut learner.agent, Amount::Cycles(cycles), heavy)?;
        }
        if i % STRIDE == 0 {
            py.check_signals()?;
        }
    }
    Ok(states.len())
}

fn is_array(column: &Bound<'_, PyAny>) -> bool {
    column
        .cast::<PyUntypedArray>()
        .is_ok_and(|array| array.ndim() == 1 && matches!(array.dtype().kind(), b'f' | b'i' | b'u' | b'b'))
}

fn is_whole(column: &Bound<'_, PyAny>) -> bool {
    column.cast::<PyUntypedArray>().is_ok_and(|array| {
        let dtype = array.dtype();
        // Unsigned numbers of 64 bits may not fit.
        array.ndim() == 1 && (dtype.kind() == b'i' || (dtype.kind() == b'u' && dtype.itemsize() < 8))
    })
}

fn contiguous<'py>(column: &Bound<'py, PyAny>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    column.py().import("numpy")?.call_method1("ascontiguousarray", (column, dtype))
}

fn flags<'py>(column: Column<'_, 'py>) -> PyResult<Option<PyReadonlyArray1<'py, bool>>> {
    column.map(|column| contiguous(column, "bool")?.extract()).transpose()
}

fn items<'py>(column: Column<'_, 'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match column {
        Some(column) => column.try_iter()?.collect(),
        None => Ok(Vec::new()),
    }
}

struct Numbers<'py> {
    states: PyReadonlyArray1<'py, i64>,
    actions: PyReadonlyArray1<'py, i64>,
    rewards: PyReadonlyArray1<'py, f64>,
    next_states: PyReadonlyArray1<'py, i64>,
    terminated: Option<PyReadonlyArray1<'py, bool>>,
    truncated: Option<PyReadonlyArray1<'py, bool>>,
}

fn observe_numbers(
    py: Python<'_>,
    learner: &mut NamedAgent,
    columns: &Numbers<'_>,
    cycles: u64,
    heavy: bool,
) -> PyResult<usize> {
    let not_contiguous = |_| errors::value("a column is not contiguous");
    let states = columns.states.as_slice().map_err(not_contiguous)?;
    let actions = columns.actions.as_slice().map_err(not_contiguous)?;
    let rewards = columns.rewards.as_slice().map_err(not_contiguous)?;
    let next_states = columns.next_states.as_slice().map_err(not_contiguous)?;
    let none: &[bool] = &[];
    let terminated =
        columns.terminated.as_ref().map_or(Ok(none), |c| c.as_slice()).map_err(not_contiguous)?;
    let truncated = columns.truncated.as_ref().map_or(Ok(none), |c| c.as_slice()).map_err(not_contiguous)?;
    if let Some(row) = rewards.iter().position(|reward| !reward.is_finite()) {
        return Err(errors::value(format!(
            "reward of action {} in state {}, row {row}, is {}; expected a finite number; nothing was learned",
            actions[row], states[row], rewards[row]
        )));
    }
    let mut batch = Vec::new();
    for start in (0..states.len()).step_by(STRIDE) {
        for row in start..(start + STRIDE).min(states.len()) {
            let ended = terminated.get(row).copied().unwrap_or(false);
            let cut = truncated.get(row).copied().unwrap_or(false);
            let step = Step { state: states[row], action: actions[row], next: next_states[row], ended, cut };
            let found = match find(learner, &step) {
                Some(found) => found,
                None => {
                    // New names change the model: what was put off comes first, as it would have row by row.
                    learn(py, learner, &mut batch, cycles, heavy)?;
                    meet(py, learner, &step)?
                }
            };
            let (state, action, next) = found;
            let transition = Transition { state, action, reward: rewards[row], next };
            if cycles > 0 {
                batch.push(transition);
            } else {
                learner.agent.observe(&transition).map_err(|error| learner.explain(py, error))?;
            }
        }
        learn(py, learner, &mut batch, cycles, heavy)?;
        py.check_signals()?;
    }
    Ok(states.len())
}

struct Step {
    state: i64,
    action: i64,
    next: i64,
    ended: bool,
    cut: bool,
}

type Ids = (State, backsweep::Action, Next);

/// The ids of a step all of whose names are known.
#[inline]
fn find(learner: &NamedAgent, step: &Step) -> Option<Ids> {
    let state = learner.states.dense_id(step.state)?;
    let action = learner.find_place(state, learner.actions.dense_id(step.action)?)?;
    let next = if step.ended {
        learner.ends.dense_id(step.next)?;
        Next::Terminated
    } else if step.cut {
        Next::Truncated(State(learner.states.dense_id(step.next)?))
    } else {
        Next::Continue(State(learner.states.dense_id(step.next)?))
    };
    Some((State(state), action, next))
}

/// The ids of a step with names that are new, or not small whole numbers.
#[cold]
fn meet(py: Python<'_>, learner: &mut NamedAgent, step: &Step) -> PyResult<Ids> {
    let action = learner.action_id(py, Key::Int(step.action, None))?;
    let state = learner.meet(py, Key::Int(step.state, None))?;
    let action = learner.place(py, state, action)?;
    let next = Key::Int(step.next, None);
    let next = match (step.ended, step.cut) {
        (true, _) => {
            learner.ends.id_or_insert(py, next, "next_state")?;
            Next::Terminated
        }
        (false, true) => Next::Truncated(State(learner.meet(py, next)?)),
        (false, false) => Next::Continue(State(learner.meet(py, next)?)),
    };
    Ok((State(state), action, next))
}

/// Learns from transitions that were put off, planning after each, without holding the interpreter for long.
fn learn(
    py: Python<'_>,
    learner: &mut NamedAgent,
    batch: &mut Vec<Transition>,
    cycles: u64,
    heavy: bool,
) -> PyResult<()> {
    // So many steps at a time that Ctrl-C does not wait for long.
    let steps = if heavy { 1 } else { (MAX_CYCLES / cycles.max(1)).clamp(1, 64) as usize };
    for part in batch.chunks(steps) {
        let agent = &mut learner.agent;
        let done = if steps > 1 {
            let mut run = || {
                for transition in part {
                    agent.observe(transition)?;
                    agent.plan(Budget::Cycles(cycles));
                }
                Ok(())
            };
            // A few short steps are not worth waiting for the interpreter again.
            if part.len() as u64 * cycles < 64 { run() } else { py.detach(run) }
        } else {
            agent.observe(&part[0]).map(|_| ())
        };
        done.map_err(|error| learner.explain(py, error))?;
        if steps == 1 {
            planning::run(py, &mut learner.agent, Amount::Cycles(cycles), heavy)?;
        }
        py.check_signals()?;
    }
    batch.clear();
    Ok(())
}
