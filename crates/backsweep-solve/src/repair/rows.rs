//! A model whose rows can change: successors and predecessors of every choice, both up to date.
//!
//! The rows are kept in flat arrays that every solver reads, so that solving again copies nothing. A row that does not fit
//! waits outside until they are needed.

use crate::Result;
use crate::incidence::Incidence;
use backsweep_mdp::NO_CHOICE;
use backsweep_mdp::{Mdp, MdpBuilder};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// With more outdated states than this, the arrays are built again: each state that gets other rows moves all that follow.
const MOST_MOVES: usize = 8;

/// One arc seen from its target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct IncomingArc {
    pub choice: u32,
    /// 0 for an arc that no longer exists; its place is reused if the choice leads to the state again.
    pub probability: f64,
}

/// The outcomes of a choice.
#[derive(Clone, Default)]
struct Row {
    targets: Vec<u32>,
    probabilities: Vec<f64>,
}

/// Rows of choices with their inverse.
pub(crate) struct LiveRows {
    /// The first choice of each state, or [`NO_CHOICE`]; further ones by `next`.
    first: Vec<u32>,
    next: Vec<u32>,
    /// The state of each choice; removed choices keep theirs.
    pub owner: Vec<u32>,
    pub removed: Vec<bool>,
    pub rewards: Vec<f64>,
    /// The rows in flat arrays, up to date but for the `outdated` states.
    arrays: Mdp,
    /// The choice at each place of the arrays; [`NO_CHOICE`] where it has left.
    ids: Vec<u32>,
    /// The place of each choice in the arrays; [`NO_CHOICE`] for the rows in `apart`.
    place: Vec<u32>,
    /// Rows that do not fit into the arrays: those of another length, of new choices, and of removed ones.
    apart: HashMap<u32, Row>,
    /// The states whose rows in the arrays are not those they have.
    outdated: BTreeSet<u32>,
    is_in_order: bool,
    /// Arcs of the original model by target.
    incoming: Incidence<IncomingArc>,
    /// Arcs that came later, by target.
    later: Vec<Vec<IncomingArc>>,
}

impl LiveRows {
    /// Copies a checked model.
    pub fn new(mdp: &Mdp, rewards: &[f64]) -> Self {
        let (n, n_choices) = (mdp.n_states(), mdp.n_choices());
        let mut rows = Self {
            first: vec![NO_CHOICE; n],
            next: vec![NO_CHOICE; n_choices],
            owner: vec![0; n_choices],
            removed: vec![false; n_choices],
            rewards: rewards.to_vec(),
            arrays: mdp.rows_alone(),
            ids: (0..n_choices as u32).collect(),
            place: (0..n_choices as u32).collect(),
            apart: HashMap::new(),
            outdated: BTreeSet::new(),
            is_in_order: true,
            incoming: Incidence::new(n, mdp.targets(), (0..n_choices).map(|c| mdp.arcs_of(c)), |c, arc| {
                IncomingArc { choice: c as u32, probability: mdp.probabilities()[arc] }
            }),
            later: vec![Vec::new(); n],
        };
        for state in 0..n {
            let choices = mdp.choice_starts()[state]..mdp.choice_starts()[state + 1];
            if !choices.is_empty() {
                rows.first[state] = choices.start;
            }
            for choice in choices.clone() {
                rows.owner[choice as usize] = state as u32;
                if choice + 1 < choices.end {
                    rows.next[choice as usize] = choice + 1;
                }
            }
        }
        rows
    }

    pub fn n_states(&self) -> usize {
        self.first.len()
    }

    pub fn n_choices(&self) -> usize {
        self.owner.len()
    }

    /// The number of arcs in the arrays.
    pub fn n_arcs(&self) -> usize {
        self.arrays.n_arcs()
    }

    /// The oldest choice of a state.
    pub fn first_of(&self, state: usize) -> Option<usize> {
        Some(self.first[state]).filter(|&c| c != NO_CHOICE).map(|c| c as usize)
    }

