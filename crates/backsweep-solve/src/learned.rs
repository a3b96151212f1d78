//! Solves the model that an agent has learned, by the portfolio.

use crate::{Direction, Limits, NO_CHOICE, Query, Solution};
use backsweep::{Action, Model};
use backsweep_io::mdp::Mdp;

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
/// let mut agent = Agent::new(PlannerKind::ReversedFullBackups, Settings { discount: 0.5, ..Settings::default() })?;
/// let state = agent.add_state(2)?;
/// agent.observe(&Transition { state, action: Action(1), reward: 3.0, next: Next::Continue(state) })?;
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
) -> Result<LearnedSolution, String> {
    let mdp = Mdp::from_model(model).map_err(|error| error.to_string())?;
    let solution = query.solve(&mdp, direction, None, limits)?;
    let tried = model.states().flat_map(|state| model.pairs(state)).filter(|&pair| model.weight(pair) > 0.0);
    let actions: Vec<Action> = tried.map(|pair| model.action_of(pair)).collect();
    let action =
        |&choice: &u32| if choice == NO_CHOICE { None } else { actions.get(choice as usize).copied() };
    let policy = solution.policy.iter().map(action).collect();
    Ok(LearnedSolution { solution, policy })
}
