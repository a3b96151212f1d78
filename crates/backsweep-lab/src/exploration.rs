//! Exploring: an agent in a world of the suite, scored by that world's rule.

use crate::Result;
use crate::setting::{RunResult, Work};
use backsweep::Random;
use backsweep_worlds::{AgentSettings, World, world};
use std::time::Instant;

/// An agent in a world.
#[derive(Clone, Debug)]
pub struct WorldRun {
    /// The name of the world, such as `deep_sea_20`.
    pub world: String,
    /// The agent.
    pub agent: AgentSettings,
    /// The stream of random numbers, as (seed, stream, run). Agents in the same world share it, so they see the same draws of
    /// a world that differs from run to run.
    pub stream: u64,
}

impl WorldRun {
    /// The world of a run, and its random numbers.
    ///
    /// # Errors
    /// If there is no such world.
    pub fn world(&self, seed: u64, run: u32) -> Result<(World, Random)> {
        let mut random = Random::stream(seed, &[self.stream, u64::from(run)]);
        let world = world(&self.world, &mut random)?;
        Ok((world, random))
    }
}

impl Work for WorldRun {
    fn run(&self, seed: u64, run: u32) -> Result<RunResult> {
        let (world, mut random) = self.world(seed, run)?;
        let begin = Instant::now();
        let result = self.agent.run(&world, &mut random)?;
        let microseconds = begin.elapsed().as_secs_f64() * 1e6 / result.steps.max(1) as f64;
        Ok(RunResult {
            score: result.score,
            episodes: result.episodes,
            steps: result.steps,
            capped: u64::from(!result.reached),
            samples: vec![microseconds],
        })
    }
}
