//! One run of an agent in a world: where it is, when it is over, and its score.

use crate::{Grid, Horizon, Phase, Score, TabularWorld, World};
use backsweep::episode::Environment;
use backsweep::{Action, Next, Random, Result, State, Transition};
use std::sync::Arc;

/// The number of evaluations in a row that must be good before a policy counts as learned.
const IN_A_ROW: u64 = 3;

/// A run in progress. It keeps the current state, which the world does not; the agent belongs to the caller:
///
/// ```
/// use backsweep::{Agent, Budget, PlannerKind, Random, Settings};
/// use backsweep_worlds::{Run, world};
/// let mut random = Random::from_seed(1);
/// let chain = world("chain", &mut random)?;
/// let mut agent = Agent::new(Settings { discount: chain.discount, ..Settings::default() })?;
/// let mut run = Run::new(chain, &mut random);
/// while !run.is_over() {
///     let transition = agent.step(run.table(), run.state(), Budget::Cycles(5), &mut random)?;
///     run.take(&transition, &mut random);
/// }
/// assert_eq!(run.result().steps, 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    world: Arc<World>,
    state: State,
    steps: u64,
    episode_steps: u64,
    episodes: u64,
    total: f64,
    /// True if this episode left the diagonal of a sea by choice, and how many have.
    is_bad: bool,
    n_bad: u64,
    /// The best value from the start, once a policy was judged.
    best: Option<f64>,
    /// Good evaluations in a row.
    n_good: u64,
    /// The score of a run that ended because it reached its goal.
    reached: Option<u64>,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunScore {
    /// The score; see [`Score`]. A run that does not reach its goal scores its whole length.
    pub score: f64,
    /// Steps taken.
    pub steps: u64,
    /// Episodes that terminated or were truncated.
    pub episodes: u64,
    /// True if the goal was reached; true for worlds without one.
    pub reached: bool,
}

impl Run {
    /// A run that begins in a start of the world.
    pub fn new(world: impl Into<Arc<World>>, random: &mut Random) -> Self {
        let world = world.into();
        Self {
            state: world.table().start(random),
            world,
            steps: 0,
            episode_steps: 0,
            episodes: 0,
            total: 0.0,
            is_bad: false,
            n_bad: 0,
            best: None,
            n_good: 0,
            reached: None,
        }
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The current phase.
    pub fn phase(&self) -> &Phase {
        self.world.phase(self.steps)
    }

    /// The current table.
    pub fn table(&self) -> &TabularWorld {
        &self.phase().table
    }

    /// The current state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Continues by a step of the agent, and with a new start if the episode ended. Returns what followed, which is a
    /// truncation if the limit of steps was reached.
    pub fn take(&mut self, transition: &Transition, random: &mut Random) -> Next {
        let Transition { state, action, reward, mut next } = *transition;
        if let (Score::Solved { .. }, Some(grid)) = (self.world.score, &self.phase().grid) {
            self.is_bad |= leaves_diagonal(grid, state, action);
        }
        self.steps += 1;
        self.episode_steps += 1;
        self.total += reward;
        if let (Next::Continue(state), Some(limit)) = (next, self.world.episode_limit)
            && self.episode_steps >= limit
        {
            next = Next::Truncated(state);
        }
        match next {
            Next::Continue(state) => self.state = state,
            Next::Truncated(_) | Next::Terminated => self.end_episode(random),
        }
        next
    }

    fn end_episode(&mut self, random: &mut Random) {
        self.state = self.table().start(random);
        self.episode_steps = 0;
        self.episodes += 1;
        self.n_bad += u64::from(std::mem::take(&mut self.is_bad));
        if let Score::Solved { share, least } = self.world.score
            && self.episodes >= least
            && (self.n_bad as f64) < share * self.episodes as f64
        {
            self.reached.get_or_insert(self.episodes);
        }
    }

    /// Returns whether the recommended policy is due to be [judged](Self::judge).
    pub fn wants_policy(&self) -> bool {
        matches!(self.world.score, Score::StepsTo { every, .. } if self.steps.is_multiple_of(every))
    }

    /// Judges a recommended policy, one action per state (any for states without actions), by its exact value in the world.
    /// Returns that value as a fraction of the best one.
    ///
    /// # Errors
    /// If values are not defined in this world.
    pub fn judge(&mut self, policy: &[Action]) -> Result<f64> {
        let table = self.table();
        let value = |policy| {
            let values = table.values(self.world.discount, policy, 1e-7)?;
            Ok::<f64, backsweep::Error>(table.from_starts(&values))
        };
        let best = self.best.map_or_else(|| value(None), Ok)?;
        let part = value(Some(policy))? / best;
        self.best = Some(best);
        if let Score::StepsTo { fraction, every } = self.world.score {
            self.n_good = if part >= fraction { self.n_good + 1 } else { 0 };
            if self.n_good == IN_A_ROW {
                self.reached.get_or_insert(self.steps - (IN_A_ROW - 1) * every);
            }
        }
        Ok(part)
    }

    /// Returns whether the run is over: it has reached its goal or its full length.
    pub fn is_over(&self) -> bool {
        self.reached.is_some()
            || match self.world.horizon {
                Horizon::Steps(steps) => self.steps >= steps,
                Horizon::Episodes(episodes) => self.episodes >= episodes,
            }
    }

    /// The result so far.
    pub fn result(&self) -> RunScore {
        let Self { steps, episodes, .. } = *self;
        let (score, reached) = match self.world.score {
            Score::Total => (self.total, true),
            Score::PerEpisode => (self.total / episodes.max(1) as f64, true),
            Score::Regret { gain } => (gain * steps as f64 - self.total, true),
            Score::StepsTo { .. } => (self.reached.unwrap_or(steps) as f64, self.reached.is_some()),
            Score::Solved { .. } => (self.reached.unwrap_or(episodes) as f64, self.reached.is_some()),
        };
        RunScore { score, steps, episodes, reached }
    }
}

/// Returns whether an action in a sea leaves the diagonal by choice.
fn leaves_diagonal(grid: &Grid, state: State, action: Action) -> bool {
    let on_diagonal = grid.cell(state).is_some_and(|(row, column)| row == column);
    on_diagonal && grid.direction(state, action) == Some((1, -1))
}
