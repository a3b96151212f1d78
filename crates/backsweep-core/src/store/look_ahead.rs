//! Looking ahead: what the next update cycles read is on its way while the current one runs.
//!
//! A cycle reads the record of its state, then the blocks that the record names, then the pairs
//! that the blocks name. In a model larger than the cache it would wait three times in a row. So
//! the states to be popped next are each one step apart: the pairs of the first are prefetched, the
//! blocks of the second and the record of the third. Guesses that turn out wrong cost nothing but
//! the hint, and no result depends on them.

use super::arcs::{Arcs, InList};
use super::prefetch::prefetch;

/// A model with fewer blocks is in the cache.
const MIN_BLOCKS: usize = 1 << 15;

impl Arcs {
    /// Prefetches for the `upcoming` states, the next one first: whatever each needs at its
    /// distance. `records` are those of all states, `into` gives the arcs into one; `pairs` are
    /// read by slot.
    #[inline(always)]
    pub fn look_ahead<I: Iterator<Item = u32>, R, P>(
        &self,
        upcoming: impl FnOnce() -> I,
        records: &[R],
        into: impl Fn(&R) -> &InList,
        pairs: &[P],
    ) {
        if self.n_blocks() < MIN_BLOCKS {
            return;
        }
        let mut upcoming = upcoming();
        let Some(next) = upcoming.next().and_then(|state| records.get(state as usize)) else { return };
        for block in self.newest(into(next)) {
            block.slots.iter().for_each(|&slot| prefetch(pairs, slot as usize));
        }
        let Some(second) = upcoming.next().and_then(|state| records.get(state as usize)) else { return };
        self.prefetch(into(second));
        let Some(third) = upcoming.next() else { return };
        prefetch(records, third as usize);
    }
}
