//! The engine behind `backsweep.MDP`: a known model in flat arrays, solved by the portfolio of `backsweep-solve`.
//!
//! | to find | look in |
//! |---|---|
//! | the model and its changes | [`named_mdp`], [`editing`] |
//! | from arrays, or from functions | [`build`], [`arrays`], [`function`] |
//! | questions and answers | [`asking`], [`stopping`]; the rest is `backsweep_solve::Session` |
//! | reading both | [`reading`], by the user's names [`named`] |
//! | judging a policy | [`judging`] |
//! | models that stay on disk | [`streamed`] |
//! | files | [`files`] (other tools'), [`storage`] (our own) |

pub mod arrays;
pub mod asking;
pub mod build;
pub mod editing;
pub mod files;
pub mod function;
pub mod judging;
pub mod named;
pub mod named_mdp;
pub mod reading;
pub mod stopping;
pub mod storage;
pub mod streamed;

use crate::errors;
use crate::exclusive::Exclusive;
use crate::named_agent::NamedAgent;
use arrays::{ArrayRows, RewardArray};
use asking::{
    AskedObjective, checked_discount, comparison, device_of, effort, format_of, question, result, stopping,
};
use backsweep_cuda::{Device, Error as CardError};
use backsweep_mdp::Compression;
use build::Sums;
use editing::GivenChange;
use judging::GivenAction;
use named_mdp::NamedMdp;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::path::PathBuf;
use std::sync::MutexGuard;
use storage::Trust;

/// A known model and what is known about it. Users see `backsweep.MDP`.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct KnownModel(Exclusive<NamedMdp>);

/// A matrix in compressed rows.
type SparseMatrix<'py> = (PyReadonlyArray1<'py, i64>, Bound<'py, PyAny>, PyReadonlyArray1<'py, f64>);

impl KnownModel {
    pub fn of(solved: NamedMdp) -> Self {
        Self(Exclusive::new(solved))
    }

