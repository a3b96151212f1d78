//! Results as the named tuples of `backsweep._types`.

use crate::named_agent::NamedAgent;
use crate::names::Names;
use backsweep::Agent as CoreAgent;
use backsweep::State;
use backsweep::explore::Optimism;
use backsweep::planner::QueueView;
use numpy::IntoPyArray;
use pyo3::prelude::*;

/// A class of `backsweep._types`.
pub fn type_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
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

/// The arrays of `backsweep.Model`: one row for each state and action, one column for each state.
#[derive(Default)]
pub struct ModelArrays {
    states: Vec<i32>,
    actions: Vec<i32>,
    visits: Vec<f64>,
    mean_rewards: Vec<f64>,
    row_starts: Vec<i32>,
    columns: Vec<i32>,
    counts: Vec<f64>,
    probabilities: Vec<f64>,
    row: Vec<(u32, f64)>,
}

impl ModelArrays {
    /// Adds an action of a state: its weight, its mean reward, and each next state with its weight.
    pub fn push(
        &mut self,
        (state, action): (u32, u32),
        weight: f64,
        mean_reward: f64,
        next: impl Iterator<Item = (u32, f64)>,
    ) {
        self.row.clear();
        self.row.extend(next);
        self.row.sort_unstable_by_key(|&(column, _)| column);
        self.row_starts.push(self.columns.len() as i32);
        self.columns.extend(self.row.iter().map(|&(column, _)| column as i32));
        self.counts.extend(self.row.iter().map(|&(_, count)| count));
        self.probabilities.extend(self.row.iter().map(|&(_, count)| count / weight));
        self.states.push(state as i32);
        self.actions.push(action as i32);
        self.visits.push(weight);
        self.mean_rewards.push(mean_reward);
    }

    /// `backsweep.Model` with these names and the value of each state.
    pub fn object<'py>(
        mut self,
        py: Python<'py>,
        states: &Names,
        actions: &Names,
        values: Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.row_starts.push(self.columns.len() as i32);
        let arguments = (
            states.list(py)?,
            actions.list(py)?,
            self.states.into_pyarray(py),
            self.actions.into_pyarray(py),
            self.visits.into_pyarray(py),
            self.mean_rewards.into_pyarray(py),
            self.row_starts.into_pyarray(py),
            self.columns.into_pyarray(py),
            self.counts.into_pyarray(py),
            self.probabilities.into_pyarray(py),
            values.into_pyarray(py),
        );
        type_of(py, "Model")?.call1(arguments)
    }
}

/// The observations of an agent, as `backsweep.Model`.
pub fn model_object<'py>(py: Python<'py>, learner: &NamedAgent) -> PyResult<Bound<'py, PyAny>> {
    let (agent, mut arrays) = (&learner.agent, ModelArrays::default());
    let model = agent.model();
    for state in model.states() {
        for (&action, pair) in learner.row(state.0).iter().zip(model.pairs(state)) {
            let next = model.successors(pair).filter(|s| s.weight > 0.0).map(|s| (s.state.0, s.weight));
            arrays.push((state.0, action), model.weight(pair), model.mean_reward(pair), next);
        }
    }
    let values = (0..learner.states.len() as u32).map(|state| agent.value(State(state))).collect();
    arrays.object(py, &learner.states, &learner.actions, values)
}
