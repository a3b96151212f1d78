//! Takes numbers from results, with their noise, or a line that says what is missing.

use crate::method::Method;
use crate::number::number;
use crate::query;
use crate::result::{Results, SettingKey, Summary, Timing, Unit};
use std::fmt;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The mean over runs.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// How many runs there were.
    pub runs: u32,
}

impl Measured {
    /// This minus `other`, with the standard error of the difference of independent means.
    pub fn minus(self, other: Measured) -> Measured {
        let runs = self.runs.min(other.runs);
        Measured { mean: self.mean - other.mean, error: self.error.hypot(other.error), runs }
    }

    /// How far noise reaches: about `errors` standard errors of a normal distribution, more for few runs, whose standard
    /// error is itself uncertain. (The first terms of Student's t; at 2 errors: 2.03 for 100 runs, 2.36 for 8.)
    pub fn noise(self, errors: f64) -> f64 {
        self.error * reach(errors, self.runs)
    }

    /// Whether this exceeds `limit` beyond noise; `None` if noise leaves it undecided.
    pub fn exceeds(self, limit: f64) -> Option<bool> {
        let noise = self.noise(2.0);
        if self.mean - noise > limit {
            Some(true)
        } else if self.mean + noise <= limit {
            Some(false)
        } else {
            None
        }
    }

    /// The standard error that 100 runs would have: the paper's figures are those of 100.
    pub fn error_of_100(self) -> f64 {
        self.error * (f64::from(self.runs) / 100.0).sqrt()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Errors on the circle are a hundred times smaller than those of returns.
        let digits = if self.mean.abs() < 2.0 && self.error < 0.02 { 4 } else { 2 };
        write!(f, "{} ± {}", number(self.mean, digits), number(self.error, digits))
    }
}

/// A claim of several differences: it fails if one of them is clearly absent, and is undecided if noise hides one.
pub fn decide(parts: &[Option<bool>], numbers: String) -> Result<(bool, String), String> {
    if parts.contains(&Some(false)) {
        Ok((false, numbers))
    } else if parts.contains(&None) {
        Err(format!("too noisy to tell; more runs are needed: {numbers}"))
    } else {
        Ok((true, numbers))
    }
}

/// The quantile of Student's t for `runs` runs where that of the normal distribution is `errors`.
pub fn reach(errors: f64, runs: u32) -> f64 {
    errors + (errors.powi(3) + errors) / (4.0 * f64::from(runs.max(2) - 1))
}

/// A summary as a measured number. One run has no standard error, so it decides nothing.
pub fn measured(summary: &Summary) -> Result<Measured, String> {
    let name = summary.key.name();
    if summary.runs < 2 {
        return Err(format!(
            "{name} has {} run, which has no standard error; give it more runs",
            summary.runs
        ));
    }
    if !(summary.mean.is_finite() && summary.standard_error.is_finite()) {
        return Err(format!("{name} has no finite mean"));
    }
    Ok(Measured { mean: summary.mean, error: summary.standard_error, runs: summary.runs })
}

/// The score of a method at a number of cycles, or of one without cycles.
pub fn score(
    results: &Results,
    experiment: &str,
    task: &str,
    method: &Method,
    cycles: Option<u32>,
) -> Result<Measured, String> {
    let found = results.summaries.iter().find(|summary| {
        let key = &summary.key;
        key.experiment == experiment
            && key.task == task
            && key.method == *method
            && key.cycles == cycles
            && key.parameter.is_none()
    });
    let cycles = cycles.map(|cycles| format!("/{cycles}")).unwrap_or_default();
    measured(found.ok_or_else(|| format!("no {experiment}/{task}/{method}{cycles}"))?)
}

/// The scores of one curve with their x, by increasing x; an error if there are none.
pub fn curve(
    results: &Results,
    experiment: &str,
    task: &str,
    method: &Method,
) -> Result<Vec<(f64, Measured)>, String> {
    let found = query::curve(results, experiment, task, method);
    let points: Result<Vec<_>, String> =
        found.iter().map(|s| Ok((query::place(&s.key).unwrap_or(f64::NAN), measured(s)?))).collect();
    match points {
        Ok(points) if points.is_empty() => Err(format!("no {experiment}/{task}/{method}")),
        points => points,
    }
}

/// The time of a method at a parameter, in microseconds.
pub fn time<'a>(
    results: &'a Results,
    task: &str,
    method: &Method,
    parameter: Option<f64>,
    unit: Unit,
) -> Result<&'a Timing, String> {
    let same = |key: &SettingKey| {
        key.experiment == "table1"
            && key.task == task
            && key.method == *method
            && close(key.parameter, parameter)
    };
    let found = results.timings.iter().find(|timing| same(&timing.key) && timing.unit == unit);
    let usable = found.filter(|timing| timing.microseconds.is_finite() && timing.microseconds > 0.0);
    usable.ok_or_else(|| format!("no time per {} of {method} on table1/{task}", unit.name()))
}

/// Parameters come out of text files, so that equal ones may differ in their last bits.
fn close(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * other.abs().max(1e-12),
        _ => false,
    }
}
