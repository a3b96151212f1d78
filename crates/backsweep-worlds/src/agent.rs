//! Agents as data: how to explore and how much to plan, without the numbers that depend on the world.

use crate::{Run, RunScore, World};
use backsweep::explore::{Exploration, Explore, Forgetting, Optimism};
use backsweep::{Action, Agent, Budget, PlannerKind, Random, Result, Settings};

/// Priorities at or below this fraction of the range of rewards are not queued.
const THRESHOLD: f64 = 1e-6;

/// An agent that can be put into any world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentSettings {
    /// The way it explores. The value of [`Explore::Optimism`] is in units of the range of values: 1 is the largest possible.
    pub explore: Explore,
    /// The value of an untried pair, as a fraction of the range of values; the largest possible if `None`.
    pub start: Option<f64>,
    /// κ of the bonus for age; see [`Exploration::age_bonus`].
    pub age_bonus: f64,
    /// The way in which old observations lose their weight.
    pub forgetting: Forgetting,
    /// Update cycles after each step.
    pub cycles: u64,
    /// The planner.
    pub planner: PlannerKind,
}

impl Default for AgentSettings {
    /// One setting for all worlds, chosen on worlds outside the suite; docs/exploring.md says how.
    fn default() -> Self {
        Self {
            explore: Explore::AchievableBonus { beta: 1.0, d: 0.02 },
            start: None,
            age_bonus: 0.0,
            forgetting: Forgetting::Never,
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
        let values = |part: f64| (low + part * (high - low)) / (1.0 - world.discount);
        let explore = match self.explore {
            Explore::Optimism(Optimism { value, min_visits }) => {
                Explore::Optimism(Optimism { value: values(value), min_visits })
            }
            explore => explore,
        };
        let exploration = Exploration {
            explore,
            reward_range: Some(world.reward_range),
            start: self.start.map(values),
            age_bonus: self.age_bonus,
            forgetting: self.forgetting,
            seed,
        };
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
