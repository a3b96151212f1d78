//! Episodes: the environment that an agent acts in, and the one interaction loop.

pub use crate::environment::{Environment, Step};

use crate::{Agent, Budget, Next, Random, Result, Transition};

/// The end of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeEnd {
    /// The environment ended it.
    Terminated,
    /// The environment or the limit of steps truncated it.
    Truncated,
}

/// The events of one episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Episode {
    /// Steps taken.
    pub steps: u64,
    /// The sum of rewards.
    pub total_reward: f64,
    /// The sum of rewards, each discounted by the planner's discount.
    pub discounted_return: f64,
    /// The way it ended.
    pub end: EpisodeEnd,
}

/// The one interaction loop: start, then [step](Agent::step) until the episode ends. `budget` is spent after every step, and
/// `watch` is then called with the transition.
///
/// `max_steps` truncates the episode: the last transition is then [`Next::Truncated`], which is not an end.
///
/// # Errors
/// If the environment gives a state, reward or number of actions that the model refuses.
pub fn run_episode(
    environment: &dyn Environment,
    agent: &mut Agent,
    budget: Budget<'_>,
    max_steps: Option<u64>,
    random: &mut Random,
    watch: &mut dyn FnMut(&Agent, &Transition),
) -> Result<Episode> {
    let discount = agent.planner().values().discount();
    let mut state = environment.start(random); // l.4, 5: the loop over episodes is the caller's
    let mut episode =
        Episode { steps: 0, total_reward: 0.0, discounted_return: 0.0, end: EpisodeEnd::Truncated };
    let mut factor = 1.0;
    while max_steps.is_none_or(|most| episode.steps < most) {
        let mut transition = agent.step(environment, state, budget, random)?; // l.6
        episode.steps += 1;
        episode.total_reward += transition.reward;
        episode.discounted_return += factor * transition.reward;
        factor *= discount;
        if let (Next::Continue(next), true) = (transition.next, max_steps == Some(episode.steps)) {
            transition.next = Next::Truncated(next);
        }
        watch(agent, &transition);
        match transition.next {
            Next::Continue(next) => state = next, // l.25
            Next::Truncated(_) => break,
            Next::Terminated => {
                episode.end = EpisodeEnd::Terminated; // l.26
                break;
            }
        }
    }
    Ok(episode)
}
