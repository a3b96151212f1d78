//! Solves the model that an agent has learned, by the portfolio.

use crate::{Direction, Limits, NO_CHOICE, Query, Solution};
use backsweep::{Action, Model, State};
use backsweep_mdp::{Error, Mdp, Result, Rewards};

/// The answer to a question about a learned model.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedSolution {
    /// Values and intervals by state. Its policy has the numbers of choices; `policy` has the model's actions.
    pub solution: Solution,
    /// The action to take in each state; `None` where nothing was tried or there is nothing to choose.
    pub policy: Vec<Option<Action>>,
}

/// Answers a question about an agent's model by the portfolio. In contrast, `agent.solve` of the core plans with the agent's
/// own planner and is for small models, or for few changes since the last call.
///
/// The agent is not changed. Actions that were never tried are left out, and a state without any is worth 0: unlike the agent's
/// own values, the answer is not optimistic.
///
/// ```
/// use backsweep::{Action, Agent, Next, PlannerKind, Settings, State, Transition};
/// use backsweep_solve::{Direction, Limits, Query, solve_learned};
/// let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, Settings { discount: 0.5, ..Settings::default() })?;
/// let state = agent.add_state(2)?;
/// agent.observe_transition(&Transition { state, action: Action(1), reward: 3.0, next: Next::Continue(state) })?;
/// let query = Query::Discounted { reward: None, discount: 0.5 };
/// let limits = Limits { tolerance: 1e-9, stop: &|| false, threads: 1 };
/// let answer = solve_learned(agent.model(), &query, Direction::Maximize, &limits).unwrap();
/// assert!((answer.solution.value(0) - 6.0).abs() <= 1e-9 && answer.policy == [Some(Action(1))]);
/// # Ok::<(), backsweep::Error>(())
/// ```
///
/// # Errors
/// As [`Query::solve`], and if the model has more arcs than 32 bits can count.
pub fn solve_learned(
    model: &Model,
    query: &Query,
    direction: Direction,
    limits: &Limits,
) -> std::result::Result<LearnedSolution, String> {
    let mdp = learned_mdp(model).map_err(|error| error.to_string())?;
    let solution = query.solve(&mdp, direction, None, limits)?;
    let tried = model.states().flat_map(|state| model.pairs(state)).filter(|&pair| model.weight(pair) > 0.0);
    let actions: Vec<Action> = tried.map(|pair| model.action_of(pair)).collect();
    let action =
        |&choice: &u32| if choice == NO_CHOICE { None } else { actions.get(choice as usize).copied() };
    let policy = solution.policy.iter().map(action).collect();
    Ok(LearnedSolution { solution, policy })
}

/// What a model has learned, as a known one: probabilities are arc weights divided by the weight of their pair, rewards
/// (unnamed) are mean rewards.
///
/// A pair without weight has never been tried and is left out: the model says nothing about it. A state all of whose pairs are
/// left out has no choice and is worth 0. Choices therefore carry the number of their action as a name if any are left out.
///
/// # Errors
/// If there are too many arcs, or a number of the model is outside the limits of [`Mdp::check`].
pub fn learned_mdp(model: &Model) -> Result<Mdp> {
    let mut mdp = Mdp { choices: vec![0], arcs: vec![0], ..Mdp::default() };
    let mut rewards = Rewards::default();
    for state in model.states() {
        for pair in model.pairs(state) {
            let weight = model.weight(pair);
            if weight <= 0.0 {
                continue;
            }
            for successor in model.successors(pair).filter(|successor| successor.weight > 0.0) {
                mdp.targets.push(successor.state.0);
                // After weights were taken back, rounding may leave a sum slightly above the whole.
                mdp.probabilities.push((successor.weight / weight).min(1.0));
            }
            mdp.arcs.push(index(mdp.targets.len())?);
            rewards.choices.push(model.mean_reward(pair));
        }
        mdp.choices.push(index(rewards.choices.len())?);
    }
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

fn index(n: usize) -> Result<u32> {
    u32::try_from(n)
        .map_err(|_| Error::new("model", format!("found {n} arcs or more; expected at most {}", u32::MAX)))
}
