//! A copy of every pair's successors in one piece each, for the planners that do full backups: they read a row in order
//! instead of one cache line an arc. An observation changes one entry.
//!
//! Measured against the model's own lists, at 16 bytes an arc more: Wiering & Schmidhuber 44 % fewer estimated cycles, Moore &
//! Atkeson 13 % (docs/PERFORMANCE.md).

use crate::prefetch::{prefetch, prefetch_row};
use crate::values::PairValue;
use crate::{Arc, Change, Model, Pair, State, Values};

/// A successor of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub weight: f64,
    pub state: u32,
    pub arc: u32,
}

/// The successors of each pair, in the order of their first observation.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Vec<Entry>>,
}

impl Rows {
    /// The successors of a pair.
    #[inline]
    pub fn row(&self, pair: usize) -> &[Entry] {
        &self.rows[pair]
    }

    /// Asks for where the rows of some pairs stand.
    #[inline]
    pub fn prefetch(&self, first: usize) {
        prefetch_row(&self.rows, first);
    }

    /// Asks for the rows of some pairs.
    #[inline]
    pub fn prefetch_rows(&self, pairs: std::ops::Range<usize>) {
        for row in self.rows.get(pairs).unwrap_or(&[]) {
            prefetch(row, 0);
            prefetch(row, 4);
        }
    }

    /// Takes in the pairs that are new.
    pub fn grow(&mut self, model: &Model) {
        for pair in self.rows.len()..model.n_pairs() {
            self.rows.push(Vec::new());
            self.copy(model, Pair(pair as u32));
        }
    }

    /// Takes over all successors of a pair anew.
    pub fn copy(&mut self, model: &Model, pair: Pair) {
        let row = &mut self.rows[pair.index()];
        row.clear();
        row.extend(model.successors(pair).map(|s| Entry {
            weight: s.weight,
            state: s.state.0,
            arc: s.arc.0,
        }));
        // The model lists the newest first.
        row.reverse();
    }

    /// Follows a change of the model.
    pub fn observe(&mut self, model: &Model, change: &Change) {
        let Some((state, arc)) = change.next else { return };
        let weight = model.arcs.weight(arc);
        let row = &mut self.rows[change.pair.index()];
        match row.iter_mut().find(|entry| entry.arc == arc.0) {
            Some(entry) => entry.weight = weight,
            None => row.push(Entry { weight, state: state.0, arc: arc.0 }),
        }
    }

    /// What a pair is worth: its full backup from what `seen` gives for its successors, or the optimistic value while it has
    /// not been seen often enough. To the last bit the same as [`Values::evaluated`], which adds up the newest first.
    #[inline]
    pub fn evaluated(
        &self,
        values: &Values,
        model: &Model,
        pair: usize,
        seen: impl Fn(State, Arc) -> f64,
    ) -> PairValue {
        let row = &model.pairs[pair];
        if !values.believes(row, row.weight) {
            return PairValue { q: values.optimism.value, scale: 0.0 };
        }
        let mut sum = 0.0;
        for entry in self.rows[pair].iter().rev() {
            sum += entry.weight * seen(State(entry.state), Arc(entry.arc));
        }
        let q = (row.reward_sum + values.discount * sum) / row.weight;
        PairValue { q, scale: values.discount / row.weight }
    }

    /// The full value backup of a state from V: Q of all its actions, then V. Returns the change of V and how many full
    /// backups of pairs it took.
    pub fn full_value_backup(&self, values: &mut Values, model: &Model, state: u32) -> (f64, u64) {
        let mut n_backups = 0;
        let row = &model.states[state as usize];
        let mut v = f64::NEG_INFINITY;
        for pair in row.pairs() {
            let value = self.evaluated(values, model, pair, |next, _| values.states[next.index()].v);
            n_backups += u64::from(value.scale > 0.0);
            values.pairs[pair] = value;
            v = if value.q > v { value.q } else { v };
        }
        if row.n_actions == 0 {
            v = 0.0;
        }
        let v_old = std::mem::replace(&mut values.states[state as usize].v, v);
        (v - v_old, n_backups)
    }

    pub fn bytes(&self) -> usize {
        self.rows.iter().map(|row| size_of_val(&row[..]) + size_of_val(row)).sum()
    }
}
