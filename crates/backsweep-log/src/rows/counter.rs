//! Rows to counts, as one thread sees them.
//!
//! A *fragment* is a run of consecutive rows of one case in increasing order. Steps within a fragment are counted immediately;
//! only its first and last row are remembered, and `join.rs` joins the fragments of a case when all rows have been read. If
//! fragments of a case overlap, as in a shuffled log, the log is read again with every row as a separate fragment
//! (`single_rows`).

use crate::decimal::{Decimal, power};
use crate::error::RowProblem;
use crate::fold::{CaseKey, FOLDS, case_key, fold};
use crate::moment::Moment;
use crate::names::{END, NameTable};
use crate::warnings::plain;
use hashbrown::HashTable;
use rustc_hash::FxHashSet;

/// The end of a case, as far as a row tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nothing.
    #[default]
    None,
    /// The case ended here.
    Ended,
    /// The case was cut here.
    Cut,
}

/// One row of a log, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EncodedRow {
    pub order: Moment,
    pub reward: i64,
    pub state: u32,
    pub action: u32,
    /// The next state, in a log whose rows name it.
    pub next: u32,
    /// Which of the outcomes the row has, from 1; 0 for none.
    pub outcome: u16,
    /// The probability of the action in billionths; 0 if it is not given.
    pub propensity: u32,
    /// The cohort of the case, as far as this row says.
    pub cohort: u32,
    pub stop: Stop,
}

/// The row right before a fragment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Before {
    /// A row of the same case.
    Same,
    /// A row of another case.
    Other,
    /// The previous block.
    #[default]
    Block,
}

/// A run of consecutive rows of one case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fragment {
    pub case: CaseKey,
    pub fold: u8,
    pub first: Moment,
    pub first_state: u32,
    pub block: u32,
    /// The place of the last row in its block.
    pub line: u32,
    /// `true` if there are more rows than the last.
    pub is_long: bool,
    /// `true` if this stands for a bad row; the other fields are then meaningless.
    pub is_bad: bool,
    pub before: Before,
    /// `true` if its last row is that of its block.
    pub ends_block: bool,
    pub last: EncodedRow,
}

/// The count of a transition, and the sum of its rewards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransitionCount {
    pub state: u32,
    pub action: u32,
    pub next: u32,
    pub n: i64,
    pub sum: i64,
}

/// The counts of one fold.
#[derive(Default)]
pub(crate) struct FoldCounts(HashTable<TransitionCount>);

