//! One step as an agent observes it.

use crate::{Action, State};

/// Where a step led, and whether the episode continues.
///
/// Terminated and truncated are two different things: nothing follows a step that *terminated*,
/// whatever state was observed with it; a step that was *truncated* by a time limit leads to an
/// ordinary state whose value counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Next {
    /// The episode continues in this state.
    Continue(State),
    /// The episode was truncated in this state, for instance by a time limit. To the model this is
    /// the same as [`Next::Continue`].
    Truncated(State),
    /// The episode ended: nothing follows, the value is 0.
    Terminated,
}

impl Next {
    /// The state that follows, or `None` after a step that terminated.
    #[inline]
    pub fn state(self) -> Option<State> {
        match self {
            Self::Continue(state) | Self::Truncated(state) => Some(state),
            Self::Terminated => None,
        }
    }
}

impl From<State> for Next {
    /// The episode continues in the state.
    fn from(state: State) -> Self {
        Self::Continue(state)
    }
}

/// One observed step.
///
/// ```
/// use backsweep_core::{Action, Next, State, Transition};
/// let step = Transition { state: State(0), action: Action(1), reward: -1.0, next: Next::Continue(State(2)) };
/// assert_eq!(step.next.state(), Some(State(2)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transition {
    /// Where the step began.
    pub state: State,
    /// The work done.
    pub action: Action,
    /// The reward; finite.
    pub reward: f64,
    /// Where it led.
    pub next: Next,
}

/// One possible outcome of an action whose probabilities are known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Its probability, 0 to 1.
    pub probability: f64,
    /// The reward; finite.
    pub reward: f64,
    /// Where it leads.
    pub next: Next,
}
