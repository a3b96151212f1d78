//! Models that stay on disk: behind `backsweep.StreamedMDP`.

use crate::errors;
use crate::known::asking::{checked_discount, stopping};
use backsweep_mdp::{Direction, DiskMdp, DiskWriter, NO_CHOICE};
use backsweep_solve::{Limits, solve_streamed};
use numpy::{IntoPyArray, PyReadonlyArray1};
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
        let policy: Vec<i64> = solution
            .policy
            .iter()
            .map(|&choice| if choice == NO_CHOICE { -1 } else { i64::from(choice) })
            .collect();
        let numbers = (
            column(&|state| solution.value(state)),
            column(&|state| solution.lower(state)),
            column(&|state| solution.upper(state)),
            policy.into_pyarray(py),
        );
        let stopped = stopped.filter(|_| !solution.converged);
        let rest =
            (solution.converged, solution.passes, stopping.seconds(), solution.explanation.clone(), stopped);
        (numbers, rest).into_pyobject(py)
    }
}

/// Writes a model row by row.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct DiskModelWriter(Mutex<Option<DiskWriter>>);

#[pymethods]
impl DiskModelWriter {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        DiskWriter::create(path).map(|writer| Self(Mutex::new(Some(writer)))).map_err(errors::refused)
    }

    /// Adds states: how many actions each has; of each action its number and how many outcomes it has; of each outcome the
    /// state (-1 ends the episode), the probability and the reward. Nothing can be added after a refusal.
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn add(
        &self,
        py: Python<'_>,
        n_choices: PyReadonlyArray1<'_, i64>,
        actions: PyReadonlyArray1<'_, i64>,
        n_outcomes: PyReadonlyArray1<'_, i64>,
        targets: PyReadonlyArray1<'_, i64>,
        probabilities: PyReadonlyArray1<'_, f64>,
        rewards: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let columns = (
            n_choices.as_slice()?,
            actions.as_slice()?,
            n_outcomes.as_slice()?,
            targets.as_slice()?,
            probabilities.as_slice()?,
            rewards.as_slice()?,
        );
        let mut slot = self.0.lock().map_err(|_| errors::broken())?;
        let Some(mut writer) = slot.take() else {
            return Err(errors::value("the file is written or was refused"));
        };
        py.detach(|| add_states(&mut writer, columns)).map_err(errors::value)?;
        *slot = Some(writer);
        Ok(())
    }

    /// Writes the file.
    fn finish(&self, py: Python<'_>, initial: Vec<u32>, action_names: Vec<String>) -> PyResult<()> {
        let writer = self.0.lock().map_err(|_| errors::broken())?.take();
        let Some(writer) = writer else { return Err(errors::value("the file is written or was refused")) };
        py.detach(|| writer.finish(&initial, &action_names)).map_err(errors::refused)
    }
}

type Columns<'a> = (&'a [i64], &'a [i64], &'a [i64], &'a [i64], &'a [f64], &'a [f64]);

fn add_states(writer: &mut DiskWriter, columns: Columns<'_>) -> Result<(), String> {
    let (n_choices, actions, n_outcomes, targets, probabilities, rewards) = columns;
    let sum =
        |counts: &[i64]| counts.iter().try_fold(0_usize, |sum, &n| sum.checked_add(usize::try_from(n).ok()?));
    let (choices, outcomes) = (sum(n_choices), sum(n_outcomes));
    if choices != Some(actions.len()) || actions.len() != n_outcomes.len() {
        return Err(format!(
            "found {} actions with {} counts of outcomes; expected as many of both as the counts of actions add up to",
            actions.len(),
            n_outcomes.len()
        ));
    }
    if outcomes != Some(targets.len())
        || targets.len() != probabilities.len()
        || targets.len() != rewards.len()
    {
        return Err(format!(
            "found {} next states, {} probabilities and {} rewards; expected as many of each as the counts of outcomes add up to",
            targets.len(),
            probabilities.len(),
            rewards.len()
        ));
    }
    let (mut row_targets, mut row_probabilities) = (Vec::new(), Vec::new());
    let (mut choice, mut outcome) = (0, 0);
    for &n in n_choices {
        for _ in 0..n {
            let action = u32::try_from(actions[choice])
                .map_err(|_| format!("action {} is out of range", actions[choice]))?;
            row_targets.clear();
            row_probabilities.clear();
            let mut reward = 0.0;
            for _ in 0..n_outcomes[choice] {
                let (target, p) = (targets[outcome], probabilities[outcome]);
                reward += p * rewards[outcome];
                if target != -1 {
                    let state =
                        u32::try_from(target).map_err(|_| format!("next state {target} is out of range"))?;
                    row_targets.push(state);
                    row_probabilities.push(p);
                }
                outcome += 1;
            }
            writer
                .add_choice(action, reward, &row_targets, &row_probabilities)
                .map_err(|error| error.to_string())?;
            choice += 1;
        }
        writer.end_state().map_err(|error| error.to_string())?;
    }
    Ok(())
}
