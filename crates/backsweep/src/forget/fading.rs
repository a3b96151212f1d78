//! Observations that fade, in O(1): values depend only on ratios of weights, so instead of lowering every old weight, the
//! new one is raised. A row whose newest weight has grown large is scaled down by a power of two, which changes no ratio and
//! is exact.

use super::Forgetting;
use crate::Result;
use crate::planner::{Model, MovedPairs, Pair, Snapshot};

/// A row is scaled down when a new observation would weigh more than this: far below the 2⁵³ that a row may weigh.
pub(crate) const LARGE: f64 = (1u64 << 20) as f64;

#[derive(Clone, Debug)]
pub(crate) struct Fading {
    /// The factor by which the weight of an observation grows: per visit of its pair, or per step.
    growth: f64,
    clock: Clock,
    /// The unit of each pair's weight. By visits: the weight of its newest observation. By steps: the clock's
    /// exponent that stands for weight 1.
    rows: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    Visits,
    /// An observation made now weighs mantissa · 2^exponent, the mantissa from 1 to below 2.
    Steps {
        mantissa: f64,
        exponent: f64,
    },
}

impl Clock {
    fn after_a_step(self, growth: f64) -> Self {
        let Self::Steps { mut mantissa, mut exponent } = self else { return self };
        mantissa *= growth;
        // Half-lives are at least a tenth of a step, so the growth is at most 2¹⁰.
        while mantissa >= 2.0 {
            (mantissa, exponent) = (mantissa / 2.0, exponent + 1.0);
        }
        Self::Steps { mantissa, exponent }
    }
}

impl Fading {
    pub fn new(forgetting: Forgetting) -> Option<Self> {
        let (growth, clock) = match forgetting {
            Forgetting::PerVisit(rate) => (1.0 / rate, Clock::Visits),
            Forgetting::HalfLife(steps) => {
                ((1.0 / steps).exp2(), Clock::Steps { mantissa: 1.0, exponent: 0.0 })
            }
            Forgetting::Never | Forgetting::Window(_) => return None,
        };
        Some(Self { growth, clock, rows: Vec::new() })
    }

    pub fn grow(&mut self, model: &Model) {
        let new = if let Clock::Visits = self.clock { 1.0 } else { 0.0 };
        self.rows.resize(model.n_pairs(), new);
    }

    pub fn pairs_moved(&mut self, moved: &MovedPairs) {
        let from = moved.from.index();
        self.rows.copy_within(from..from + moved.n_pairs as usize, moved.to.index());
    }

    /// The current weight of an unfaded observation in the row of a pair.
    #[inline]
    pub fn unit(&self, pair: Pair) -> f64 {
        let row = self.rows[pair.index()];
        match self.clock {
            Clock::Visits => row,
            Clock::Steps { mantissa, exponent } => mantissa * power_of_two(exponent - row),
        }
    }

    /// The weight of an observation of a pair made one step later, and the factor by which its row must be scaled first, if
    /// any.
    pub fn next_weight(&self, model: &Model, pair: Pair) -> (f64, Option<f64>) {
        let is_new = model.weight(pair) == 0.0;
        match self.clock.after_a_step(self.growth) {
            Clock::Visits if is_new => (1.0, None),
            Clock::Visits => {
                let weight = self.rows[pair.index()] * self.growth;
                let factor = (weight > LARGE).then(|| power_of_two(-weight.log2().floor()));
                (weight * factor.unwrap_or(1.0), factor)
            }
            Clock::Steps { mantissa, .. } if is_new => (mantissa, None),
            Clock::Steps { mantissa, exponent } => {
                let shift = exponent - self.rows[pair.index()];
                if shift > LARGE.log2() {
                    (mantissa, Some(power_of_two(-shift)))
                } else {
                    (mantissa * power_of_two(shift), None)
                }
            }
        }
    }

    /// The row of a pair was scaled down.
    pub fn scaled(&mut self, pair: Pair, factor: f64) {
        let row = &mut self.rows[pair.index()];
        match self.clock {
            Clock::Visits => *row *= factor,
            Clock::Steps { exponent, .. } if factor == 0.0 => *row = exponent,
            Clock::Steps { .. } => *row -= factor.log2(),
        }
    }

    /// An observation with that weight was recorded, one step later.
    pub fn recorded(&mut self, pair: Pair, weight: f64) {
        self.clock = self.clock.after_a_step(self.growth);
        self.rows[pair.index()] = match self.clock {
            Clock::Visits => weight,
            Clock::Steps { mantissa, exponent } => exponent - (weight / mantissa).log2().round(),
        };
    }

    /// The row of a pair was set, and weighs 1.
    pub fn row_set(&mut self, pair: Pair) {
        self.rows[pair.index()] = match self.clock {
            Clock::Visits => 1.0,
            Clock::Steps { exponent, .. } => exponent,
        };
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.rows[..])
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("explore.fading", self.rows.clone());
        if let Clock::Steps { mantissa, exponent } = self.clock {
            snapshot.put("explore.clock", vec![mantissa, exponent]);
        }
    }

    pub fn restore(forgetting: Forgetting, model: &Model, snapshot: &Snapshot) -> Result<Option<Self>> {
        let Some(mut fading) = Self::new(forgetting) else { return Ok(None) };
        fading.rows = snapshot.finite("explore.fading", model.n_pairs())?.to_vec();
        let (mut least, mut most) = (0.0, LARGE * (1.0 + f64::EPSILON));
        if let Clock::Steps { mantissa, exponent } = &mut fading.clock {
            let clock = snapshot.finite("explore.clock", 2)?;
            (*mantissa, *exponent) = (clock[0], clock[1]);
            if !(1.0..2.0).contains(mantissa) || !(0.0..=1e18).contains(exponent) {
                return Err(Snapshot::problem(
                    "explore.clock",
                    "it is not the time of an agent that forgets",
                ));
            }
            // A row may have been scaled for a step that was then refused: at most 2¹⁰ ahead of time.
            (least, most) = (-64.0, *exponent + 16.0);
        }
        match fading.rows.iter().position(|row| !(least..=most).contains(row)) {
            Some(i) => {
                let problem = format!("item {i} is {}; expected {least} to {most}", fading.rows[i]);
                Err(Snapshot::problem("explore.fading", &problem))
            }
            None => Ok(Some(fading)),
        }
    }
}

/// 2 to a whole power, exactly; 0 or infinity beyond the range of numbers.
fn power_of_two(exponent: f64) -> f64 {
    2f64.powi(exponent.clamp(-1100.0, 1100.0) as i32)
}
