//! A known Markov decision process as flat arrays: what files of models hold and what the solver reads.
//!
//! States, choices (the actions of a state) and arcs (the successors of a choice) are numbered consecutively: the choices of
//! state `s` are `choices[s]..choices[s + 1]`, the arcs of choice `c` are `arcs[c]..arcs[c + 1]`.
//!
//! [`read`] and [`write()`] support the formats of `docs/MODELS.md`: UMB, DRN, PRISM's explicit files and CSV tables.

mod check;
mod complete;
mod error;
mod formats;

pub use check::{MAX_REWARD, SUM_SLACK};
pub use error::{Error, Result};
pub use formats::{Compression, Format, ReadMdp, read, write};

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
    /// Whether the model is a Markov chain, without decisions: every state has at most one choice. Only writers use it, so
    /// that a chain stays a chain for other tools.
    pub chain: bool,
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

    /// The choices of a state.
    pub fn choices_of(&self, state: usize) -> std::ops::Range<usize> {
        self.choices[state] as usize..self.choices[state + 1] as usize
    }

    /// The arcs of a choice.
    pub fn arcs_of(&self, choice: usize) -> std::ops::Range<usize> {
        self.arcs[choice] as usize..self.arcs[choice + 1] as usize
    }

    /// The rewards with this name. `None` stands for the only reward structure.
    ///
    /// # Errors
    /// If none has this name, or there are several and no name is given; the message lists the names.
    pub fn rewards(&self, name: Option<&str>) -> Result<&Rewards> {
        let names = || list(self.rewards.iter().map(|rewards| rewards.name.as_str()));
        let problem = match (name, &self.rewards[..]) {
            (None, [only]) => return Ok(only),
            (None, []) => "the model has no rewards; expected a model with a reward structure".to_owned(),
            (None, _) => format!("the model has several rewards; expected the name of one of: {}", names()),
            (Some(name), rewards) => match rewards.iter().find(|rewards| rewards.name == name) {
                Some(found) => return Ok(found),
                None if rewards.is_empty() => format!("no rewards are called '{name}': the model has none"),
                None => format!("no rewards are called '{name}'; expected one of: {}", names()),
            },
        };
        Err(Error::new("model", problem))
    }

    /// The expected reward of every choice: its state's reward plus its own plus the mean of its arcs'.
    ///
    /// The sum over arcs is rounded once per arc; a choice whose arcs carry no reward is exact up to one addition.
    ///
    /// # Errors
    /// As [`Mdp::rewards`].
    pub fn expected_rewards(&self, name: Option<&str>) -> Result<Vec<f64>> {
        let rewards = self.rewards(name)?;
        let mut expected = rewards.choices.clone();
        expected.resize(self.n_choices(), 0.0);
        for (state, reward) in rewards.states.iter().enumerate() {
            self.choices_of(state).for_each(|choice| expected[choice] += reward);
        }
        if !rewards.arcs.is_empty() {
            for (choice, sum) in expected.iter_mut().enumerate() {
                *sum +=
                    self.arcs_of(choice).map(|arc| self.probabilities[arc] * rewards.arcs[arc]).sum::<f64>();
            }
        }
        Ok(expected)
    }

    /// The states with a label, in ascending order. `init` stands for the initial states unless a label has that name.
    ///
    /// # Errors
    /// If there is no such label; the message lists the labels.
    pub fn label(&self, name: &str) -> Result<&[u32]> {
        if let Some(label) = self.labels.iter().find(|label| label.name == name) {
            return Ok(&label.states);
        }
        if name == INIT && !self.initial.is_empty() {
            return Ok(&self.initial);
        }
        let known = self.labels.iter().map(|label| label.name.as_str());
        let initial = (!self.initial.is_empty()).then_some(INIT);
        let problem = match list(known.chain(initial)) {
            none if none.is_empty() => format!("no states are labelled '{name}': the model has no labels"),
            names => format!("no states are labelled '{name}'; expected one of: {names}"),
        };
        Err(Error::new("model", problem))
    }

    /// The name of a state for people: its name, or its number.
    pub fn state_name(&self, state: usize) -> String {
        self.state_names.get(state).cloned().unwrap_or_else(|| state.to_string())
    }

    /// The name of a choice's action for people: its name, or its number within its state.
    pub fn action_name(&self, choice: usize) -> String {
        if let Some(name) = self.action_names.get(choice) {
            return name.clone();
        }
        let after = self.choices.partition_point(|&first| first as usize <= choice);
        (choice - self.choices[after.saturating_sub(1)] as usize).to_string()
    }
}

/// The label that other tools give to initial states.
pub(crate) const INIT: &str = "init";

/// Names for a message; at most twenty of them.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let mut text = names[..names.len().min(20)].join(", ");
    if names.len() > 20 {
        text.push_str(&format!(" and {} more", names.len() - 20));
    }
    text
}
