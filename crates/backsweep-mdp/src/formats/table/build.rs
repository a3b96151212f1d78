//! From rows with names to arrays.

use crate::{Error, Label, Mdp, Result, Rewards, SUM_SLACK};
use std::collections::HashMap;

/// One row of a table.
pub struct TransitionRow<'a> {
    pub state: &'a str,
    pub action: &'a str,
    /// `None` if the episode ends.
    pub next: Option<&'a str>,
    pub probability: f64,
    pub reward: f64,
}

/// The largest accepted distance from 1 of a pair's probabilities: tables are printed with few digits.
const TABLE_SLACK: f64 = 1e-6;

/// No next state.
const END: u32 = u32::MAX;

/// The rows so far, by numbers.
#[derive(Default)]
pub struct CsvModel {
    states: Interner,
    actions: Interner,
    /// State, number of its action among all actions, next state, probability, reward.
    rows: Vec<(u32, u32, u32, f64, f64)>,
    /// The states of each label, in the order of the file.
    labels: Vec<Label>,
}

/// Names in the order of their first occurrence.
#[derive(Default)]
struct Interner {
    ids: HashMap<String, u32>,
    names: Vec<String>,
    last: u32,
}

impl Interner {
    fn id(&mut self, name: &str) -> u32 {
        // Rows of one state, and of one action, are usually adjacent.
        if self.names.get(self.last as usize).is_some_and(|last| last == name) {
            return self.last;
        }
        self.last = self.find(name);
        self.last
    }

    fn find(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.names.len() as u32;
        self.ids.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        id
    }

    /// The rank of every name, if all are whole numbers, which are then sorted numerically.
    fn by_size(&self) -> Option<Vec<u32>> {
        let whole = |name: &String| name.parse::<i64>().ok().filter(|n| n.to_string() == *name);
        let numbers: Vec<i64> = self.names.iter().map(whole).collect::<Option<_>>()?;
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_unstable_by_key(|&id| numbers[id as usize]);
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &id)| rank[id as usize] = at as u32);
        Some(rank)
    }
}

impl CsvModel {
    /// Adds a row.
    pub fn add(&mut self, row: &TransitionRow) -> std::result::Result<(), String> {
        if self.rows.len() >= u32::MAX as usize - 1 || self.states.names.len() >= u32::MAX as usize - 2 {
            return Err(format!("found more than {} rows", u32::MAX - 2));
        }
        let state = self.states.id(row.state);
        let action = self.actions.id(row.action);
        let next = row.next.map_or(END, |next| self.states.find(next));
        self.rows.push((state, action, next, row.probability, row.reward));
        Ok(())
    }

    /// Labels a state.
    pub fn label(&mut self, state: &str, name: &str) {
        let state = self.states.id(state);
        match self.labels.iter_mut().find(|label| label.name == name) {
            Some(label) => label.states.push(state),
            None => self.labels.push(Label { name: name.to_owned(), states: vec![state] }),
        }
    }

