//! A model that takes edits: flat arrays, and the rows that have changed since these were built.
//!
//! Choices keep their numbers while rows change; one that is added gets the next free number, as in
//! [`Repair`](crate::Repair), so that a repair understands every change. [`EditableMdp::flatten`] numbers them in the order of
//! states again.

use crate::{Error, Result, reward_rounding};
use backsweep_mdp::{Change, ChoiceRow, Mdp, MdpBuilder, Rewards};
use std::collections::{HashMap, HashSet};

/// A change to one action of one state, by numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Sets the row of an action, which the state may not have yet.
    Set(ChoiceRow),
    /// Sets the outcomes of an action and keeps its reward, which is 0 if the state did not have it.
    Outcomes(Vec<(u32, f64)>),
    /// Sets the reward of an action.
    Reward(f64),
    /// Removes an action.
    Remove,
}

/// A model whose choices are actions by number, and which takes edits.
#[derive(Clone, Default)]
pub struct EditableMdp {
    /// States that were added later have no choices here.
    pub(super) mdp: Mdp,
    n_states: usize,
    /// The action of each choice, added ones included.
    action_of: Vec<u32>,
    /// The largest distance of an expected reward from the mean of the rewards that were given.
    pub(super) reward_error: f64,
    /// Rows that differ from the flat arrays, and those added later.
    changed: HashMap<u32, ChoiceRow>,
    /// The choices added after the flat arrays were built, by state.
    added: HashMap<u32, Vec<u32>>,
    removed: HashSet<u32>,
}

impl EditableMdp {
    /// Takes over a model with the action of each of its choices. No expected reward is further than `reward_error` from the
    /// one that it stands for.
    pub fn new(mdp: Mdp, action_of: Vec<u32>, reward_error: f64) -> Self {
        Self { n_states: mdp.n_states(), mdp, action_of, reward_error, ..Self::default() }
    }

    /// The flat arrays. They lack what has changed since they were built.
    pub fn mdp(&self) -> &Mdp {
        &self.mdp
    }

    /// The action of each choice, added ones included.
    pub fn action_of(&self) -> &[u32] {
        &self.action_of
    }

    /// The largest distance of an expected reward from the mean of the rewards that were given.
    pub fn reward_error(&self) -> f64 {
        self.reward_error
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.n_states
    }

    pub(super) fn grow(&mut self, n_states: usize) {
        self.n_states = self.n_states.max(n_states);
    }

    /// Returns whether the flat arrays are the model.
    pub fn is_flat(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty() && self.mdp.n_states() == self.n_states
    }

    /// The number of choices.
    pub fn n_choices(&self) -> usize {
        self.action_of.len() - self.removed.len()
    }

    /// The number of successors of all choices.
    pub fn n_arcs(&self) -> usize {
        if self.is_flat() {
            return self.mdp.n_arcs();
        }
        let choices = (0..self.n_states as u32).flat_map(|state| self.choices_of(state));
        choices.map(|choice| self.outcomes(choice).count()).sum()
    }

    /// The choices of a state, oldest first.
    pub fn choices_of(&self, state: u32) -> impl Iterator<Item = u32> {
        let is_flat = (state as usize) < self.mdp.n_states();
        let flat = if is_flat { self.mdp.choices_of(state as usize) } else { 0..0 };
        let later = self.added.get(&state).map_or(&[][..], Vec::as_slice).iter().copied();
        let all = flat.map(|choice| choice as u32).chain(later);
        all.filter(|choice| self.removed.is_empty() || !self.removed.contains(choice))
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
        flat.map(|arc| (self.mdp.targets()[arc], self.mdp.probabilities()[arc])).chain(later)
    }

    /// The expected reward of a choice, by the rewards of this name; 0 if the model has no rewards.
    pub fn reward(&self, choice: u32, state: u32, name: Option<&str>) -> f64 {
        if let Some(row) = self.changed.get(&choice) {
            return row.reward;
        }
        let Ok(rewards) = self.mdp.rewards(name) else { return 0.0 };
        let value = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(0.0);
        let arcs = self.mdp.arcs_of(choice as usize);
        let on_arcs = |arc: usize| self.mdp.probabilities()[arc] * value(&rewards.arcs, arc);
        value(&rewards.states, state as usize)
            + value(&rewards.choices, choice as usize)
            + if rewards.arcs.is_empty() { 0.0 } else { arcs.map(on_arcs).sum() }
    }

