//! Changes to a model, by numbers.

/// One change to a model. Choices keep their numbers; an added one gets the next free number.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Replaces the outcomes of a choice: target states with their probabilities.
    Outcomes {
        /// The choice.
        choice: u32,
        /// The new outcomes, which sum to at most 1.
        outcomes: Vec<(u32, f64)>,
    },
    /// Replaces the reward of a choice.
    Reward {
        /// The choice.
        choice: u32,
        /// The new reward.
        reward: f64,
    },
    /// Adds a choice to a state.
    Add {
        /// The state.
        state: u32,
        /// The reward.
        reward: f64,
        /// The outcomes, which sum to at most 1.
        outcomes: Vec<(u32, f64)>,
    },
    /// Removes a choice from its state.
    Remove {
        /// The choice.
        choice: u32,
    },
}
