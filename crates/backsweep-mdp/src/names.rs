//! States by name.

use crate::{Error, Mdp, Result};
use std::collections::HashMap;

/// The states of a model by name. Built when it is needed: solving does without it.
pub struct StateNames<'m> {
    mdp: &'m Mdp,
    states: HashMap<&'m str, u32>,
}

impl<'m> StateNames<'m> {
    /// Indexes the names of a model's states.
    pub fn new(mdp: &'m Mdp) -> Self {
        let states = (0..).zip(&mdp.state_names).map(|(state, name)| (name.as_str(), state));
        Self { mdp, states: states.collect() }
    }

    /// The state with a name; in a model without names, the name is its number.
    ///
    /// # Errors
    /// If there is none.
    pub fn state(&self, name: &str) -> Result<u32> {
        let n_states = self.mdp.n_states();
        let number =
            || name.parse().ok().filter(|&state| self.states.is_empty() && (state as usize) < n_states);
        let unknown = || Error::UnknownState { found: name.to_owned(), n_states };
        self.states.get(name).copied().or_else(number).ok_or_else(unknown)
    }
}
