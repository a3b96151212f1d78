//! The door to exploration: what an agent may have besides a model, a planner and a policy.

use crate::planner::Planned;
use crate::{
    Action, Budget, Change, Model, MovedPairs, Next, Outcome, Pair, Planner, Result, Snapshot, State,
    Transition,
};
use std::any::Any;
use std::fmt;

/// How an agent explores and forgets; the crate `backsweep-explore` has the ways to.
///
/// The agent's own planner *recommends*. An explorer may keep other values to *act* by, and the recommending planner then
/// costs nothing until it has to [absorb](Self::absorb) what was observed. An [`Agent`](crate::Agent) passes everything it
/// learns to its explorer, which records it in the model.
pub trait Explorer: fmt::Debug + Send + Sync {
    /// For the crate that made the explorer and knows its type.
    fn as_any(&self) -> &dyn Any;

    /// A copy behind a box.
    fn boxed_clone(&self) -> Box<dyn Explorer>;

    /// The model and the planner to act by, unless they are the agent's own.
    fn acting<'a>(&'a self, model: &'a Model) -> Option<(&'a Model, &'a dyn Planner)>;

    /// Handles a state that was added to the model.
    fn state_added(&mut self, model: &Model, state: State) -> Result<()>;

    /// Handles an action that was added to a state of the model.
    fn action_added(&mut self, model: &Model, state: State, moved: Option<&MovedPairs>) -> Result<()>;

    /// Learns from a transition that counts as `weight` observations, or takes it back if the weight is negative.
    fn observe(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        transition: &Transition,
        weight: f64,
    ) -> Result<Option<Change>>;

    /// Learns from `n` transitions at once; see [`Model::add_counts`].
    fn add_counts(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        pair: (State, Action),
        next: Next,
        counts: (i64, f64),
    ) -> Result<Option<Change>>;

    /// Handles outcomes of a pair that were set in the model.
    fn outcomes_set(
        &mut self,
        model: &Model,
        planner: &mut dyn Planner,
        pair: Pair,
        outcomes: &[Outcome],
    ) -> Result<()>;

    /// Plans the values to act by.
    fn plan(&mut self, model: &Model, planner: &mut dyn Planner, budget: Budget<'_>) -> Planned;

    /// Lets the recommending planner absorb what was observed.
    fn absorb(&mut self, model: &Model, planner: &mut dyn Planner);

    /// A copy of the recommending planner that has absorbed everything; `None` if the planner itself has.
    fn absorbed(&self, model: &Model, planner: &dyn Planner) -> Option<Box<dyn Planner>>;

    /// Whether the recommending planner has absorbed everything.
    fn has_absorbed(&self) -> bool;

    /// Bytes in use, not merely reserved.
    fn bytes(&self) -> usize;

    /// Stores everything besides model and recommending planner, which are in the snapshot already. One of the arrays is
    /// called `explore.kind`: by it, [`Agent::restore`](crate::Agent::restore) knows that the agent explores.
    fn store(&self, model: &Model, planner: &dyn Planner, snapshot: &mut Snapshot);
}

impl Clone for Box<dyn Explorer> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}
