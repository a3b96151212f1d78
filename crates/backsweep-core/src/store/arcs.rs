//! Storage of arcs (pair → next state), readable in both directions without scanning.
//!
//! The list of arcs *into* a state is a chain of blocks of one cache line each, seven lanes per
//! block: small backups read nothing else of the model. Blocks are never moved, freed or reordered,
//! so that adding an arc costs constant time in the worst case (a hub with a million predecessors
//! included), an arc's id is its place, and an update cycle can stop between two blocks and resume
//! later. The arcs *out of* a pair are chained by their ids; everything else is stored once, where
//! the small backup reads it.
//!
//! A weight that is a whole number below 2³¹, such as a count, takes 4 bytes; any other is in a
//! side table. With 8 bytes for every weight a block held five arcs, and cycles on models larger
//! than the cache took up to a fifth longer.
//!
//! Memory: 92/7 bytes per arc, plus the unfilled part of each list's first block, plus 16 for a
//! weight that is not a count.

use super::block::{Block, LANES, Lanes, NO_BLOCK, WIDE};
use super::chunks::Chunks;
use super::{NONE, Sum};
use crate::{ArcId, Error, Pair, Result, State};
use rustc_hash::FxHashMap;

/// Pairs with more successors than this are looked up by hash instead of by a scan.
const MAX_SCANNED_SUCCESSORS: u32 = 48;
/// Predecessor lists up to this length are scanned for an arc: eight blocks.
const MAX_SCANNED_PREDECESSORS: u32 = 56;
/// The largest number of blocks for which every arc id fits in 32 bits, with room for the links of
/// a queue.
const MAX_BLOCKS: usize = (u32::MAX / LANES) as usize - 4096;
/// The largest bound on arc ids.
pub(crate) const MAX_ARCS: u64 = MAX_BLOCKS as u64 * LANES as u64;

/// The arcs out of a pair, the newest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutList {
    /// The newest arc, or NONE.
    pub head: u32,
    /// The number of arcs in the list.
    pub len: u32,
}

/// The number of a list's newest blocks that are stored in its header.
const N_NEWEST_BLOCKS: usize = 4;

/// The arcs into a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InList {
    /// The newest blocks, the newest first, then NO_BLOCK. They are known at once, so that the
    /// processor can fetch them from memory in parallel; along the chain alone it would fetch one
    /// at a time.
    heads: [u32; N_NEWEST_BLOCKS],
    /// The number of arcs in the list.
    pub len: u32,
}

impl InList {
    pub const EMPTY: Self = Self { heads: [NO_BLOCK; N_NEWEST_BLOCKS], len: 0 };

    /// The number of arcs in the newest block; LANES if there is none.
    #[inline(always)]
    fn filled(&self) -> u32 {
        (self.len + LANES - 1) % LANES + 1
    }
}

/// A place in a predecessor list: the block that comes next. Blocks filled earlier have smaller
/// numbers and new blocks get larger ones, so "has it been passed?" is one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor(u32);

impl Cursor {
    /// Nothing is ahead.
    pub const END: Self = Self(NO_BLOCK);

    /// Returns whether an arc of this list is still ahead of the cursor.
    #[inline]
    pub fn is_ahead(self, arc: ArcId) -> bool {
        self != Self::END && arc.0 / LANES <= self.0
    }

    /// As a number for a file; [`Arcs::cursor`] is the inverse.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A walk through a predecessor list, seven lanes at a time.
pub(crate) struct Predecessors<'m> {
    arcs: &'m Arcs,
    /// Not a copy of its heads: an array indexed at run time would keep the walk out of registers.
    list: &'m InList,
    /// The number of blocks that come before `cursor`; counted from N_NEWEST_BLOCKS on if the walk did
    /// not begin at the start of the list.
    n_before: usize,
    /// `n_before` when the walk began.
    from: usize,
    cursor: u32,
}

