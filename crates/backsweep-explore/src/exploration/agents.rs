//! Agents that explore: how they are built, read and restored.

use super::exploring::Exploring;
use super::{Exploration, Explore};
use backsweep::{Agent, EpsilonGreedy, Explorer, Model, PlannerKind, Result, Settings, Snapshot};

/// An agent that explores and forgets as [`Exploration`] says, on a model without observations.
///
/// # Errors
/// If a setting is out of range, or settings are incompatible.
pub fn exploring(
    model: Model,
    planner: PlannerKind,
    settings: Settings,
    exploration: Exploration,
) -> Result<Agent> {
    let policy = match exploration.explore {
        Explore::EpsilonGreedy { epsilon } => EpsilonGreedy::new(epsilon)?,
        _ => EpsilonGreedy::GREEDY,
    };
    let (explorer, planner) = Exploring::new(&model, planner, settings, exploration)?;
    Ok(Agent::from_parts(model, planner, policy).with_explorer(Box::new(explorer)))
}

/// How an agent explores, if it was built by [`exploring`].
pub fn exploration(agent: &Agent) -> Option<&Exploration> {
    agent.explorer()?.as_any().downcast_ref().map(Exploring::settings)
}

/// For each state an interval that contains the optimal value of the *world*, not of the learned model: all of them at
/// once with this probability, if every reward lies in the stated range and the world does not change. The
/// bonuses come from Hoeffding's inequality, so intervals are wide until there are many observations.
///
/// # Complexity
/// Same as solving the model twice.
///
/// # Errors
/// If the agent was not built by [`exploring`] with a range of rewards, forgets, or has discount 1.
pub fn intervals(agent: &Agent, confidence: f64) -> Result<Vec<(f64, f64)>> {
    let exploration = exploration(agent).copied().unwrap_or_default();
    exploration.intervals(agent.model(), agent.planner().settings().discount, confidence)
}

/// The agent that was [stored](Agent::store), whether it explores or not.
///
/// # Errors
/// As for [`Agent::restore`].
pub fn restore(snapshot: &Snapshot) -> Result<Agent> {
    let Some(exploration) = Exploration::stored(snapshot)? else { return Agent::restore(snapshot) };
    Agent::restore_with(snapshot, |model, kind, settings| {
        let (explorer, settings) = Exploring::restore(exploration, model, kind, settings, snapshot)?;
        Ok((settings, Some(Box::new(explorer) as Box<dyn Explorer>)))
    })
}
