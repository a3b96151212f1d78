//! A world with everything that a run in it needs.

use crate::{Grid, TabularWorld};

/// A world for measuring exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// Its name, such as `riverswim_6`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The discount its agents are given.
    pub discount: f64,
    /// The lowest and the highest reward, without noise, as given to agents.
    pub reward_range: (f64, f64),
    /// The phases in order; more than one in a world that changes. There is at least one.
    pub phases: Vec<Phase>,
    /// The number of steps after which an episode is truncated, if there is a limit.
    pub episode_limit: Option<u64>,
    /// The score of a run.
    pub score: Score,
    /// The length of a run.
    pub horizon: Horizon,
    /// The expected score of an agent that knows the world; see [`Score`] for the direction.
    pub ceiling: Option<f64>,
}

/// A part of a run in which the world does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The first step to which the table applies.
    pub from: u64,
    /// The table.
    pub table: TabularWorld,
    /// The drawing, if it is a grid.
    pub grid: Option<Grid>,
}

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Horizon {
    /// This many steps.
    Steps(u64),
    /// This many episodes.
    Episodes(u64),
}

/// The score of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// The sum of rewards; more is better.
    Total,
    /// The sum of rewards per episode that ended, for a world in which a step costs as much before the goal as on the way
    /// back to it; more is better.
    PerEpisode,
    /// The loss against an agent that receives `gain` per step; less is better.
    Regret {
        /// The best long-run reward per step.
        gain: f64,
    },
    /// The steps until the recommended policy is good: the first of three consecutive evaluations in which its value from
    /// the start is at least `fraction` of the best. Less is better.
    StepsTo {
        /// The fraction of the best value.
        fraction: f64,
        /// The steps between two evaluations.
        every: u64,
    },
    /// DeepSea: the first episode, from number `least` on, at which the share of bad episodes is below `share`. An episode is
    /// bad if the agent left the diagonal by its own choice. Less is better.
    Solved {
        /// The share.
        share: f64,
        /// The first episode that counts.
        least: u64,
    },
}

impl Score {
    /// Returns whether a higher score is better.
    pub fn more_is_better(&self) -> bool {
        matches!(self, Self::Total | Self::PerEpisode)
    }

    /// The unit of the score, for axes and tables.
    pub fn label(&self) -> String {
        match self {
            Self::Total => "total reward".to_owned(),
            Self::PerEpisode => "reward per episode".to_owned(),
            Self::Regret { .. } => "regret".to_owned(),
            Self::StepsTo { fraction, .. } => format!("steps to {:.0} % of the optimum", fraction * 100.0),
            Self::Solved { .. } => "episodes until solved".to_owned(),
        }
    }
}

impl World {
    /// A world that does not change, scored by its total reward over a number of steps.
    pub(crate) fn lasting(name: &str, title: &str, table: TabularWorld, steps: u64) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            discount: 0.95,
            reward_range: table.reward_range(),
            phases: vec![Phase { from: 0, table, grid: None }],
            episode_limit: None,
            score: Score::Total,
            horizon: Horizon::Steps(steps),
            ceiling: None,
        }
    }

    pub(crate) fn with_grid(mut self, grid: Grid) -> Self {
        self.phases[0].grid = Some(grid);
        self
    }

    /// The phase at a step.
    pub fn phase(&self, step: u64) -> &Phase {
        self.phases.iter().rev().find(|phase| phase.from <= step).unwrap_or(&self.phases[0])
    }

    /// The table at the beginning.
    pub fn table(&self) -> &TabularWorld {
        &self.phases[0].table
    }

    /// The grid at the beginning; `None` if the world is not a grid.
    pub fn grid(&self) -> Option<&Grid> {
        self.phases[0].grid.as_ref()
    }
}