impl<'m> Predecessors<'m> {
    /// The next seven lanes.
    #[inline(always)]
    pub fn next(&mut self) -> Option<Lanes<'m>> {
        let (first_arc, block) = self.next_block()?;
        Some(Lanes { first_arc, slots: &block.slots, weights: self.arcs.weights(block) })
    }

    #[inline(always)]
    fn next_block(&mut self) -> Option<(u32, &'m Block)> {
        if self.cursor == NO_BLOCK {
            return None;
        }
        let block = &self.arcs.blocks[self.cursor as usize];
        let first_arc = self.cursor * LANES;
        self.n_before += 1;
        self.cursor =
            if self.n_before < N_NEWEST_BLOCKS { self.list.heads[self.n_before] } else { block.next() };
        Some((first_arc, block))
    }

    /// The current place of the walk.
    #[inline(always)]
    pub fn cursor(&self) -> Cursor {
        Cursor(self.cursor)
    }

    /// Returns whether all have been handed out.
    #[inline(always)]
    pub fn is_finished(&self) -> bool {
        self.cursor == NO_BLOCK
    }

    /// The number of arcs that were handed out.
    #[inline(always)]
    pub fn n_taken(&self) -> usize {
        if self.from > 0 || self.n_before == 0 {
            (self.n_before - self.from) * LANES as usize
        } else if self.is_finished() {
            self.list.len as usize
        } else {
            (self.n_before - 1) * LANES as usize + self.list.filled() as usize
        }
    }

    /// The number of lanes of the next block that are filled.
    #[inline(always)]
    fn filled(&self) -> u32 {
        if self.n_before == 0 { self.list.filled() } else { LANES }
    }
}

/// The arcs into a state one by one, the newest first.
pub(crate) struct Incoming<'m> {
    walk: Predecessors<'m>,
    lanes: Option<Lanes<'m>>,
    /// The number of lanes that are still to come.
    n_left: usize,
}

impl Iterator for Incoming<'_> {
    type Item = (Pair, f64, ArcId);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.n_left == 0 {
            self.n_left = self.walk.filled() as usize;
            self.lanes = Some(self.walk.next()?);
        }
        self.n_left -= 1;
        self.lanes.as_ref().map(|lanes| lanes.arc(self.n_left))
    }

    /// Block by block, for `for_each` and whatever else visits all of them.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut result = init;
        while self.n_left > 0 {
            let Some(item) = self.next() else { break };
            result = f(result, item);
        }
        loop {
            let n_filled = self.walk.filled() as usize;
            let Some(lanes) = self.walk.next() else { return result };
            for i in (0..n_filled.min(LANES as usize)).rev() {
                result = f(result, lanes.arc(i));
            }
        }
    }
}

/// All arcs of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arcs {
    blocks: Chunks<Block>,
    /// For each arc of each block, the next older arc of the same pair, or NONE.
    older: Chunks<[u32; LANES as usize]>,
    /// Weights that are not whole numbers below 2³¹, in the order in which they became so. A place
    /// is used for one arc only.
    wide: Chunks<Sum>,
    /// (pair, next state) → arc, for exactly the pairs with more than `MAX_SCANNED_SUCCESSORS`
    /// successors.
    long_lists: FxHashMap<(u32, u32), u32>,
    n_arcs: usize,
}

impl Arcs {
    pub fn n_arcs(&self) -> usize {
        self.n_arcs
    }

    /// One above the largest arc id.
    pub fn bound(&self) -> usize {
        self.blocks.len() * LANES as usize
    }

    #[inline]
    fn block(&self, arc: ArcId) -> &Block {
        &self.blocks[(arc.0 / LANES) as usize]
    }

    /// The arcs out of a pair: (next state, arc).
    #[inline]
    pub fn out(&self, list: OutList) -> impl Iterator<Item = (State, ArcId)> {
        let mut arc = list.head;
        std::iter::from_fn(move || {
            let found = ArcId((arc != NONE).then_some(arc)?);
            arc = self.older[(arc / LANES) as usize][(arc % LANES) as usize];
            Some((self.target(found), found))
        })
    }

    /// All predecessors in a list.
    #[inline(always)]
    pub fn first_predecessors<'m>(&'m self, list: &'m InList) -> Predecessors<'m> {
        Predecessors { arcs: self, list, n_before: 0, from: 0, cursor: list.heads[0] }
    }

