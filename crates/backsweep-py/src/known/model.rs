//! A known model with names: flat arrays, and the rows that have changed since these were built.
//!
//! Choices keep their numbers while rows change; one that is added gets the next free number, as in `backsweep_solve::Repair`,
//! so that a repair understands every change. [`NamedModel::flatten`] numbers them in the order of states again. The names of
//! states and actions only ever grow.

use crate::errors;
use crate::names::Names;
use backsweep_mdp::{Mdp, Rewards};
use backsweep_solve::{Change, reward_rounding};
use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// One action of a state, as it was set.
#[derive(Clone)]
pub struct Row {
    /// Next states with their probabilities, in ascending order; the probability missing from 1 ends the episode.
    pub outcomes: Vec<(u32, f64)>,
    pub reward: f64,
}

/// A model, with names.
#[derive(Default)]
pub struct NamedModel {
    pub states: Names,
    pub actions: Names,
    /// States seen only as the end of an episode, from the file of an agent: worth 0.
    pub ends: Names,
    /// The flat arrays, without names. States that were added later have no choices in them.
    pub mdp: Mdp,
    /// The action of each choice, added ones included.
    pub action_of: Vec<u32>,
    /// How far an expected reward may be from the mean of the rewards that were given.
    pub reward_error: f64,
    /// Rows that differ from the flat arrays, and those added later.
    changed: FxHashMap<u32, Row>,
    /// The choices added after the flat arrays were built, by state.
    added: FxHashMap<u32, Vec<u32>>,
    removed: FxHashSet<u32>,
}

impl NamedModel {
    /// Arrays that were built in the order of states, and the action of each choice.
    pub fn new(states: Names, actions: Names, mdp: Mdp, action_of: Vec<u32>) -> Self {
        Self { states, actions, mdp, action_of, ..Self::default() }
    }

