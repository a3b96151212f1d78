//! The rules of a world: what the page and the engine must know about any grid world.

use crate::{COMPASS, Law, Maze, MazeTask, Result};
use backsweep::episode::{Environment, Step};
use backsweep::planner::Model;
use backsweep::{Action, Next, Random, State};
use std::fmt::Debug;
use std::sync::Arc;

/// North, north-east, east and so on, clockwise, as (down, right). Bit k of a cell's best directions is the k-th of them.
pub const EIGHT_DIRECTIONS: [(isize, isize); 8] =
    [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)];
/// The reward of a step in a maze, as in the paper.
const STEP_REWARD: f64 = -1.0;

/// A world whose states are the cells of a grid, row by row, walls included: a wall is a state that is never visited.
pub trait Rules: Environment + Send + Debug {
    /// Returns whether an agent can stand in a cell.
    fn is_open(&self, cell: usize) -> bool;

    /// Where each action of a cell points, as (down, right).
    fn directions(&self, cell: usize) -> &[(isize, isize)];

    /// The lowest and the highest reward, for agents that explore by a bonus.
    fn reward_range(&self) -> (f64, f64);

    /// The value that an optimistic agent assumes for a hardly tried pair.
    fn optimistic_value(&self, discount: f64) -> f64;

    /// The true probabilities, with the cell of each state and the states in which episodes begin.
    ///
    /// # Errors
    /// If the model refuses them.
    fn truth(&self) -> Result<Truth>;

    /// The number of steps after which an episode is truncated.
    fn episode_limit(&self) -> Option<u64> {
        None
    }

    /// Returns whether episodes terminate or are truncated.
    fn has_episodes(&self) -> bool {
        true
    }

    /// The world's own text in each of its phases; empty if it is only what was painted.
    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The rules after cells were painted.
    ///
    /// # Errors
    /// If a cell of this world cannot be painted like that.
    fn painted(&self, maze: Maze, rows: &[Vec<char>]) -> Result<Arc<dyn Rules>>;

    /// The rules that apply from this step on, and their text, if the world changes by itself.
    fn at(&self, _step: u64) -> Option<(Arc<dyn Rules>, String)> {
        None
    }
}

/// The true probabilities of a world.
pub struct Truth {
    /// The model.
    pub model: Model,
    /// The cell of each of its states.
    pub cells: Vec<u32>,
    /// The states in which episodes begin, each equally likely.
    pub starts: Vec<State>,
}

impl Truth {
    /// The mean of values over the states in which episodes begin.
    pub fn mean_over_starts(&self, values: &[f64]) -> f64 {
        crate::table::mean_over(&self.starts, values)
    }
}

/// A maze task, whose own states are its open cells only.
#[derive(Debug)]
pub struct MazeRules(MazeTask);

impl MazeRules {
    /// The task of a maze, whether or not a path leads to the goal.
    ///
    /// # Errors
    /// If the law is out of range.
    pub fn new(maze: Maze, law: Law) -> Result<Self> {
        Ok(Self(MazeTask::allowing_blocked_goal(maze, law, STEP_REWARD)?))
    }
}

impl Rules for MazeRules {
    fn is_open(&self, cell: usize) -> bool {
        self.0.state_in(cell).is_some()
    }

    fn directions(&self, _cell: usize) -> &[(isize, isize)] {
        &COMPASS
    }

    /// The range includes 0, so that a maze in which all rewards are equal has one too.
    fn reward_range(&self) -> (f64, f64) {
        let maze = self.0.maze();
        let rewards = maze.cells().filter_map(|cell| maze.reward(cell));
        rewards.fold((STEP_REWARD, 0.0), |(low, high), reward| (low.min(reward), high.max(reward)))
    }

    /// 0, as in the paper.
    fn optimistic_value(&self, _discount: f64) -> f64 {
        0.0
    }

    fn truth(&self) -> Result<Truth> {
        let cells = (0..self.0.n_states() as u32).map(|state| self.0.cell_number(State(state)));
        Ok(Truth { model: self.0.model()?, cells: cells.collect(), starts: self.0.starts().to_vec() })
    }

    fn painted(&self, maze: Maze, _rows: &[Vec<char>]) -> Result<Arc<dyn Rules>> {
        // Anything far from every difference is not recomputed.
        Ok(Arc::new(Self(self.0.repainted(maze)?)))
    }
}

impl Environment for MazeRules {
    fn n_actions(&self, _state: State) -> usize {
        COMPASS.len()
    }

    fn start(&self, random: &mut Random) -> State {
        State(self.0.cell_number(self.0.start(random)))
    }

    #[inline]
    fn step(&self, state: State, action: Action, random: &mut Random) -> Step {
        let own = self.0.state_in(state.index()).unwrap_or(State(u32::MAX));
        let step = self.0.step(own, action, random);
        match step.next {
            Next::Continue(next) => Step { next: Next::Continue(State(self.0.cell_number(next))), ..step },
            _ => step,
        }
    }
}
