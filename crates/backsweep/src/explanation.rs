//! The values of one state, term by term, for display.

use crate::explore::Explore;
use crate::planner::Pair;
use crate::{Agent, State};

/// The values of a state on which the agent acts, term by term.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The value of the state.
    pub value: f64,
    /// The value that its predecessors still use, U in the paper, if the planner keeps one.
    pub backed_up_value: Option<f64>,
    /// Its priority; infinite if it comes before all others, 0 if it is not queued.
    pub priority: f64,
    /// True if the agent acts by a world drawn from the posterior. Rewards and terms below are then those of the counts, and do
    /// not add up to the values.
    pub is_drawn: bool,
    /// Its actions.
    pub actions: Vec<ActionExplanation>,
}

/// The value of an action, term by term: reward + bonus + γ Σ probability · value.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionExplanation {
    /// The value of the action.
    pub value: f64,
    /// The weight of its observations: how often it was tried, unless observations fade.
    pub weight: f64,
    /// True if it has been tried often enough to be trusted.
    pub is_known: bool,
    /// The mean reward; 0 before the first observation.
    pub reward: f64,
    /// The bonus on it.
    pub bonus: f64,
    /// The share of its observations that ended the episode.
    pub ended: f64,
    /// Each next state with its probability and the value that is used for it.
    pub terms: Vec<(State, f64, f64)>,
}

impl Agent {
    /// The values of a state, term by term; `None` if there is no such state.
    ///
    /// ```
    /// use backsweep::{Action, Agent, Budget, Settings, State};
    /// let mut agent = Agent::new(Settings { discount: 0.9, ..Settings::default() })?;
    /// agent.add_states([1, 1])?;
    /// agent.observe(State(0), Action(0), 1.0, State(1))?;
    /// agent.observe(State(1), Action(0), 0.0, State(0))?;
    /// agent.plan(Budget::Cycles(10));
    /// let action = &agent.explain(State(0)).unwrap().actions[0];
    /// let terms: f64 = action.terms.iter().map(|(_, probability, value)| probability * value).sum();
    /// assert!((action.reward + action.bonus + 0.9 * terms - action.value).abs() < 1e-12);
    /// assert!(agent.explain(State(2)).is_none());
    /// # Ok::<(), backsweep::Error>(())
    /// ```
    pub fn explain(&self, state: State) -> Option<Explanation> {
        let (model, planner) = (self.model(), self.acting_planner());
        if state.index() >= model.n_states() {
            return None;
        }
        let values = planner.values();
        let is_drawn =
            self.exploration().is_some_and(|e| matches!(e.explore, Explore::PosteriorSampling { .. }));
        // A drawn world has arcs of its own, which cannot be seen.
        let backed_up = |state, arc| if is_drawn { None } else { planner.backed_up_value(state, arc) };
        let action = |pair: Pair| {
            let weight = model.weight(pair);
            let share = |part: f64| if weight > 0.0 { part / weight } else { 0.0 };
            let successors = model.successors(pair).filter(|successor| successor.weight > 0.0);
            ActionExplanation {
                value: values.action_value(pair),
                weight,
                is_known: values.is_known(model, pair),
                reward: if weight > 0.0 { model.mean_reward(pair) } else { 0.0 },
                bonus: values.bonus(pair),
                ended: share(model.ended_weight(pair)),
                terms: successors
                    .map(|successor| {
                        let used = backed_up(successor.state, successor.arc);
                        let value = used.unwrap_or_else(|| values.value(successor.state));
                        (successor.state, share(successor.weight), value)
                    })
                    .collect(),
            }
        };
        let arc = model.predecessors(state).next().map(|predecessor| predecessor.arc);
        Some(Explanation {
            value: values.value(state),
            backed_up_value: arc.and_then(|arc| backed_up(state, arc)),
            priority: planner.queue().map_or(0.0, |queue| queue.priority(model, state)),
            is_drawn,
            actions: model.pairs(state).map(action).collect(),
        })
    }
}
