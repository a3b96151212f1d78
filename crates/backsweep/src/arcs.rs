//! Storage of arcs (pair → next state), readable in both directions without scanning.
//!
//! The list of arcs *into* a state is a chain of blocks of one cache line each, seven arcs a block: what a small backup
//! reads of the model is one read of such blocks. Blocks are never moved, freed or reordered, so that adding an arc costs
//! constant time in the worst case (a hub with a million predecessors included), an arc's id is its place, and an update
//! cycle can stop between two blocks and go on later. The list of arcs *out of* a pair holds (next state, arc id) in small
//! blocks of its own; the weight is stored once, where the small backup reads it.
//!
//! A weight that is a whole number below 2³¹, as counts are, takes 4 bytes; any other stands in a table beside. With 8 bytes for
//! every weight a block held five arcs, and cycles on models larger than the cache took a fifth longer.
//!
//! Memory: 64/7 bytes an arc one way and 28/3 the other, plus the unfilled part of each list's first block, plus 8 for a weight
//! that is no count.

use crate::{Arc, Pair, Result, Snapshot, State};
use rustc_hash::FxHashMap;

/// No block.
pub(crate) const NONE: u32 = u32::MAX;
/// Arcs in a block of a predecessor list.
pub(crate) const IN_BLOCK: u32 = 7;
const OUT_BLOCK: u32 = 3;
/// Pairs with more successors than this are looked up by hash instead of by a scan.
const LONG_ROW: u32 = 48;
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
    /// The block filled before this one, which is full and has a *smaller* number, or NONE.
    pub next: u32,
    /// How many arcs the block holds, at least 1.
    filled: u16,
    /// Whether some code has WIDE set.
    is_wide: bool,
}

impl InBlock {
    fn new(pair: u32, next: u32) -> Self {
        Self { pairs: [pair; 7], codes: [0; 7], next, filled: 0, is_wide: false }
    }

    /// How many arcs the block holds.
    #[inline(always)]
    pub fn filled(&self) -> usize {
        usize::from(self.filled)
    }
}

#[derive(Clone, Debug)]
struct OutBlock {
    states: [u32; OUT_BLOCK as usize],
    arcs: [u32; OUT_BLOCK as usize],
    /// The block filled before this one, which is full, or NONE.
    next: u32,
}

/// One end of a list of arcs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    /// The newest block, the only one that may be unfilled; NONE if and only if `len` is 0.
    pub head: u32,
    /// The number of arcs in the list.
    pub len: u32,
}

impl List {
    pub const EMPTY: Self = Self { head: NONE, len: 0 };

    /// How many arcs the newest block of a successor list holds.
    #[inline(always)]
    fn filled_out(self) -> u32 {
        // An empty list has no block, and the question does not arise.
        (self.len + OUT_BLOCK - 1) % OUT_BLOCK + 1
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

/// Arcs out of a pair: (next state, arc).
pub(crate) struct Outgoing<'a> {
    arcs: &'a Arcs,
    block: u32,
    left: u32,
}

impl Iterator for Outgoing<'_> {
    type Item = (State, Arc);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            if self.block == NONE {
                return None;
            }
            self.block = self.arcs.out[self.block as usize].next;
            if self.block == NONE {
                return None;
            }
            self.left = OUT_BLOCK;
        }
        self.left -= 1;
        let block = &self.arcs.out[self.block as usize];
        let i = self.left as usize;
        Some((State(block.states[i]), Arc(block.arcs[i])))
    }
}

/// Arcs into a state: (pair, weight, arc).
pub(crate) struct Incoming<'a> {
    arcs: &'a Arcs,
    block: u32,
    left: u32,
}

impl Iterator for Incoming<'_> {
    type Item = (Pair, f64, Arc);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            if self.block == NONE {
                return None;
            }
            self.block = self.arcs.blocks[self.block as usize].next;
            if self.block == NONE {
                return None;
            }
            self.left = IN_BLOCK;
        }
        self.left -= 1;
        let block = &self.arcs.blocks[self.block as usize];
        let i = self.left as usize;
        let weight = self.arcs.decode(block.codes[i]);
        Some((Pair(block.pairs[i]), weight, Arc(self.block * IN_BLOCK + self.left)))
    }
}

