//! A model whose rows can change: successors and predecessors of every choice, both up to date.

use crate::Result;
use crate::incidence::Incidence;
use backsweep_mdp::NO_CHOICE;
use backsweep_mdp::{Mdp, MdpBuilder};

/// One arc seen from its target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct IncomingArc {
    pub choice: u32,
    /// 0 for an arc that no longer exists; its place is reused if the choice leads to the state again.
    pub probability: f64,
}

/// Where a row is. One that outgrows its room moves to the end, with room for twice as many, so that however often rows
/// change, memory stays within a constant factor of the largest size of each row.
#[derive(Clone, Copy)]
struct RowSpan {
    start: u32,
    length: u32,
    room: u32,
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
    /// Where each choice's arcs are in `targets` and `probabilities`.
    place: Vec<RowSpan>,
    targets: Vec<u32>,
    probabilities: Vec<f64>,
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
            place: mdp
                .arc_starts()
                .windows(2)
                .map(|w| RowSpan { start: w[0], length: w[1] - w[0], room: w[1] - w[0] })
                .collect(),
            targets: mdp.targets().to_vec(),
            probabilities: mdp.probabilities().to_vec(),
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

    /// The number of arcs in the rows, those of removed choices included.
    pub fn n_arcs(&self) -> usize {
        self.place.iter().map(|place| place.length as usize).sum()
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
        let RowSpan { start, length, .. } = self.place[choice];
        let arcs = start as usize..(start + length) as usize;
        (&self.targets[arcs.clone()], &self.probabilities[arcs])
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
        let place = &mut self.place[choice];
        place.length = outcomes.len() as u32;
        if place.length > place.room {
            place.start = self.targets.len() as u32;
            place.room = 2 * place.length;
            self.targets.resize(self.targets.len() + place.room as usize, 0);
            self.probabilities.resize(self.targets.len(), 0.0);
        }
        let start = place.start as usize;
        for (i, &(target, probability)) in outcomes.iter().enumerate() {
            self.targets[start + i] = target;
            self.probabilities[start + i] = probability;
            let free = |arc: &&mut IncomingArc| arc.choice == choice as u32 && arc.probability == 0.0;
            if let Some(arc) = self.arcs_into_mut(target as usize).find(free) {
                arc.probability = probability;
            } else {
                self.later[target as usize].push(IncomingArc { choice: choice as u32, probability });
            }
        }
        old
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
        self.place.push(RowSpan { start: self.targets.len() as u32, length: 0, room: 0 });
        self.restore_choice(choice);
        choice
    }

    /// Puts a removed choice back, as the last of its state.
    pub fn restore_choice(&mut self, choice: usize) {
        let state = self.owner[choice] as usize;
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
        self.owner.truncate(n_choices);
        self.removed.truncate(n_choices);
        self.next.truncate(n_choices);
        self.rewards.truncate(n_choices);
        self.place.truncate(n_choices);
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
