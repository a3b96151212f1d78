//! The model as arrays that NumPy and SciPy share.

use crate::named_agent::NamedAgent;
use backsweep::State;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyType};

/// `backsweep.Model`: one row for each state and action, one column for each state.
pub fn model_object<'py>(py: Python<'py>, learner: &NamedAgent) -> PyResult<Bound<'py, PyAny>> {
    static CELL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let model = learner.agent.model();
    let n = model.n_arcs();
    let (mut state_index, mut action_index) = (Vec::new(), Vec::new());
    let (mut visits, mut mean_rewards) = (Vec::new(), Vec::new());
    let mut row_starts = vec![0i32];
    let (mut columns, mut counts) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut probabilities = Vec::with_capacity(n);
    let mut row: Vec<(i32, f64)> = Vec::new();
    for state in model.states() {
        for (&action, pair) in learner.row(state.0).iter().zip(model.pairs(state)) {
            let weight = model.weight(pair);
            row.clear();
            row.extend(
                model.successors(pair).filter(|s| s.weight > 0.0).map(|s| (s.state.0 as i32, s.weight)),
            );
            row.sort_unstable_by_key(|&(column, _)| column);
            columns.extend(row.iter().map(|&(column, _)| column));
            counts.extend(row.iter().map(|&(_, count)| count));
            probabilities.extend(row.iter().map(|&(_, count)| count / weight));
            row_starts.push(columns.len() as i32);
            state_index.push(state.0 as i32);
            action_index.push(action as i32);
            visits.push(weight);
            mean_rewards.push(model.mean_reward(pair));
        }
    }
    let values: Vec<f64> =
        (0..learner.states.len() as u32).map(|state| learner.agent.value(State(state))).collect();
    let actions: Bound<'py, PyList> = learner.actions.list(py)?;
    let arguments = (
        learner.states.list(py)?,
        actions,
        state_index.into_pyarray(py),
        action_index.into_pyarray(py),
        visits.into_pyarray(py),
        mean_rewards.into_pyarray(py),
        row_starts.into_pyarray(py),
        columns.into_pyarray(py),
        counts.into_pyarray(py),
        probabilities.into_pyarray(py),
        values.into_pyarray(py),
    );
    CELL.import(py, "backsweep._types", "Model")?.call1(arguments)
}
