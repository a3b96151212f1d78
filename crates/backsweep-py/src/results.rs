//! Results as the named tuples of `backsweep._types`.

use backsweep::Agent as CoreAgent;
use backsweep::explore::Optimism;
use backsweep::planner::QueueView;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

fn type_of<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, "backsweep._types", name)
}

/// The audit as `backsweep.Audit`.
pub fn audit_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Bound<'py, PyAny>> {
    static CELL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let audit = py.detach(|| agent.audit());
    let numbers = (
        audit.relation,
        audit.relative_relation,
        audit.maximum,
        audit.residual,
        audit.rounding,
        audit.error_bound,
    );
    type_of(py, &CELL, "Audit")?.call1(numbers)
}

pub fn stats_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Bound<'py, PyAny>> {
    static CELL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    // For an exploring agent, what `plan` has done.
    let (counters, model) = (agent.acting_planner().counters().unwrap_or_default(), agent.model());
    let n_pairs: usize = model.states().map(|state| model.n_actions(state)).sum();
    let numbers = (
        counters.cycles,
        counters.backups(),
        counters.small_backups,
        counters.full_backups,
        counters.idle_pops,
        counters.refreshes,
        agent.acting_planner().queue().map_or(0, QueueView::n_queued),
        model.n_states(),
        n_pairs,
        model.n_arcs(),
    );
    type_of(py, &CELL, "Stats")?.call1(numbers)
}

pub fn optimism_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Bound<'py, PyAny>> {
    static CELL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let Optimism { value, min_visits } = agent.acting_planner().values().optimism();
    type_of(py, &CELL, "Optimism")?.call1((value, min_visits))
}
