//! Arcs from the arrays of a snapshot.

use super::{Arcs, Cursor, InList, LANES, NO_BLOCK, OutList};
use crate::store::{NONE, Sum};
use crate::{ArcId, Pair, Result, Snapshot, State};

/// The arrays that a snapshot holds of arcs, in the order of their ids; what an unfilled lane has does not matter.
pub(crate) struct StoredArcs<'a> {
    /// The state that each arc leads to; NONE for an unfilled lane.
    pub target: &'a [u32],
    /// The pair that each leaves.
    pub pair: &'a [u32],
    pub weight: &'a [f64],
    /// What each weight has rounded away; may be empty.
    pub weight_low: &'a [f64],
    /// The place of each in the list of its pair, the oldest first.
    pub rank: &'a [u32],
}

impl Cursor {
    /// As a number for a file; [`Arcs::cursor`] is the way back.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl Arcs {
    /// The cursor of a list that a file holds, if the list has one there.
    pub fn cursor(&self, list: &InList, number: u64) -> Option<Cursor> {
        let mut block = list.heads[0];
        while block != NO_BLOCK && u64::from(block) > number {
            block = self.blocks[block as usize].next();
        }
        (u64::from(block) == number).then_some(Cursor(block))
    }

    /// How many arcs a block of a snapshot has.
    pub const STORED_BLOCK: u32 = LANES;

    /// Fills empty storage. Pairs, states and weights are in range. `into` and `out` are the lists of all states and pairs.
    ///
    /// # Errors
    /// If a block is not of one list, a list has an unfilled block but the newest, or an arc is not in the order of its pair.
    pub fn restore(
        &mut self,
        stored: &StoredArcs<'_>,
        into: &mut [&mut InList],
        out: &mut [&mut OutList],
    ) -> Result<()> {
        let problem = |problem: String| Snapshot::problem("arcs.next_state", &problem);
        let size = LANES as usize;
        for (block, target) in stored.target.chunks_exact(size).enumerate() {
            let filled = target.iter().take_while(|&&state| state != NONE).count();
            let is_one_list = filled > 0 && target[..filled].iter().all(|&state| state == target[0]);
            if !is_one_list || target[filled..].iter().any(|&state| state != NONE) {
                return Err(problem(format!("block {block} mixes arcs of several states")));
            }
            let list = &mut *into[target[0] as usize];
            if !list.len.is_multiple_of(LANES) {
                return Err(problem(format!("block {block} follows an unfilled one")));
            }
            self.add_block(State(target[0]), list);
            list.len += filled as u32;
            for arc in block * size..block * size + filled {
                self.blocks[block].slots[arc % size] = stored.pair[arc] + 1;
                let low = stored.weight_low.get(arc).copied().unwrap_or(0.0);
                self.set_weight(ArcId(arc as u32), Sum { high: stored.weight[arc], low });
            }
        }
        let mut rows: Vec<(u32, u32, u32)> = (0..stored.target.len())
            .filter(|&arc| stored.target[arc] != NONE)
            .map(|arc| (stored.pair[arc], stored.rank[arc], arc as u32))
            .collect();
        rows.sort_unstable();
        for (pair, rank, arc) in rows {
            let list = &mut *out[pair as usize];
            if rank != list.len {
                return Err(problem(format!("the successors of pair {pair} are not in order")));
            }
            self.add_out(Pair(pair), list, State(stored.target[arc as usize]), ArcId(arc));
        }
        Ok(())
    }
}