    pub fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self {
            states: self.states.copied(py)?,
            actions: self.actions.copied(py)?,
            ends: self.ends.copied(py)?,
            mdp: self.mdp.clone(),
            action_of: self.action_of.clone(),
            reward_error: self.reward_error,
            changed: self.changed.clone(),
            added: self.added.clone(),
            removed: self.removed.clone(),
        })
    }

    /// All tables of names.
    pub fn tables(&self) -> [&Names; 3] {
        [&self.states, &self.actions, &self.ends]
    }

    /// Whether the flat arrays are the model.
    pub fn is_flat(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty() && self.mdp.n_states() == self.states.len()
    }

    pub fn n_choices(&self) -> usize {
        self.action_of.len() - self.removed.len()
    }

    /// The number of successors of all choices.
    pub fn n_arcs(&self) -> usize {
        if self.is_flat() {
            return self.mdp.n_arcs();
        }
        let choices = (0..self.states.len() as u32).flat_map(|state| self.choices_of(state));
        choices.map(|choice| self.outcomes(choice).count()).sum()
    }

    /// The choices of a state, oldest first.
    pub fn choices_of(&self, state: u32) -> impl Iterator<Item = u32> {
        let flat = if (state as usize) < self.mdp.n_states() {
            self.mdp.choices[state as usize]..self.mdp.choices[state as usize + 1]
        } else {
            0..0
        };
        let later = self.added.get(&state).map_or(&[][..], Vec::as_slice).iter().copied();
        flat.chain(later).filter(|choice| self.removed.is_empty() || !self.removed.contains(choice))
    }

    /// The choice that stands for an action in a state.
    pub fn find(&self, state: u32, action: u32) -> Option<u32> {
        self.choices_of(state).find(|&choice| self.action_of[choice as usize] == action)
    }

    /// The next states of a choice with their probabilities.
    pub fn outcomes(&self, choice: u32) -> impl Iterator<Item = (u32, f64)> {
        let changed = self.changed.get(&choice);
        let flat = if changed.is_none() { self.mdp.arcs_of(choice as usize) } else { 0..0 };
        let later = changed.map_or(&[][..], |row| &row.outcomes).iter().copied();
        flat.map(|arc| (self.mdp.targets[arc], self.mdp.probabilities[arc])).chain(later)
    }

    /// The expected reward of a choice, by the rewards of this name; 0 if the model has no rewards.
    pub fn reward(&self, choice: u32, state: u32, name: Option<&str>) -> f64 {
        if let Some(row) = self.changed.get(&choice) {
            return row.reward;
        }
        let Ok(rewards) = self.mdp.rewards(name) else { return 0.0 };
        let value = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(0.0);
        let arcs = self.mdp.arcs_of(choice as usize);
        let on_arcs = |arc: usize| self.mdp.probabilities[arc] * value(&rewards.arcs, arc);
        value(&rewards.states, state as usize)
            + value(&rewards.choices, choice as usize)
            + if rewards.arcs.is_empty() { 0.0 } else { arcs.map(on_arcs).sum() }
    }

    /// Makes the rewards ready for changes: one reward per choice.
    ///
    /// # Errors
    /// If the model has several reward structures: a change would have to give a reward for each.
    pub fn prepare(&mut self) -> PyResult<()> {
        let [rewards] = &self.mdp.rewards[..] else {
            if self.mdp.rewards.is_empty() {
                let choices = vec![0.0; self.mdp.n_choices()];
                self.mdp.rewards.push(Rewards { choices, ..Rewards::default() });
                return Ok(());
            }
            let names: Vec<_> = self.mdp.rewards.iter().map(|rewards| rewards.name.as_str()).collect();
            return Err(errors::value(format!(
                "the model has several rewards ({}), but only models with one can be changed; write it, remove the others, and \
                 read it again",
                names.join(", ")
            )));
        };
        if rewards.states.is_empty()
            && rewards.arcs.is_empty()
            && rewards.choices.len() == self.mdp.n_choices()
        {
            return Ok(());
        }
        self.reward_error = self.reward_error.max(reward_rounding(&self.mdp, rewards, 0.0));
        let expected = self.mdp.expected_rewards(None).map_err(|error| errors::value(error.to_string()))?;
        let name = rewards.name.clone();
        self.mdp.rewards = vec![Rewards { name, choices: expected, ..Rewards::default() }];
        Ok(())
    }

    /// Sets a row, adding the action if the state does not have it. The model must be prepared.
    pub fn set(&mut self, state: u32, action: u32, row: Row) -> Vec<Change> {
        let Row { outcomes, reward } = row.clone();
        if let Some(choice) = self.find(state, action) {
            self.changed.insert(choice, row);
            return vec![Change::Outcomes { choice, outcomes }, Change::Reward { choice, reward }];
        }
        let choice = self.action_of.len() as u32;
        self.action_of.push(action);
        self.added.entry(state).or_default().push(choice);
        self.changed.insert(choice, row);
        vec![Change::Add { state, reward, outcomes }]
    }

    /// Sets the reward of a choice. The model must be prepared.
    pub fn set_reward(&mut self, choice: u32, reward: f64) -> Change {
        if !self.changed.contains_key(&choice) {
            let outcomes = self.outcomes(choice).collect();
            self.changed.insert(choice, Row { outcomes, reward });
        } else if let Some(row) = self.changed.get_mut(&choice) {
            row.reward = reward;
        }
        Change::Reward { choice, reward }
    }

    /// Removes a choice.
    pub fn remove(&mut self, choice: u32) -> Change {
        self.changed.remove(&choice);
        self.removed.insert(choice);
        Change::Remove { choice }
    }

    /// Builds the flat arrays again if rows have changed.
    ///
    /// # Errors
    /// If there are too many arcs for numbers of 32 bits.
    pub fn flatten(&mut self) -> PyResult<&Mdp> {
        if self.is_flat() {
            return Ok(&self.mdp);
        }
        let n_states = self.states.len();
        let mut flat = Mdp { choices: vec![0], arcs: vec![0], ..Mdp::default() };
        let (mut rewards, mut action_of) = (Vec::new(), Vec::new());
        for state in 0..n_states as u32 {
            for choice in self.choices_of(state) {
                for (target, probability) in self.outcomes(choice) {
                    flat.targets.push(target);
                    flat.probabilities.push(probability);
                }
                let end = u32::try_from(flat.targets.len());
                flat.arcs.push(end.map_err(|_| errors::value("the model has more than 2³² successors"))?);
                rewards.push(self.reward(choice, state, None));
                action_of.push(self.action_of[choice as usize]);
            }
            flat.choices.push(action_of.len() as u32);
        }
        let name = self.mdp.rewards.first().map_or(String::new(), |rewards| rewards.name.clone());
        flat.rewards = vec![Rewards { name, choices: rewards, ..Rewards::default() }];
        flat.labels = std::mem::take(&mut self.mdp.labels);
        flat.initial = std::mem::take(&mut self.mdp.initial);
        (self.mdp, self.action_of) = (flat, action_of);
        self.changed.clear();
        self.added.clear();
        self.removed.clear();
        Ok(&self.mdp)
    }
}
