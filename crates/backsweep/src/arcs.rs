//! Storage of arcs (pair → next state), readable in both directions without scanning.
//!
//! The list of arcs *into* a state is a chain of blocks of one cache line each, seven arcs a block: what a small backup
//! reads of the model is one read of such blocks. Blocks are never moved, freed or reordered, so that adding an arc costs
//! constant time in the worst case (a hub with a million predecessors included), an arc's id is its place, and an update
//! cycle can stop between two blocks and go on later. The list of arcs *out of* a pair holds their ids, in small blocks of its
//! own; all else is stored once, where the small backup reads it.
//!
//! A weight that is a whole number below 2³¹, as counts are, takes 4 bytes; any other stands in a table beside. With 8 bytes for
//! every weight a block held five arcs, and cycles on models larger than the cache took up to a fifth longer.
//!
//! Memory: 64/7 bytes an arc one way and 16/3 the other (none for the only arc of a pair), plus the unfilled part of each list's first
//! block, plus 8 for a weight that is no count.

use crate::prefetch::prefetch;
use crate::{ArcId, Pair, Result, Snapshot, State};
use rustc_hash::FxHashMap;

/// No block.
pub(crate) const NONE: u32 = u32::MAX;
/// Arcs in a block of a predecessor list.
pub(crate) const IN_BLOCK: u32 = 7;
const OUT_BLOCK: u32 = 3;
/// Pairs with more successors than this are looked up by hash instead of by a scan.
const LONG_ROW: u32 = 48;
/// Predecessor lists up to this length are scanned for an arc: eight blocks.
const SHORT_LIST: u32 = 56;
/// Set in a stored weight that is the index of a wide one.
const WIDE: u32 = 1 << 31;

/// Seven arcs into the same state, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct InBlock {
    /// `pairs[i]` is the pair that arc `block * IN_BLOCK + i` leaves; where the block is not filled, the same as `pairs[0]`,
    /// so that a loop may run over all seven: a weight of 0 changes nothing.
    pub pairs: [u32; IN_BLOCK as usize],
    /// The arc's weight as a whole number, or WIDE and an index into `Arcs::wide`; 0 where the block is not filled.
    codes: [u32; IN_BLOCK as usize],
    /// Twice the number of the block filled before this one, or of NO_BLOCK, plus 1 if some code has WIDE set.
    next_wide: u32,
    /// The state that the arcs lead to.
    target: u32,
}

/// The number of no block: NONE without its highest bit.
pub(crate) const NO_BLOCK: u32 = NONE >> 1;

impl InBlock {
    fn new(pair: u32, target: u32, next: u32) -> Self {
        Self { pairs: [pair; 7], codes: [0; 7], next_wide: next << 1, target }
    }

    /// The block filled before this one, which is full and has a *smaller* number; a number that no block has if this is the
    /// first one.
    #[inline(always)]
    pub fn next(&self) -> u32 {
        self.next_wide >> 1
    }

    #[inline(always)]
    fn is_wide(&self) -> bool {
        self.next_wide & 1 == 1
    }
}

/// The weights of a block's arcs; 0 where it is not filled.
pub(crate) type Weights = [f64; IN_BLOCK as usize];

/// Three arcs out of the same pair.
#[derive(Clone, Debug)]
#[repr(C, align(16))]
struct OutBlock {
    arcs: [u32; OUT_BLOCK as usize],
    /// The block filled before this one, which is full, or NONE.
    next: u32,
}

/// The arcs out of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutList {
    /// The newest block, the only one that may be unfilled. A single arc stands here itself and needs no block. NONE if there is none.
    pub head: u32,
    /// The number of arcs in the list.
    pub len: u32,
}

impl OutList {
    pub const EMPTY: Self = Self { head: NONE, len: 0 };

    /// How many arcs the newest block holds.
    #[inline(always)]
    fn filled(self) -> u32 {
        // An empty list has no block, and the question does not arise.
        (self.len + OUT_BLOCK - 1) % OUT_BLOCK + 1
    }
}

/// Blocks of a predecessor list that are known without reading the blocks before them.
pub(crate) const HEADS: usize = 4;

/// The arcs into a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InList {
    /// The newest blocks, the newest first, then NO_BLOCK. They are known all at once, so that the processor can fetch them from
    /// far memory side by side; along the chain alone it would fetch one after the other.
    heads: [u32; HEADS],
    /// The number of arcs in the list.
    pub len: u32,
}

impl InList {
    pub const EMPTY: Self = Self { heads: [NO_BLOCK; HEADS], len: 0 };

    /// The newest block, the only one that may be unfilled.
    #[inline(always)]
    pub fn head(&self) -> u32 {
        self.heads[0]
    }