    /// The predecessors in a list from a cursor of it on.
    #[inline(always)]
    pub fn predecessors<'m>(&'m self, list: &'m InList, from: Cursor) -> Predecessors<'m> {
        let n_before = if from.0 == list.heads[0] { 0 } else { N_NEWEST_BLOCKS };
        Predecessors { arcs: self, list, n_before, from: n_before, cursor: from.0 }
    }

    /// The cursor that a file holds, if it is valid for the list.
    pub fn cursor(&self, list: &InList, number: u64) -> Option<Cursor> {
        let mut block = list.heads[0];
        while block != NO_BLOCK && u64::from(block) > number {
            block = self.blocks[block as usize].next();
        }
        (u64::from(block) == number).then_some(Cursor(block))
    }

    /// The arcs into a state: (pair, weight, arc).
    #[inline]
    pub fn incoming<'m>(&'m self, list: &'m InList) -> Incoming<'m> {
        Incoming { walk: self.first_predecessors(list), lanes: None, n_left: 0 }
    }

    /// Prefetches the newest blocks of a list, up to the four that it names: in a model too large
    /// for the cache most lists have no more.
    #[inline(always)]
    pub fn prefetch(&self, list: &InList) {
        for &head in &list.heads {
            self.blocks.prefetch(head as usize);
        }
    }

    /// The newest blocks of a list, up to the four that it names.
    #[inline(always)]
    pub(super) fn newest(&self, list: &InList) -> impl Iterator<Item = &Block> {
        let heads = list.heads.into_iter().take_while(|&head| head != NO_BLOCK);
        heads.map(|head| &self.blocks[head as usize])
    }

    #[inline(always)]
    pub(super) fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The state that the arc leads to.
    #[inline]
    pub fn target(&self, arc: ArcId) -> State {
        State(self.block(arc).target)
    }

    /// The pair that the arc leaves, if there is such an arc.
    #[inline]
    pub fn pair(&self, arc: ArcId) -> Option<Pair> {
        let block = self.blocks.get((arc.0 / LANES) as usize)?;
        block.slots[(arc.0 % LANES) as usize].checked_sub(1).map(Pair)
    }

    #[inline(always)]
    fn decode(&self, code: u32) -> Sum {
        if code & WIDE == 0 { Sum::new(f64::from(code)) } else { self.wide[(code ^ WIDE) as usize] }
    }

    /// The weights of a block's arcs.
    #[inline(always)]
    fn weights(&self, block: &Block) -> [f64; LANES as usize] {
        if block.next_and_wide & 1 == 1 {
            return block.codes.map(|code| self.decode(code).high);
        }
        // Below 2³¹ the signed conversion is the same, and it is one instruction where the unsigned
        // one is two.
        block.codes.map(|code| f64::from(code as i32))
    }

    #[inline]
    pub fn weight(&self, arc: ArcId) -> f64 {
        self.exact_weight(arc).high
    }

    /// The weight with what it rounded away.
    #[inline]
    pub fn exact_weight(&self, arc: ArcId) -> Sum {
        self.decode(self.block(arc).codes[(arc.0 % LANES) as usize])
    }

    /// Sets the weight of an arc. The caller has made sure that there is [room](Self::check_room)
    /// for one more wide weight.
    pub fn set_weight(&mut self, arc: ArcId, weight: Sum) {
        let block = &mut self.blocks[(arc.0 / LANES) as usize];
        let code = &mut block.codes[(arc.0 % LANES) as usize];
        let whole = weight.high as u32; // saturates; 0 for negative numbers
        if *code & WIDE != 0 {
            self.wide[(*code ^ WIDE) as usize] = weight;
        } else if whole < WIDE && Sum::new(f64::from(whole)) == weight {
            *code = whole;
        } else {
            *code = WIDE | self.wide.len() as u32;
            block.next_and_wide |= 1;
            self.wide.push(weight);
        }
    }

    /// Counts an arc again, if its weight is a count and stays one.
    #[inline]
    pub fn count_once(&mut self, arc: ArcId) -> bool {
        let code = &mut self.blocks[(arc.0 / LANES) as usize].codes[(arc.0 % LANES) as usize];
        let is_count = *code < WIDE - 1;
        *code += u32::from(is_count); // l.9
        is_count
    }

