//! A number with its interval, and how it is written.

use serde::Serialize;
use std::fmt;

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end; minus infinity if there is too little data for one.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// A symmetric interval around a value.
    pub(crate) fn around(value: f64, half: f64) -> Self {
        Self { value, low: value - half, high: value + half }
    }
}

impl fmt::Display for Estimate {
    /// `0.8125 [0.8011, 0.8240]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low.is_finite() && self.high.is_finite() {
            write!(f, "{} [{}, {}]", figure(self.value), figure(self.low), figure(self.high))
        } else {
            write!(f, "{} [no interval]", figure(self.value))
        }
    }
}

/// A number with this many decimals, without a minus sign before 0.
pub(crate) fn decimals(x: f64, n: usize) -> String {
    let text = format!("{x:.n$}");
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// A number for people: four decimals below 100, fewer above.
pub(crate) fn figure(x: f64) -> String {
    match x.abs() {
        size if size < 100.0 => decimals(x, 4),
        size if size < 10_000.0 => decimals(x, 2),
        _ => decimals(x, 0),
    }
}

/// An estimate for the policy, and its gain over what was logged in the same cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The policy's value.
    pub policy: Estimate,
    /// That minus the logged return of the same cases, resampled together.
    pub gain: Estimate,
}

impl Against {
    /// The values alone: few cases carry the weight, and their spread says little about the others.
    pub(crate) fn without_interval(self) -> Self {
        let wide = |of: Estimate| Estimate::around(of.value, f64::INFINITY);
        Self { policy: wide(self.policy), gain: wide(self.gain) }
    }
}