    /// The ids of the first arcs of the newest blocks; any number where there is no block.
    #[inline(always)]
    pub fn first_arcs(&self) -> [u32; HEADS] {
        self.heads.map(|head| head.wrapping_mul(IN_BLOCK))
    }

    /// How many arcs the newest block holds; IN_BLOCK if there is none.
    #[inline(always)]
    pub fn filled(&self) -> usize {
        ((self.len + IN_BLOCK - 1) % IN_BLOCK + 1) as usize
    }

    fn push(&mut self, block: u32) {
        self.heads.rotate_right(1);
        self.heads[0] = block;
    }
}

/// A walk through blocks of a predecessor list.
pub(crate) struct Blocks<'m> {
    blocks: &'m [InBlock],
    heads: [u32; HEADS],
    /// How many of `heads` have been used.
    used: usize,
    /// The next block to come.
    cursor: u32,
}

impl<'m> Blocks<'m> {
    /// The next block and its number.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(u32, &'m InBlock)> {
        let number = self.cursor;
        let block = self.blocks.get(number as usize)?;
        self.used += 1;
        self.cursor = if self.used < HEADS { self.heads[self.used] } else { block.next() };
        Some((number, block))
    }

    /// The number of the next block to come; one that no block has if there is none.
    #[inline(always)]
    pub fn cursor(&self) -> u32 {
        self.cursor
    }
}

/// All arcs of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arcs {
    pub blocks: Vec<InBlock>,
    /// Weights that are no whole numbers below 2³¹, in the order in which they became so. A place is used for one arc only.
    wide: Vec<f64>,
    out: Vec<OutBlock>,
    /// (pair, next state) → arc, for exactly the pairs with more than `LONG_ROW` successors.
    long_rows: FxHashMap<(u32, u32), u32>,
    pub n_arcs: usize,
}

/// Arcs out of a pair, the newest first.
pub(crate) struct Outgoing<'a> {
    out: &'a [OutBlock],
    /// The block to be read, or the arc if there is only one.
    head: u32,
    /// How many arcs of the block are to come.
    left: u32,
    /// How many arcs are to come.
    len: u32,
    is_single: bool,
}

impl Iterator for Outgoing<'_> {
    type Item = ArcId;

    #[inline]
    fn next(&mut self) -> Option<ArcId> {
        self.len = self.len.checked_sub(1)?;
        if self.is_single {
            return Some(ArcId(self.head));
        }
        if self.left == 0 {
            self.head = self.out[self.head as usize].next;
            self.left = OUT_BLOCK;
        }
        self.left -= 1;
        Some(ArcId(self.out[self.head as usize].arcs[self.left as usize]))
    }
}

impl Arcs {
    /// The arcs out of a pair: (next state, arc).
    pub fn out(&self, list: OutList) -> impl Iterator<Item = (State, ArcId)> {
        let OutList { head, len } = list;
        let arcs = Outgoing { out: &self.out, head, left: list.filled(), len, is_single: len == 1 };
        arcs.map(|arc| (self.target(arc), arc))
    }

