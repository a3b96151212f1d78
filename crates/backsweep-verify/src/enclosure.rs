//! Values as the check knows them.

use crate::rows::Interval;

/// For every state, an interval that holds its value. Infinite values have both ends infinite; nothing known is −∞ to ∞.
pub struct Enclosure {
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
    /// Why it may be wide, for people.
    pub remark: Option<String>,
}

impl Enclosure {
    pub fn unknown(n: usize) -> Self {
        Self { lo: vec![f64::NEG_INFINITY; n], hi: vec![f64::INFINITY; n], remark: None }
    }

    pub fn set(&mut self, state: usize, interval: Interval) {
        self.lo[state] = interval.lo;
        self.hi[state] = interval.hi;
    }

    pub fn fix(&mut self, state: usize, value: f64) {
        self.set(state, Interval::point(value));
    }
}

/// The starting point of an enclosure: claimed values and choices, and how narrow it should be.
pub struct Guess<'a> {
    pub values: &'a [f64],
    pub policy: &'a [Option<u32>],
    pub width: f64,
    /// The number of arcs that may be read.
    pub budget: u64,
}
