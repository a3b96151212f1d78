//! The models of our own learners.

use super::{Error, Mdp, Result, Rewards};
use crate::{Learner, LearnerNames, Name};
use backsweep::{Model, State};
use std::path::Path;

impl Mdp {
    /// What a learner knows: probabilities are arc weights divided by the weight of their pair, rewards (unnamed) are mean
    /// rewards.
    ///
    /// A pair without weight has never been tried and is left out: the model says nothing about it. A state all of whose pairs
    /// are left out has no choice and is worth 0. Choices therefore carry the number of their action as a name if any are left
    /// out.
    ///
    /// # Errors
    /// If there are too many arcs, or a number of the model is outside the limits of [`Mdp::check`].
    pub fn from_model(model: &Model) -> Result<Self> {
        let mut mdp = Self { choices: vec![0], arcs: vec![0], ..Self::default() };
        let mut rewards = Rewards::default();
        let mut actions = Vec::new();
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
                actions.push(model.action_of(pair).0);
            }
            mdp.choices.push(index(rewards.choices.len())?);
        }
        if rewards.choices.len() < model.n_pairs() {
            mdp.action_names = actions.iter().map(u32::to_string).collect();
        }
        if !rewards.choices.is_empty() {
            mdp.rewards.push(rewards);
        }
        mdp.check()?;
        Ok(mdp)
    }

    /// The model of a learner, with its names.
    ///
    /// # Errors
    /// As [`Mdp::from_model`].
    pub fn from_learner(learner: &Learner) -> Result<Self> {
        let model = learner.agent.model();
        let mut mdp = Self::from_model(model)?;
        if let Some(names) = &learner.names {
            mdp.state_names = names.states.iter().map(text).collect();
            mdp.state_names.resize_with(mdp.n_states(), String::new);
            let tried = model.states().flat_map(|state| {
                let weighty = model.pairs(state).enumerate().filter(|(_, pair)| model.weight(*pair) > 0.0);
                weighty.map(move |(action, _)| (state, action)).collect::<Vec<_>>()
            });
            mdp.action_names = tried.map(|(state, action)| action_name(names, state, action)).collect();
        }
        Ok(mdp)
    }
}

/// Reads a file that a learner was saved to.
pub fn read(path: &Path) -> Result<Mdp> {
    let learner =
        Learner::load(path).map_err(|error| Error::new(path.display(), strip(path, &error.to_string())))?;
    Mdp::from_learner(&learner).map_err(|error| error.within(path.display()))
}

/// The message without the file's name, which precedes it anyway.
fn strip(path: &Path, message: &str) -> String {
    let prefix = format!("{}: ", path.display());
    message.strip_prefix(&prefix).unwrap_or(message).to_owned()
}

fn index(n: usize) -> Result<u32> {
    u32::try_from(n)
        .map_err(|_| Error::new("model", format!("found {n} arcs or more; expected at most {}", u32::MAX)))
}

fn action_name(names: &LearnerNames, state: State, action: usize) -> String {
    let row = names.rows.get(state.index()).and_then(Option::as_ref).or(names.default_actions.as_ref());
    let name = row.and_then(|row| row.get(action)).and_then(|&id| names.actions.get(id as usize));
    name.map_or_else(|| action.to_string(), text)
}

/// A name as text for people.
fn text(name: &Name) -> String {
    match name {
        Name::None => "None".to_owned(),
        Name::Bool(value) => value.to_string(),
        Name::Int(value) => value.to_string(),
        Name::BigInt(bytes) => num_bigint::BigInt::from_signed_bytes_le(bytes).to_string(),
        Name::Float(value) => value.to_string(),
        Name::Text(value) => value.clone(),
        Name::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Name::Tuple(names) => format!("({})", names.iter().map(text).collect::<Vec<_>>().join(", ")),
        Name::Encoded(name) => text(name),
    }
}
