//! The agents of a scene: what each does, and how it is built.

use crate::choices::{ForgettingChoice, StrategyChoice, described};
use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep::episode::Environment;
use backsweep::explore::{EpsilonGreedy, Exploration, Explore, Forgetting, Optimism};
use backsweep::planner::Model;
use backsweep::{Agent, PlannerKind, State};
use backsweep_worlds::grid_world::GridWorld;

/// An agent of a scene: its planner, exploration and forgetting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentSpec {
    /// The planner.
    pub planner: PlannerKind,
    /// The way it explores.
    pub explore: StrategyChoice,
    /// The way it forgets.
    pub forget: ForgettingChoice,
}

impl AgentSpec {
    /// Describes for a reader how it explores and forgets.
    pub fn exploration(&self, scene: &Scene) -> String {
        let mut text = match self.explore {
            StrategyChoice::Paper => format!("ε {}, M {}", scene.epsilon, scene.min_visits),
            StrategyChoice::Other(Explore::EpsilonGreedy { .. }) => format!("ε {}", scene.epsilon),
            StrategyChoice::Other(Explore::Optimism(_)) => format!("optimism, M {}", scene.min_visits),
            StrategyChoice::Other(explore) => match described(&explore) {
                (title, Some((symbol, number))) => format!("{title}, {symbol} {number}"),
                (title, None) => title.to_owned(),
            },
        };
        match self.forget.0 {
            Forgetting::Never => {}
            Forgetting::PerVisit(factor) => text += &format!(", fades by {factor} per visit"),
            Forgetting::HalfLife(steps) => text += &format!(", half-life {steps}"),
            Forgetting::Window(n) => text += &format!(", window {n}"),
        }
        text
    }

    /// Returns whether the agent is the paper's, which can change ε, γ or M while it runs.
    pub fn is_paper(&self) -> bool {
        self.explore == StrategyChoice::Paper
    }

    /// The probability of a random action.
    pub fn epsilon(&self, scene: &Scene) -> f64 {
        match self.explore {
            StrategyChoice::Paper | StrategyChoice::Other(Explore::EpsilonGreedy { .. }) => scene.epsilon,
            StrategyChoice::Other(_) => 0.0,
        }
    }

    /// An agent that has seen nothing.
    ///
    /// # Errors
    /// If a number is out of range, or settings are incompatible.
    pub fn build(&self, scene: &Scene, world: &GridWorld) -> Result<Agent> {
        let states = (0..world.n_states() as u32).map(|state| world.n_actions(State(state)));
        let model = Model::with_states(states)?;
        let settings = world.optimistic(scene.settings());
        let StrategyChoice::Other(explore) = self.explore else {
            if self.forget.0 != Forgetting::Never {
                return Err(Error::new(
                    "the paper's agent forgets nothing; expected another exploration, such as only ε-greedy, or forgetting: never",
                ));
            }
            let policy = EpsilonGreedy::new(scene.epsilon)?;
            return Ok(Agent::from_parts(model, self.planner.build(settings)?, policy));
        };
        let explore = match explore {
            Explore::EpsilonGreedy { .. } => Explore::EpsilonGreedy { epsilon: scene.epsilon },
            Explore::Optimism(_) => Explore::Optimism(settings.optimism),
            other => other,
        };
        let exploration = Exploration {
            explore,
            reward_range: Some(world.rules().reward_range()),
            forgetting: self.forget.0,
            seed: scene.seed,
            ..Exploration::default()
        };
        let plain = backsweep::Settings { optimism: Optimism::default(), ..settings };
        let agent = Agent::from_parts(model, self.planner.build(plain)?, EpsilonGreedy::GREEDY);
        Ok(agent.with_exploration(exploration)?)
    }
}

impl Scene {
    /// The agents, the first one first.
    pub fn agent_specs(&self) -> impl Iterator<Item = AgentSpec> {
        let first = AgentSpec { planner: self.planner, explore: self.explore, forget: self.forget };
        let second = self.rival.map(|planner| AgentSpec {
            planner,
            explore: self.rival_explore.unwrap_or(self.explore),
            forget: self.rival_forget.unwrap_or(self.forget),
        });
        std::iter::once(first).chain(second)
    }

    /// Returns whether agents must restart when the scene changes from this one to another. A new discount or M keeps what was seen
    /// and plans again, and ε takes effect at once, if all agents are the paper's; cycles and speed always do.
    pub fn must_restart_for(&self, other: &Self) -> bool {
        let all = |scene: &Self| {
            let agent_specs: Vec<AgentSpec> = scene.agent_specs().collect();
            let (is_paper, is_race) = (agent_specs.iter().all(AgentSpec::is_paper), agent_specs.len() > 1);
            let numbers = (!is_paper).then_some((scene.discount, scene.min_visits, scene.epsilon));
            (agent_specs, is_race.then_some(scene.race), scene.seed, scene.maze.clone(), numbers)
        };
        all(self) != all(other) || !self.has_same_world(other)
    }
}
