//! A copy of every pair's successors in one piece each, for the planners that do full backups: they read a row in order
//! instead of one cache line an arc. An observation changes one entry.
//!
//! Measured against the model's own lists, at 16 bytes an arc more: Wiering & Schmidhuber 44 % fewer estimated cycles, Moore &
//! Atkeson 13 % (docs/PERFORMANCE.md).

use crate::lists::Lists;
use crate::values::PairValue;
use crate::{ArcId, Change, Model, MovedRow, Pair, State, Values};

/// What a planner keeps of a successor of a pair.
pub(super) trait Entry: Copy + Default {
    fn new(model: &Model, state: State, arc: ArcId) -> Self;
    fn arc(&self) -> u32;
    /// Takes over the weight from the model.
    fn set_weight(&mut self, model: &Model);
}

/// A successor of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Successor {
    pub weight: f64,
    pub state: u32,
    pub arc: u32,
}

impl Entry for Successor {
    fn new(model: &Model, state: State, arc: ArcId) -> Self {
        Self { weight: model.arcs.weight(arc), state: state.0, arc: arc.0 }
    }

    #[inline]
    fn arc(&self) -> u32 {
        self.arc
    }

    #[inline]
    fn set_weight(&mut self, model: &Model) {
        self.weight = model.arcs.weight(ArcId(self.arc));
    }
}

/// The successors of each pair, in the order of their first observation.
#[derive(Clone, Debug)]
pub(super) struct Rows<E = Successor> {
    rows: Lists<E>,
    /// The first pair of the state in which the next observation will most likely begin; any number if none is expected. Where their
    /// rows stand has been asked for.
    expected: usize,
}

impl<E> Default for Rows<E> {
    fn default() -> Self {
        Self { rows: Lists::default(), expected: usize::MAX }
    }
}

impl<E: Entry> Rows<E> {
    /// The successors of a pair.
    #[inline]
    pub fn row(&self, pair: usize) -> &[E] {
        self.rows.get(pair)
    }

    /// The successors of a pair.
    #[inline]
    pub fn row_mut(&mut self, pair: usize) -> &mut [E] {
        self.rows.get_mut(pair)
    }

    /// Asks for where the rows of some pairs stand.
    #[inline]
    pub fn prefetch(&self, first: usize) {
        self.rows.prefetch(first);
    }

    /// Asks for the rows of some pairs.
    #[inline]
    pub fn prefetch_rows(&self, pairs: std::ops::Range<usize>) {
        self.rows.prefetch_items(pairs);
    }

    /// Asks for where the rows stand of the state that an observation led to.
    #[inline]
    pub fn expect(&mut self, model: &Model, change: &Change) {
        if let Some((next, _)) = change.next {
            self.expected = model.states[next.index()].first_pair as usize;
            self.prefetch(self.expected);
        }
    }

    /// Asks for the rows themselves, once.
    #[inline]
    pub fn prefetch_expected(&mut self) {
        let first = std::mem::replace(&mut self.expected, usize::MAX);
        self.prefetch_rows(first..first.saturating_add(4).min(self.rows.len()));
    }

    /// Takes in the pairs that are new.
    pub fn grow(&mut self, model: &Model) {
        for pair in self.rows.len()..model.n_pairs() {
            self.rows.add();
            self.copy(model, Pair(pair as u32));
        }
    }

    /// Takes over all successors of a pair anew.
    pub fn copy(&mut self, model: &Model, pair: Pair) {
        self.rows.clear(pair.index());
        for successor in model.successors(pair) {
            self.rows.push(pair.index(), E::new(model, successor.state, successor.arc));
        }
        // The model lists the newest first.
        self.rows.get_mut(pair.index()).reverse();
    }

    /// Leaves nothing behind in a row whose pairs got new ids.
    pub fn row_moved(&mut self, moved: &MovedRow) {
        for pair in moved.from.index()..moved.from.index() + moved.n_pairs as usize {
            self.rows.clear(pair);
        }
    }

    /// Follows a change of the model. Returns whether there is a new successor.
    pub fn observe(&mut self, model: &Model, change: &Change) -> bool {
        let Some((state, arc)) = change.next else { return false };
        match self.row_mut(change.pair.index()).iter_mut().find(|entry| entry.arc() == arc.0) {
            Some(entry) => {
                entry.set_weight(model);
                false
            }
            None => {
                self.rows.push(change.pair.index(), E::new(model, state, arc));
                true
            }
        }
    }

    /// What a pair is worth: its full backup from what `product` gives for each successor (its weight times a value), or the
    /// optimistic value while it has not been seen often enough. To the last bit the same as [`Values::evaluated`], which adds up the newest first.
    #[inline]
    pub fn evaluated(
        &mut self,
        values: &Values,
        model: &Model,
        pair: usize,
        mut product: impl FnMut(&mut E) -> f64,
    ) -> PairValue {
        let row = &model.pairs[pair];
        if !values.believes(row, row.weight) {
            return PairValue { q: values.optimism.value, scale: 0.0 };
        }
        let mut sum = 0.0;
        for entry in self.rows.get_mut(pair).iter_mut().rev() {
            sum += product(entry);
        }
        let q = (row.reward_sum + values.discount * sum) / row.weight;
        PairValue { q, scale: values.discount / row.weight }
    }

    pub fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}

impl Rows {
    /// The full value backup of a state from V: Q of all its actions, then V. Returns the change of V and how many full
    /// backups of pairs it took.
    pub fn full_value_backup(&mut self, values: &mut Values, model: &Model, state: u32) -> (f64, u64) {
        let mut n_backups = 0;
        let row = &model.states[state as usize];
        let mut v = f64::NEG_INFINITY;
        for pair in row.pairs() {
            let value = self
                .evaluated(values, model, pair, |entry| entry.weight * values.states[entry.state as usize].v);
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
}