    /// The arc of a pair to a state. O(1): at most `MAX_SCANNED_PREDECESSORS` predecessors or
    /// `MAX_SCANNED_SUCCESSORS` successors are scanned. Predecessors first: their blocks are known
    /// at once, and the block with the arc is the one that will be changed.
    #[inline]
    pub fn find(&self, pair: Pair, out: OutList, next: State, into: &InList) -> Option<ArcId> {
        if into.len <= MAX_SCANNED_PREDECESSORS {
            let mut walk = self.first_predecessors(into);
            while let Some((first_arc, block)) = walk.next_block() {
                // One comparison per lane and no exit in between: the seven are compared as one.
                let found = block.slots.map(|slot| u32::from(slot == pair.0 + 1));
                let places = (0..LANES).map(|i| found[i as usize] << i).sum::<u32>();
                if places != 0 {
                    return Some(ArcId(first_arc + places.trailing_zeros()));
                }
            }
            return None;
        }
        if out.len > MAX_SCANNED_SUCCESSORS {
            return self.long_lists.get(&(pair.0, next.0)).map(|&arc| ArcId(arc));
        }
        self.out(out).find(|&(state, _)| state == next).map(|(_, arc)| arc)
    }

    /// Adds an arc that does not exist yet to its predecessor list, if there is
    /// [room](Self::check_room).
    pub fn add_in(&mut self, pair: Pair, next: State, into: &mut InList) -> ArcId {
        let i = into.len % LANES;
        if i == 0 {
            let next_and_wide = into.heads[0] << 1;
            into.heads.rotate_right(1);
            into.heads[0] = self.blocks.len() as u32;
            self.blocks.push(Block { slots: [0; 7], codes: [0; 7], next_and_wide, target: next.0 });
            self.older.push([NONE; 7]);
        }
        let head = into.heads[0];
        self.blocks[head as usize].slots[i as usize] = pair.0 + 1;
        into.len += 1;
        ArcId(head * LANES + i)
    }

    /// Adds an arc that is in its predecessor list to the list of its pair.
    pub fn add_out(&mut self, pair: Pair, out: &mut OutList, next: State, arc: ArcId) {
        if out.len == MAX_SCANNED_SUCCESSORS {
            let row: Vec<_> = self.out(*out).collect();
            self.long_lists.extend(row.into_iter().map(|(state, arc)| ((pair.0, state.0), arc.0)));
        }
        if out.len >= MAX_SCANNED_SUCCESSORS {
            self.long_lists.insert((pair.0, next.0), arc.0);
        }
        self.older[(arc.0 / LANES) as usize][(arc.0 % LANES) as usize] = out.head;
        *out = OutList { head: arc.0, len: out.len + 1 };
        self.n_arcs += 1;
    }

    /// Makes the arcs of pair `from` those of pair `to`.
    pub fn rename_pair(&mut self, from: Pair, to: Pair, out: OutList) {
        let row: Vec<_> = self.out(out).collect();
        for (state, arc) in row {
            self.blocks[(arc.0 / LANES) as usize].slots[(arc.0 % LANES) as usize] = to.0 + 1;
            if self.long_lists.remove(&(from.0, state.0)).is_some() {
                self.long_lists.insert((to.0, state.0), arc.0);
            }
        }
    }

    /// Checks that this many more arcs, and weights that are not counts, can be stored, wherever
    /// they go.
    #[inline]
    pub fn check_room(&self, more: usize) -> Result<()> {
        let (what, limit) = if self.blocks.len() + more > MAX_BLOCKS {
            ("blocks of seven arcs", MAX_BLOCKS)
        } else if self.wide.len() + more >= WIDE as usize {
            ("weights that are not counts", WIDE as usize - 1)
        } else {
            return Ok(());
        };
        Err(Error::Full { what, limit: limit as u64 })
    }

    /// Bytes in use, not merely reserved.
    pub fn bytes(&self) -> usize {
        self.blocks.bytes() + self.older.bytes() + self.wide.bytes() + self.long_lists.len() * 13
    }
}
