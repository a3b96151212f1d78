//! A known Markov decision process as flat arrays: what files of models hold and what the solver reads.
//!
//! States, choices (the actions of a state) and arcs (the successors of a choice) are numbered consecutively: the choices of
//! state `s` are `choices[s]..choices[s + 1]`, the arcs of choice `c` are `arcs[c]..arcs[c + 1]`.

/// A known MDP in compressed rows.
///
/// The probabilities of a choice sum to at most 1; the mass that no arc carries ends the episode, which is worth 0. A state
/// without choices is terminal, worth 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mdp {
    /// Where the choices of each state begin; one more entry than there are states.
    pub choices: Vec<u32>,
    /// Where the arcs of each choice begin; one more entry than there are choices.
    pub arcs: Vec<u32>,
    /// The state that each arc leads to.
    pub targets: Vec<u32>,
    /// The probability of each arc, above 0.
    pub probabilities: Vec<f64>,
    /// Rewards by name; a file without a name for its rewards uses the empty string.
    pub rewards: Vec<Rewards>,
    /// Sets of states by name, for instance `goal`; the states of each in ascending order.
    pub labels: Vec<Label>,
    /// The states in which episodes begin, in ascending order; may be empty.
    pub initial: Vec<u32>,
    /// The name of each state; empty if states have only numbers.
    pub state_names: Vec<String>,
    /// The name of each choice's action; empty if actions have only numbers.
    pub action_names: Vec<String>,
}

/// One reward structure. The reward of a choice is its state's reward plus its own plus the mean of its arcs'.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rewards {
    /// Its name.
    pub name: String,
    /// A reward per state, received whenever a choice of the state is taken; empty if there is none.
    pub states: Vec<f64>,
    /// A reward per choice; empty if there is none.
    pub choices: Vec<f64>,
    /// A reward per arc; empty if there is none.
    pub arcs: Vec<f64>,
}

/// A named set of states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its states, in ascending order.
    pub states: Vec<u32>,
}

impl Mdp {
    /// How many states there are.
    pub fn n_states(&self) -> usize {
        self.choices.len().saturating_sub(1)
    }

    /// How many choices there are.
    pub fn n_choices(&self) -> usize {
        self.arcs.len().saturating_sub(1)
    }

    /// How many arcs there are.
    pub fn n_arcs(&self) -> usize {
        self.targets.len()
    }
}
