//! The engine behind `backsweep.MDP`: a known model that is solved, changed and solved again.

use crate::errors;
use crate::named_agent::NamedAgent;
use crate::names::{self, Key};
use crate::planning;
use crate::results::{audit_object, stats_object};
use crate::settings::{build, planner_settings};
use backsweep::{Action, Model, Next, Outcome, PlannerKind, Random, State};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// A known model and its values. Users see `backsweep.MDP`.
#[pyclass(module = "backsweep._backsweep")]
pub struct Solver {
    learner: NamedAgent,
}

/// An outcome as in Gymnasium's tables: (probability, next state, reward, terminated).
type Row<'py> = (f64, Bound<'py, PyAny>, f64, bool);

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (discount, planner=None))]
    fn new(discount: f64, planner: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (kind, settings) = planner_settings(planner, discount, None)?;
        let agent = build(Model::new(), kind, settings, 0.0)?;
        Ok(Self { learner: NamedAgent::new(agent, Random::from_seed(0)) })
    }

    /// A model of whole numbers: row i is action `actions[i]` of state `states[i]`, with the outcomes from `starts[i]` to
    /// `starts[i + 1]`; a next state of -1 is the end. States are 0 .. n_states-1; rows are in the order of their states.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn from_rows(
        py: Python<'_>,
        discount: f64,
        planner: Option<&Bound<'_, PyAny>>,
        n_states: u32,
        states: PyReadonlyArray1<'_, i64>,
        actions: PyReadonlyArray1<'_, i64>,
        starts: PyReadonlyArray1<'_, i64>,
        next_states: PyReadonlyArray1<'_, i64>,
        probabilities: PyReadonlyArray1<'_, f64>,
        rewards: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (kind, settings) = planner_settings(planner, discount, None)?;
        let empty = build(Model::new(), kind, settings, 0.0)?;
        let mut learner = NamedAgent::new(empty, Random::from_seed(0));
        let not_contiguous = |_| errors::value("a column is not contiguous");
        let (states, actions) =
            (states.as_slice().map_err(not_contiguous)?, actions.as_slice().map_err(not_contiguous)?);
        let starts = starts.as_slice().map_err(not_contiguous)?;
        let next_states = next_states.as_slice().map_err(not_contiguous)?;
        let probabilities = probabilities.as_slice().map_err(not_contiguous)?;
        let rewards = rewards.as_slice().map_err(not_contiguous)?;
        if actions.len() != states.len()
            || starts.len() != states.len() + 1
            || next_states.len() != probabilities.len()
            || next_states.len() != rewards.len()
        {
            return Err(errors::value("the columns do not have lengths that fit"));
        }
        let mut row = 0;
        for state in 0..i64::from(n_states) {
            let mut ids = Vec::new();
            while row < states.len() && states[row] == state {
                let id = learner.action_id(py, Key::Int(actions[row], None))?;
                if ids.contains(&id) {
                    return Err(errors::value(format!(
                        "action {} of state {state} is there twice",
                        actions[row]
                    )));
                }
                ids.push(id);
                row += 1;
            }
            learner.add_known(py, Key::Int(state, None), ids)?;
        }
        if row < states.len() {
            return Err(errors::value(format!("state {} is out of order or out of range", states[row])));
        }
        // The planner takes in all pairs at once when the model is complete: that is one pass, not one for each pair.
        let mut model = learner.agent.model().clone();
        let (mut place, mut outcomes) = (0, Vec::new());
        for (row, &state) in states.iter().enumerate() {
            place = if row > 0 && states[row - 1] == state { place + 1 } else { 0 };
            outcomes.clear();
            let range = usize::try_from(starts[row]).ok().zip(usize::try_from(starts[row + 1]).ok());
            let range = range.filter(|(start, end)| start <= end && *end <= next_states.len());
            let Some((start, end)) = range else {
                return Err(errors::value(format!("the outcomes of row {row} are out of range")));
            };
            for i in start..end {
                let next = match next_states[i] {
                    -1 => Next::Terminated,
                    next => Next::Continue(State(u32::try_from(next).unwrap_or(u32::MAX))),
                };
                outcomes.push(Outcome { probability: probabilities[i], reward: rewards[i], next });
            }
            let set = model.set_outcomes(State(state as u32), Action(place), &outcomes);
            set.map_err(|error| match error {
                backsweep::Error::NoSuchState { .. } => errors::value(format!(
                    "action {} of state {state} leads to a state that does not exist; expected 0 to {}",
                    actions[row],
                    n_states.saturating_sub(1)
                )),
                other => learner.explain(py, other),
            })?;
        }
        learner.agent = build(model, kind, settings, 0.0)?;
        Ok(Self { learner })
    }

    /// Set the outcomes of an action: (probability, next state, reward, terminated) each.
    fn set_outcomes(
        &mut self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        outcomes: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let wrong = |found: &Bound<'_, PyAny>| {
            errors::wrong_type(format!(
                "outcomes of action {} in state {}: {} found; expected (probability, next_state, reward, terminated)",
                errors::show(action),
                errors::show(state),
                errors::show(found)
            ))
        };
        let mut rows: Vec<Row<'_>> = Vec::new();
        for outcome in outcomes.try_iter().map_err(|_| wrong(outcomes))? {
            let outcome = outcome?;
            rows.push(outcome.extract().map_err(|_| wrong(&outcome))?);
        }
        self.learner.set_outcomes(state, action, rows)
    }

    /// (error bound or None, converged, cycles).
    fn solve(&mut self, py: Python<'_>, tolerance: f64) -> PyResult<(Option<f64>, bool, u64)> {
        let solved = planning::solve(py, &mut self.learner.agent, tolerance)?;
        let solution = solved.map_err(|error| self.learner.explain(py, error))?;
        Ok((solution.error_bound, solution.converged, solution.cycles))
    }

    /// The value of every state.
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let values: Vec<f64> = (0..self.learner.states.len() as u32)
            .map(|state| self.learner.agent.value(State(state)))
            .collect();
        values.into_pyarray(py)
    }

    /// The best action of every state, None where there is none.
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for state in 0..self.learner.states.len() as u32 {
            list.append(self.best(py, state)?)?;
        }
        Ok(list)
    }

    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.learner.states.list(py)
    }

    fn value(&mut self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        let id = self.learner.known(state)?;
        Ok(self.learner.agent.value(State(id)))
    }

    fn best_action<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = self.learner.known(state)?;
        self.best(state.py(), id)
    }

    fn action_values<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = state.py();
        let id = self.learner.known(state)?;
        let found = PyDict::new(py);
        let values = self.learner.agent.planner().values().row(self.learner.agent.model(), State(id));
        for (&action, pair) in self.learner.row(id).iter().zip(values) {
            found.set_item(self.learner.actions.object(py, action)?, pair.value())?;
        }
        Ok(found)
    }

    fn contains(&mut self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = names::key(state, "state")?;
        Ok(self.learner.states.id(state.py(), &key, "state")?.is_some())
    }

    fn n_states(&self) -> usize {
        self.learner.states.len()
    }

    fn discount(&self) -> f64 {
        self.learner.agent.planner().settings().discount
    }

    fn planner(&self) -> &'static str {
        self.learner.agent.planner().kind().map_or("", PlannerKind::name)
    }

    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::model_view::model_object(py, &self.learner)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats_object(py, &self.learner.agent)
    }

    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        audit_object(py, &self.learner.agent)
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { learner: self.learner.copied(py)? })
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: Bound<'_, PyAny>) -> PyResult<Self> {
        // Names are hashable, so there is nothing in them to be changed through the copy.
        let _ = memo;
        self.__copy__(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.learner.reduce::<Self>(py)
    }

    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        Ok(Self { learner: NamedAgent::unreduce(py, data, others)? })
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        self.learner.states.traverse(&visit)?;
        self.learner.actions.traverse(&visit)
    }
}

impl Solver {
    fn best<'py>(&self, py: Python<'py>, state: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        let row = self.learner.row(state);
        match self.learner.agent.best_action(State(state)).and_then(|action| row.get(action.index())) {
            Some(&action) => Ok(Some(self.learner.actions.object(py, action)?)),
            None => Ok(None),
        }
    }
}
