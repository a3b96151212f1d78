//! The engine behind `backsweep.MDP`: a known model that is solved, changed and solved again.

use crate::action_row::ActionRow;
use crate::errors::{self, show};
use crate::exclusive::Exclusive;
use crate::files::{call, from_bytes, load, save, to_bytes, translate};
use crate::flags::flag;
use crate::memory;
use crate::named_agent::{Found, NamedAgent};
use crate::names::Key;
use crate::planning::{self, number};
use crate::policy;
use crate::results::{audit_object, stats_object};
use crate::settings::{build, planner_settings};
use backsweep::{Action, Model, Next, Outcome, Random, State};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::path::PathBuf;
use std::sync::MutexGuard;

/// A known model and its values. Users see `backsweep.MDP`.
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
    fn of(learner: NamedAgent) -> Self {
        Self(Exclusive::new(Solved { learner, policy: None }))
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Solved>> {
        self.0.lock()
    }
}

/// An outcome as in Gymnasium's tables: (probability, next state, reward, terminated).
type Row<'py> = (f64, Bound<'py, PyAny>, f64, bool);

fn row_of<'py>(outcome: &Bound<'py, PyAny>) -> PyResult<Option<Row<'py>>> {
    type Four<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);
    let Ok((probability, next, reward, terminated)) = outcome.extract::<Four<'py>>() else { return Ok(None) };
    let probability = number(&probability, "probability")?;
    Ok(Some((probability, next, number(&reward, "reward")?, flag(Some(&terminated), "terminated")?)))
}

/// States between two checks for Ctrl-C.
const STRIDE: i64 = 1 << 16;

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (discount, planner=None))]
    fn new(discount: f64, planner: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (kind, settings) = planner_settings(planner, discount, None)?;
        let agent = build(Model::new(), kind, settings, 0.0)?;
        Ok(Self::of(NamedAgent::new(agent, Random::from_seed(0))))
    }

    /// A model of whole numbers: row i is action `actions[i]` of state `states[i]`, with the outcomes from `starts[i]` to
    /// `starts[i + 1]`; a next state of -1 is the end. States are 0 to n_states-1; rows are in the order of their states.
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
            return Err(errors::value("the columns do not have matching lengths"));
        }
        memory::check("the model", u64::from(n_states), states.len() as u64, next_states.len() as u64)?;
        let mut row = 0;
        for state in 0..i64::from(n_states) {
            let mut ids = ActionRow::default();
            while row < states.len() && states[row] == state {
                let id = learner.action_id(py, Key::Int(actions[row], None))?;
                if !ids.insert(id) {
                    return Err(errors::value(format!(
                        "action {} occurs twice in state {state}; expected each action once",
                        actions[row]
                    )));
                }
                row += 1;
            }
            if state % STRIDE == STRIDE - 1 {
                py.check_signals()?;
            }
            learner.add_known(py, Key::Int(state, None), ids)?;
        }
        if row < states.len() {
            return Err(errors::value(format!("state {} is out of order or out of range", states[row])));
        }
        // The planner takes in the whole model at once: that is one pass, not one for each pair.
        let mut model = learner.agent.model().clone();
        let (mut place, mut outcomes) = (0, Vec::new());
        for (row, &state) in states.iter().enumerate() {
            if row % STRIDE as usize == STRIDE as usize - 1 {
                py.check_signals()?;
            }
            place = if row > 0 && states[row - 1] == state { place + 1 } else { 0 };
            outcomes.clear();
            let range = usize::try_from(starts[row]).ok().zip(usize::try_from(starts[row + 1]).ok());
            let range = range.filter(|(start, end)| start <= end && *end <= next_states.len());
            let Some((start, end)) = range else {
                return Err(errors::value(format!(
                    "the outcomes of row {row} are out of range of the columns"
                )));
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
        Ok(Self::of(learner))
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
        let py = state.py();
        let pair = || format!("action {} in state {}", show(action), show(state));
        let wrong = |found: &Bound<'_, PyAny>| {
            errors::wrong_type(format!(
                "an outcome of {} is {}; expected (probability, next_state, reward, terminated)",
                pair(),
                show(found)
            ))
        };
        let mut rows: Vec<Row<'_>> = Vec::new();
        for outcome in outcomes.try_iter().map_err(|_| wrong(outcomes))? {
            let outcome = outcome?;
            let row = row_of(&outcome)
                .map_err(|error| errors::with_context(py, error, &format!("outcome of {}: ", pair()), ""))?;
            rows.push(row.ok_or_else(|| wrong(&outcome))?);
        }
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

    #[staticmethod]
    #[pyo3(signature = (path, decode=None))]
    fn load<'py>(py: Python<'py>, path: PathBuf, decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let mut decode = call(decode);
        Ok(Self::of(load(py, path, translate!(decode))?))
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

    #[staticmethod]
    #[pyo3(signature = (data, decode=None))]
    fn from_bytes<'py>(py: Python<'py>, data: &[u8], decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let mut decode = call(decode);
        Ok(Self::of(from_bytes(py, data, translate!(decode))?))
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

    /// Called on garbage only.
    fn __clear__(&self) {
        if let Ok(mut solved) = self.lock() {
            solved.learner.clear();
        }
    }
}
