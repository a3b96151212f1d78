//! The schedule by which pairs are recomputed exactly, so that rounding errors of running sums
//! never add up (Departure 3).
//!
//! A pair is recomputed in full, O(successors),
//!   * when its weight passes 8, 16, 32 …: amortized O(1), since it has no more successors than
//!     observations;
//!   * when its value, or the value of one of its successors, has fallen to a thousandth of its
//!     *peak*, the largest one since it was last recomputed: rounding errors of the size of the
//!     peak would become visible. Paid for by a credit of 64 successors per observation and one per
//!     small backup, so that a value that keeps returning to 0 still costs O(1);
//!   * when a change is so small that the rounding of running sums would keep values changing
//!     forever;
//!   * in turn, one pair for every thousand small backups per successor.

use crate::model::Change;
use crate::{Model, Pair, Result, Snapshot, State};

/// A value that has fallen by this factor leaves rounding errors that are worth removing.
const COLLAPSE_FACTOR: f64 = 1000.0;

/// Small backups that pay for one successor in the round of exact refreshes.
const BACKUPS_PER_SUCCESSOR: u64 = 1000;

/// Successors that an observation pays for when values collapse; the initial credit; the maximum
/// credit.
const CREDIT_PER_OBSERVATION: u64 = 64;
const INITIAL_CREDIT: u64 = 1 << 20;
const MAX_CREDIT: u64 = 1 << 24;

/// A change of a value by no more than this fraction of it is of the size of rounding errors, at
/// any discount: it may come from rounded sums of much larger values.
const ROUNDING_LEVEL: f64 = 1.0 / (1u64 << 36) as f64;

/// Pairs with more successors than this, or than a caller's limit, are not recomputed for a caller
/// who may have to stop: up to seven pairs, a block, are recomputed between two checks.
const MAX_UNINTERRUPTED_SUCCESSORS: usize = 64;

/// A magnitude in 16 bits: exponent and four bits of the mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Peak(u16);

impl Peak {
    #[inline]
    fn of(value: f64) -> Self {
        Self((value.abs().to_bits() >> 48) as u16)
    }

    #[inline]
    fn value(self) -> f64 {
        f64::from_bits(u64::from(self.0) << 48)
    }

    /// Returns whether a value that is now `value` has collapsed since its peak.
    #[inline]
    fn is_far_above(self, value: f64) -> bool {
        self.value() > COLLAPSE_FACTOR * value.abs()
    }
}

/// Peaks and credits, from which it follows when to recompute.
#[derive(Clone, Debug)]
pub(crate) struct RefreshSchedule {
    /// The largest value of each state since its predecessors were last recomputed.
    state_peaks: Vec<Peak>,
    /// The largest value of each pair, as observations found it, since it was last recomputed.
    pair_peaks: Vec<Peak>,
    /// The next pair in turn.
    next: u32,
    /// Small backups done and not yet used up by the pairs in turn.
    backups: u64,
    /// The next pair in turn costs at least this many.
    least: u64,
    /// Successors that may be read when values collapse.
    credit: u64,
}

impl RefreshSchedule {
    pub fn new() -> Self {
        let (state_peaks, pair_peaks) = (Vec::new(), Vec::new());
        Self { state_peaks, pair_peaks, next: 0, backups: 0, least: 0, credit: INITIAL_CREDIT }
    }

    /// Adds new states and pairs. Their start value counts as a peak, since other values may be
    /// built on it before it is ever computed.
    pub fn grow(&mut self, model: &Model, start_value: f64) {
        self.state_peaks.resize(model.n_states(), Peak::of(start_value));
        self.pair_peaks.resize(model.n_pairs(), Peak::of(start_value));
        self.least = 0; // another pair may be next, or the next have moved
    }

    fn pay(&mut self, n_successors: usize) -> bool {
        let is_paid = self.credit >= n_successors as u64;
        self.credit -= if is_paid { n_successors as u64 } else { 0 };
        is_paid
    }

    /// Records a pair's value before something other than an observation changes it.
    pub fn note_peak(&mut self, pair: Pair, q_old: f64) {
        let peak = &mut self.pair_peaks[pair.index()];
        *peak = Peak::of(q_old).max(*peak);
    }

