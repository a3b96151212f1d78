//! Takes numbers from results, with their intervals, and compares them with limits.

use super::Finding;
use crate::method::Method;
use crate::number::{number, short};
use crate::query;
use crate::result::{Results, Summary};
use crate::statistics::{deviation, mean};
use std::fmt;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The mean over runs.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The number of runs.
    pub runs: u32,
}

impl Measured {
    /// This minus `other`, with the standard error of the difference of independent means.
    pub fn minus(self, other: Measured) -> Measured {
        let runs = self.runs.min(other.runs);
        Measured { mean: self.mean - other.mean, error: self.error.hypot(other.error), runs }
    }

    /// The standard error that 100 runs would have, itself as a measured number. One that is
    /// estimated from n runs is uncertain by a relative 1 / √(2 (n − 1)). It is what the paper
    /// calls a standard deviation (Departure 25).
    pub fn error_of_100(self) -> Measured {
        let mean = self.error * (f64::from(self.runs) / 100.0).sqrt();
        Measured { mean, error: mean / (2.0 * f64::from(self.runs.max(2) - 1)).sqrt(), runs: self.runs }
    }

    /// The 95 % interval.
    pub fn span(self) -> Span {
        let reach = self.error * reach(self.runs);
        Span { low: self.mean - reach, middle: self.mean, high: self.mean + reach, runs: self.runs }
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Errors on the circle are a hundred times smaller than those of returns, and their
        // differences smaller still.
        let digits = match self.error {
            error if error < 0.0002 => 6,
            error if error < 0.02 && self.mean.abs() < 2.0 => 4,
            _ => 2,
        };
        write!(f, "{} ± {}", number(self.mean, digits), number(self.error, digits))
    }
}

/// An interval: of a mean over runs, or of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub low: f64,
    pub middle: f64,
    pub high: f64,
    /// The runs that it comes from; 0 for times.
    pub runs: u32,
}

impl Span {
    /// One time divided by another.
    pub fn over(self, other: Span) -> Span {
        let [low, high] = [self.low / other.high, self.high / other.low];
        Span { low, middle: self.middle / other.middle, high, runs: 0 }
    }

    /// Returns whether it lies above a limit.
    pub fn above(self, limit: f64) -> Test {
        self.between(limit, f64::INFINITY).expecting(format!("more than {}", short(limit)))
    }

    /// Returns whether it lies below a limit.
    pub fn below(self, limit: f64) -> Test {
        self.between(f64::NEG_INFINITY, limit).expecting(format!("at most {}", short(limit)))
    }

    /// Returns whether all of it is within a distance of 0.
    pub fn within(self, limit: f64) -> Test {
        self.between(-limit, limit).expecting(format!("within {}", short(limit)))
    }

    /// Returns whether all of it lies between two limits.
    pub fn between(self, least: f64, most: f64) -> Test {
        let outcome = if least <= self.low && self.high <= most {
            Some(true)
        } else if self.low > most || self.high < least {
            Some(false)
        } else {
            None
        };
        // Intervals shrink with the square root of the number of runs, here until they clear the
        // nearest limit.
        let distance = (self.middle - least).abs().min((self.middle - most).abs());
        let more = ((self.high - self.low) / (2.0 * distance)).powi(2);
        let runs = (self.runs > 0).then_some(f64::from(self.runs) * more);
        let expected = format!("from {} to {}", short(least), short(most));
        Test { outcome, more, runs, text: String::new(), expected, reason: "the ranges of the times overlap" }
    }
}

/// The number of standard errors that a 95 % interval reaches: about 2, more for few runs, whose standard
/// error is itself uncertain. (The first terms of Student's t: 2.03 for 100 runs, 2.36 for 8.)
fn reach(runs: u32) -> f64 {
    2.0 + 10.0 / (4.0 * f64::from(runs.max(2) - 1))
}

/// One comparison of a claim.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// True if it came out as claimed; `None` if the interval straddles the limit.
    outcome: Option<bool>,
    /// The number of times as many runs would take the interval to the nearest limit.
    more: f64,
    /// The number of runs that would decide it, if runs can.
    runs: Option<f64>,
    /// The numbers.
    text: String,
    /// The limit in words.
    expected: String,
    /// Why it is open, where runs do not decide.
    pub reason: &'static str,
}

