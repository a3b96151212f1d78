//! The learned policy as an agent that can continue learning, be saved, and be solved with a bound.

use crate::error::{Error, Result};
use crate::learned::Learned;
use crate::supported_policy::is_supported;
use backsweep::save::{AgentNames, Name, SavedAgent};
use backsweep::{Action, Agent, Next, Random, Settings, State};
use backsweep_log::Counts;

/// An agent that knows the training counts of every supported action, and of all actions of states without one.
///
/// # Errors
/// If a count or a reward is outside the core's range.
pub fn learner(counts: &Counts, learned: &Learned) -> Result<SavedAgent> {
    let settings = Settings { discount: learned.settings.discount, ..Settings::default() };
    let mut agent = Agent::new(settings).map_err(Error::Agent)?;
    let (model, supported) = (&learned.fit.model, &learned.fit.supported);
    let text = |names: &[String]| names.iter().map(|name| Name::Text(name.clone())).collect();
    let mut names = AgentNames {
        states: text(&counts.states),
        actions: text(&counts.actions),
        default_actions: None,
        rows: Vec::new(),
        ends: Vec::new(),
    };
    // The place of each pair among the actions of its state, if the agent has it.
    let mut places: Vec<Option<u32>> = vec![None; model.n.len()];
    for state in 0..model.n_states() {
        let mut row = Vec::new();
        for pair in model.pairs_of(state) {
            if supported.chosen[state].is_none() || is_supported(model, &learned.settings, pair) {
                places[pair] = Some(row.len() as u32);
                row.push(model.actions[pair]);
            }
        }
        // A state that was never left has one unnamed action: it has no value yet, and it is not an end.
        agent.add_state(row.len().max(1)).map_err(Error::Agent)?;
        names.rows.push(Some(row));
    }
    for row in counts.rows.iter().filter(|row| learned.settings.hold_out >> row.fold & 1 == 0) {
        let Some(place) = model.pair(row.state, row.action).and_then(|pair| places[pair]) else { continue };
        let next = row.next.map_or(Next::Terminated, |next| Next::Continue(State(next)));
        let sum = counts.reward(row.reward_sum);
        agent.add_counts(State(row.state), Action(place), next, row.n, sum).map_err(Error::Agent)?;
    }
    Ok(SavedAgent { agent, random: Random::from_seed(0), names: Some(names) })
}
