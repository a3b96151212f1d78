//! TD(0), the classical method with one sample backup per step (section 2; experiment in section 5.1).
//!
//! Cost of a step: O(1).

use crate::{MAX_STORED, MOST_STATES, Predictor, StepError, check_fraction, check_settings, check_step};
use backsweep_core::{Next, Snapshot, State};

/// The kind of a stored predictor.
const KIND: &[u8] = b"td0";
/// Stored counts must be below this, so that counting can continue.
const MOST_VISITS: u64 = 1 << 53;

/// The step size: the share of the way to a sample that a value moves.
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
    /// A predictor that has seen no state.
    ///
    /// # Errors
    /// If the discount, the step size or the decay rate is not from 0 to 1, or the initial value is not finite.
    pub fn new(discount: f64, step_size: StepSize, initial_value: f64) -> backsweep_core::Result<Self> {
        check_settings(discount, initial_value)?;
        match step_size {
            StepSize::Constant(alpha) => check_fraction("step size", alpha)?,
            StepSize::Decaying(d) => check_fraction("decay rate", d)?,
        }
        Ok(Self { discount, step_size, initial_value, v: Vec::new(), visits: Vec::new() })
    }

    /// The complete state of the predictor, for storing: a restored one continues bit for bit.
    pub fn store(&self) -> Snapshot {
        let (is_decaying, step_size) = match self.step_size {
            StepSize::Constant(alpha) => (0.0, alpha),
            StepSize::Decaying(rate) => (1.0, rate),
        };
        let mut snapshot = Snapshot::new();
        snapshot.put("predictor", KIND.to_vec());
        let settings = [self.discount, self.initial_value, is_decaying, step_size];
        snapshot.put("predictor.settings", settings.to_vec());
        snapshot.put("predictor.v", self.v.clone());
        snapshot.put("predictor.n", self.visits.clone());
        snapshot
    }

    /// The stored predictor.
    ///
    /// # Errors
    /// If the snapshot does not describe one; nothing in it is trusted.
    pub fn restore(snapshot: &Snapshot) -> backsweep_core::Result<Self> {
        if snapshot.bytes("predictor")? != KIND {
            return Err(Snapshot::problem("predictor", "it is not TD(0)"));
        }
        let [discount, initial_value, is_decaying, step_size] = snapshot.numbers("predictor.settings")?;
        let step_size = match is_decaying {
            0.0 => StepSize::Constant(step_size),
            1.0 => StepSize::Decaying(step_size),
            _ => return Err(Snapshot::problem("predictor.settings", "the kind of step size is unknown")),
        };
        let n_states = snapshot.f64s("predictor.v")?.len();
        if n_states > MOST_STATES as usize {
            return Err(Snapshot::problem("predictor.v", "there are too many states"));
        }
        let mut predictor = Self::new(discount, step_size, initial_value)?;
        predictor.v = snapshot.bounded("predictor.v", n_states, MAX_STORED)?.to_vec();
        predictor.visits = Snapshot::sized("predictor.n", snapshot.u64s("predictor.n")?, n_states)?.to_vec();
        if let Some(i) = predictor.visits.iter().position(|&n| n >= MOST_VISITS) {
            let problem = format!("item {i} is {}; expected less than 2^53", predictor.visits[i]);
            return Err(Snapshot::problem("predictor.n", &problem));
        }
        Ok(predictor)
    }
}

impl Predictor for Td0 {
    fn observe(&mut self, state: State, reward: f64, next: Next) -> Result<(), StepError> {
        check_step(state, reward, next)?;
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
