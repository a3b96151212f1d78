//! Reads of a model in the loops of planners.

use super::{Model, PairRecord};
use crate::store::{Cursor, NONE, Predecessors};
use crate::{ArcId, Pair, State};

impl Model {
    /// The records of all pair ids, including those left behind by
    /// [`add_action`](Self::add_action).
    pub(crate) fn pair_records(&self) -> &[PairRecord] {
        &self.pairs
    }

    /// The record of a pair that exists.
    #[inline(always)]
    pub(crate) fn pair_record(&self, pair: Pair) -> &PairRecord {
        &self.pairs[pair.index()]
    }

    /// The ids of the pairs of a state that exists.
    #[inline(always)]
    pub(crate) fn pair_range(&self, state: u32) -> std::ops::Range<usize> {
        let record = &self.states[state as usize];
        record.first_pair as usize..(record.first_pair + record.n_actions) as usize
    }

    /// The state of the pair in a slot (see [`crate::store`]); NONE for the old id of a moved pair.
    #[inline(always)]
    pub(crate) fn state_of_slot(&self, slot: usize) -> u32 {
        self.pair_states.of_slot(slot)
    }

    /// The slots of a state's pairs.
    #[inline(always)]
    pub(crate) fn slots(&self, state: u32) -> std::ops::Range<usize> {
        let pairs = self.pair_range(state);
        pairs.start + 1..pairs.end + 1
    }

    /// Returns whether the id is a live pair: in range and not left behind by
    /// [`add_action`](Self::add_action).
    #[inline]
    pub fn is_in_use(&self, pair: Pair) -> bool {
        pair.index() < self.n_pairs() && self.state_of_slot(pair.slot()) != NONE
    }

    /// All predecessors of a state, seven lanes at a time.
    #[inline(always)]
    pub(crate) fn first_predecessors(&self, state: u32) -> Predecessors<'_> {
        self.arcs.first_predecessors(&self.states[state as usize].into)
    }

    /// The predecessors of a state from a cursor on, seven lanes at a time.
    #[inline(always)]
    pub(crate) fn predecessors_from(&self, state: u32, cursor: Cursor) -> Predecessors<'_> {
        self.arcs.predecessors(&self.states[state as usize].into, cursor)
    }

    /// The stored cursor into a state's predecessors.
    pub(crate) fn stored_cursor(&self, state: u32, number: u64) -> Option<Cursor> {
        self.arcs.cursor(&self.states[state as usize].into, number)
    }

    /// The number of different (state, action, next state) that were seen or are known.
    #[inline]
    pub fn n_arcs(&self) -> usize {
        self.arcs.n_arcs()
    }

    /// One above the largest arc id.
    #[inline]
    pub fn arc_bound(&self) -> usize {
        self.arcs.bound()
    }

    /// The pair that an arc leaves and the state that it leads to; `None` if there is no such arc.
    ///
    /// For methods that queue or number arcs: every id is below [`arc_bound`](Self::arc_bound), and
    /// not every one below it is in use.
    #[inline]
    pub fn ends_of(&self, arc: ArcId) -> Option<(Pair, State)> {
        Some((self.arcs.pair(arc)?, self.arcs.target(arc)))
    }

    /// The weight w(s,a,s') of an arc that exists; [`ends_of`](Self::ends_of) says whether it does.
    ///
    /// # Panics
    /// If the id is not below [`arc_bound`](Self::arc_bound).
    #[inline]
    pub fn arc_weight(&self, arc: ArcId) -> f64 {
        self.arcs.weight(arc)
    }

    /// Prefetches the predecessors of a state that is likely to get an update cycle. It need not
    /// exist.
    #[inline(always)]
    pub fn prefetch_predecessors(&self, state: State) {
        if let Some(record) = self.states.get(state.index()) {
            self.arcs.prefetch(&record.into);
        }
    }

    /// Prefetches what the update cycles of the states to be popped next will read: see
    /// `store/look_ahead.rs`. `pairs` are the planner's, by slot.
    #[inline(always)]
    pub(crate) fn look_ahead<I: Iterator<Item = u32>, P>(&self, upcoming: impl FnOnce() -> I, pairs: &[P]) {
        self.arcs.look_ahead(upcoming, &self.states, |record| &record.into, pairs);
    }

    /// Bytes in use for states, pairs and arcs, not merely reserved.
    pub fn bytes(&self) -> usize {
        self.row_bytes() + self.arcs.bytes()
    }

    /// Bytes in use for arcs.
    pub fn arc_bytes(&self) -> usize {
        self.arcs.bytes()
    }

    /// Bytes in use for states and pairs.
    pub fn row_bytes(&self) -> usize {
        size_of_val(&self.states[..])
            + size_of_val(&self.pairs[..])
            + self.pair_states.bytes()
            + self.ended.bytes()
            + self.weight_rest.bytes()
            + self.reward_rest.bytes()
    }
}
