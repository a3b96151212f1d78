//! Models that stay on disk: behind `backsweep.StreamedMDP`.

use crate::errors;
use crate::known::asking::{checked_discount, ids, stopping};
use backsweep_mdp::{Direction, DiskMdp};
use backsweep_solve::{Limits, solve_streamed};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::Mutex;

/// A model in an uncompressed UMB file.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct DiskModel(DiskMdp);

#[pymethods]
impl DiskModel {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, arcs_per_block: u64) -> PyResult<Self> {
        py.detach(|| DiskMdp::open(&path, arcs_per_block)).map(Self).map_err(errors::refused)
    }

    /// The numbers of states, choices, arcs and blocks.
    fn counts(&self) -> (usize, u64, u64, usize) {
        (self.0.n_states(), self.0.n_choices(), self.0.n_arcs(), self.0.n_blocks())
    }

    /// The initial states.
    fn initial(&self) -> Vec<u32> {
        self.0.initial().to_vec()
    }

    /// Values, lower and upper bounds, and choices by their number within the state, -1 for none; then the rest.
    #[allow(clippy::too_many_arguments, reason = "one for each argument of StreamedMDP.solve")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        discount: f64,
        reward: Option<&str>,
        minimize: bool,
        tolerance: f64,
        relative: f64,
        time_limit: Option<f64>,
        progress: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let discount = checked_discount(discount)?;
        let direction = if minimize { Direction::Minimize } else { Direction::Maximize };
        let stopping = stopping(time_limit)?;
        let failed = Mutex::new(None);
        let show = progress.clone().unbind();
        let solved = py.detach(|| {
            let is_failed = || failed.lock().map_or(true, |failed| failed.is_some());
            let stop = || stopping.stop() || is_failed();
            let limits = Limits { tolerance, relative, stop: &stop, threads: 1 };
            solve_streamed(&self.0, reward, discount, direction, &limits, &|now| {
                let shown = Python::attach(|py| show.call1(py, (now.pass, now.done, now.of, now.width)));
                if let (Err(error), Ok(mut failed)) = (shown, failed.lock()) {
                    *failed = Some(error);
                }
            })
        });
        let stopped = stopping.reason(py)?;
        if let Some(error) = failed.into_inner().unwrap_or_default() {
            return Err(error);
        }
        let solution = solved.map_err(errors::refused)?;
        let column =
            |of: &dyn Fn(usize) -> f64| (0..solution.n_states()).map(of).collect::<Vec<_>>().into_pyarray(py);
        let numbers = (
            column(&|state| solution.value(state)),
            column(&|state| solution.lower(state)),
            column(&|state| solution.upper(state)),
            ids(&solution.policy).into_pyarray(py),
        );
        let stopped = stopped.filter(|_| !solution.converged);
        let rest =
            (solution.converged, solution.passes, stopping.seconds(), solution.explanation.clone(), stopped);
        (numbers, rest).into_pyobject(py)
    }
}
