//! What the two planners on small backups share: a pass over the predecessors of a state that can be cut at any block, and
//! the upkeep that takes rounding errors out (Departures 3 and 5).

use crate::arcs::{Blocks, IN_BLOCK, InBlock, NO_BLOCK, NONE};
use crate::prefetch::prefetch;
use crate::queue::Queue;
use crate::values::COLLAPSE;
use crate::{ArcId, Model, Pair, Result, Snapshot, State, Values};

/// An update cycle under way: the predecessors of one state are being told its new value.
///
/// A pair that the pass has not reached still holds the old value. Arcs that are added meanwhile are put in front of the
/// cursor (see [`crate::arcs`]), so they count as told.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    pub state: u32,
    /// The value that pairs not yet reached hold.
    pub old: f64,
    /// Whether predecessors are recomputed exactly instead of receiving a small backup.
    pub exact: bool,
    /// The next block of predecessors: those in it and in the ones after it, which have smaller numbers, have not been
    /// reached. NO_BLOCK if all have.
    cursor: u32,
}

impl Pass {
    pub fn new(model: &Model, state: u32, old: f64, exact: bool) -> Self {
        Self { state, old, exact, cursor: model.states[state as usize].into.head() }
    }

    /// The blocks that are left, and how many arcs the first of them holds; the others are full. The pass goes on where
    /// [`Self::leave`] says.
    #[inline(always)]
    pub(super) fn blocks<'m>(&self, model: &'m Model) -> (Blocks<'m>, usize) {
        let into = &model.states[self.state as usize].into;
        if self.cursor == into.head() {
            (model.arcs.blocks(into), into.filled())
        } else {
            (model.arcs.blocks_from(self.cursor), IN_BLOCK as usize)
        }
    }

    /// The next block and how many arcs it holds; from now on its pairs count as reached.
    #[inline]
    pub(super) fn advance<'m>(&mut self, model: &'m Model) -> Option<(&'m InBlock, usize)> {
        let (mut blocks, filled) = self.blocks(model);
        let (_, block) = blocks.next()?;
        self.leave(&blocks);
        Some((block, filled))
    }

    /// From now on the pairs in the blocks that were taken count as reached.
    #[inline(always)]
    pub(super) fn leave(&mut self, blocks: &Blocks<'_>) {
        self.cursor = blocks.cursor();
    }

    /// Nothing is left to be told.
    pub fn finish(&mut self) {
        self.cursor = NO_BLOCK;
    }

    pub fn is_finished(&self) -> bool {
        self.cursor == NO_BLOCK
    }

    /// The old value, if the arc has not been reached.
    #[inline]
    pub fn held(&self, state: State, arc: ArcId) -> Option<f64> {
        (self.state == state.0 && self.cursor != NO_BLOCK && arc.0 / IN_BLOCK <= self.cursor)
            .then_some(self.old)
    }

    pub fn store(pass: Option<Self>, snapshot: &mut Snapshot) {
        let numbers = pass.map(|p| vec![u64::from(p.state), u64::from(p.cursor), u64::from(p.exact)]);
        snapshot.put("pass.numbers", numbers.unwrap_or_default());
        snapshot.put("pass.old", pass.map_or(vec![], |p| vec![p.old]));
    }

    pub fn restore(model: &Model, snapshot: &Snapshot) -> Result<Option<Self>> {
        let pass = match (snapshot.u64s("pass.numbers")?, snapshot.f64s("pass.old")?) {
            ([], []) => return Ok(None),
            (&[state, cursor, exact], &[old]) if state < model.n_states() as u64 && old.is_finite() => Self {
                state: state as u32,
                old,
                exact: exact != 0,
                cursor: cursor.min(u64::from(NONE)) as u32,
            },
            _ => return Err(Snapshot::problem("pass.numbers", "it is not a cycle of this model")),
        };
        let mut block = model.states[pass.state as usize].into.head();
        while block != NO_BLOCK && block > pass.cursor {
            block = model.arcs.blocks[block as usize].next();
        }
        if block != pass.cursor {
            return Err(Snapshot::problem("pass.numbers", "its cursor is not a block of its state"));
        }
        Ok(Some(pass))
    }
}

/// The state whose turn is likely to come next. What its cycle will read is asked for in three steps, each of which reads what
/// the one before has brought: its row while this cycle begins, its blocks before queue and maxima are seen to, its pairs at the end.
/// At the end it is known who is next; for another state than expected there is time only for its blocks.
#[derive(Clone, Copy)]
pub struct Foreseen(u32);

impl Foreseen {
    #[inline(always)]
    pub fn row(model: &Model, queue: &mut impl Queue) -> Self {
        let state = queue.likely();
        prefetch(&model.states, state as usize);
        Self(state)
    }

    #[inline(always)]
    pub fn blocks(self, model: &Model) {
        if let Some(row) = model.states.get(self.0 as usize) {
            model.arcs.prefetch(&row.into);
        }
    }