    /// Returns whether a pair must be recomputed after an observation whose value correction gives `q`, in
    /// place of `q_old`.
    #[inline]
    pub fn is_due(&mut self, model: &Model, change: &Change, q_old: f64, q: f64) -> bool {
        self.credit = (self.credit + CREDIT_PER_OBSERVATION).min(MAX_CREDIT);
        let peak = &mut self.pair_peaks[change.pair.index()];
        *peak = Peak::of(q_old).max(*peak);
        let exponent = |weight: f64| weight.to_bits() >> 52;
        let doubles = exponent(change.weight_after) > exponent(change.weight_before);
        // Below 8 there have been too few corrections for errors to add up, and in a large world
        // most observations are of such pairs. Undoing most of a weight multiplies the rounding
        // error of the rest.
        let is_due = doubles && (change.weight_after >= 8.0 || change.weight != 1.0)
            || change.weight_before > COLLAPSE_FACTOR * change.weight_after
            || peak.is_far_above(q) && self.pay(model.pair_record(change.pair).n_successors());
        if is_due {
            self.pair_peaks[change.pair.index()] = Peak::of(q);
        }
        is_due
    }

    /// Returns whether the predecessors of a state whose value became `new` must be recomputed: because it
    /// collapsed, or because the change is so small that rounding would keep values changing
    /// forever.
    #[inline]
    pub fn must_be_exact(&mut self, model: &Model, state: u32, old: f64, new: f64) -> bool {
        let peak = &mut self.state_peaks[state as usize];
        *peak = Peak::of(new).max(*peak);
        let collapses = peak.is_far_above(new) && self.pay_for_predecessors(model, state);
        if collapses {
            self.state_peaks[state as usize] = Peak::of(new);
        }
        collapses || (new - old).abs() < new.abs() * ROUNDING_LEVEL
    }

    #[cold]
    fn pay_for_predecessors(&mut self, model: &Model, state: u32) -> bool {
        let per_pair = 1 + model.n_arcs() / model.n_pairs().max(1);
        self.pay(model.n_predecessors(State(state)) * per_pair)
    }

    /// Records small backups.
    #[inline]
    pub fn count(&mut self, n_backups: usize) {
        self.backups += n_backups as u64;
        self.credit = (self.credit + n_backups as u64).min(MAX_CREDIT);
    }

    /// Returns whether [`in_turn`](Self::in_turn) may have a pair.
    #[inline]
    pub fn is_turn(&self) -> bool {
        self.backups >= self.least.max(BACKUPS_PER_SUCCESSOR)
    }

    /// The pair that is due to be recomputed in turn, if one is.
    ///
    /// A pair that is [too long](Self::is_too_long) is skipped; it has its turn when there is no
    /// deadline, and is recomputed at visits 8, 16, 32 … in any case.
    pub fn in_turn(&mut self, model: &Model, limit: usize) -> Option<Pair> {
        if !self.is_turn() || model.n_pairs() == 0 {
            return None;
        }
        let pair = Pair(if (self.next as usize) < model.n_pairs() { self.next } else { 0 });
        let cost = BACKUPS_PER_SUCCESSOR * (1 + model.pair_record(pair).n_successors() as u64);
        if self.backups < cost {
            self.least = cost; // a pair's successors never get fewer
            return None;
        }
        (self.next, self.least) = (pair.0 + 1, 0);
        if Self::is_too_long(model, pair, limit) {
            return None;
        }
        self.backups -= cost;
        model.is_in_use(pair).then_some(pair)
    }

    /// Returns whether a pair has too many successors to be recomputed by a caller who wants to stop after
    /// about `limit` backups: recomputing cannot be interrupted.
    #[inline]
    pub fn is_too_long(model: &Model, pair: Pair, limit: usize) -> bool {
        model.pair_record(pair).n_successors() > limit.max(MAX_UNINTERRUPTED_SUCCESSORS)
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.state_peaks[..]) + size_of_val(&self.pair_peaks[..])
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        let values = |peaks: &[Peak]| peaks.iter().map(|peak| peak.value()).collect::<Vec<f64>>();
        snapshot.put("refresh.state_peaks", values(&self.state_peaks));
        snapshot.put("refresh.pair_peaks", values(&self.pair_peaks));
        snapshot.put("refresh.numbers", vec![u64::from(self.next), self.backups, self.credit]);
    }

    pub fn restore(model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let peaks = |name, length| {
            let found = snapshot.finite(name, length)?;
            Ok(found.iter().map(|&peak| Peak::of(peak)).collect::<Vec<Peak>>())
        };
        let state_peaks = peaks("refresh.state_peaks", model.n_states())?;
        let pair_peaks = peaks("refresh.pair_peaks", model.n_pairs())?;
        let [next, backups, credit] = snapshot.counts("refresh.numbers")?;
        // They are used up within a cycle or two; a damaged count would keep the next cycle busy
        // for hours.
        if backups > u64::from(u32::MAX) {
            return Err(Snapshot::problem("refresh.numbers", "it counts above 2^32 small backups"));
        }
        let next = next.min(u64::from(u32::MAX) - 1) as u32;
        Ok(Self { state_peaks, pair_peaks, next, backups, least: 0, credit: credit.min(MAX_CREDIT) })
    }
}
