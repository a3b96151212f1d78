//! Pairs gathered in the loop over predecessors.

/// Pairs whose state needs attention, gathered so that the loop over lanes has no branch: which ones do is a coin toss to
/// the processor.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub slots: [u32; Self::SIZE],
    pub n: usize,
    pub n_blocks: usize,
}

impl Touched {
    const SIZE: usize = 64;
    /// The blocks after which their states are requeued: always the same number, so that the order of work does not depend on
    /// how many were gathered.
    const BLOCKS: usize = Self::SIZE / 7;

    #[inline(always)]
    pub fn push(&mut self, slot: usize, is_touched: bool) {
        self.slots[self.n % Self::SIZE] = slot as u32;
        self.n += usize::from(is_touched);
    }

    /// Counts a block; returns whether the next might not fit.
    #[inline(always)]
    pub fn is_complete(&mut self) -> bool {
        self.n_blocks += 1;
        self.n_blocks == Self::BLOCKS
    }
}

impl Default for Touched {
    fn default() -> Self {
        Self { slots: [0; Self::SIZE], n: 0, n_blocks: 0 }
    }
}
