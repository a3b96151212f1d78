//! Learning to predict on a circle (section 5.1). The score is the root mean squared error over all states after every
//! transition, divided by the initial error, averaged.

use crate::Result;
use crate::setting::{RunResult, Work};
use backsweep::{Random, State};
use backsweep_predict::{Predictor, PredictorSettings, SmallBackupPredictor, StepSize, Td0};
use backsweep_worlds::circle::{Circle, FIXED_INSTANCE, N_STATES};
use std::time::Instant;

/// A predictor with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PredictorChoice {
    /// TD(0).
    Td(StepSize),
    /// One small backup per step, of the transition just observed.
    SmallBackup,
}

impl PredictorChoice {
    /// Builds the predictor; values start at 0.
    pub fn build(self, discount: f64) -> Result<Box<dyn Predictor>> {
        Ok(match self {
            Self::Td(step_size) => Box::new(Td0::new(discount, step_size, 0.0)?),
            Self::SmallBackup => {
                let settings = PredictorSettings { discount, ..PredictorSettings::default() };
                Box::new(SmallBackupPredictor::new(settings)?)
            }
        })
    }
}

/// A predictor on a circle.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Task 1 or 2.
    pub task: u32,
    /// True if every run has its own instance instead of the fixed one.
    pub random_instance: bool,
    /// The predictor.
    pub predictor: PredictorChoice,
    /// The discount.
    pub discount: f64,
    /// The number of transitions.
    pub steps: u32,
    /// The stream of random numbers, as (seed, stream, run): that of the task, so that all methods see the same transitions.
    pub stream: u64,
}

impl Prediction {
    /// The circle of a run.
    pub fn circle(&self, seed: u64, run: u32) -> Result<Circle> {
        let instance = if self.random_instance {
            Circle::random_instance(&mut Random::stream(seed, &[self.stream, u64::from(run), 1]))
        } else {
            FIXED_INSTANCE
        };
        Ok(Circle::task(self.task, instance)?)
    }
}

impl Work for Prediction {
    fn run(&self, seed: u64, run: u32) -> Result<RunResult> {
        let circle = self.circle(seed, run)?;
        let exact = circle.values(self.discount);
        let initial = root_mean_square(exact);
        let mut random = Random::stream(seed, &[self.stream, u64::from(run), 0]);
        let mut predictor = self.predictor.build(self.discount)?;
        let mut sum = 0.0;
        let begin = Instant::now();
        let mut state = State(0);
        for _ in 0..self.steps {
            let step = circle.step(state, &mut random);
            state = step.next;
            predictor.observe(step.state, step.reward, step.next())?;
            // All states, not only the one that was backed up: otherwise the score would depend on which states a method
            // leaves alone. Each term is divided by the initial error, so that without learning every term, and the mean, is
            // exactly 1.
            sum += root_mean_square(std::array::from_fn(|s| predictor.value(State(s as u32)) - exact[s]))
                / initial;
        }
        let microseconds = begin.elapsed().as_secs_f64() * 1e6 / f64::from(self.steps);
        let score = sum / f64::from(self.steps);
        Ok(RunResult {
            score,
            steps: u64::from(self.steps),
            samples: vec![microseconds],
            ..RunResult::default()
        })
    }
}

fn root_mean_square(errors: [f64; N_STATES]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / N_STATES as f64).sqrt()
}