impl Arcs {
    pub fn out(&self, list: List) -> Outgoing<'_> {
        Outgoing { arcs: self, block: list.head, left: if list.len == 0 { 0 } else { list.filled_out() } }
    }

    pub fn incoming(&self, list: List) -> Incoming<'_> {
        let filled = self.blocks.get(list.head as usize).map_or(0, |block| u32::from(block.filled));
        Incoming { arcs: self, block: list.head, left: filled }
    }

    #[inline(always)]
    fn decode(&self, code: u32) -> f64 {
        if code & WIDE == 0 { f64::from(code) } else { self.wide[(code ^ WIDE) as usize] }
    }

    /// The weights of a block's arcs.
    #[inline(always)]
    pub fn weights(&self, block: &InBlock) -> [f64; IN_BLOCK as usize] {
        if block.is_wide {
            return block.codes.map(|code| self.decode(code));
        }
        // Below 2³¹ the signed conversion is the same, and it is one instruction where the unsigned one is two.
        block.codes.map(|code| f64::from(code as i32))
    }

    #[inline]
    pub fn weight(&self, arc: Arc) -> f64 {
        self.decode(self.blocks[(arc.0 / IN_BLOCK) as usize].codes[(arc.0 % IN_BLOCK) as usize])
    }

    /// Sets the weight of an arc. The caller has made sure that there is room for one more wide weight.
    #[inline]
    pub fn set_weight(&mut self, arc: Arc, weight: f64) {
        let block = &mut self.blocks[(arc.0 / IN_BLOCK) as usize];
        let code = &mut block.codes[(arc.0 % IN_BLOCK) as usize];
        let whole = weight as u32; // saturates; 0 for what is below
        if *code & WIDE != 0 {
            self.wide[(*code ^ WIDE) as usize] = weight;
        } else if whole < WIDE && f64::from(whole) == weight {
            *code = whole;
        } else {
            *code = WIDE | self.wide.len() as u32;
            block.is_wide = true;
            self.wide.push(weight);
        }
    }

    /// The pair that the arc leaves.
    #[inline]
    pub fn pair(&self, arc: Arc) -> Pair {
        Pair(self.blocks[(arc.0 / IN_BLOCK) as usize].pairs[(arc.0 % IN_BLOCK) as usize])
    }

    /// The arc of a pair to a state. O(1): at most `LONG_ROW` entries are scanned.
    #[inline]
    pub fn find(&self, pair: Pair, out: List, next: State) -> Option<Arc> {
        if out.len > LONG_ROW {
            return self.long_rows.get(&(pair.0, next.0)).map(|&arc| Arc(arc));
        }
        self.out(out).find(|&(state, _)| state == next).map(|(_, arc)| arc)
    }

    /// Adds an arc that does not exist yet. The caller has made sure that its id fits in 32 bits.
    pub fn add(&mut self, pair: Pair, out: &mut List, next: State, into: &mut List) -> Arc {
        if into.len.is_multiple_of(IN_BLOCK) {
            self.blocks.push(InBlock::new(pair.0, into.head));
            into.head = self.blocks.len() as u32 - 1;
        }
        let i = into.len % IN_BLOCK;
        let block = &mut self.blocks[into.head as usize];
        block.pairs[i as usize] = pair.0;
        block.filled += 1;
        into.len += 1;
        let arc = Arc(into.head * IN_BLOCK + i);
        self.add_out(pair, out, next, arc);
        arc
    }

    /// Adds an arc that is in its predecessor list to the list of its pair.
    pub fn add_out(&mut self, pair: Pair, out: &mut List, next: State, arc: Arc) {
        if out.len == LONG_ROW {
            let row: Vec<_> = self.out(*out).collect();
            self.long_rows.extend(row.into_iter().map(|(state, arc)| ((pair.0, state.0), arc.0)));
        }
        if out.len >= LONG_ROW {
            self.long_rows.insert((pair.0, next.0), arc.0);
        }
        if out.len.is_multiple_of(OUT_BLOCK) {
            self.out.push(OutBlock { states: [NONE; 3], arcs: [NONE; 3], next: out.head });
            out.head = self.out.len() as u32 - 1;
        }
        let block = &mut self.out[out.head as usize];
        block.states[(out.len % OUT_BLOCK) as usize] = next.0;
        block.arcs[(out.len % OUT_BLOCK) as usize] = arc.0;
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
        lists: impl Iterator<Item = &'a mut List>,
    ) -> Result<()> {
        let mut lists: Vec<&mut List> = lists.collect();
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
            self.blocks.push(InBlock::new(pairs[block * size], list.head));
            let first = (block * size) as u32;
            for i in 0..filled {
                let new = &mut self.blocks[block];
                new.pairs[i] = pairs[block * size + i];
                new.filled += 1;
                self.set_weight(Arc(first + i as u32), weights[block * size + i]);
            }
            list.head = block as u32;
            list.len += filled as u32;
        }
        Ok(())
    }

    /// Makes the arcs of pair `from` those of pair `to`.
    pub fn rename_pair(&mut self, from: Pair, to: Pair, out: List) {
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

    /// The largest number of blocks for which every arc id fits in 32 bits and is not NONE.
    pub const MAX_BLOCKS: usize = (u32::MAX / IN_BLOCK) as usize - 1;

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
