//! TD(0), the classical method of one sample backup a step (section 2; experiment in section 5.1).
//!
//! Cost of a step: O(1).

mod snapshot;

use super::{Predictor, check, check_settings};
use crate::{Error, Next, Result, State};

/// How far a value moves towards a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// α, the same at every visit.
    Constant(f64),
    /// α(s) = 1 / (d (N(s) − 1) + 1), where N(s) counts this visit too.
    Decaying(f64),
}

/// TD(0): V(s) ← V(s) + α (r + γV(s') − V(s)).
#[derive(Clone, Debug)]
pub struct Td0 {
    discount: f64,
    step_size: StepSize,
    initial_value: f64,
    v: Vec<f64>,
    /// N(s).
    visits: Vec<u64>,
}

impl Td0 {
    /// # Errors
    /// If the discount, the step size or the decay rate is not from 0 to 1, or the initial value is not finite.
    pub fn new(discount: f64, step_size: StepSize, initial_value: f64) -> Result<Self> {
        check_settings(discount, initial_value)?;
        let (name, number) = match step_size {
            StepSize::Constant(alpha) => ("step size", alpha),
            StepSize::Decaying(d) => ("decay rate", d),
        };
        Error::unless((0.0..=1.0).contains(&number), name, number, "a number from 0 to 1")?;
        Ok(Self { discount, step_size, initial_value, v: Vec::new(), visits: Vec::new() })
    }
}

impl Predictor for Td0 {
    fn observe(&mut self, state: State, reward: f64, next: Next) -> Result<()> {
        check(state, reward, next)?;
        let v_next = next.state().map_or(0.0, |next| self.value(next));
        if self.v.len() <= state.index() {
            self.v.resize(state.index() + 1, self.initial_value);
            self.visits.resize(state.index() + 1, 0);
        }
        self.visits[state.index()] += 1;
        let alpha = match self.step_size {
            StepSize::Constant(alpha) => alpha,
            StepSize::Decaying(d) => 1.0 / (d * (self.visits[state.index()] - 1) as f64 + 1.0),
        };
        let v = &mut self.v[state.index()];
        *v += alpha * (reward + self.discount * v_next - *v);
        Ok(())
    }

    fn value(&self, state: State) -> f64 {
        self.v.get(state.index()).copied().unwrap_or(self.initial_value)
    }
}
