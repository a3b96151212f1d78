//! Models given by functions: states are found from the start, and rows computed when they are needed.

use crate::{ChoiceRow, Label, Mdp, MdpBuilder, NO_CHOICE, Result, Rewards, SourceOutcome};
use std::collections::HashMap;
use std::hash::Hash;

/// A model that says what its states lead to. It numbers states itself, consecutively as it meets them.
pub trait ModelSource {
    /// Why a row could not be computed.
    type Error;

    /// The states in which episodes begin.
    ///
    /// # Errors
    /// If they cannot be told.
    fn start(&mut self) -> std::result::Result<Vec<u32>, Self::Error>;

    /// The number of actions of a state; 0 if it is terminal.
    ///
    /// # Errors
    /// If they cannot be told.
    fn n_actions(&mut self, state: u32) -> std::result::Result<usize, Self::Error>;

    /// Appends the outcomes of an action. Those of the same next state add up.
    ///
    /// # Errors
    /// If they cannot be told.
    fn outcomes(
        &mut self,
        state: u32,
        action: usize,
        into: &mut Vec<SourceOutcome>,
    ) -> std::result::Result<(), Self::Error>;
}

/// An outcome of an action as a function states it: probability, next state (`None` at the end) and reward.
pub type FunctionOutcomes<S> = Vec<(f64, Option<S>, f64)>;

/// A source made of two functions of states of any type.
pub struct FunctionSource<S, A, F> {
    states: Vec<S>,
    ids: HashMap<S, u32>,
    n_start: usize,
    actions: A,
    outcomes: F,
}

impl<S: Clone + Eq + Hash, A: Fn(&S) -> usize, F: Fn(&S, usize) -> FunctionOutcomes<S>>
    FunctionSource<S, A, F>
{
    /// A source that begins in these states; `actions` counts the actions of a state, `outcomes` says what one leads to.
    pub fn new(start: impl IntoIterator<Item = S>, actions: A, outcomes: F) -> Self {
        let mut source = Self { states: Vec::new(), ids: HashMap::new(), n_start: 0, actions, outcomes };
        for state in start {
            source.id(state);
        }
        source.n_start = source.states.len();
        source
    }

    /// The states found so far, by number.
    pub fn states(&self) -> &[S] {
        &self.states
    }

    fn id(&mut self, state: S) -> u32 {
        let next = self.states.len() as u32;
        let id = *self.ids.entry(state.clone()).or_insert(next);
        if id == next {
            self.states.push(state);
        }
        id
    }
}

impl<S: Clone + Eq + Hash, A: Fn(&S) -> usize, F: Fn(&S, usize) -> FunctionOutcomes<S>> ModelSource
    for FunctionSource<S, A, F>
{
    type Error = std::convert::Infallible;

    fn start(&mut self) -> std::result::Result<Vec<u32>, Self::Error> {
        Ok((0..self.n_start as u32).collect())
    }

    fn n_actions(&mut self, state: u32) -> std::result::Result<usize, Self::Error> {
        Ok((self.actions)(&self.states[state as usize]))
    }

    fn outcomes(
        &mut self,
        state: u32,
        action: usize,
        into: &mut Vec<SourceOutcome>,
    ) -> std::result::Result<(), Self::Error> {
        let found = (self.outcomes)(&self.states[state as usize], action);
        for (probability, next, reward) in found {
            let next = next.map(|next| self.id(next));
            into.push(SourceOutcome { probability, next, reward });
        }
        Ok(())
    }
}

/// Why a state could not be expanded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SourceError<E> {
    /// The source failed.
    #[error("{0}")]
    Source(E),
    /// A row is malformed.
    #[error("state {state}, action {action}: {problem}")]
    Row {
        /// The state.
        state: u32,
        /// The action.
        action: usize,
        /// The value found and the one expected.
        problem: String,
    },
}

/// The part of a source's model that is known: states that were expanded, and the frontier of those that were only met.
#[derive(Clone, Debug, Default)]
pub struct KnownPart {
    /// The rows of each expanded state, or [`NO_CHOICE`] for one of the frontier: where its choices begin in `arcs_of`.
    first: Vec<u32>,
    n_choices: Vec<u32>,
    /// Where the arcs of each choice begin.
    arcs: Vec<u32>,
    targets: Vec<u32>,
    probabilities: Vec<f64>,
    rewards: Vec<f64>,
    /// A bound on the rounding of an expected reward.
    reward_error: f64,
    start: Vec<u32>,
    n_expanded: usize,
    outcomes: Vec<SourceOutcome>,
}

impl KnownPart {
    /// Begins with the start of a source.
    ///
    /// # Errors
    /// If the source fails.
    pub fn new<M: ModelSource>(source: &mut M) -> std::result::Result<Self, SourceError<M::Error>> {
        let mut part = Self { arcs: vec![0], ..Self::default() };
        part.start = source.start().map_err(SourceError::Source)?;
        let met = part.start.iter().max().map_or(0, |most| *most as usize + 1);
        part.first.resize(met, NO_CHOICE);
        part.n_choices.resize(met, 0);
        Ok(part)
    }

