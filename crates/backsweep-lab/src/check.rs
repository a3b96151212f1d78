//! Where "value iteration" is not plain sweeps (Departure 17): checks that reversed full backups,
//! run until no priority exceeds the tolerance, agree with plain sweeps of value iteration.
//!
//! One agent learns with the former; a second planner sweeps the same model after every
//! observation, warm-started, until the largest change is below the same tolerance. The score is
//! the largest difference between two values over the whole run. Both are within γτ/(1 − γ) of the
//! optimum of the model, so a score above twice that would be a fault.

use crate::control::{Control, Planning};
use crate::setting::{RunResult, Work};
use crate::{Error, Result};
use backsweep::planner::plan;
use backsweep::{Agent, Budget, Settings, Transition};
use std::time::Instant;

/// A run of value iteration by reversed full backups, compared with plain sweeps at every step.
#[derive(Clone, Debug)]
pub struct SweepComparison {
    /// The run; its planning is [`Planning::Until`] a tolerance.
    pub control: Control,
}

impl Work for SweepComparison {
    fn run(&self, seed: u64, run: u32) -> Result<RunResult> {
        let control = &self.control;
        let Planning::Until(tolerance) = control.planning else {
            return Err(Error::new("compare_with_sweeps needs a tolerance; add 'until' to the method"));
        };
        let mut random = control.random(seed, run);
        let mut agent = control.agent()?;
        let settings = Settings { threshold: tolerance, ..control.settings };
        let mut sweeps = backsweep_baselines::VALUE_ITERATION.build(settings)?;
        let (mut result, mut score) = (RunResult::default(), 0.0f64);
        let begin = Instant::now();
        for _ in 0..control.episodes {
            let mut compare = |agent: &Agent, transition: &Transition| {
                let model = agent.model();
                if let Ok(pair) = model.pair(transition.state, transition.action) {
                    sweeps.refresh(model, pair);
                }
                plan(&mut *sweeps, model, Budget::UNTIL_IDLE);
                for state in model.states() {
                    let difference = (agent.value(state) - sweeps.values().value(state)).abs();
                    score = score.max(difference);
                }
            };
            control.run_episode(&mut agent, &mut random, &mut result, &mut compare)?;
        }
        result.score = score;
        result.samples = vec![begin.elapsed().as_secs_f64() * 1e6 / result.steps as f64];
        Ok(result)
    }
}
