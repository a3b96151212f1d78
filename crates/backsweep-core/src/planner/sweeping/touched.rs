//! Pairs gathered in the loop over predecessors.

use crate::store::LANES;

/// Pairs whose state needs attention, gathered so that the loop over lanes has no branch: which
/// ones do is a coin toss to the processor.
///
/// Their number is the caller's, so that it stays in a register.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    slots: [u32; Self::CAPACITY],
}

impl Touched {
    /// The number of sevens that fit, whatever is gathered. States are requeued after that many, so that the
    /// order of work does not depend on how many pairs were gathered.
    pub const MAX_BLOCKS: usize = 9;
    const CAPACITY: usize = Self::MAX_BLOCKS * LANES as usize + PLACES;

    /// The places after the `n` gathered so far. There are more than a block needs: as many as six
    /// bits can name, which is what the compiler knows of a count of six, so that no access has to
    /// be checked.
    #[inline(always)]
    pub fn block(&mut self, n: usize) -> &mut [u32; PLACES] {
        self.slots[n..].first_chunk_mut().expect("room for a block")
    }

    /// The slots of the first `n`.
    #[inline(always)]
    pub fn slots(&self, n: usize) -> &[u32] {
        &self.slots[..n]
    }
}

const PLACES: usize = 64;

impl Default for Touched {
    fn default() -> Self {
        Self { slots: [0; Self::CAPACITY] }
    }
}