    /// The states in which episodes begin.
    pub fn start(&self) -> &[u32] {
        &self.start
    }

    /// The number of states that were met.
    pub fn n_states(&self) -> usize {
        self.first.len()
    }

    /// The number of them that were expanded.
    pub fn n_expanded(&self) -> usize {
        self.n_expanded
    }

    /// Returns whether a state was expanded.
    pub fn is_expanded(&self, state: u32) -> bool {
        self.first[state as usize] != NO_CHOICE
    }

    /// No expected reward is further than this from the mean of the rewards that were given.
    pub fn reward_error(&self) -> f64 {
        self.reward_error
    }

    /// The rows of an expanded state: targets, probabilities and expected reward of each action.
    pub fn rows(&self, state: u32) -> impl Iterator<Item = (&[u32], &[f64], f64)> {
        let first = self.first[state as usize];
        let choices = if first == NO_CHOICE { 0..0 } else { first..first + self.n_choices[state as usize] };
        choices.map(|choice| {
            let arcs = self.arcs[choice as usize] as usize..self.arcs[choice as usize + 1] as usize;
            (&self.targets[arcs.clone()], &self.probabilities[arcs], self.rewards[choice as usize])
        })
    }

    /// Computes the rows of a state that was met. If that fails, nothing is known about it.
    ///
    /// # Errors
    /// If the source fails, or probabilities are out of range or do not sum to 1.
    pub fn expand<M: ModelSource>(
        &mut self,
        source: &mut M,
        state: u32,
    ) -> std::result::Result<(), SourceError<M::Error>> {
        if self.is_expanded(state) {
            return Ok(());
        }
        let (n_choices, n_arcs) = (self.rewards.len(), self.targets.len());
        let n_actions = source.n_actions(state).map_err(SourceError::Source)?;
        for action in 0..n_actions {
            if let Err(error) = self.add_row(source, state, action) {
                self.arcs.truncate(n_choices + 1);
                self.rewards.truncate(n_choices);
                self.targets.truncate(n_arcs);
                self.probabilities.truncate(n_arcs);
                return Err(error);
            }
        }
        let met = self.targets[n_arcs..].iter().max().map_or(0, |most| *most as usize + 1);
        if met > self.first.len() {
            self.first.resize(met, NO_CHOICE);
            self.n_choices.resize(met, 0);
        }
        self.first[state as usize] = n_choices as u32;
        self.n_choices[state as usize] = n_actions as u32;
        self.n_expanded += 1;
        Ok(())
    }

    fn add_row<M: ModelSource>(
        &mut self,
        source: &mut M,
        state: u32,
        action: usize,
    ) -> std::result::Result<(), SourceError<M::Error>> {
        self.outcomes.clear();
        source.outcomes(state, action, &mut self.outcomes).map_err(SourceError::Source)?;
        let row = ChoiceRow::new(&mut self.outcomes, 1.0);
        let row = row.map_err(|problem| SourceError::Row { state, action, problem: problem.to_string() })?;
        self.reward_error = self.reward_error.max(row.reward_error);
        for (next, probability) in row.outcomes {
            self.targets.push(next);
            self.probabilities.push(probability);
        }
        self.arcs.push(self.targets.len() as u32);
        self.rewards.push(row.reward);
        Ok(())
    }

    /// The known part as a model, whose initial states are the start. Every state of the frontier ends with this reward; with
    /// `None`, it is terminal.
    ///
    /// # Errors
    /// If it is too large for numbers of 32 bits.
    pub fn mdp(&self, frontier: Option<f64>) -> Result<Mdp> {
        let mut builder = MdpBuilder::with_capacity(self.n_states(), self.rewards.len(), self.targets.len());
        let mut rewards = Vec::with_capacity(self.rewards.len());
        for state in 0..self.n_states() as u32 {
            for (targets, probabilities, reward) in self.rows(state) {
                builder.add_choice(targets.iter().copied().zip(probabilities.iter().copied()));
                rewards.push(reward);
            }
            if let Some(worth) = frontier.filter(|_| !self.is_expanded(state)) {
                builder.add_choice([]);
                rewards.push(worth);
            }
            builder.end_state();
        }
        let mut mdp = builder.finish()?;
        mdp.rewards = vec![Rewards { choices: rewards, ..Rewards::default() }];
        mdp.initial.clone_from(&self.start);
        mdp.initial.sort_unstable();
        mdp.initial.dedup();
        let frontier: Vec<u32> =
            (0..self.n_states() as u32).filter(|&state| !self.is_expanded(state)).collect();
        if !frontier.is_empty() {
            mdp.labels.push(Label { name: FRONTIER.to_owned(), states: frontier });
        }
        Ok(mdp)
    }
}

/// The label of states that were met and not expanded.
pub const FRONTIER: &str = "frontier";