impl Test {
    /// A comparison without noise.
    pub fn exact(outcome: bool, text: impl Into<String>) -> Test {
        Test { outcome: Some(outcome), text: text.into(), ..Test::default() }
    }

    /// The same comparison with its numbers in words.
    pub fn says(self, text: impl Into<String>) -> Test {
        Test { text: text.into(), ..self }
    }

    /// The same comparison; its text names the limit.
    pub fn unstated(self) -> Test {
        Test { expected: String::new(), ..self }
    }

    fn expecting(self, expected: String) -> Test {
        Test { expected, ..self }
    }

    /// The severity of the result: passed, open, each by how close the interval is to the limit; failed.
    fn badness(&self) -> f64 {
        match self.outcome {
            Some(true) => self.more.min(1.0),
            None => self.more.clamp(1.0, f64::MAX),
            Some(false) => f64::INFINITY,
        }
    }
}

/// The test that came out worst; the first of several.
fn worst_of<T: std::borrow::Borrow<Test>>(tests: impl Iterator<Item = T>) -> Option<T> {
    tests.reduce(|worst, test| if test.borrow().badness() > worst.borrow().badness() { test } else { worst })
}

/// Many comparisons of which only the worst is told.
pub fn worst(tests: Vec<Test>) -> Result<Vec<Test>, String> {
    let n = tests.len();
    let worst = worst_of(tests.into_iter()).ok_or("nothing was measured")?;
    let text = format!("{n} comparisons; the least favorable: {}", worst.text);
    Ok(vec![worst.says(text)])
}

/// The finding on a claim, and its numbers in words. All comparisons must come out as claimed.
pub fn decide(tests: &[Test]) -> (Finding, String) {
    let texts = tests.iter().filter(|test| !test.text.is_empty()).map(|Test { text, expected, .. }| {
        if expected.is_empty() { text.clone() } else { format!("{text} ({expected})") }
    });
    let mut numbers = texts.collect::<Vec<_>>().join("; ");
    let Some(worst) = worst_of(tests.iter()) else {
        return (Finding::Undecided, "nothing was measured".to_owned());
    };
    let finding = match worst.outcome {
        Some(true) => Finding::Holds,
        Some(false) => Finding::DoesNotHold,
        None => Finding::Undecided,
    };
    if finding == Finding::Undecided {
        numbers += &match worst.runs {
            Some(runs) if runs < 1e5 => format!(". About {} runs would decide it", rounded(runs)),
            Some(_) => ". More than 100,000 runs would be needed to decide it".to_owned(),
            None => format!(". Open: {}", worst.reason),
        };
    }
    (finding, numbers)
}

/// Rounded up to two digits.
fn rounded(runs: f64) -> u64 {
    let unit = 10f64.powf((runs.max(10.0).log10().floor() - 1.0).max(0.0));
    ((runs / unit).ceil() * unit) as u64
}

/// A summary as a measured number. One run has no standard error, so it decides nothing.
pub fn measured(summary: &Summary) -> Result<Measured, String> {
    let name = summary.key.name();
    if summary.runs < 2 {
        return Err(format!(
            "{name} has {} run; expected at least 2, to estimate a standard error",
            summary.runs
        ));
    }
    Ok(Measured { mean: finite(summary)?.mean, error: summary.standard_error, runs: summary.runs })
}

/// A summary whose numbers are all there.
fn finite(summary: &Summary) -> Result<&Summary, String> {
    let is_finite = summary.mean.is_finite() && summary.standard_error.is_finite();
    if is_finite { Ok(summary) } else { Err(format!("{} has no finite mean", summary.key.name())) }
}

/// The summary of the setting with this name.
pub fn summary<'a>(results: &'a Results, name: &str) -> Result<&'a Summary, String> {
    let found = results.summaries.iter().find(|summary| summary.key.name() == name);
    found.ok_or_else(|| format!("{name} was not measured")).and_then(finite)
}

/// The mean score of the setting with this name.
pub fn score(results: &Results, name: &str) -> Result<Measured, String> {
    measured(summary(results, name)?)
}

