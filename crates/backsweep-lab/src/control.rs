//! Learning to act: an agent in a maze, episode by episode. The score is the mean discounted return of an episode.

use crate::Result;
use crate::setting::{RunResult, Work};
use backsweep::episode::{Episode, EpisodeEnd, run_episode};
use backsweep::explore::{EpsilonGreedy, Optimism};
use backsweep::planner::Model;
use backsweep::{Agent, Budget, PlannerKind, Random, Settings, Transition};
use backsweep_worlds::MazeTask;
use std::sync::Arc;
use std::time::Instant;

/// The amount of planning after every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Planning {
    /// This many update cycles.
    Cycles(u32),
    /// Until no priority is above the tolerance.
    Until(f64),
}

/// An agent in a maze.
#[derive(Clone, Debug)]
pub struct Control {
    /// The world.
    pub task: Arc<MazeTask>,
    /// The planner.
    pub planner: PlannerKind,
    /// The planner's settings.
    pub settings: Settings,
    /// The amount of planning after every step.
    pub planning: Planning,
    /// True if a pair's model is frozen as soon as it is trusted (R-max).
    pub freeze: bool,
    /// The probability of a random action.
    pub epsilon: f64,
    /// The number of episodes.
    pub episodes: u32,
    /// The step limit of an episode, if there is one (Departure 23).
    pub max_steps: Option<u64>,
    /// The stream of random numbers, as (seed, stream, run).
    pub stream: u64,
}

impl Control {
    /// A new agent.
    ///
    /// # Errors
    /// If a setting is out of range or there is no such planner.
    pub fn agent(&self) -> Result<Agent> {
        let Optimism { min_visits, .. } = self.settings.optimism;
        let model = if self.freeze { Model::new().with_freeze_at(min_visits.max(1)) } else { Model::new() };
        let planner = self.planner.build(self.settings)?;
        Ok(Agent::from_parts(model, planner, EpsilonGreedy::new(self.epsilon)?))
    }

    /// The budget of a step.
    pub fn budget(&self) -> Budget<'static> {
        match self.planning {
            Planning::Cycles(cycles) => Budget::Cycles(u64::from(cycles)),
            Planning::Until(tolerance) => Budget::Until { tolerance, max_cycles: u64::MAX },
        }
    }

    /// Learns for one more episode and counts it.
    ///
    /// # Errors
    /// If the agent refuses a step.
    pub fn run_episode(
        &self,
        agent: &mut Agent,
        random: &mut Random,
        result: &mut RunResult,
        observer: &mut dyn FnMut(&Agent, &Transition),
    ) -> Result<Episode> {
        let episode = run_episode(&*self.task, agent, self.budget(), self.max_steps, random, observer)?;
        result.episodes += 1;
        result.steps += episode.steps;
        result.capped += u64::from(episode.end == EpisodeEnd::Truncated);
        Ok(episode)
    }

    /// The random numbers of a run.
    pub fn random(&self, seed: u64, run: u32) -> Random {
        Random::stream(seed, &[self.stream, u64::from(run)])
    }
}

impl Work for Control {
    fn run(&self, seed: u64, run: u32) -> Result<RunResult> {
        let mut random = self.random(seed, run);
        let mut agent = self.agent()?;
        let mut result = RunResult::default();
        let mut sum = 0.0;
        let begin = Instant::now();
        for _ in 0..self.episodes {
            let episode = self.run_episode(&mut agent, &mut random, &mut result, &mut |_, _| {})?;
            sum += episode.discounted_return; // Departure 16
        }
        result.score = sum / f64::from(self.episodes);
        result.samples = vec![begin.elapsed().as_secs_f64() * 1e6 / result.steps as f64];
        Ok(result)
    }
}
