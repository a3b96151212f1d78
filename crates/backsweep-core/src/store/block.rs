//! A block of arcs, and how planners see it.

use super::NONE;
use crate::{ArcId, Pair};

/// Arcs in a block of a predecessor list.
pub(crate) const LANES: u32 = 7;
/// Set in a stored weight that is the index of a wide one.
pub(super) const WIDE: u32 = 1 << 31;

/// Seven arcs into the same state, in one cache line.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Block {
    /// `slots[i]` is the slot of the pair that arc `block * LANES + i` leaves; 0 where the block is
    /// not filled.
    pub slots: [u32; LANES as usize],
    /// The arc's weight as a whole number, or WIDE and an index into `Arcs::wide`; 0 where the
    /// block is not filled.
    pub codes: [u32; LANES as usize],
    /// Twice the number of the block filled before this one, or of NO_BLOCK, plus 1 if some code
    /// has WIDE set.
    pub next_and_wide: u32,
    /// The state that the arcs lead to.
    pub target: u32,
}

/// The number that means no block: NONE without its highest bit.
pub(super) const NO_BLOCK: u32 = NONE >> 1;

impl Block {
    /// The block filled before this one, which is full and has a *smaller* number, or NO_BLOCK.
    #[inline(always)]
    pub fn next(&self) -> u32 {
        self.next_and_wide >> 1
    }
}

/// Seven predecessors of a state: the slots of their pairs and the weights of their arcs. An
/// unfilled lane has slot 0 and weight 0.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'m> {
    /// The id of the arc in the first lane; those of the others follow.
    pub first_arc: u32,
    pub slots: &'m [u32; LANES as usize],
    pub weights: [f64; LANES as usize],
}

impl Lanes<'_> {
    /// Slots and weights, lane by lane.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.slots.iter().zip(self.weights).map(|(&slot, weight)| (slot as usize, weight))
    }

    /// The arc in a lane that is filled: pair, weight and arc.
    #[inline(always)]
    pub fn arc(&self, i: usize) -> (Pair, f64, ArcId) {
        (Pair(self.slots[i] - 1), self.weights[i], ArcId(self.first_arc + i as u32))
    }

    /// The lanes that are filled: pair, weight and arc.
    #[inline]
    pub fn filled(self) -> impl DoubleEndedIterator<Item = (Pair, f64, ArcId)> {
        let n_filled = self.slots.iter().position(|&slot| slot == 0).unwrap_or(LANES as usize);
        (0..n_filled).map(move |i| self.arc(i))
    }
}
