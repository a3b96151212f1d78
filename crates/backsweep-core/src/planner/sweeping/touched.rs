//! Pairs gathered in the loop over predecessors.

use crate::store::LANES;

/// Pairs whose state needs attention, gathered so that the loop over lanes has no branch: which
/// ones do is a coin toss to the processor.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub slots: [u32; Self::CAPACITY],
    pub n: usize,
    /// The number of times that seven lanes have been looked at.
    pub n_blocks: usize,
}

impl Touched {
    const CAPACITY: usize = 64;
    /// The number of sevens that fit, whatever is gathered. States are requeued after that many, so that the
    /// order of work does not depend on how many pairs were gathered.
    const MAX_BLOCKS: usize = Self::CAPACITY / LANES as usize;

    #[inline(always)]
    pub fn push(&mut self, slot: usize, is_touched: bool) {
        self.slots[self.n % Self::CAPACITY] = slot as u32;
        self.n += usize::from(is_touched);
    }

    /// Counts seven lanes; returns whether the next seven might not fit.
    #[inline(always)]
    pub fn is_complete(&mut self) -> bool {
        self.n_blocks += 1;
        self.n_blocks == Self::MAX_BLOCKS
    }
}

impl Default for Touched {
    fn default() -> Self {
        Self { slots: [0; Self::CAPACITY], n: 0, n_blocks: 0 }
    }
}
