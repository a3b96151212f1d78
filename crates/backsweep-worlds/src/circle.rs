//! The circle tasks of section 5.1: ten states in a circle, steps to a neighbor only, no actions.

use crate::{Error, Result};
use backsweep::{Next, Random, State};

/// The number of states of a circle.
pub const N_STATES: usize = 10;

/// The fixed instance of the experiment: p(counter-clockwise) of each state. The published instance is not known; this one
/// comes close to the published levels (Departure 18).
pub const FIXED_INSTANCE: [f64; N_STATES] =
    [0.2405, 0.8569, 0.3243, 0.5520, 0.4813, 0.6000, 0.5128, 0.2451, 0.2961, 0.0200];

/// A circle task: the reward of a counter-clockwise step is +1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// The probability of a counter-clockwise step (to the next higher state) of each state.
    pub counter_clockwise: [f64; N_STATES],
    /// The reward of a clockwise step: −1 in task 1, +1 in task 2.
    pub clockwise_reward: f64,
}

/// One step on a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircleStep {
    /// Where it began.
    pub state: State,
    /// Its reward.
    pub reward: f64,
    /// The next state; the task never ends.
    pub next: State,
}

impl Circle {
    /// Task 1 or 2 of the paper on an instance.
    ///
    /// # Errors
    /// If there is no such task or a probability is not between 0 and 1.
    pub fn task(number: u32, counter_clockwise: [f64; N_STATES]) -> Result<Self> {
        let clockwise_reward = match number {
            1 => -1.0,
            2 => 1.0,
            _ => return Err(Error::out_of_range("circle task is", f64::from(number), "1 or 2")),
        };
        if let Some(p) = counter_clockwise.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(Error::out_of_range("probability of a counter-clockwise step is", *p, "0 to 1"));
        }
        Ok(Self { counter_clockwise, clockwise_reward })
    }

    /// An instance drawn as the paper says: a number in [0, 1) for each neighbor, divided by their sum.
    pub fn random_instance(random: &mut Random) -> [f64; N_STATES] {
        [(); N_STATES].map(|()| {
            loop {
                let (left, right) = (random.unit(), random.unit());
                if left + right > 0.0 {
                    break left / (left + right);
                }
            }
        })
    }

    /// Draws a step.
    #[inline]
    pub fn step(&self, state: State, random: &mut Random) -> CircleStep {
        let s = state.index();
        let (reward, next) = if random.chance(self.counter_clockwise[s]) {
            (1.0, (s + 1) % N_STATES)
        } else {
            (self.clockwise_reward, (s + N_STATES - 1) % N_STATES)
        };
        CircleStep { state, reward, next: State(next as u32) }
    }

    /// The exact values: the solution of V = R + γ P V by elimination, exact to rounding.
    pub fn values(&self, discount: f64) -> [f64; N_STATES] {
        let mut rows = [[0.0; N_STATES + 1]; N_STATES];
        for (s, row) in rows.iter_mut().enumerate() {
            let p = self.counter_clockwise[s];
            row[s] += 1.0;
            row[(s + 1) % N_STATES] -= discount * p;
            row[(s + N_STATES - 1) % N_STATES] -= discount * (1.0 - p);
            row[N_STATES] = p + (1.0 - p) * self.clockwise_reward;
        }
        // The matrix is diagonally dominant for a discount below 1, so no pivot is 0.
        for pivot in 0..N_STATES {
            let pivot_row = rows[pivot];
            for row in rows.iter_mut().enumerate().filter(|(s, _)| *s != pivot).map(|(_, row)| row) {
                let factor = row[pivot] / pivot_row[pivot];
                row.iter_mut().zip(pivot_row).for_each(|(entry, of_pivot)| *entry -= factor * of_pivot);
            }
        }
        std::array::from_fn(|s| rows[s][N_STATES] / rows[s][s])
    }
}

impl CircleStep {
    /// The next state in the form that predictors take.
    pub fn next(&self) -> Next {
        Next::Continue(self.next)
    }
}
