//! Solves the model that an agent has learned, by the portfolio.

use crate::{Limits, Result, Solution, solve};
use backsweep_core::{Action, Model, Pair, State};
use backsweep_mdp::{Mdp, MdpBuilder, NO_CHOICE, Question, Rewards};

/// The answer to a question about a learned model.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedSolution {
    /// Values and intervals by state. Its policy has the numbers of choices; `policy` has the model's actions.
    pub solution: Solution,
    /// The action to take in each state; `None` where nothing was tried or there is nothing to choose.
    pub policy: Vec<Option<Action>>,
}

/// Answers a question about an agent's model by the portfolio.
///
/// The agent is not changed. Actions that were never tried are left out, and a state without any is worth 0: unlike the agent's
/// own values, the answer is not optimistic.
///
/// ```
/// use backsweep_core::{Action, Model, Next, State, Transition};
/// use backsweep_mdp::Objective;
/// use backsweep_solve::{Limits, solve_learned};
/// let mut model = Model::with_states([2])?;
/// let state = State(0);
/// model.record(&Transition { state, action: Action(1), reward: 3.0, next: Next::Continue(state) })?;
/// let question = Objective::Discounted { reward: None, discount: 0.5 }.maximize();
/// let limits = Limits { tolerance: 1e-9, ..Limits::default() };
/// let answer = solve_learned(&model, &question, &limits).unwrap();
/// assert!((answer.solution.value(0) - 6.0).abs() <= 1e-9 && answer.policy == [Some(Action(1))]);
/// # Ok::<(), backsweep_core::Error>(())
/// ```
///
/// # Errors
/// As [`solve`], and if the model has more arcs than 32 bits can count.
pub fn solve_learned(model: &Model, question: &Question, limits: &Limits) -> Result<LearnedSolution> {
    let mdp = learned_mdp(model)?;
    let solution = solve(&mdp, question, None, limits)?;
    let tried = model.states().flat_map(|state| model.pairs(state)).filter(|&pair| model.weight(pair) > 0.0);
    let actions: Vec<Action> = tried.map(|pair| model.action_of(pair)).collect();
    let action =
        |&choice: &u32| if choice == NO_CHOICE { None } else { actions.get(choice as usize).copied() };
    let policy = solution.policy.iter().map(action).collect();
    Ok(LearnedSolution { solution, policy })
}

/// A learned model as a known one: probabilities are arc weights divided by the weight of their pair, rewards
/// (unnamed) are mean rewards.
///
/// A pair without weight has never been tried and is left out: the model says nothing about it. A state all of whose pairs are
/// left out has no choice and is worth 0. Choices therefore carry the number of their action as a name if any are left out.
///
/// # Errors
/// If there are too many arcs, or a number of the model is outside the limits of [`Mdp::check`].
pub fn learned_mdp(model: &Model) -> backsweep_mdp::Result<Mdp> {
    learned_mdp_with(model, |pair| (model.weight(pair) > 0.0).then(|| model.mean_reward(pair)))
}

/// As [`learned_mdp`], with other rewards: pairs without one are left out, and one that was never tried ends the episode.
///
/// # Errors
/// As [`learned_mdp`].
pub fn learned_mdp_with(
    model: &Model,
    mut reward: impl FnMut(Pair) -> Option<f64>,
) -> backsweep_mdp::Result<Mdp> {
    let mut builder = MdpBuilder::default();
    let mut rewards = Rewards::default();
    for state in model.states() {
        for pair in model.pairs(state) {
            let Some(reward) = reward(pair) else { continue };
            let weight = model.weight(pair);
            for successor in model.successors(pair).filter(|successor| successor.weight > 0.0) {
                // After weights were taken back, rounding may leave a sum slightly above the whole.
                builder.add_arc(successor.state.0, (successor.weight / weight).min(1.0));
            }
            builder.end_choice();
            rewards.choices.push(reward);
        }
        builder.end_state();
    }
    let mut mdp = builder.finish()?;
    if rewards.choices.len() < model.n_pairs() {
        mdp.action_names = action_names(model, |_, action| action.to_string());
    }
    if !rewards.choices.is_empty() {
        mdp.rewards.push(rewards);
    }
    mdp.check()?;
    Ok(mdp)
}

/// The name of each choice of [`learned_mdp`], given the name of an action of a state.
pub fn action_names(model: &Model, name: impl Fn(State, usize) -> String) -> Vec<String> {
    let pairs =
        model.states().flat_map(|state| model.pairs(state).enumerate().map(move |pair| (state, pair)));
    let tried = pairs.filter(|&(_, (_, pair))| model.weight(pair) > 0.0);
    tried.map(|(state, (action, _))| name(state, action)).collect()
}