#[inline]
fn hash(state: u32, action: u32, next: u32) -> u64 {
    let mixed =
        (u64::from(state) << 32 | u64::from(next)) ^ u64::from(action).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

impl Fragment {
    /// Returns `true` if this fragment continues the case after another one: its order is later or, where the file breaks ties, the same
    /// and its place is later.
    pub fn is_after(&self, before: &Self, ties_by_file: bool) -> bool {
        self.first > before.last.order
            || ties_by_file
                && self.first == before.last.order
                && (self.block, self.line) > (before.block, before.line)
    }

    /// Returns `true` if no other case is between a fragment and this one.
    pub fn follows(&self, before: &Self) -> bool {
        match self.before {
            Before::Same => true,
            Before::Other => false,
            Before::Block => before.ends_block && before.block + 1 == self.block,
        }
    }
}

impl FoldCounts {
    #[inline]
    pub fn add(&mut self, state: u32, action: u32, next: u32, n: i64, sum: i64) {
        let is_it =
            |entry: &TransitionCount| entry.state == state && entry.next == next && entry.action == action;
        match self.0.find_mut(hash(state, action, next), is_it) {
            Some(entry) => {
                entry.n += n;
                // Whether sums fit is checked once, at the end; until then they may wrap.
                entry.sum = entry.sum.wrapping_add(sum);
            }
            None => self.insert(TransitionCount { state, action, next, n, sum }),
        }
    }

    #[cold]
    fn insert(&mut self, entry: TransitionCount) {
        let key = hash(entry.state, entry.action, entry.next);
        self.0.insert_unique(key, entry, |entry| hash(entry.state, entry.action, entry.next));
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn entries(&self) -> impl Iterator<Item = &TransitionCount> {
        self.0.iter()
    }

    pub fn scale(&mut self, factor: i64) {
        self.0.iter_mut().for_each(|entry| entry.sum = entry.sum.wrapping_mul(factor));
    }
}

/// A step not yet in its counts.
#[derive(Clone, Copy)]
struct PendingStep {
    reward: i64,
    state: u32,
    action: u32,
    next: u32,
}

/// The number of steps of a fold that are buffered before they are added to its counts: consecutive lookups in one table overlap and
/// mostly stay in the cache. Without the buffer, every step would be a lookup in a different one of sixteen tables.
const MAX_WAITING_STEPS: usize = 1 << 13;

/// The counts of one fold while they are being built.
#[derive(Default)]
pub(crate) struct FoldBuffer {
    counts: FoldCounts,
    waiting: Vec<PendingStep>,
}

impl FoldBuffer {
    #[inline]
    fn add(&mut self, state: u32, action: u32, next: u32, reward: i64) {
        self.waiting.push(PendingStep { reward, state, action, next });
        if self.waiting.len() == MAX_WAITING_STEPS {
            self.settle();
        }
    }

    #[cold]
    fn settle(&mut self) {
        for PendingStep { reward, state, action, next } in self.waiting.drain(..) {
            self.counts.add(state, action, next, 1, reward);
        }
    }

    /// The counts, with the buffer emptied.
    pub fn into_counts(mut self) -> FoldCounts {
        self.settle();
        self.counts
    }

    fn scale(&mut self, factor: i64) {
        self.settle();
        self.counts.scale(factor);
    }
}

/// A row that could not be read.
#[derive(Clone, Debug)]
pub(crate) struct BadLine {
    pub block: u32,
    pub line: u32,
    pub problem: RowProblem,
}

/// The number of bad rows that are remembered for messages; all are counted.
pub(crate) const SHOWN_BAD: usize = 5;

/// The settings with which the rows of a log are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mode {
    /// `true` if rows name their next state.
    pub has_next: bool,
    /// `true` if rows belong to cases.
    pub has_cases: bool,
    /// `true` if rows of a case with the same order are taken in file order.
    pub ties_by_file: bool,
    /// Every row is a separate fragment.
    pub single_rows: bool,
    /// So is every row of these folds, whose cases are kept as a whole.
    pub keep: u16,
    /// The log is read in this many passes, each for its share of the cases.
    pub passes: u32,
    pub pass: u32,
}

/// The counts of one thread.
#[derive(Default)]
pub(crate) struct Counter {
    mode: Mode,
    pub states: NameTable,
    pub actions: NameTable,
    pub cohorts: NameTable,
    pub folds: Vec<FoldBuffer>,
    pub fragments: Vec<Fragment>,
    /// Rewards are in units of 10^-`decimals`.
    pub decimals: u8,
    /// The largest reward, without sign; `u64::MAX` if one did not fit.
    pub largest: u64,
    pub rows: u64,
    pub n_bad: u64,
    pub bad: Vec<BadLine>,
    /// Rows whose next state is not the state of the next row.
    pub breaks: u64,
    /// The number of lines, or rows, of each block that was read.
    pub lengths: Vec<(u32, u32)>,
    open: Option<Fragment>,
    case: CaseKey,
    fold: usize,
    /// `true` if every row of this case is a separate fragment.
    alone: bool,
    /// `true` if this case belongs to another pass.
    is_other: bool,
    /// The row before the next fragment; [`Before::Block`] until a block's first case.
    before: Before,
    in_block: bool,
    /// Names of cases that may be other names of the same case.
    pub respelled: FxHashSet<Vec<u8>>,
}

impl Counter {
    pub fn new(mode: Mode, decimals: u8) -> Self {
        let folds = (0..FOLDS).map(|_| FoldBuffer::default()).collect();
        Self { mode, decimals, folds, ..Self::default() }
    }

    /// The rows that follow are of this case, whose fold is that of `group`.
    pub fn case(&mut self, name: &[u8], group: &[u8]) {
        self.close();
        let Mode { single_rows, keep, passes, pass, .. } = self.mode;
        self.case = case_key(name);
        self.before = if self.in_block { Before::Other } else { Before::Block };
        self.in_block = true;
        if pass == 0 && plain(name).is_some() {
            self.respelled.insert(name.to_vec());
        }
        self.fold = fold(&if group == name { self.case } else { case_key(group) });
        self.alone = single_rows || keep >> self.fold & 1 == 1;
        self.is_other = passes > 1 && u32::from(self.case[1]) % passes != pass;
    }

    /// Returns `true` if the current case is left to another pass.
    #[inline]
    pub fn is_other(&self) -> bool {
        self.is_other
    }

    /// Counts a row of the current case.
    #[inline]
    pub fn push(&mut self, row: EncodedRow, block: u32, line: u32) {
        self.rows += 1;
        self.largest = self.largest.max(row.reward.unsigned_abs());
        if !self.mode.has_cases {
            let next = if row.stop == Stop::Ended { END } else { row.next };
            self.folds[0].add(row.state, row.action, next, row.reward);
            return;
        }
        if let Some(open) = &mut self.open
            && (open.last.order < row.order || self.mode.ties_by_file && open.last.order == row.order)
            && open.last.stop == Stop::None
        {
            let EncodedRow { state, action, reward, next, .. } = open.last;
            let next = if self.mode.has_next { next } else { row.state };
            self.breaks += u64::from(next != row.state);
            self.folds[self.fold].add(state, action, next, reward);
            (open.last, open.line, open.is_long) = (row, line, true);
            return;
        }
        self.close();
        let (case, fold, first, first_state) = (self.case, self.fold as u8, row.order, row.state);
        let before = std::mem::replace(&mut self.before, Before::Same);
        let fragment = Fragment {
            case,
            fold,
            first,
            first_state,
            block,
            line,
            before,
            last: row,
            ..Fragment::default()
        };
        if self.alone { self.fragments.push(fragment) } else { self.open = Some(fragment) }
    }

    /// Records a row that cannot be read; its case is dropped too, if at least the case could be read.
    #[cold]
    pub fn push_bad(&mut self, block: u32, line: u32, problem: RowProblem, case_is_known: bool) {
        if !case_is_known && self.mode.pass > 0 {
            return; // the first pass has reported it
        }
        self.rows += 1;
        self.n_bad += 1;
        if self.bad.len() < SHOWN_BAD {
            self.bad.push(BadLine { block, line, problem });
        }
        if case_is_known && self.mode.has_cases {
            self.close();
            let (case, before) = (self.case, Before::Same);
            let bad = Fragment { case, block, line, is_bad: true, before, ..Fragment::default() };
            self.fragments.push(bad);
        }
    }

    /// A block of this many lines was read. The next one may come from another place.
    pub fn end_block(&mut self, block: u32, n_lines: u32) {
        self.close();
        if let Some(last) = self.fragments.last_mut().filter(|last| last.case == self.case && self.in_block) {
            last.ends_block = true;
        }
        self.in_block = false;
        self.lengths.push((block, n_lines));
    }

    fn close(&mut self) {
        self.fragments.extend(self.open.take());
    }

    /// A reward in units of 10^-`decimals`; `decimals` grows if necessary.
    #[inline]
    pub fn reward(&mut self, reward: Decimal) -> i64 {
        if reward.decimals > self.decimals {
            self.rescale(reward.decimals);
        }
        reward.in_units(self.decimals).unwrap_or_else(|| {
            self.largest = u64::MAX;
            0
        })
    }

    #[cold]
    pub fn rescale(&mut self, decimals: u8) {
        if decimals == self.decimals {
            return;
        }
        let factor = power(decimals - self.decimals);
        self.folds.iter_mut().for_each(|fold| fold.scale(factor));
        for fragment in self.fragments.iter_mut().chain(&mut self.open) {
            fragment.last.reward = fragment.last.reward.wrapping_mul(factor);
        }
        self.largest = self.largest.saturating_mul(factor.unsigned_abs());
        self.decimals = decimals;
    }
}
