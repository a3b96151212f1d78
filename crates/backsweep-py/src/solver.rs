//! The engine behind `backsweep.MDP` with a planner: a known model that is solved, changed and solved again by one of the core's
//! planners.

use crate::errors::{self, show};
use crate::exclusive::Exclusive;
use crate::files::{call, save, to_bytes, translate};
use crate::named_agent::{Found, NamedAgent};
use crate::outcomes;
use crate::planning;
use crate::policy;
use crate::results::{audit_object, stats_object};
use crate::settings::{build, planner_settings};
use backsweep::{Action, Model, Random};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::path::PathBuf;
use std::sync::MutexGuard;

/// A known model and a planner's values. Users see `backsweep.MDP`.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct Solver(Exclusive<Solved>);

struct Solved {
    learner: NamedAgent,
    /// The policy for the values as they are, once it was needed.
    policy: Option<Vec<Option<Action>>>,
}

impl Solved {
    fn policy(&mut self) -> &[Option<Action>] {
        self.policy.get_or_insert_with(|| policy::policy(&self.learner.agent))
    }
}

impl Solver {
    pub fn of(learner: NamedAgent) -> Self {
        Self(Exclusive::new(Solved { learner, policy: None }))
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Solved>> {
        self.0.lock()
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (discount, planner=None))]
    fn new(discount: f64, planner: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (kind, settings) = planner_settings(planner, discount, None)?;
        let agent = build(Model::new(), kind, settings, 0.0)?;
        Ok(Self::of(NamedAgent::new(agent, Random::from_seed(0))))
    }

    /// Set the outcomes of an action: (probability, next state, reward, terminated) each.
    #[pyo3(signature = (state, action, outcomes, normalize=false))]
    fn set_outcomes(
        &self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        outcomes: &Bound<'_, PyAny>,
        normalize: bool,
    ) -> PyResult<()> {
        let pair = || format!("action {} in state {}", show(action), show(state));
        let mut rows = outcomes::outcomes(outcomes, &pair)?;
        if normalize {
            let sum: f64 = rows.iter().map(|row| row.0).sum();
            if !(sum > 0.0 && sum.is_finite()) {
                return Err(errors::value(format!(
                    "probabilities of {} sum to {sum}, which cannot be normalized; expected a sum above 0",
                    pair()
                )));
            }
            rows.iter_mut().for_each(|row| row.0 /= sum);
        }
        let mut solved = self.lock()?;
        solved.policy = None;
        solved.learner.set_outcomes(state, action, rows)
    }

    /// (error bound or None, converged, cycles).
    fn solve(&self, py: Python<'_>, tolerance: f64) -> PyResult<(Option<f64>, bool, u64)> {
        let mut solved = self.lock()?;
        solved.policy = None;
        let solution = planning::solve(py, &mut solved.learner.agent, tolerance)?;
        let solution = solution.map_err(|error| solved.learner.explain(py, error))?;
        Ok((solution.error_bound, solution.converged, solution.cycles))
    }

    /// The value of every state, in the order of states.
    fn value_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.lock()?.learner.state_values().into_pyarray(py))
    }

    /// The best action of every state, in the order of states; None where there is none.
    fn policy_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut solved = self.lock()?;
        let chosen = solved.policy().to_vec();
        let names = (0..).zip(chosen).map(|(state, action)| solved.learner.action_name(py, state, action));
        PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.lock()?.learner.values(py)
    }

    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut solved = self.lock()?;
        let chosen = solved.policy().to_vec();
        solved.learner.policy(py, &chosen)
    }

    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.learner.states.list(py)
    }

    fn value(&self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        self.lock()?.learner.value(state)
    }

    fn best_action<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut solved = self.lock()?;
        let Found::State(id) = solved.learner.known(state)? else { return Ok(None) };
        let action = solved.policy().get(id as usize).copied().flatten();
        solved.learner.action_name(state.py(), id, action)
    }

    fn action_values<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.lock()?.learner.action_values(state)
    }

    fn actions<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.learner.action_names(state)
    }

    fn contains(&self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.lock()?.learner.contains(state)
    }

    fn n_states(&self) -> PyResult<usize> {
        Ok(self.lock()?.learner.states.len())
    }

    fn discount(&self) -> PyResult<f64> {
        Ok(self.lock()?.learner.discount())
    }

    fn planner(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.learner.planner_name())
    }

    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::model_view::model_object(py, &self.lock()?.learner)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats_object(py, &self.lock()?.learner.agent)
    }

    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        audit_object(py, &self.lock()?.learner.agent)
    }

    #[pyo3(signature = (path, encode=None))]
    fn save<'py>(&self, py: Python<'py>, path: PathBuf, encode: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let mut encode = call(encode);
        save(py, &self.lock()?.learner, path, translate!(encode))
    }

    #[pyo3(signature = (encode=None))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        encode: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut encode = call(encode);
        to_bytes(py, &self.lock()?.learner, translate!(encode))
    }

    /// A table for notebooks.
    fn html(&self) -> PyResult<String> {
        Ok(self.lock()?.learner.html("backsweep.MDP"))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::of(self.lock()?.learner.copied(py)?))
    }

    fn __deepcopy__<'py>(&self, py: Python<'py>, memo: Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self::of(self.lock()?.learner.deep_copied(py, &memo)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.lock()?.learner.reduce::<Self>(py)
    }

    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        Ok(Self::of(NamedAgent::unreduce(py, data, others)?))
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        self.0.traverse(|solved| solved.learner.traverse(&visit))
    }

    /// Called only by the garbage collector.
    fn __clear__(&self) {
        if let Ok(mut solved) = self.lock() {
            solved.learner.clear();
        }
    }
}
