//! The time since each pair was tried, and when its bonus is next due: at an age of 8 steps, and whenever the age has grown by
//! a quarter. Ages differ from pair to pair, since a step tries only one, so at most about 4 ln(pairs) are due per step.

use super::statistics::MAX_STEPS;
use crate::Result;
use crate::planner::{Model, MovedPairs, Pair, Snapshot};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The age at which a bonus is first updated.
const FIRST: u64 = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct Ages {
    /// The step at which each pair was last tried; 0 if never.
    tried: Vec<u64>,
    /// The step at which each pair is due; 0 if never.
    due: Vec<u64>,
    /// (step, pair): an entry counts only if `due` says the same. Equal steps come in the order of pairs.
    calendar: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Ages {
    pub fn grow(&mut self, model: &Model) {
        self.tried.resize(model.n_pairs(), 0);
        self.due.resize(model.n_pairs(), 0);
    }

    pub fn pairs_moved(&mut self, moved: &MovedPairs) {
        for i in 0..moved.n_pairs {
            let (from, to) = (moved.from.index() + i as usize, moved.to.0 + i);
            self.tried[to as usize] = self.tried[from];
            let due = std::mem::take(&mut self.due[from]);
            if due > 0 {
                self.schedule(Pair(to), due);
            }
        }
    }

    fn schedule(&mut self, pair: Pair, due: u64) {
        self.due[pair.index()] = due;
        self.calendar.push(Reverse((due, pair.0)));
    }

    /// The pair was tried.
    pub fn visit(&mut self, pair: Pair, now: u64) {
        self.tried[pair.index()] = now;
        self.schedule(pair, now + FIRST);
    }

    /// The steps since a pair was tried.
    pub fn age(&self, pair: Pair, now: u64) -> u64 {
        now - self.tried[pair.index()]
    }

    /// A pair whose bonus is due; it is due again when its age has grown by a quarter.
    pub fn next_due(&mut self, now: u64) -> Option<Pair> {
        while let Some(&Reverse((due, pair))) = self.calendar.peek() {
            if due > now {
                break;
            }
            self.calendar.pop();
            let pair = Pair(pair);
            if self.due[pair.index()] == due {
                let age = self.age(pair, now);
                self.schedule(pair, now + (age / 4).max(1));
                return Some(pair);
            }
        }
        None
    }

    pub fn bytes(&self) -> usize {
        8 * (self.tried.len() + self.due.len()) + 16 * self.calendar.len()
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("explore.tried", self.tried.clone());
        snapshot.put("explore.due", self.due.clone());
    }

    pub fn restore(model: &Model, now: u64, snapshot: &Snapshot) -> Result<Self> {
        let column = |name| Ok(Snapshot::sized(name, snapshot.u64s(name)?, model.n_pairs())?.to_vec());
        let (tried, due) = (column("explore.tried")?, column("explore.due")?);
        if tried.iter().any(|&tried| tried > now) || due.iter().any(|&due| due > 2 * MAX_STEPS) {
            return Err(Snapshot::problem("explore.tried", "a pair was tried after the last step"));
        }
        let mut ages = Self { tried, due: vec![0; model.n_pairs()], calendar: BinaryHeap::new() };
        for (i, &due) in due.iter().enumerate().filter(|&(_, &due)| due > 0) {
            if !model.is_in_use(Pair(i as u32)) {
                return Err(Snapshot::problem("explore.due", &format!("pair {i} belongs to no state")));
            }
            ages.schedule(Pair(i as u32), due);
        }
        Ok(ages)
    }
}