/// A weighted sum of scores of settings that share their random numbers, taken run by run.
pub fn paired(results: &Results, terms: &[(f64, &Summary)]) -> Result<Measured, String> {
    let mut sums: Vec<f64> = Vec::new();
    for (index, (weight, summary)) in terms.iter().enumerate() {
        let scores: Vec<f64> =
            results.rows.iter().filter(|row| row.key == summary.key).map(|row| row.score).collect();
        if index == 0 {
            sums = vec![0.0; scores.len()];
        }
        if scores.len() != sums.len() || sums.len() < 2 || scores.iter().any(|score| !score.is_finite()) {
            return Err(format!("{} has too few runs to be compared run by run", summary.key.name()));
        }
        sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += weight * score);
    }
    let error = deviation(&sums) / (sums.len() as f64).sqrt();
    Ok(Measured { mean: mean(&sums), error, runs: sums.len() as u32 })
}

/// The settings of a curve named by its first three parts, by increasing x; an error if there are
/// none.
pub fn curve<'a>(results: &'a Results, name: &str) -> Result<Vec<(f64, &'a Summary)>, String> {
    let mut parts = name.splitn(3, '/');
    let [experiment, task, method] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let found = query::curve(results, experiment, task, &Method::from(method));
    let points = found.into_iter().filter_map(|s| Some((query::place(&s.key)?, s)));
    let points = points.map(|(x, s)| Ok((x, finite(s)?))).collect::<Result<Vec<_>, String>>()?;
    if points.is_empty() { Err(format!("{name} was not measured")) } else { Ok(points) }
}

/// The time of the setting with this name, in microseconds.
pub fn time(results: &Results, name: &str) -> Result<Span, String> {
    let found = results.timings.iter().find(|timing| timing.key.name() == name);
    let span = found.map(|t| Span { low: t.low, middle: t.microseconds, high: t.high, runs: 0 });
    let usable =
        span.filter(|s| [s.low, s.middle, s.high].iter().all(|time| time.is_finite() && *time > 0.0));
    usable.ok_or_else(|| format!("{name} was not timed"))
}

/// The largest score of a setting over its runs.
pub fn largest(results: &Results, name: &str) -> Result<f64, String> {
    let summary = summary(results, name)?;
    let rows = results.rows.iter().filter(|row| row.key == summary.key).map(|row| row.score);
    let largest = rows.chain([summary.high]).filter(|score| score.is_finite()).max_by(f64::total_cmp);
    largest.ok_or_else(|| format!("{name} has no finite score"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_decides_only_if_all_of_it_is_on_one_side() {
        let measured = |mean, error, runs| Measured { mean, error, runs };
        let found = |test| decide(&[test]).0;
        // Equality within 0.5: the estimate is inside, but the interval is too wide to say so.
        assert_eq!(found(measured(0.1, 0.1, 100).span().within(0.5)), Finding::Holds);
        assert_eq!(found(measured(0.1, 0.3, 100).span().within(0.5)), Finding::Undecided);
        assert_eq!(found(measured(0.67, 0.67, 8).span().within(0.5)), Finding::Undecided);
        assert_eq!(found(measured(1.2, 0.15, 100).span().within(0.5)), Finding::DoesNotHold);
        assert_eq!(found(measured(-1.2, 0.15, 100).span().within(0.5)), Finding::DoesNotHold);
        // The same standard error weighs less after few runs.
        assert_eq!(found(measured(1.0, 0.45, 100).span().above(0.0)), Finding::Holds);
        assert_eq!(found(measured(1.0, 0.45, 6).span().above(0.0)), Finding::Undecided);
        // The number of runs that would decide it: the interval reaches 0.61 and must reach no further
        // than 0.4.
        let (_, text) = decide(&[measured(0.1, 0.3, 100).span().within(0.5).says("a gap")]);
        assert_eq!(text, "a gap (within 0.5). About 240 runs would decide it");
        // One open comparison leaves the claim open, one that failed decides it.
        let tests = [measured(0.1, 0.3, 100).span().within(0.5), Test::exact(true, "")];
        assert_eq!(decide(&tests).0, Finding::Undecided);
        let tests = [measured(0.1, 0.3, 100).span().within(0.5), Test::exact(false, "")];
        assert_eq!(decide(&tests).0, Finding::DoesNotHold);
    }
}
