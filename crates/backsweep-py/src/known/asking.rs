//! Questions from Python, checked, and answers in the form that Python takes.

use crate::errors;
use crate::known::named_mdp::{NamedMdp, SolveEffort};
use crate::known::stopping::Stopping;
use backsweep::Settings;
use backsweep_cuda::Device;
use backsweep_mdp::{Direction, Format, NO_CHOICE, Objective, Question};
use backsweep_solve::{Answer, EditComparison};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::num::NonZeroUsize;
use std::time::Duration;

/// A question as `backsweep._objectives` puts it: kind, reward, label, label to avoid, steps, discount.
pub type AskedObjective = (String, Option<String>, Option<String>, Option<String>, Option<u64>, Option<f64>);

/// The actions of a policy by state, as ids; -1 where there is none.
pub fn ids(policy: &[u32]) -> Vec<i64> {
    policy.iter().map(|&action| if action == NO_CHOICE { -1 } else { i64::from(action) }).collect()
}

/// A valid discount.
pub fn checked_discount(discount: f64) -> PyResult<f64> {
    let settings = Settings { discount, ..Settings::default() };
    settings.check().map(|_| discount).map_err(errors::refused)
}

/// The question; the default one if none is given.
pub fn question(solved: &NamedMdp, objective: Option<AskedObjective>, minimize: bool) -> PyResult<Question> {
    let direction = if minimize { Direction::Minimize } else { Direction::Maximize };
    let Some((kind, reward, label, avoid, steps, discount)) = objective else {
        return Ok(Question { objective: solved.usual_objective(), direction });
    };
    let discount = checked_discount(discount.unwrap_or(solved.discount))?;
    let objective = match (kind.as_str(), label, steps) {
        ("discounted", ..) if discount < 1.0 => Objective::Discounted { reward, discount },
        ("discounted", ..) => Objective::Total { reward, until: None },
        ("reach", Some(goal), steps) => Objective::Reach { goal, avoid, steps },
        ("total", until, _) => Objective::Total { reward, until },
        ("horizon", _, Some(steps)) => Objective::Horizon { reward, steps, discount },
        ("average", ..) => Objective::Average { reward },
        (kind, ..) => return Err(errors::value(format!("objective {kind:?} is not known"))),
    };
    Ok(Question { objective, direction })
}

/// The tolerances and threads.
pub fn effort(
    (tolerance, relative): (f64, f64),
    method: Option<String>,
    threads: Option<usize>,
) -> PyResult<SolveEffort> {
    let one_counts = tolerance > 0.0 || (tolerance == 0.0 && relative > 0.0);
    if !(one_counts && tolerance.is_finite()) {
        return Err(errors::value(format!("tolerance is {tolerance}; expected a finite number above 0")));
    }
    if !(relative >= 0.0 && relative.is_finite()) {
        return Err(errors::value(format!("relative is {relative}; expected a finite number, 0 or more")));
    }
    if threads == Some(0) {
        return Err(errors::value("threads is 0; expected 1 or more"));
    }
    let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Ok(SolveEffort { tolerance, relative, method, threads: threads.unwrap_or_else(all) })
}

/// The device of this name, which computes the values; with a method it can only be the processor.
pub fn device_of(name: &str, has_method: bool) -> PyResult<Device> {
    let problem = || errors::value(format!("device is {name:?}; expected one of cpu, cuda, auto"));
    let device = Device::named(name).ok_or_else(problem)?;
    if has_method && device != Device::Processor {
        return Err(errors::value("method is for the device 'cpu'; expected one of method and device"));
    }
    Ok(device)
}

/// When to stop.
pub fn stopping(time_limit: Option<f64>) -> PyResult<Stopping> {
    let limit = time_limit.map(Duration::try_from_secs_f64).transpose();
    limit.map(Stopping::new).map_err(|_| {
        let found = time_limit.unwrap_or(f64::NAN);
        errors::value(format!("time_limit is {found}; expected a number of seconds, 0 or more"))
    })
}

/// The format of a file by its name.
pub fn format_of(name: Option<&str>) -> PyResult<Option<Format>> {
    let find = |name: &str| {
        let known: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
        let problem = || errors::value(format!("format is {name:?}; expected one of {}", known.join(", ")));
        Format::named(name).ok_or_else(problem)
    };
    name.map(find).transpose()
}

/// A solution as `backsweep._mdp` takes it.
pub fn result<'py>(
    py: Python<'py>,
    answer: &Answer,
    seconds: f64,
    stopped: Option<&str>,
) -> PyResult<Bound<'py, PyTuple>> {
    let array = |numbers: &[f64]| numbers.to_vec().into_pyarray(py);
    let policy: Bound<'py, PyArray1<i64>> = ids(&answer.policy).into_pyarray(py);
    let solution = &answer.solution;
    let numbers = (array(&answer.values), array(&solution.lower), array(&solution.upper), policy);
    let question = answer.question.to_string();
    let rest = (
        answer.error_bound(),
        solution.converged,
        solution.iterations,
        seconds,
        solution.explanation.clone(),
        stopped,
        question,
        answer.repaired,
    );
    (numbers, rest).into_pyobject(py)
}

/// A comparison as `backsweep._mdp` takes it.
pub fn comparison<'py>(
    py: Python<'py>,
    compared: EditComparison,
    seconds: f64,
    stopped: Option<&str>,
) -> PyResult<Bound<'py, PyTuple>> {
    let column = |i: usize| -> Vec<u32> {
        compared.moved.iter().map(|moved| [moved.0, moved.1, moved.2][i]).collect()
    };
    let moved =
        (column(0).into_pyarray(py), ids(&column(1)).into_pyarray(py), ids(&column(2)).into_pyarray(py));
    let numbers = (compared.before.into_pyarray(py), compared.after.into_pyarray(py));
    let rest = (compared.bound, compared.converged, seconds, stopped);
    (numbers, moved, rest).into_pyobject(py)
}
