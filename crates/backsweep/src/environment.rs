//! The outside world, as far as the core needs to know it.

use crate::{Action, Next, Random, State};

/// The world's response to an action.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// The reward; finite.
    pub reward: f64,
    /// Where the step led.
    pub next: Next,
}

/// A world with finitely many states. It keeps no current state and no random generator: both are passed in, so one
/// environment serves any number of runs at once.
///
/// Implemented by worlds; called by [`crate::Agent::step`] and [`crate::episode::run_episode`] only.
pub trait Environment: Sync {
    /// The number of actions of a state; 0 for a state that no step leaves.
    fn n_actions(&self, state: State) -> usize;

    /// Draws the state in which an episode begins.
    fn start(&self, random: &mut Random) -> State;

    /// Draws what an action leads to.
    fn step(&self, state: State, action: Action, random: &mut Random) -> Step;
}