    /// The model. States and actions that are all whole numbers are in numerical order, others in order of first occurrence.
    pub fn build(mut self) -> Result<Mdp> {
        for (names, state) in [(&mut self.states, true), (&mut self.actions, false)] {
            // The arcs need the room.
            names.ids = HashMap::new();
            let Some(rank) = names.by_size() else { continue };
            let mut sorted = vec![String::new(); rank.len()];
            names.names.drain(..).zip(&rank).for_each(|(name, &rank)| sorted[rank as usize] = name);
            names.names = sorted;
            if state {
                let states = self.labels.iter_mut().flat_map(|label| &mut label.states);
                states.for_each(|state| *state = rank[*state as usize]);
            }
            for row in &mut self.rows {
                if !state {
                    row.1 = rank[row.1 as usize];
                } else {
                    row.0 = rank[row.0 as usize];
                    row.2 = if row.2 == END { END } else { rank[row.2 as usize] };
                }
            }
        }
        if self.rows.is_empty() {
            return Err(Error::new("table", "found no rows; expected at least one transition"));
        }
        // Stable, so that sums are taken in the order of the file.
        self.rows.sort_by_key(|row| (row.0, row.1, row.2));
        let mut mdp = Mdp::default();
        let mut rewards = Rewards::default();
        let mut actions = Vec::new();
        for rows in self.rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (state, action) = (rows[0].0 as usize, rows[0].1 as usize);
            self.pair_sums_to_one(rows)?;
            mdp.choices.resize(state + 1, mdp.arcs.len() as u32 - 1);
            actions.push(action as u32);
            add_pair(&mut mdp, &mut rewards, rows);
        }
        mdp.choices.resize(self.states.names.len() + 1, mdp.arcs.len() as u32 - 1);
        if !rewards.arcs.is_empty() {
            rewards.arcs.resize(mdp.targets.len(), 0.0);
        }
        mdp.rewards.push(rewards);
        self.labels.into_iter().for_each(|label| mdp.add_label(label));
        mdp.state_names = self.states.names;
        if mdp.state_names.iter().enumerate().all(|(i, name)| name.parse() == Ok(i)) {
            mdp.state_names.clear();
        }
        let name = |choice: usize| &self.actions.names[actions[choice] as usize];
        let plain = |state: usize| {
            mdp.choices_of(state).enumerate().all(|(within, choice)| name(choice).parse() == Ok(within))
        };
        if !(0..mdp.n_states()).all(plain) {
            mdp.action_names = (0..actions.len()).map(|choice| name(choice).clone()).collect();
        }
        Ok(mdp)
    }

    fn pair_sums_to_one(&self, rows: &[(u32, u32, u32, f64, f64)]) -> Result<()> {
        let sum: f64 = rows.iter().map(|row| row.3).sum();
        if (sum - 1.0).abs() <= TABLE_SLACK {
            return Ok(());
        }
        let (state, action) =
            (&self.states.names[rows[0].0 as usize], &self.actions.names[rows[0].1 as usize]);
        let problem = format!(
            "the probabilities sum to {sum}; expected 1 (mark rows that end the episode as terminated)"
        );
        Err(Error::new(format!("state {state}, action {action}"), problem))
    }
}

/// One choice: its arcs and its reward, which is per choice if all rows have the same, and per arc otherwise.
fn add_pair(mdp: &mut Mdp, rewards: &mut Rewards, rows: &[(u32, u32, u32, f64, f64)]) {
    let sum: f64 = rows.iter().map(|row| row.3).sum();
    // A sum that is off by more than rounding comes from a table with few digits; dividing by it keeps episodes from
    // ending by mistake.
    let scale = if (sum - 1.0).abs() > SUM_SLACK { 1.0 / sum } else { 1.0 };
    let live = || rows.iter().filter(|row| row.3 > 0.0);
    let first = live().next().map_or(0.0, |row| row.4);
    let uniform = live().all(|row| row.4 == first);
    let mut own = if uniform { first } else { 0.0 };
    for same in rows.chunk_by(|a, b| a.2 == b.2) {
        let p: f64 = same.iter().map(|row| row.3).sum();
        let (p, of_p) = (p * scale, |row: &(u32, u32, u32, f64, f64)| row.3 * scale * row.4);
        if p == 0.0 {
            continue;
        }
        if same[0].2 == END {
            own += if uniform { 0.0 } else { same.iter().map(of_p).sum() };
            continue;
        }
        mdp.targets.push(same[0].2);
        mdp.probabilities.push(p.min(1.0));
        if !uniform {
            let equal = same.iter().all(|row| row.4 == same[0].4);
            rewards.arcs.resize(mdp.targets.len() - 1, 0.0);
            rewards.arcs.push(if equal { same[0].4 } else { same.iter().map(of_p).sum::<f64>() / p });
        }
    }
    rewards.choices.push(own);
    mdp.arcs.push(mdp.targets.len() as u32);
}