    /// The choice of the same state that comes after another.
    pub fn next_of(&self, choice: usize) -> Option<usize> {
        Some(self.next[choice]).filter(|&c| c != NO_CHOICE).map(|c| c as usize)
    }

    /// The choices of a state, oldest first.
    pub fn choices_of(&self, state: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first_of(state), |&choice| self.next_of(choice))
    }

    /// The targets and probabilities of a choice.
    pub fn row(&self, choice: usize) -> (&[u32], &[f64]) {
        match self.place[choice] {
            NO_CHOICE => {
                self.apart.get(&(choice as u32)).map_or((&[], &[]), |row| (&row.targets, &row.probabilities))
            }
            place => self.arrays.row(place as usize),
        }
    }

    /// The arcs into a state.
    pub fn arcs_into(&self, state: usize) -> impl Iterator<Item = IncomingArc> {
        self.incoming.of(state).iter().chain(&self.later[state]).copied()
    }

    /// Replaces the outcomes of a choice and returns the old ones.
    pub fn set_outcomes(&mut self, choice: usize, outcomes: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let (targets, probabilities) = self.row(choice);
        let old: Vec<(u32, f64)> = targets.iter().copied().zip(probabilities.iter().copied()).collect();
        for &(target, _) in &old {
            for arc in self.arcs_into_mut(target as usize).filter(|arc| arc.choice == choice as u32) {
                arc.probability = 0.0;
            }
            self.later[target as usize].retain(|arc| arc.choice != choice as u32);
        }
        for &(target, probability) in outcomes {
            let free = |arc: &&mut IncomingArc| arc.choice == choice as u32 && arc.probability == 0.0;
            if let Some(arc) = self.arcs_into_mut(target as usize).find(free) {
                arc.probability = probability;
            } else {
                self.later[target as usize].push(IncomingArc { choice: choice as u32, probability });
            }
        }
        let (targets, probabilities) = outcomes.iter().copied().unzip();
        self.store(choice, Row { targets, probabilities });
        old
    }

    /// Stores a row: in the arrays where it fits, else apart.
    fn store(&mut self, choice: usize, row: Row) {
        let place = self.place[choice];
        let fits = place != NO_CHOICE && self.arrays.row(place as usize).0.len() == row.targets.len();
        // Changes were checked; a row that the arrays refused would be refused again when they are built.
        if fits && self.arrays.replace_row(place as usize, &row.targets, &row.probabilities).is_ok() {
            return;
        }
        self.leave(place);
        self.place[choice] = NO_CHOICE;
        self.apart.insert(choice as u32, row);
        self.outdated.insert(self.owner[choice]);
    }

    /// Forgets which choice has a place in the arrays.
    fn leave(&mut self, place: u32) {
        if let Some(id) = self.ids.get_mut(place as usize) {
            *id = NO_CHOICE;
        }
    }

    fn arcs_into_mut(&mut self, state: usize) -> impl Iterator<Item = &mut IncomingArc> {
        self.incoming.of_mut(state).iter_mut().chain(&mut self.later[state])
    }

    /// Adds a choice without outcomes to a state.
    pub fn add_choice(&mut self, state: usize, reward: f64) -> usize {
        let choice = self.owner.len();
        self.owner.push(state as u32);
        self.removed.push(true);
        self.next.push(NO_CHOICE);
        self.rewards.push(reward);
        self.place.push(NO_CHOICE);
        self.restore_choice(choice);
        choice
    }

    /// Puts a removed choice back, as the last of its state.
    pub fn restore_choice(&mut self, choice: usize) {
        let state = self.owner[choice] as usize;
        self.outdated.insert(state as u32);
        self.is_in_order = false;
        self.removed[choice] = false;
        self.next[choice] = NO_CHOICE;
        let last = self.choices_of(state).last();
        match last {
            Some(last) => self.next[last] = choice as u32,
            None => self.first[state] = choice as u32,
        }
    }

    /// Removes a choice from its state; its arcs are kept for [`restore_choice`](Self::restore_choice).
    pub fn remove_choice(&mut self, choice: usize) {
        let state = self.owner[choice] as usize;
        self.outdated.insert(state as u32);
        self.is_in_order = false;
        self.removed[choice] = true;
        let after = self.next[choice];
        let before = self.choices_of(state).find(|&c| self.next[c] == choice as u32);
        match before {
            Some(before) => self.next[before] = after,
            None => self.first[state] = after,
        }
    }

    /// Forgets choices with ids from `n_choices` on, which must have been removed and be without outcomes.
    pub fn forget_choices(&mut self, n_choices: usize) {
        let forgotten = self.place.split_off(n_choices);
        forgotten.into_iter().for_each(|place| self.leave(place));
        self.owner.truncate(n_choices);
        self.removed.truncate(n_choices);
        self.next.truncate(n_choices);
        self.rewards.truncate(n_choices);
        self.apart.retain(|&choice, _| (choice as usize) < n_choices);
    }

    /// The model in flat arrays, with the id here of each choice there, as of the latest update.
    pub fn arrays(&self) -> (&Mdp, &[u32]) {
        (&self.arrays, &self.ids)
    }

    /// Returns whether choices have the same numbers in the arrays as here: none was ever added or removed.
    pub fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// Brings the flat arrays up to date.
    ///
    /// # Errors
    /// If there is more than 32 bits can count.
    pub fn update_arrays(&mut self) -> Result<()> {
        if self.outdated.len() > MOST_MOVES {
            let (arrays, _, ids) = self.flat()?;
            self.keep_removed(0..self.ids.len());
            (self.arrays, self.ids) = (arrays, ids);
            self.outdated.clear();
            self.number(0..self.ids.len());
        }
        while let Some(&state) = self.outdated.first() {
            let old = self.arrays.choices_of(state as usize);
            self.keep_removed(old.clone());
            let ids: Vec<u32> = self.choices_of(state as usize).map(|choice| choice as u32).collect();
            let rows: Vec<Row> = ids.iter().map(|&choice| self.owned_row(choice as usize)).collect();
            let rows: Vec<_> = rows.iter().map(|row| (&row.targets[..], &row.probabilities[..])).collect();
            self.arrays.replace_choices(state as usize, &rows)?;
            let end = if ids.len() == old.len() { old.end } else { self.ids.len() - old.len() + ids.len() };
            self.ids.splice(old.clone(), ids);
            self.number(old.start..end);
            self.outdated.pop_first();
        }
        Ok(())
    }

    fn owned_row(&self, choice: usize) -> Row {
        let (targets, probabilities) = self.row(choice);
        Row { targets: targets.to_vec(), probabilities: probabilities.to_vec() }
    }

    /// Moves removed choices out of some places of the arrays.
    fn keep_removed(&mut self, places: Range<usize>) {
        for place in places {
            let choice = self.ids[place];
            if choice != NO_CHOICE && self.removed[choice as usize] {
                self.apart.insert(choice, self.owned_row(choice as usize));
                self.place[choice as usize] = NO_CHOICE;
            }
        }
    }

    /// Tells the choices in some places of the arrays where they are.
    fn number(&mut self, places: Range<usize>) {
        for (place, &choice) in places.clone().zip(&self.ids[places]).filter(|(_, c)| **c != NO_CHOICE) {
            self.place[choice as usize] = place as u32;
        }
        let place = &self.place;
        self.apart.retain(|&choice, _| place[choice as usize] == NO_CHOICE);
    }

    /// The model as flat arrays, with its rewards and the id here of each choice there.
    pub fn flat(&self) -> Result<(Mdp, Vec<f64>, Vec<u32>)> {
        let mut builder = MdpBuilder::default();
        let (mut rewards, mut ids) = (Vec::new(), Vec::new());
        for state in 0..self.n_states() {
            for choice in self.choices_of(state) {
                let (targets, probabilities) = self.row(choice);
                builder.add_choice(targets.iter().copied().zip(probabilities.iter().copied()));
                rewards.push(self.rewards[choice]);
                ids.push(choice as u32);
            }
            builder.end_state();
        }
        Ok((builder.finish()?, rewards, ids))
    }
}
