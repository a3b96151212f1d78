//! A contiguous copy of every pair's successors, for the planners that do full backups: they read a row in order
//! instead of one cache line per arc. An observation changes one entry.

use crate::store::prefetch_row;
use crate::{Change, Model, MovedRow, Pair};

/// A successor of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedSuccessor {
    pub weight: f64,
    pub state: u32,
    pub arc: u32,
}

/// The successors of each pair, in the order of their first observation.
#[derive(Clone, Debug, Default)]
pub(crate) struct SuccessorCache {
    rows: Vec<Row>,
    /// The items of all rows, each row contiguous. A row that outgrows its place moves to the end, twice as large. With a vector
    /// per row Moore & Atkeson took a fifth longer at side 200.
    items: Vec<CachedSuccessor>,
    /// How many of the items belong to no row: an eighth at most.
    n_unused: usize,
}

/// Where a pair's successors are in `items`.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    start: u32,
    len: u32,
    capacity: u32,
}

impl Row {
    #[inline(always)]
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

impl SuccessorCache {
    /// The successors of a pair.
    #[inline]
    pub fn row(&self, pair: usize) -> &[CachedSuccessor] {
        &self.items[self.rows[pair].range()]
    }

    /// Prefetches the rows of a state's pairs, which need not exist: it is likely to be backed up soon. Without it Moore &
    /// Atkeson took a fifth longer.
    #[inline]
    pub fn expect(&self, model: &Model, state: u32) {
        if (state as usize) < model.n_states() {
            for row in self.rows.get(model.pair_range(state)).unwrap_or(&[]) {
                prefetch_row(&self.items, row.start as usize);
            }
        }
    }

    /// Takes in new pairs.
    pub fn grow(&mut self, model: &Model) {
        for pair in self.rows.len()..model.n_pairs() {
            self.rows.push(Row::default());
            self.copy(model, Pair(pair as u32));
        }
    }

    /// Copies all successors of a pair.
    pub fn copy(&mut self, model: &Model, pair: Pair) {
        self.rows[pair.index()].len = 0;
        for next in model.successors(pair) {
            self.push(pair, CachedSuccessor { weight: next.weight, state: next.state.0, arc: next.arc.0 });
        }
        // The model lists the newest first.
        self.items[self.rows[pair.index()].range()].reverse();
    }

    fn push(&mut self, pair: Pair, next: CachedSuccessor) {
        let row = &mut self.rows[pair.index()];
        if row.len == row.capacity {
            let old = row.range();
            self.n_unused += old.len();
            *row = Row { start: self.items.len() as u32, capacity: (2 * row.capacity).max(2), ..*row };
            self.items.extend_from_within(old);
            self.items.resize((row.start + row.capacity) as usize, next);
        }
        self.items[(row.start + row.len) as usize] = next;
        row.len += 1;
        self.compact();
    }

    /// Closes the gaps between rows if too much is unused. Amortised O(1) per item.
    fn compact(&mut self) {
        if 8 * self.n_unused <= self.items.len() {
            return;
        }
        let old = std::mem::take(&mut self.items);
        for row in &mut self.rows {
            let start = self.items.len() as u32;
            self.items.extend_from_slice(&old[row.start as usize..(row.start + row.capacity) as usize]);
            row.start = start;
        }
        self.n_unused = 0;
    }

    /// Resets the old ids of a moved row.
    pub fn row_moved(&mut self, moved: &MovedRow) {
        for pair in moved.from.index()..moved.from.index() + moved.n_pairs as usize {
            self.n_unused += std::mem::take(&mut self.rows[pair]).capacity as usize;
        }
        self.compact();
    }

    /// Records a change of the model.
    #[inline]
    pub fn observe(&mut self, model: &Model, change: &Change) {
        let Some((state, arc)) = change.next else { return };
        let (row, weight) = (self.rows[change.pair.index()], model.arc_weight(arc));
        match self.items[row.range()].iter_mut().find(|next| next.arc == arc.0) {
            Some(next) => next.weight = weight,
            None => self.push(change.pair, CachedSuccessor { weight, state: state.0, arc: arc.0 }),
        }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.rows[..]) + size_of_val(&self.items[..])
    }
}
