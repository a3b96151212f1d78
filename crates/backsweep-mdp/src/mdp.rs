//! A known Markov decision process as flat arrays.

use crate::check::check_size;
use crate::{ChoicePlace, Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// A known MDP in compressed rows.
///
/// The probabilities of a choice sum to at most 1; the mass that no arc carries ends the episode, which is worth 0. A state
/// without choices is terminal, worth 0.
///
/// The rows are private, so that they are always consistent (see [`Mdp::check`]). What is said about them (rewards, labels,
/// names) is checked where it is used and before it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Mdp {
    /// The choices of state `s` are `choices[s]..choices[s + 1]`.
    pub(crate) choices: Vec<u32>,
    /// The arcs of choice `c` are `arcs[c]..arcs[c + 1]`.
    pub(crate) arcs: Vec<u32>,
    /// The state that each arc leads to.
    pub(crate) targets: Vec<u32>,
    /// The probability of each arc, above 0.
    pub(crate) probabilities: Vec<f64>,
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
    /// True if the model is a Markov chain, without decisions: every state has at most one choice. Only writers use it, so
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

impl Default for Mdp {
    /// A model without states.
    fn default() -> Self {
        Self {
            choices: vec![0],
            arcs: vec![0],
            targets: Vec::new(),
            probabilities: Vec::new(),
            rewards: Vec::new(),
            labels: Vec::new(),
            initial: Vec::new(),
            state_names: Vec::new(),
            action_names: Vec::new(),
            chain: false,
        }
    }
}

impl Mdp {
    /// A model from arrays as [`choice_starts`](Self::choice_starts) and the other three return them.
    ///
    /// # Errors
    /// If offsets do not begin at 0, decrease, or do not end at the number of choices and arcs, or as
    /// [`MdpBuilder::finish`](crate::MdpBuilder::finish).
    pub fn from_arrays(
        choices: Vec<u32>,
        arcs: Vec<u32>,
        targets: Vec<u32>,
        probabilities: Vec<f64>,
    ) -> Result<Self> {
        let mdp = Self { choices, arcs, targets, probabilities, ..Self::default() };
        mdp.check_offsets()?;
        mdp.check_rows()?;
        Ok(mdp)
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.choices.len() - 1
    }

    /// The number of choices.
    pub fn n_choices(&self) -> usize {
        self.arcs.len() - 1
    }

    /// The number of arcs.
    pub fn n_arcs(&self) -> usize {
        self.targets.len()
    }

    /// Where the choices of each state begin; one more entry than there are states, the last of which is their number.
    pub fn choice_starts(&self) -> &[u32] {
        &self.choices
    }

    /// Where the arcs of each choice begin; one more entry than there are choices, the last of which is their number.
    pub fn arc_starts(&self) -> &[u32] {
        &self.arcs
    }

    /// The state that each arc leads to.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The probability of each arc, above 0.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// The targets and probabilities of a choice.
    pub fn row(&self, choice: usize) -> (&[u32], &[f64]) {
        let arcs = self.arcs_of(choice);
        (&self.targets[arcs.clone()], &self.probabilities[arcs])
    }

    /// Replaces the row of a choice; new arcs have no reward of their own. Linear in the rows after it if the number of arcs
    /// changes.
    ///
    /// # Errors
    /// As [`Mdp::check`]. The model is unchanged then.
    pub fn replace_row(&mut self, choice: usize, targets: &[u32], probabilities: &[f64]) -> Result<()> {
        self.replace_rows(choice..choice + 1, &[(targets, probabilities)])
    }

    /// Replaces the choices of a state by these rows, targets with their probabilities; they have no rewards or names of their
    /// own. Linear in the rows after them.
    ///
    /// # Errors
    /// As [`Mdp::check`], and if there is more than 32 bits can count. The model is unchanged then.
    pub fn replace_choices(&mut self, state: usize, rows: &[(&[u32], &[f64])]) -> Result<()> {
        let old = self.choices_of(state);
        self.replace_rows(old.clone(), rows)?;
        move_by(&mut self.choices[state + 1..], old.len(), rows.len());
        for rewards in self.rewards.iter_mut().filter(|rewards| !rewards.choices.is_empty()) {
            rewards.choices.splice(old.clone(), std::iter::repeat_n(0.0, rows.len()));
        }
        if !self.action_names.is_empty() {
            self.action_names.splice(old, std::iter::repeat_n(String::new(), rows.len()));
        }
        Ok(())
    }

    /// Replaces the rows of neighboring choices.
    fn replace_rows(&mut self, old: Range<usize>, rows: &[(&[u32], &[f64])]) -> Result<()> {
        rows.iter()
            .try_for_each(|(targets, probabilities)| self.check_row(old.start, targets, probabilities))?;
        let arcs = self.arcs[old.start] as usize..self.arcs[old.end] as usize;
        let n_new: usize = rows.iter().map(|(targets, _)| targets.len()).sum();
        check_size("arcs", self.n_arcs() - arcs.len() + n_new)?;
        check_size("choices", self.n_choices() - old.len() + rows.len())?;
        self.targets.splice(arcs.clone(), rows.iter().flat_map(|row| row.0).copied());
        self.probabilities.splice(arcs.clone(), rows.iter().flat_map(|row| row.1).copied());
        for rewards in self.rewards.iter_mut().filter(|rewards| !rewards.arcs.is_empty()) {
            rewards.arcs.splice(arcs.clone(), std::iter::repeat_n(0.0, n_new));
        }
        move_by(&mut self.arcs[old.end + 1..], arcs.len(), n_new);
        let ends = rows.iter().scan(arcs.start, |end, (targets, _)| {
            *end += targets.len();
            Some(*end as u32)
        });
        self.arcs.splice(old.start + 1..old.end + 1, ends);
        Ok(())
    }

    /// A copy of the rows, without what is said about them.
    pub fn rows_alone(&self) -> Self {
        Self {
            choices: self.choices.clone(),
            arcs: self.arcs.clone(),
            targets: self.targets.clone(),
            probabilities: self.probabilities.clone(),
            ..Self::default()
        }
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
        match (name, &self.rewards[..]) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), rewards) => rewards.iter().find(|rewards| rewards.name == name),
        }
        .ok_or_else(|| Error::UnknownRewards {
            found: name.map(str::to_owned),
            known: self.rewards.iter().map(|rewards| rewards.name.clone()).collect(),
        })
    }

    /// Adds rewards of 1 per choice under the name [`STEPS`], if a question names those and the model has none of that name.
    /// Returns whether it did.
    pub fn add_steps(&mut self, reward: Option<&str>) -> bool {
        let missing = reward == Some(STEPS) && self.rewards.iter().all(|rewards| rewards.name != STEPS);
        if missing {
            let choices = vec![1.0; self.n_choices()];
            self.rewards.push(Rewards { name: STEPS.to_owned(), choices, ..Rewards::default() });
        }
        missing
    }

    /// The expected reward of every choice: its state's reward plus its own plus the mean of its arcs'.
    ///
    /// The sum over arcs is rounded once per arc; a choice whose arcs carry no reward is exact up to one addition.
    ///
    /// # Errors
    /// As [`Mdp::rewards`] and [`Mdp::check_rewards`].
    pub fn expected_rewards(&self, name: Option<&str>) -> Result<Vec<f64>> {
        let rewards = self.rewards(name)?;
        self.check_rewards(rewards)?;
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

    /// The states with a label, in ascending order. `init` stands for the initial states unless a label has that name, and the
    /// name of a state for that state unless a label has it.
    ///
    /// # Errors
    /// If there is no such label or state (the message lists the labels), or the states do not ascend or exist.
    pub fn label(&self, name: &str) -> Result<Cow<'_, [u32]>> {
        let labeled = self.labels.iter().find(|label| label.name == name).map(|label| &label.states);
        if let Some(states) = labeled.or((name == INIT && !self.initial.is_empty()).then_some(&self.initial))
        {
            self.check_states(&format!("label '{name}'"), states)?;
            return Ok(Cow::Borrowed(states));
        }
        let state = match self.state_names.is_empty() {
            true => name.parse().ok().filter(|&state| state < self.n_states()),
            false => self.state_names.iter().position(|state| state == name),
        };
        if let Some(state) = state {
            return Ok(Cow::Owned(vec![state as u32]));
        }
        let initial = (!self.initial.is_empty()).then(|| INIT.to_owned());
        let known = self.labels.iter().map(|label| label.name.clone()).chain(initial).collect();
        Err(Error::UnknownLabel { found: name.to_owned(), known })
    }

    /// Adds a label whose states are in any order; `init` gives the initial states.
    pub(crate) fn add_label(&mut self, mut label: Label) {
        label.states.sort_unstable();
        label.states.dedup();
        if label.name == INIT {
            self.initial = label.states;
        } else {
            self.labels.push(label);
        }
    }

    /// The name of a state for people: its name, or its number.
    pub fn state_name(&self, state: usize) -> String {
        self.state_names.get(state).cloned().unwrap_or_else(|| state.to_string())
    }

    /// Removes the names of the states, so that states are numbered, and says why: if one is empty or two are equal, tables of
    /// states could not tell them apart.
    pub fn drop_ambiguous_state_names(&mut self) -> Option<&'static str> {
        let mut names: Vec<&str> = self.state_names.iter().map(|name| name.trim()).collect();
        names.sort_unstable();
        let is_ambiguous = names.first() == Some(&"") || names.windows(2).any(|pair| pair[0] == pair[1]);
        is_ambiguous.then(|| {
            self.state_names.clear();
            "some state names are empty or occur twice, so states are numbered instead"
        })
    }

    /// The name of a choice's action, which no other choice of its state has: its own without outer spaces or, if it has none
    /// or an earlier choice has the same, its number within its state.
    ///
    /// # Complexity
    /// Linear in the choices of the state.
    pub fn action_name(&self, choice: usize) -> String {
        let (state, place) = self.within_state(choice);
        let named = |choice: usize| {
            self.action_names.get(choice).map(|name| name.trim()).filter(|name| !name.is_empty())
        };
        let first = self.choices[state] as usize;
        let own = named(choice).filter(|name| (first..choice).all(|earlier| named(earlier) != Some(name)));
        own.map_or_else(
            || {
                let mut number = place.to_string();
                // The name of another choice may be a number.
                while self.choices_of(state).any(|other| named(other) == Some(&number)) {
                    number.push('#');
                }
                number
            },
            str::to_owned,
        )
    }

    /// The state of a choice, and the choice's number within it.
    pub(crate) fn within_state(&self, choice: usize) -> (usize, usize) {
        let state = self.choices.partition_point(|&first| first as usize <= choice).saturating_sub(1);
        (state, choice - self.choices[state] as usize)
    }

    /// A choice, for messages.
    pub(crate) fn place(&self, choice: usize) -> ChoicePlace {
        let (state, choice) = self.within_state(choice);
        ChoicePlace { state: self.state_name(state), choice }
    }
}

/// Moves offsets after `before` entries were replaced by `after`.
fn move_by(offsets: &mut [u32], before: usize, after: usize) {
    if before != after {
        offsets.iter_mut().for_each(|offset| *offset = *offset - before as u32 + after as u32);
    }
}

/// No choice: the policy of a terminal state, or of one where the choice does not matter.
pub const NO_CHOICE: u32 = u32::MAX;

/// The name of rewards of 1 per step, which every model has; see [`Mdp::add_steps`].
pub const STEPS: &str = "steps";

/// The label that other tools give to initial states.
pub(crate) const INIT: &str = "init";
