//! The engine behind `backsweep.MDP`: a known model in flat arrays, solved by the portfolio of `backsweep-solve`. Each file has the
//! methods of its subject.
//!
//! | to find | look in |
//! |---|---|
//! | the model and its changes | [`named_mdp`], [`editing`] |
//! | from columns, or from functions | [`build`], [`arrays`], [`function`], [`growing`] |
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
pub mod growing;
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
use asking::{
    AskedObjective, checked_discount, comparison, device_of, effort, format_of, question, result, stopping,
};
use backsweep_cuda::{Device, Error as CardError};
use backsweep_mdp::Compression;
use build::Sums;
use editing::GivenChange;
use named_mdp::NamedMdp;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::path::PathBuf;

/// A known model and what is known about it. Users see `backsweep.MDP`.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct KnownModel(Exclusive<NamedMdp>);

impl KnownModel {
    pub fn of(solved: NamedMdp) -> Self {
        Self(Exclusive::new(solved))
    }

    fn built(model: NamedMdp, discount: f64) -> Self {
        Self::of(model.with_discount(discount))
    }
}

#[pymethods]
impl KnownModel {
    #[new]
    fn new(discount: f64) -> PyResult<Self> {
        Ok(Self::built(NamedMdp::default(), checked_discount(discount)?))
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

    /// Gives its states these names, in order.
    fn rename_states(&self, names: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.lock()?.rename_states(names)
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
        let mut solved = self.0.lock()?;
        files::write(py, &mut solved, &path, format_of(format)?, compression)
    }

    fn rewards(&self) -> PyResult<Vec<String>> {
        Ok(self.0.lock()?.session.model().mdp().rewards.iter().map(|rewards| rewards.name.clone()).collect())
    }

    /// Values, bounds, policy (ids of actions), error bound, converged, iterations, seconds, explanation, what stopped it,
    /// the question in words, whether it was repaired.
    #[allow(clippy::too_many_arguments, reason = "one for each of Python's")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        tolerances: (f64, f64),
        objective: Option<AskedObjective>,
        minimize: bool,
        method: Option<String>,
        time_limit: Option<f64>,
        threads: Option<usize>,
        device: &str,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let stopping = stopping(time_limit)?;
        let effort = effort(tolerances, method, threads)?;
        let device = device_of(device, effort.method.is_some())?;
        let mut solved = self.0.lock()?;
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
        let stopped = stopping.reason(py)?.filter(|_| !answer.solution.converged);
        result(py, answer, seconds, stopped)
    }

    /// Values before and after, error bound, converged, the states whose policy changes with their actions before and after,
    /// seconds. `changes` are (state, action, outcomes, reward); one without either is a removal.
    #[allow(clippy::too_many_arguments, reason = "one for each of Python's")]
    fn what_if<'py>(
        &self,
        py: Python<'py>,
        changes: Vec<GivenChange<'py>>,
        tolerances: Option<(f64, f64)>,
        objective: Option<AskedObjective>,
        minimize: bool,
        time_limit: Option<f64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let stopping = stopping(time_limit)?;
        let mut solved = self.0.lock()?;
        let question = question(&solved, objective, minimize)?;
        let answered = solved.session.answer().filter(|answer| answer.question == question);
        let asked = answered.map(|answer| (answer.tolerance, answer.relative));
        let effort = effort(tolerances.or(asked).unwrap_or((1e-9, 1e-9)), None, threads)?;
        let edits = solved.edits(changes)?;
        let session = &mut solved.session;
        let compared = effort.run(py, &stopping, |limits| session.what_if(&edits, &question, limits))?;
        let stopped = stopping.reason(py)?.filter(|_| !compared.converged);
        comparison(py, compared, stopping.seconds(), stopped)
    }

    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.lock()?.states.list(py)
    }

    /// All actions of all states, by id.
    fn action_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.lock()?.actions.list(py)
    }

    fn n_states(&self) -> PyResult<usize> {
        Ok(self.0.lock()?.states.len())
    }

    fn discount(&self) -> PyResult<f64> {
        Ok(self.0.lock()?.discount)
    }

    fn planner(&self) -> &'static str {
        "portfolio"
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::of(self.0.lock()?.copied(py)?))
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::of(self.0.lock()?.deep_copied(py, memo)?))
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        self.0.traverse(|solved| solved.tables().into_iter().try_for_each(|names| names.traverse(&visit)))
    }

    /// Called only by the garbage collector.
    fn __clear__(&self) {
        if let Ok(mut solved) = self.0.lock() {
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
