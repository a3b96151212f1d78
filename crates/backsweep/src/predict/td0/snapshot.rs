//! The whole predictor as named arrays: one that is restored continues bit for bit.

use super::{StepSize, Td0};
use crate::predict::{LARGEST, MOST_STATES};
use crate::{Result, Snapshot};

const KIND: &[u8] = b"td0";
/// Counts below this can be counted on from.
const MOST_VISITS: u64 = 1 << 53;

impl Td0 {
    /// Everything there is to know about the predictor, to be stored.
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

    /// The predictor that was stored.
    ///
    /// # Errors
    /// If the snapshot does not describe one; nothing in it is trusted.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        if snapshot.bytes("predictor")? != KIND {
            return Err(Snapshot::problem("predictor", "it is not TD(0)"));
        }
        let &[discount, initial_value, is_decaying, step_size] = snapshot.f64s("predictor.settings")? else {
            return Err(Snapshot::problem("predictor.settings", "expected 4 items"));
        };
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
        predictor.v = snapshot.bounded("predictor.v", n_states, LARGEST)?.to_vec();
        predictor.visits = Snapshot::sized("predictor.n", snapshot.u64s("predictor.n")?, n_states)?.to_vec();
        if let Some(i) = predictor.visits.iter().position(|&n| n >= MOST_VISITS) {
            let problem = format!("item {i} is {}; expected less than 2^53", predictor.visits[i]);
            return Err(Snapshot::problem("predictor.n", &problem));
        }
        Ok(predictor)
    }
}
