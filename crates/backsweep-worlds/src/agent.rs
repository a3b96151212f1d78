//! Agents as data: how to explore and how much to plan, without the numbers that depend on the world.

use crate::{Run, RunScore, World};
use backsweep::explore::{Exploration, Explore};
use backsweep::{Action, Agent, Budget, PlannerKind, Random, Result, Settings};

/// Priorities at or below this fraction of the range of rewards are not queued.
const THRESHOLD: f64 = 1e-6;

/// An agent that can be put into any world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentSettings {
    /// The way it explores and forgets. Its values, `start` and that of [`Explore::Optimism`], are fractions of the range of
    /// values: 1 is the largest possible. The range of rewards is the world's, the seed the run's.
    pub exploration: Exploration,
    /// Update cycles after each step.
    pub cycles: u64,
    /// The planner.
    pub planner: PlannerKind,
}

impl Default for AgentSettings {
    /// One setting for all worlds, chosen on worlds outside the suite; docs/exploring.md says how.
    fn default() -> Self {
        Self {
            exploration: Exploration {
                explore: Explore::AchievableBonus { beta: 1.0, d: 2.0 },
                ..Exploration::default()
            },
            cycles: 20,
            planner: PlannerKind::default(),
        }
    }
}

impl AgentSettings {
    /// The agent for a world. `seed` is for worlds drawn from the posterior.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn build(&self, world: &World, seed: u64) -> Result<Agent> {
        let (low, high) = world.reward_range;
        // Any step may end the episode, and what follows is worth 0.
        let values =
            |part: f64| (low.min(0.0) + part * (high.max(0.0) - low.min(0.0))) / (1.0 - world.discount);
        let start = self.exploration.start.map(values);
        let mut exploration =
            Exploration { reward_range: Some(world.reward_range), start, seed, ..self.exploration };
        if let Explore::Optimism(optimism) = &mut exploration.explore {
            optimism.value = values(optimism.value);
        }
        let threshold = THRESHOLD * (high - low);
        let settings = Settings { discount: world.discount, threshold, ..Settings::default() };
        Agent::with_planner(self.planner, settings)?.with_exploration(exploration)
    }

    /// One run in a world, from a new agent to the score.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn run(&self, world: &World, random: &mut Random) -> Result<RunScore> {
        let mut agent = self.build(world, random.next_u64())?;
        let mut run = Run::new(world.clone(), random);
        while !run.is_over() {
            let transition = agent.step(run.table(), run.state(), Budget::Cycles(self.cycles), random)?;
            run.take(&transition, random);
            if run.wants_policy() {
                agent.recommend(Budget::UNTIL_IDLE);
                run.judge(&recommended(&agent, run.table().n_states()))?;
            }
        }
        Ok(run.result())
    }
}

/// The action that an agent recommends in each state; the first where it knows nothing.
fn recommended(agent: &Agent, n_states: usize) -> Vec<Action> {
    let known = agent.model().states().map(|state| agent.best_action(state));
    let mut policy: Vec<Action> = known.map(|action| action.unwrap_or(Action(0))).collect();
    policy.resize(n_states, Action(0));
    policy
}
