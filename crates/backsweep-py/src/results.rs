//! Results as the named tuples of `backsweep._types`.

use backsweep::Agent as CoreAgent;
use backsweep::explore::Optimism;
use backsweep::planner::QueueView;
use pyo3::prelude::*;

fn type_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("backsweep._types")?.getattr(name)
}

/// The audit as `backsweep.Audit`.
pub fn audit_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Bound<'py, PyAny>> {
    let audit = py.detach(|| agent.audit());
    let numbers = (
        audit.relation,
        audit.relative_relation,
        audit.maximum,
        audit.residual,
        audit.rounding,
        audit.error_bound,
    );
    type_of(py, "Audit")?.call1(numbers)
}

pub fn stats_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Bound<'py, PyAny>> {
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
    type_of(py, "Stats")?.call1(numbers)
}

pub fn optimism_object<'py>(py: Python<'py>, agent: &CoreAgent) -> PyResult<Bound<'py, PyAny>> {
    let Optimism { value, min_visits } = agent.acting_planner().values().optimism();
    type_of(py, "Optimism")?.call1((value, min_visits))
}