    /// Makes the rewards ready for edits: one reward per choice.
    ///
    /// # Errors
    /// If the model has several reward structures: an edit would have to give a reward for each.
    pub(super) fn prepare(&mut self) -> Result<()> {
        let [rewards] = &self.mdp.rewards[..] else {
            if self.mdp.rewards.is_empty() {
                let choices = vec![0.0; self.mdp.n_choices()];
                self.mdp.rewards.push(Rewards { choices, ..Rewards::default() });
                return Ok(());
            }
            let names = self.mdp.rewards.iter().map(|rewards| rewards.name.clone()).collect();
            return Err(Error::SeveralRewards { names });
        };
        let per_choice = rewards.states.is_empty() && rewards.arcs.is_empty();
        if per_choice && rewards.choices.len() == self.mdp.n_choices() {
            return Ok(());
        }
        let rounding = reward_rounding(&self.mdp, rewards, 0.0);
        self.reward_error = self.reward_error.max(rounding);
        let name = rewards.name.clone();
        let choices = self.mdp.expected_rewards(None)?;
        self.mdp.rewards = vec![Rewards { name, choices, ..Rewards::default() }];
        Ok(())
    }

    /// An edit as changes for a [`Repair`](crate::Repair).
    ///
    /// # Errors
    /// If the state does not have the action, unless the edit sets its outcomes.
    pub(super) fn changes(&self, state: u32, action: u32, edit: Edit) -> Result<Vec<Change>> {
        Ok(match (self.find(state, action), edit) {
            (Some(choice), Edit::Set(ChoiceRow { outcomes, reward, .. })) => {
                vec![Change::Outcomes { choice, outcomes }, Change::Reward { choice, reward }]
            }
            (Some(choice), Edit::Outcomes(outcomes)) => vec![Change::Outcomes { choice, outcomes }],
            (Some(choice), Edit::Reward(reward)) => vec![Change::Reward { choice, reward }],
            (Some(choice), Edit::Remove) => vec![Change::Remove { choice }],
            (None, Edit::Set(ChoiceRow { outcomes, reward, .. })) => {
                vec![Change::Add { state, reward, outcomes }]
            }
            (None, Edit::Outcomes(outcomes)) => vec![Change::Add { state, reward: 0.0, outcomes }],
            (None, Edit::Reward(_) | Edit::Remove) => return Err(Error::UnknownAction { state, action }),
        })
    }

    /// Makes an edit; returns it as changes for a [`Repair`](crate::Repair).
    ///
    /// # Errors
    /// If the model has several reward structures, or the state does not have the action, unless the edit sets its outcomes.
    /// Nothing is changed then.
    pub fn edit(&mut self, state: u32, action: u32, edit: Edit) -> Result<Vec<Change>> {
        let reward_error = if let Edit::Set(row) = &edit { row.reward_error } else { 0.0 };
        let changes = self.changes(state, action, edit)?;
        self.prepare()?;
        self.reward_error = self.reward_error.max(reward_error);
        changes.iter().for_each(|change| self.apply(change, action));
        Ok(changes)
    }

    /// Makes a change; an added choice stands for this action. The model must be prepared.
    fn apply(&mut self, change: &Change, action: u32) {
        match change {
            Change::Outcomes { choice, outcomes } => self.row_mut(*choice).outcomes.clone_from(outcomes),
            Change::Reward { choice, reward } => self.row_mut(*choice).reward = *reward,
            Change::Remove { choice } => {
                self.changed.remove(choice);
                self.removed.insert(*choice);
            }
            Change::Add { state, reward, outcomes } => {
                let choice = self.action_of.len() as u32;
                self.action_of.push(action);
                self.added.entry(*state).or_default().push(choice);
                let row = ChoiceRow { outcomes: outcomes.clone(), reward: *reward, reward_error: 0.0 };
                self.changed.insert(choice, row);
            }
        }
    }

    /// The row of a choice, which differs from the flat arrays from now on.
    fn row_mut(&mut self, choice: u32) -> &mut ChoiceRow {
        let Self { changed, mdp, .. } = self;
        changed.entry(choice).or_insert_with(|| {
            let (targets, probabilities) = mdp.row(choice as usize);
            let outcomes = targets.iter().copied().zip(probabilities.iter().copied()).collect();
            ChoiceRow { outcomes, reward: mdp.rewards[0].choices[choice as usize], reward_error: 0.0 }
        })
    }

    /// Builds the flat arrays again if rows have changed.
    ///
    /// # Errors
    /// If there are too many arcs for numbers of 32 bits. The model is unchanged then.
    pub(super) fn flatten(&mut self) -> Result<&Mdp> {
        if self.is_flat() {
            return Ok(&self.mdp);
        }
        let mut builder = MdpBuilder::default();
        let (mut rewards, mut action_of) = (Vec::new(), Vec::new());
        for state in 0..self.n_states as u32 {
            for choice in self.choices_of(state) {
                builder.add_choice(self.outcomes(choice));
                rewards.push(self.reward(choice, state, None));
                action_of.push(self.action_of[choice as usize]);
            }
            builder.end_state();
        }
        let mut flat = builder.finish()?;
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
