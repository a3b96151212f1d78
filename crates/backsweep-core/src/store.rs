//! Memory layout and nothing else: where arcs, weights and the states of pairs are kept.
//!
//! A pair's *slot* is its id plus 1. Slot 0 belongs to no pair: unfilled lanes of a predecessor
//! list point at it, so that loops over lanes need no test. Any table by slot gives slot 0 a value
//! that never changes.

mod arcs;
mod block;
mod chunks;
mod look_ahead;
mod pair_states;
mod prefetch;
mod sparse;
mod sum;

pub(crate) use arcs::{Arcs, Cursor, InList, MAX_ARCS, OutList, Predecessors};
pub(crate) use block::LANES;
pub(crate) use pair_states::PairStates;
pub use prefetch::prefetch_run;
pub(crate) use sparse::Sparse;
pub(crate) use sum::Sum;

/// No state, pair, arc or block.
pub(crate) const NONE: u32 = u32::MAX;