    /// The blocks of the arcs into a state.
    #[inline(always)]
    pub fn blocks(&self, list: &InList) -> Blocks<'_> {
        Blocks { blocks: &self.blocks, heads: list.heads, used: 0, cursor: list.head() }
    }

    /// Asks for the block of an arc, which need not exist.
    #[inline(always)]
    pub fn prefetch_arc(&self, arc: usize) {
        prefetch(&self.blocks, arc / IN_BLOCK as usize);
    }

    /// Asks for the newest blocks of a predecessor list.
    #[inline(always)]
    pub fn prefetch(&self, list: &InList) {
        for head in list.heads {
            prefetch(&self.blocks, head as usize);
        }
    }

    /// The blocks of a predecessor list from one of them on.
    #[inline(always)]
    pub fn blocks_from(&self, cursor: u32) -> Blocks<'_> {
        Blocks { blocks: &self.blocks, heads: [NO_BLOCK; HEADS], used: HEADS, cursor }
    }

    /// The arcs into a state: (pair, weight, arc), the newest first.
    #[inline]
    pub fn incoming(&self, list: &InList) -> impl Iterator<Item = (Pair, f64, ArcId)> {
        let mut blocks = self.blocks(list);
        let mut filled = list.filled();
        std::iter::from_fn(move || {
            let (number, block) = blocks.next()?;
            let arcs = 0..std::mem::replace(&mut filled, IN_BLOCK as usize);
            Some(arcs.rev().map(move |i| {
                (Pair(block.pairs[i]), self.decode(block.codes[i]), ArcId(number * IN_BLOCK + i as u32))
            }))
        })
        .flatten()
    }

    /// Calls `visit` with each block of arcs into a state, the newest first: the id of its first arc, its pairs, their weights,
    /// and how many arcs it holds.
    #[inline(always)]
    pub fn visit_blocks(&self, list: &InList, mut visit: impl FnMut(u32, &InBlock, Weights, usize)) {
        let mut blocks = self.blocks(list);
        let mut filled = list.filled();
        while let Some((number, block)) = blocks.next() {
            visit(number * IN_BLOCK, block, self.weights(block), filled.min(IN_BLOCK as usize));
            filled = IN_BLOCK as usize;
        }
    }

    /// Calls `visit` with each arc into a state, the newest first: the same as [`Self::incoming`] without the bookkeeping of
    /// an iterator.
    #[inline(always)]
    pub fn visit_incoming(&self, list: &InList, mut visit: impl FnMut(Pair, f64, ArcId)) {
        self.visit_blocks(list, |first, block, weights, filled| {
            for i in (0..filled).rev() {
                visit(Pair(block.pairs[i]), weights[i], ArcId(first + i as u32));
            }
        });
    }

    #[inline]
    fn block(&self, arc: ArcId) -> &InBlock {
        &self.blocks[(arc.0 / IN_BLOCK) as usize]
    }

    /// The state that the arc leads to.
    #[inline]
    pub fn target(&self, arc: ArcId) -> State {
        State(self.block(arc).target)
    }

    /// The weight that a code stands for.
    #[inline(always)]
    pub fn decode(&self, code: u32) -> f64 {
        if code & WIDE == 0 { f64::from(code) } else { self.wide[(code ^ WIDE) as usize] }
    }

    /// The weights of a block's arcs.
    #[inline(always)]
    pub fn weights(&self, block: &InBlock) -> Weights {
        if block.is_wide() {
            return block.codes.map(|code| self.decode(code));
        }
        // Below 2³¹ the signed conversion is the same, and it is one instruction where the unsigned one is two.
        block.codes.map(|code| f64::from(code as i32))
    }

    /// What stands for the weight of an arc in 4 bytes until it changes.
    #[inline]
    pub fn code(&self, arc: ArcId) -> u32 {
        self.block(arc).codes[(arc.0 % IN_BLOCK) as usize]
    }

    #[inline]
    pub fn weight(&self, arc: ArcId) -> f64 {
        self.decode(self.code(arc))
    }

    /// Sets the weight of an arc. The caller has made sure that there is room for one more wide weight.
    #[inline]
    pub fn set_weight(&mut self, arc: ArcId, weight: f64) {
        let block = &mut self.blocks[(arc.0 / IN_BLOCK) as usize];
        let code = &mut block.codes[(arc.0 % IN_BLOCK) as usize];
        let whole = weight as u32; // saturates; 0 for what is below
        if *code & WIDE != 0 {
            self.wide[(*code ^ WIDE) as usize] = weight;
        } else if whole < WIDE && f64::from(whole) == weight {
            *code = whole;
        } else {
            *code = WIDE | self.wide.len() as u32;
            block.next_wide |= 1;
            self.wide.push(weight);
        }
    }

    /// Adds to the weight of an arc. As for [`Self::set_weight`], there is room for one more wide weight.
    #[inline]
    pub fn add_weight(&mut self, arc: ArcId, weight: f64) {
        let code = &mut self.blocks[(arc.0 / IN_BLOCK) as usize].codes[(arc.0 % IN_BLOCK) as usize];
        // One more observation of a count that stays one. Codes of wide weights are higher.
        if weight == 1.0 && *code < WIDE - 1 {
            *code += 1;
        } else {
            self.set_weight(arc, self.weight(arc) + weight);
        }
    }

    /// The pair that the arc leaves.
    #[inline]
    pub fn pair(&self, arc: ArcId) -> Pair {
        Pair(self.block(arc).pairs[(arc.0 % IN_BLOCK) as usize])
    }

    /// The arc of a pair to a state. O(1): at most `SHORT_LIST` predecessors or `LONG_ROW` successors are looked through.
    ///
    /// Predecessors first: their blocks are known side by side, and the one with the arc is the one to be changed.
    #[inline]
    pub fn find(&self, pair: Pair, out: OutList, next: State, into: &InList) -> Option<ArcId> {
        if into.len <= SHORT_LIST {
            let mut blocks = self.blocks(into);
            while let Some((number, block)) = blocks.next() {
                // One comparison a lane and no way out in between: the seven are looked at as one.
                let found = block.pairs.map(|other| u32::from(other == pair.0));
                let places = (0..IN_BLOCK).map(|i| found[i as usize] << i).sum::<u32>();
                if places != 0 {
                    // The lowest place is the arc; higher ones are unfilled and repeat it.
                    return Some(ArcId(number * IN_BLOCK + places.trailing_zeros()));
                }
            }
            return None;
        }
        if out.len > LONG_ROW {
            return self.long_rows.get(&(pair.0, next.0)).map(|&arc| ArcId(arc));
        }
        self.out(out).find(|&(state, _)| state == next).map(|(_, arc)| arc)
    }

    /// Adds an arc that does not exist yet. The caller has made sure that its id fits in 32 bits.
    pub fn add(&mut self, pair: Pair, out: &mut OutList, next: State, into: &mut InList) -> ArcId {
        let i = into.len % IN_BLOCK;
        if i == 0 {
            into.push(self.blocks.len() as u32);
            let before = into.heads[1];
            self.blocks.push(InBlock::new(pair.0, next.0, before));
        }
        self.blocks[into.head() as usize].pairs[i as usize] = pair.0;
        into.len += 1;
        let arc = ArcId(into.head() * IN_BLOCK + i);
        self.add_out(pair, out, next, arc);
        arc
    }

    /// Adds an arc that is in its predecessor list to the list of its pair.
    pub fn add_out(&mut self, pair: Pair, out: &mut OutList, next: State, arc: ArcId) {
        if out.len == LONG_ROW {
            let row: Vec<_> = self.out(*out).collect();
            self.long_rows.extend(row.into_iter().map(|(state, arc)| ((pair.0, state.0), arc.0)));
        }
        if out.len >= LONG_ROW {
            self.long_rows.insert((pair.0, next.0), arc.0);
        }
        if out.len == 0 {
            out.head = arc.0;
        } else {
            if out.len == 1 {
                self.out.push(OutBlock { arcs: [out.head, NONE, NONE], next: NONE });
                out.head = self.out.len() as u32 - 1;
            } else if out.len.is_multiple_of(OUT_BLOCK) {
                self.out.push(OutBlock { arcs: [NONE; 3], next: out.head });
                out.head = self.out.len() as u32 - 1;
            }
            self.out[out.head as usize].arcs[(out.len % OUT_BLOCK) as usize] = arc.0;
        }
        out.len += 1;
        self.n_arcs += 1;
    }

    /// Fills the predecessor lists from arrays in the order of arc ids, `target[arc]` being NONE where a block is unfilled.
    /// `lists` are those of all states.
    pub fn restore_in<'a>(
        &mut self,
        target: &[u32],
        pairs: &[u32],
        weights: &[f64],
        lists: impl Iterator<Item = &'a mut InList>,
    ) -> Result<()> {
        let mut lists: Vec<&mut InList> = lists.collect();
        let size = IN_BLOCK as usize;
        for (block, target) in target.chunks_exact(size).enumerate() {
            let filled = target.iter().take_while(|&&state| state != NONE).count();
            let is_one_list = target[..filled].iter().all(|&state| state == target[0]);
            let rest_empty = target[filled..].iter().all(|&state| state == NONE);
            let list = lists.get_mut(target[0] as usize);
            let (Some(list), true, true) = (list, is_one_list && filled > 0, rest_empty) else {
                return Err(Snapshot::problem(
                    "arcs.next_state",
                    &format!("block {block} is not one of a list"),
                ));
            };
            if list.len % IN_BLOCK != 0 {
                return Err(Snapshot::problem(
                    "arcs.next_state",
                    &format!("block {block} follows an unfilled one"),
                ));
            }
            self.blocks.push(InBlock::new(pairs[block * size], target[0], list.head()));
            let first = (block * size) as u32;
            for i in 0..filled {
                let new = &mut self.blocks[block];
                new.pairs[i] = pairs[block * size + i];
                self.set_weight(ArcId(first + i as u32), weights[block * size + i]);
            }
            list.push(block as u32);
            list.len += filled as u32;
        }
        Ok(())
    }

    /// Makes the arcs of pair `from` those of pair `to`.
    pub fn rename_pair(&mut self, from: Pair, to: Pair, out: OutList) {
        let row: Vec<_> = self.out(out).collect();
        for (state, arc) in row {
            for pair in &mut self.blocks[(arc.0 / IN_BLOCK) as usize].pairs {
                if *pair == from.0 {
                    *pair = to.0;
                }
            }
            if self.long_rows.remove(&(from.0, state.0)).is_some() {
                self.long_rows.insert((to.0, state.0), arc.0);
            }
        }
    }

    /// The largest number of blocks for which every arc id fits in 32 bits, with room for the links of a queue.
    pub const MAX_BLOCKS: usize = (u32::MAX / IN_BLOCK) as usize - 2048;

    /// Whether one more weight that is no count can be stored.
    pub fn has_room(&self, more: usize) -> bool {
        self.blocks.len() + more <= Self::MAX_BLOCKS && self.wide.len() + more <= (WIDE - 1) as usize
    }

    /// Bytes in use (filled, not reserved).
    pub fn bytes(&self) -> usize {
        size_of_val(&self.blocks[..])
            + size_of_val(&self.wide[..])
            + size_of_val(&self.out[..])
            + self.long_rows.len() * 13
    }
}