    fn built(model: NamedMdp, discount: f64) -> Self {
        Self::of(model.with_discount(discount))
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, NamedMdp>> {
        self.0.lock()
    }
}

#[pymethods]
impl KnownModel {
    #[new]
    fn new(discount: f64) -> PyResult<Self> {
        Ok(Self::built(NamedMdp::default(), checked_discount(discount)?))
    }

    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "one for each array")]
    fn from_dense(
        discount: f64,
        n_states: usize,
        n_actions: usize,
        transitions: PyReadonlyArray1<'_, f64>,
        rewards: PyReadonlyArray1<'_, f64>,
        by_outcome: bool,
        end: Option<PyReadonlyArray1<'_, f64>>,
        available: Option<PyReadonlyArray1<'_, bool>>,
        eps: f64,
        normalize: bool,
    ) -> PyResult<Self> {
        let rows = ArrayRows { n_states, n_actions, end, available, sums: Sums { eps, normalize } };
        let rewards = if by_outcome { RewardArray::Outcomes(rewards) } else { RewardArray::Rows(rewards) };
        Ok(Self::built(rows.dense(&transitions, rewards)?, checked_discount(discount)?))
    }

    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "one for each array")]
    fn from_sparse<'py>(
        discount: f64,
        n_states: usize,
        n_actions: usize,
        transitions: Vec<SparseMatrix<'py>>,
        rewards: Option<PyReadonlyArray1<'py, f64>>,
        outcome_rewards: Option<Vec<SparseMatrix<'py>>>,
        end: Option<PyReadonlyArray1<'py, f64>>,
        available: Option<PyReadonlyArray1<'py, bool>>,
        eps: f64,
        normalize: bool,
    ) -> PyResult<Self> {
        let rows = ArrayRows { n_states, n_actions, end, available, sums: Sums { eps, normalize } };
        let rewards = match (rewards, outcome_rewards) {
            (Some(rewards), None) => RewardArray::Rows(rewards),
            (None, Some(rewards)) => RewardArray::Outcomes(rewards),
            _ => return Err(errors::value("expected rewards by row or by outcome")),
        };
        Ok(Self::built(rows.sparse(&transitions, rewards)?, checked_discount(discount)?))
    }

    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn from_columns(
        discount: f64,
        n_states: usize,
        states: PyReadonlyArray1<'_, i64>,
        actions: PyReadonlyArray1<'_, i64>,
        action_names: &Bound<'_, PyAny>,
        starts: PyReadonlyArray1<'_, i64>,
        next_states: PyReadonlyArray1<'_, i64>,
        probabilities: PyReadonlyArray1<'_, f64>,
        rewards: PyReadonlyArray1<'_, f64>,
        eps: f64,
        normalize: bool,
    ) -> PyResult<Self> {
        let sums = Sums { eps, normalize };
        let model = arrays::columns(
            n_states,
            &states,
            &actions,
            action_names,
            &starts,
            &next_states,
            &probabilities,
            &rewards,
            sums,
        )?;
        Ok(Self::built(model, checked_discount(discount)?))
    }

    /// The same model with these names of its states, in order.
    fn named(&self, py: Python<'_>, names: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut copy = self.lock()?.copied(py)?;
        copy.rename_states(py, &names)?;
        Ok(Self::of(copy))
    }

    /// The model in a file, and what was left out of the file.
    #[staticmethod]
    #[pyo3(signature = (path, format, discount, progress=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        discount: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, Vec<String>)> {
        let discount = checked_discount(discount)?;
        let (model, notes) = files::read(py, &path, format_of(format)?, progress)?;
        Ok((Self::built(model, discount), notes))
    }

    /// Writes the model in a format of other tools; returns what the format cannot hold.
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        compress: bool,
    ) -> PyResult<Vec<String>> {
        let compression = if compress { Compression::Gzip } else { Compression::None };
        let mut solved = self.lock()?;
        files::write(py, &mut solved, &path, format_of(format)?, compression)
    }

    #[pyo3(signature = (state, action, outcomes, normalize=false))]
    fn set_outcomes(
        &self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        outcomes: &Bound<'_, PyAny>,
        normalize: bool,
    ) -> PyResult<()> {
        self.lock()?.set_outcomes(state, action, outcomes, normalize)
    }

    fn set_reward(&self, state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>, reward: f64) -> PyResult<()> {
        self.lock()?.set_reward(state, action, reward)
    }

    fn remove_action(&self, state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>) -> PyResult<()> {
        self.lock()?.remove(state, action)
    }

    /// Labels states; `init` are the initial ones.
    fn set_label(&self, label: String, states: &Bound<'_, PyAny>) -> PyResult<()> {
        self.lock()?.set_label(label, states)
    }

    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.lock()?.labels(py)
    }

    fn rewards(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.session.model().mdp().rewards.iter().map(|rewards| rewards.name.clone()).collect())
    }

    /// Values, bounds, policy (ids of actions), error bound, converged, iterations, seconds, explanation, what stopped it,
    /// the question in words, whether it was repaired.
    #[allow(clippy::too_many_arguments, reason = "one for each of Python's")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        tolerance: f64,
        objective: Option<AskedObjective>,
        minimize: bool,
        method: Option<String>,
        time_limit: Option<f64>,
        threads: Option<usize>,
        device: &str,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let stopping = stopping(time_limit)?;
        let effort = effort(tolerance, method, threads)?;
        let device = device_of(device, effort.method.is_some())?;
        let mut solved = self.lock()?;
        let question = question(&solved, objective, minimize)?;
        let session = &mut solved.session;
        let method = effort.method.as_deref();
        effort.run(py, &stopping, |limits| match device {
            Device::Processor => {
                session.solve(&question, method, limits).map(|_| ()).map_err(CardError::from)
            }
            _ => session
                .solve_by(&question, limits, |mdp| backsweep_cuda::solve(mdp, &question, device, limits))
                .map(|_| ()),
        })?;
        let Some(answer) = session.answer() else { return Err(errors::value("nothing was solved")) };
        let seconds = stopping.seconds();
        let stopped = stopping.reason(py)?.filter(|_| !answer.converged);
        result(py, answer, seconds, stopped)
    }

    /// Values before and after, error bound, converged, the states whose policy changes with their actions before and after,
    /// seconds. `changes` are (state, action, outcomes, reward); one without either is a removal.
    #[allow(clippy::too_many_arguments, reason = "one for each of Python's")]
    fn what_if<'py>(
        &self,
        py: Python<'py>,
        changes: Vec<GivenChange<'py>>,
        tolerance: Option<f64>,
        objective: Option<AskedObjective>,
        minimize: bool,
        time_limit: Option<f64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let stopping = stopping(time_limit)?;
        let mut solved = self.lock()?;
        let question = question(&solved, objective, minimize)?;
        let answered = solved.session.answer().filter(|answer| answer.question == question);
        let tolerance = tolerance.or(answered.map(|answer| answer.tolerance)).unwrap_or(1e-9);
        let effort = effort(tolerance, None, threads)?;
        let edits = solved.edits(changes)?;
        let session = &mut solved.session;
        let compared = effort.run(py, &stopping, |limits| session.what_if(&edits, &question, limits))?;
        let stopped = stopping.reason(py)?.filter(|_| !compared.converged);
        comparison(py, compared, stopping.seconds(), stopped)
    }

    /// Values, bounds, best values and largest gaps of a policy, (state, action, probability) by (state, action, probability);
    /// states where it loses, with visits and loss per visit; converged, seconds, what stopped it, the question in words.
    #[allow(clippy::too_many_arguments, reason = "one for each of Python's")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        policy: Vec<GivenAction<'py>>,
        tolerance: f64,
        objective: Option<AskedObjective>,
        minimize: bool,
        time_limit: Option<f64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let stopping = stopping(time_limit)?;
        let effort = effort(tolerance, None, threads)?;
        let mut solved = self.lock()?;
        let question = question(&solved, objective, minimize)?;
        solved.evaluate(py, &policy, &question, &effort, &stopping)
    }

    /// Runs of a policy: a list of (state, action, reward, next state) per episode.
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        policy: Vec<GivenAction<'py>>,
        start: Option<Bound<'py, PyAny>>,
        episodes: usize,
        max_steps: u64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.simulate(py, &policy, start.as_ref(), (episodes, max_steps, seed))
    }

    fn value_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.lock()?.values().into_pyarray(py))
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.lock()?.named_values(py)
    }

    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.lock()?.named_policy(py)
    }

    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.states.list(py)
    }

    /// All actions of all states, by id.
    fn action_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.actions.list(py)
    }

    fn value(&self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        self.lock()?.named_value(state)
    }

    fn best_action<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.lock()?.best_action(state)
    }

    fn action_values<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.lock()?.action_values(state)
    }

    fn actions<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.actions(state)
    }

    fn contains(&self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.lock()?.contains(state)
    }

    fn n_states(&self) -> PyResult<usize> {
        Ok(self.lock()?.states.len())
    }

    fn discount(&self) -> PyResult<f64> {
        Ok(self.lock()?.discount)
    }

    fn planner(&self) -> &'static str {
        "portfolio"
    }

    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.lock()?.model_object(py)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.lock()?.stats_object(py)
    }

    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.lock()?.audit_object(py)
    }

    #[pyo3(signature = (path, encode=None))]
    fn save<'py>(&self, py: Python<'py>, path: PathBuf, encode: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let snapshot = self.lock()?.store(py, encode.as_ref())?;
        py.detach(|| backsweep::save::save(&path, &snapshot)).map_err(|error| errors::from_io(py, error))
    }

    #[staticmethod]
    #[pyo3(signature = (path, decode=None))]
    fn load<'py>(py: Python<'py>, path: PathBuf, decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let snapshot =
            py.detach(|| backsweep::save::load(&path)).map_err(|error| errors::from_io(py, error))?;
        let restored = NamedMdp::restore(py, &snapshot, decode.as_ref(), Trust::File);
        let place = format!("{}: ", path.display());
        restored.map(Self::of).map_err(|error| errors::with_context(py, error, &place, ""))
    }

    #[pyo3(signature = (encode=None))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        encode: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let snapshot = self.lock()?.store(py, encode.as_ref())?;
        Ok(PyBytes::new(py, &backsweep::save::encode(&snapshot)))
    }

    #[staticmethod]
    #[pyo3(signature = (data, decode=None))]
    fn from_bytes<'py>(py: Python<'py>, data: &[u8], decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let snapshot = backsweep::save::decode(data).map_err(|error| errors::from_io(py, error))?;
        NamedMdp::restore(py, &snapshot, decode.as_ref(), Trust::File).map(Self::of)
    }

    /// A table for notebooks.
    fn html(&self) -> PyResult<String> {
        Ok(self.lock()?.html())
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::of(self.lock()?.copied(py)?))
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::of(self.lock()?.deep_copied(py, memo)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.lock()?.reduce::<Self>(py)
    }

    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        NamedMdp::unreduce(py, data, others).map(Self::of)
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        self.0.traverse(|solved| solved.tables().into_iter().try_for_each(|names| names.traverse(&visit)))
    }

    /// Called only by the garbage collector.
    fn __clear__(&self) {
        if let Ok(mut solved) = self.lock() {
            let solved = &mut *solved;
            (solved.states, solved.actions, solved.ends) = Default::default();
        }
    }
}

/// The model of an agent, as `backsweep.MDP`.
pub fn mdp_object<'py>(py: Python<'py>, learner: &NamedAgent) -> PyResult<Bound<'py, PyAny>> {
    let engine = KnownModel::of(NamedMdp::of_agent(py, learner)?);
    py.import("backsweep._mdp")?.getattr("MDP")?.call_method1("_of", (engine,))
}
