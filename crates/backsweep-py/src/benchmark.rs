//! The loop of `examples/speed.py` in Rust, to compare numbers and times with Python's in one run.

use crate::errors;
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Settings, State, Transition};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::time::Instant;

/// Replays columns in Rust: after each step it runs `cycles` update cycles and, if `act` is set, chooses an action in the next
/// state. Returns the seconds it took, the values of all states and the sum of the chosen actions.
#[pyfunction]
#[pyo3(signature = (states, actions, rewards, next_states, terminated, *, n_actions, cycles, act, discount=0.99, seed=0))]
#[allow(clippy::too_many_arguments, reason = "one for each column")]
pub fn rust_loop<'py>(
    py: Python<'py>,
    states: PyReadonlyArray1<'py, i64>,
    actions: PyReadonlyArray1<'py, i64>,
    rewards: PyReadonlyArray1<'py, f64>,
    next_states: PyReadonlyArray1<'py, i64>,
    terminated: PyReadonlyArray1<'py, bool>,
    n_actions: usize,
    cycles: u64,
    act: bool,
    discount: f64,
    seed: u64,
) -> PyResult<(f64, Bound<'py, PyArray1<f64>>, u64)> {
    let columns = "a column is not contiguous; expected contiguous columns";
    let states = states.as_slice().map_err(|_| errors::value(columns))?;
    let actions = actions.as_slice().map_err(|_| errors::value(columns))?;
    let rewards = rewards.as_slice().map_err(|_| errors::value(columns))?;
    let next_states = next_states.as_slice().map_err(|_| errors::value(columns))?;
    let terminated = terminated.as_slice().map_err(|_| errors::value(columns))?;
    let n = states.len();
    if [actions.len(), rewards.len(), next_states.len(), terminated.len()] != [n; 4] {
        return Err(errors::value("columns have different lengths; expected the same length"));
    }
    if states.iter().chain(next_states).any(|state| !(0..1 << 24).contains(state)) {
        return Err(errors::value("a state is out of range; expected whole numbers from 0 to 16777215"));
    }
    let mut agent =
        Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, Settings { discount, ..Settings::default() })
            .map_err(errors::refused)?;
    // Ids are given in the order in which states are met, as in Python.
    let mut ids = vec![u32::MAX; 1 + states.iter().chain(next_states).copied().max().unwrap_or(0) as usize];
    let mut random = Random::from_seed(seed);
    let mut sum = 0;
    let start = Instant::now();
    for row in 0..states.len() {
        let mut meet = |state: i64| {
            let id = &mut ids[state as usize];
            if *id == u32::MAX {
                *id = agent.add_state(n_actions)?.0;
            }
            Ok::<_, backsweep::Error>(State(*id))
        };
        let state = meet(states[row]).map_err(errors::refused)?;
        let next = if terminated[row] {
            Next::Terminated
        } else {
            Next::Continue(meet(next_states[row]).map_err(errors::refused)?)
        };
        let transition =
            Transition { state, action: Action(actions[row] as u32), reward: rewards[row], next };
        agent.observe_transition(&transition).map_err(errors::refused)?;
        if cycles > 0 {
            agent.plan(Budget::Cycles(cycles));
        }
        if act {
            sum +=
                u64::from(agent.act(next.state().unwrap_or(state), &mut random).map_err(errors::refused)?.0);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let values: Vec<f64> = agent.model().states().map(|state| agent.value(state)).collect();
    Ok((seconds, values.into_pyarray(py), sum))
}