    #[inline(always)]
    pub fn pairs(self, model: &Model, values: &Values, queue: &mut impl Queue) {
        let top = queue.likely();
        if top != self.0 {
            return Self(top).blocks(model);
        }
        if let Some(row) = model.states.get(top as usize)
            && let Some((_, block)) = model.arcs.blocks(&row.into).next()
        {
            for pair in block.pairs {
                prefetch(&values.pairs, pair as usize);
            }
        }
    }
}

/// Runs a call on the rest of a planner with whichever queue it has, so that hot loops are compiled for each kind.
macro_rules! with_queue {
    ($self:ident, $queue:ident => $call:expr) => {
        match &mut $self.queue {
            crate::queue::AnyQueue::Exact($queue) => $call,
            crate::queue::AnyQueue::Bucket($queue) => $call,
        }
    };
}
pub(super) use with_queue;

/// Small backups that pay for one successor in the round of exact refreshes.
const BACKUPS_PER_SUCCESSOR: u64 = 1000;

/// Changes of a value by no more than this fraction of it are of the size of rounding errors, at any discount: sums of values
/// that are themselves much larger than this one have rounded them.
const ROUNDING_LEVEL: f64 = 1.0 / (1u64 << 36) as f64;

/// Whether a pair has too many successors to be recomputed by a caller who wants to stop after about `limit` backups:
/// recomputing cannot be cut.
#[inline]
pub(super) fn is_too_long(model: &Model, pair: u32, limit: usize) -> bool {
    model.pairs[pair as usize].out().len as usize > limit.max(256)
}

/// When to recompute pairs exactly, so that rounding errors never add up: all predecessors of a state whose value has fallen
/// to a thousandth of its peak, and one pair in turn for every thousand small backups a successor (amortised O(1)).
#[derive(Clone, Debug, Default)]
pub(super) struct Upkeep {
    /// The largest value of each state since its predecessors were last recomputed exactly, without sign.
    peaks: Vec<f32>,
    /// The next pair in turn.
    next: u32,
    /// Small backups done and not yet used up.
    credit: u64,
}

#[inline]
fn magnitude(value: f64) -> f32 {
    value.abs().min(f64::from(f32::MAX)) as f32
}

impl Upkeep {
    /// Takes in new states. Pairs may be built on the value they start with before it is ever computed: it is their peak.
    pub fn grow(&mut self, model: &Model, start_value: f64) {
        self.peaks.resize(model.n_states(), magnitude(start_value));
    }

    /// Whether the predecessors of a state whose value became `new` should be recomputed exactly: because it collapsed, or
    /// because the change is so small that the rounding of running sums would keep values in motion for ever.
    #[inline]
    pub fn wants_exact(&mut self, state: u32, old: f64, new: f64) -> bool {
        let magnitude = magnitude(new);
        let peak = &mut self.peaks[state as usize];
        let collapse = magnitude < *peak / COLLAPSE as f32;
        if collapse || magnitude > *peak {
            *peak = magnitude;
        }
        collapse || (new - old).abs() < new.abs() * ROUNDING_LEVEL
    }

    /// Takes note of small backups; returns the pair that is due to be recomputed, if one is.
    ///
    /// A pair that is too long (see [`is_too_long`]) is passed over; it has its turn when there is no deadline, and is
    /// recomputed at visits 8, 16, 32 … in any case.
    #[inline]
    pub fn due(&mut self, model: &Model, small_backups: usize, limit: usize) -> Option<Pair> {
        self.credit += small_backups as u64;
        if self.credit < BACKUPS_PER_SUCCESSOR || model.pairs.is_empty() {
            return None;
        }
        let pair = if (self.next as usize) < model.pairs.len() { self.next } else { 0 };
        let row = &model.pairs[pair as usize];
        let cost = BACKUPS_PER_SUCCESSOR * (1 + u64::from(row.out().len));
        if self.credit < cost {
            return None;
        }
        self.next = pair + 1;
        if is_too_long(model, pair, limit) {
            return None;
        }
        self.credit -= cost;
        (model.owners.of(pair) != NONE).then_some(Pair(pair))
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.peaks[..])
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("upkeep.peaks", self.peaks.iter().map(|&peak| f64::from(peak)).collect::<Vec<f64>>());
        snapshot.put("upkeep.numbers", vec![u64::from(self.next), self.credit]);
    }

    pub fn restore(model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let peaks = snapshot.finite("upkeep.peaks", model.n_states())?;
        let &[next, credit] = snapshot.u64s("upkeep.numbers")? else {
            return Err(Snapshot::problem("upkeep.numbers", "it has not 2 items"));
        };
        if credit > u64::MAX / 2 {
            return Err(Snapshot::problem("upkeep.numbers", "it counts above 2^63 small backups"));
        }
        let peaks = peaks.iter().map(|&peak| peak as f32).collect();
        Ok(Self { peaks, next: next.min(u64::from(NONE) - 1) as u32, credit })
    }
}
