//! Prioritized sweeping with small backups: the paper's Algorithm 2, in both of its versions. Line
//! numbers are those of Algorithm 2.
//!
//! This file is what both versions share. [`SmallBackups`] (`sweeping/small.rs`) is the arXiv
//! version, [`ReversedFullBackups`] (`sweeping/reversed.rs`) the ICML version and the default
//! planner: each file has the invariants of its version, the data it keeps, and the functions of
//! [`Variant`] in which it differs.
//!
//! A cycle can be cut after every seven predecessors: see `partial_cycle.rs`.

mod partial_cycle;
mod planner;
mod reversed;
mod small;
mod touched;

pub use reversed::Reversed;
pub use small::Small;

use super::{Counters, Cycle, PlannerKind};
use crate::refresh::RefreshSchedule;
use crate::store::{Cursor, LANES, Predecessors};
use crate::{
    ArcId, Change, Model, MovedPairs, Pair, PairValue, PriorityQueue, Result, Settings, Snapshot, State,
    Values,
};
use partial_cycle::PartialCycle;
use std::fmt::Debug;
use touched::Touched;

/// Reversed full backups, as in the paper's ICML version: the planner to use unless you have a
/// reason to choose another.
///
/// ```
/// use backsweep_core::{Planner, ReversedFullBackups, plan};
/// use backsweep_core::{Action, Budget, Model, Next, Outcome, Settings, State};
/// // A known problem: wait (reward -1, half of the time) or leave.
/// let mut model = Model::with_states([1])?;
/// let wait = Outcome { probability: 0.5, reward: -1.0, next: Next::Continue(State(0)) };
/// let leave = Outcome { probability: 0.5, reward: -1.0, next: Next::Terminated };
/// model.set_outcomes(State(0), Action(0), &[wait, leave])?;
/// let mut planner = ReversedFullBackups::new(Settings { discount: 0.9, ..Settings::default() })?;
/// planner.grow(&model);
/// plan(&mut planner, &model, Budget::UNTIL_IDLE);
/// assert!((planner.values().value(State(0)) + 1.0 / 0.55).abs() < 1e-6);
/// # Ok::<(), backsweep_core::Error>(())
/// ```
pub type ReversedFullBackups = Sweeping<Reversed>;

/// Small backups, as in the paper's arXiv version.
pub type SmallBackups = Sweeping<Small>;

/// A planner on small backups; use it by the names of its versions.
#[derive(Clone, Debug)]
pub struct Sweeping<V> {
    settings: Settings,
    values: Values,
    queue: PriorityQueue,
    schedule: RefreshSchedule,
    counters: Counters,
    /// The cycle under way, if the last one was cut.
    partial: Option<PartialCycle>,
    /// Empty between two calls; here only because clearing it for every cycle took 5 % of the time.
    touched: Touched,
    /// The data and the functions that only this version has.
    variant: V,
}

/// One version of Algorithm 2: what it keeps besides values, and the functions in which it differs
/// from the other.
pub trait Variant: Clone + Debug + Default + Send + Sync + 'static {
    /// Which planner it is.
    const KIND: PlannerKind;

    /// The value that all predecessors of a state use, except those that a cycle under way has yet
    /// to reach: U, or V.
    fn published_value(planner: &Sweeping<Self>, state: u32) -> f64;

    /// Publishes the value of a state that was popped; returns the one that its predecessors still
    /// use, and the new one.
    fn publish(planner: &mut Sweeping<Self>, model: &Model, state: u32) -> (f64, f64);

    /// The test whether a changed Q, given by its slot, may change its state's priority. `RISES`: Q went up.
    /// It must not branch, as no processor could predict the outcome. It is only a filter:
    /// [`requeue`](Self::requeue) decides.
    fn filter<const RISES: bool>(&self, model: &Model) -> impl Fn(usize, PairValue) -> bool;

    /// Restores the priorities of the states of pairs, given by their slots, one after the other, and
    /// everything else that depends on Q of the pairs.
    fn requeue(
        &mut self,
        values: &mut Values,
        queue: &mut PriorityQueue,
        threshold: f64,
        model: &Model,
        slots: &[u32],
    );

    /// Makes room for all states and pairs.
    fn grow(&mut self, model: &Model, values: &Values, threshold: f64);

    /// Marks the first pair of a state as its best, if that is remembered.
    fn admit_first(_planner: &mut Sweeping<Self>, _slot: usize) {}

    /// Follows pairs to their new ids. The values have done so already.
    fn pairs_moved(&mut self, _moved: &MovedPairs) {}

    /// Stores what the version keeps.
    fn store(&self, snapshot: &mut Snapshot);

    /// Restores what the version keeps; everything else has been restored.
    fn restore(planner: &mut Sweeping<Self>, model: &Model, snapshot: &Snapshot) -> Result<()>;

    /// Bytes in use for what the version keeps.
    fn bytes(&self) -> usize;
}

impl<V: Variant> Sweeping<V> {
    /// Lines 10 to 12: restores Q of the observed pair, and the priority of its state.
    #[inline]
    fn observe_change(&mut self, model: &Model, change: &Change) {
        let (pair, record) = (change.pair, model.pair_record(change.pair));
        let u = change.next.map_or(0.0, |(state, arc)| self.value_in_use(state, arc));
        let was_known = self.values.trusts(record, change.weight_before);
        let is_known = self.values.trusts(record, change.weight_after);
        let q = if was_known && is_known {
            let q_old = self.values.action_value(pair);
            let q = self.values.value_correction(model, change, u); // l.10
            if self.schedule.is_due(model, change, q_old, q) {
                self.counters.refreshes += 1;
                return self.recompute(model, pair);
            }
            q
        } else if change.weight_before == 0.0 && is_known {
            // The only observation there is: its full backup needs no list of successors.
            self.values.full_backup_with_bonus(model, pair, std::iter::once((change.weight, u)))
        } else {
            return self.recompute(model, pair);
        };
        self.values.put(model, pair, q);
        self.counters.additions += 1;
        self.requeue(model, pair); // l.11, 12
        if let Some((next, _)) = change.next {
            self.values.prefetch_values(model, next);
        }
    }

    /// Lines 14 to 22: one update cycle, or as much of it as `limit` backups allow.
    #[inline]
    fn run_cycle(&mut self, model: &Model, limit: usize) -> Cycle {
        let (cycle, v, predecessors) = match self.partial {
            Some(cycle) => {
                let predecessors = model.predecessors_from(cycle.state, cycle.cursor);
                (cycle, V::published_value(self, cycle.state), predecessors)
            }
            None if limit < usize::MAX && !self.queue.prepare(limit) => return Cycle::Cut,
            None => {
                let Some(state) = self.queue.pop() else { return Cycle::Idle }; // l.14
                self.counters.cycles += 1;
                let (v_old, v) = V::publish(self, model, state); // l.15, 16, 17
                self.counters.idle_pops += u64::from(v == v_old);
                let is_exact = self.schedule.must_be_exact(model, state, v_old, v);
                model.look_ahead(|| self.queue.upcoming(), &self.values.pairs);
                let predecessors = model.first_predecessors(state);
                let cursor = predecessors.cursor();
                (PartialCycle { state, v_old, is_exact, cursor }, v, predecessors)
            }
        };
        let delta_v = v - cycle.v_old; // l.18
        let (n_backups, cursor) = if delta_v == 0.0 {
            (0, Cursor::END) // Departure 8
        } else if cycle.is_exact {
            self.refresh_predecessors(model, cycle, delta_v, limit)
        } else {
            self.back_up_predecessors(model, predecessors, delta_v, limit)
        };
        self.counters.small_backups += n_backups as u64;
        self.schedule.count(n_backups);
        let is_finished = cursor == Cursor::END;
        if !is_finished {
            self.partial = Some(PartialCycle { cursor, ..cycle });
        } else if self.partial.is_some() {
            self.partial = None;
        }
        if self.schedule.is_turn() {
            self.refresh_in_turn(model, limit);
        }
        model.prefetch_predecessors(State(self.queue.likely_next()));
        if is_finished { Cycle::Done } else { Cycle::Cut }
    }

    /// Lines 19 to 22: gives predecessors their small backups; returns how many, and what is left.
    #[inline(always)]
    fn back_up_predecessors(
        &mut self,
        model: &Model,
        mut predecessors: Predecessors<'_>,
        delta_v: f64,
        limit: usize,
    ) -> (usize, Cursor) {
        let mut n_blocks = limit / (LANES as usize + 1) + 1; // a shift; a limit of 8 allows two blocks
        while n_blocks > 0 && !predecessors.is_finished() {
            let most = n_blocks.min(Touched::MAX_BLOCKS);
            let n = if delta_v < 0.0 {
                self.gather::<false>(model, &mut predecessors, delta_v, most)
            } else {
                self.gather::<true>(model, &mut predecessors, delta_v, most)
            };
            self.requeue_touched(model, n); // l.22
            n_blocks -= most;
        }
        self.counters.additions += predecessors.n_taken() as u64;
        (predecessors.n_taken(), predecessors.cursor())
    }

    /// Lines 19 to 21 for up to `most` blocks of predecessors; returns how many pairs were touched.
    #[inline(always)]
    fn gather<const RISES: bool>(
        &mut self,
        model: &Model,
        predecessors: &mut Predecessors<'_>,
        delta_v: f64,
        most: usize,
    ) -> usize {
        // A slice and a count of its own: through `self` they would be read again after every
        // store, four of 22 instructions.
        let (pairs, touched) = (&mut self.values.pairs[..], &mut self.touched);
        let is_touched = self.variant.filter::<RISES>(model);
        let mut n = 0;
        for _ in 0..most {
            let Some(lanes) = predecessors.next() else { break }; // l.19
            let block = touched.block(n);
            let mut n_new = 0;
            for (slot, weight) in lanes.iter() {
                // Noted before the backup, kept only if the count grows: with the slot in one register
                // and not two, 2.5 % of the instructions of a cycle are saved.
                block[n_new] = slot as u32;
                let pair = &mut pairs[slot];
                pair.small_backup(weight, delta_v); // l.20
                n_new += usize::from(is_touched(slot, *pair)); // l.21
            }
            n += n_new;
        }
        n
    }

    /// Restores the priorities of the states of the first `n` pairs gathered.
    // Inlined, this loop and the one that gathers share too few registers.
    #[inline(never)]
    fn requeue_touched(&mut self, model: &Model, n: usize) {
        let Self { variant, values, queue, settings, touched, .. } = self;
        variant.requeue(values, queue, settings.threshold, model, touched.slots(n));
    }

    /// Restores the priority of the state of one pair.
    #[inline(never)]
    fn requeue(&mut self, model: &Model, pair: Pair) {
        let Self { variant, values, queue, settings, .. } = self;
        variant.requeue(values, queue, settings.threshold, model, &[pair.slot() as u32]);
    }

    /// Recomputes the predecessors one by one instead; returns how many, and what is left. The cost of a pair is its
    /// number of successors.
    #[cold]
    #[inline(never)]
    fn refresh_predecessors(
        &mut self,
        model: &Model,
        mut cycle: PartialCycle,
        delta_v: f64,
        limit: usize,
    ) -> (usize, Cursor) {
        let (mut n_backups, mut cost) = (0, 0);
        while cost < limit {
            let mut predecessors = model.predecessors_from(cycle.state, cycle.cursor);
            let Some(lanes) = predecessors.next() else { break };
            cycle.cursor = predecessors.cursor();
            n_backups += predecessors.n_taken();
            self.partial = Some(cycle);
            for (pair, weight, _) in lanes.filled() {
                if RefreshSchedule::is_too_long(model, pair, limit) {
                    self.values.small_backup(pair, weight, delta_v);
                    self.counters.additions += 1;
                    self.requeue(model, pair);
                    cost += 1;
                } else {
                    self.recompute(model, pair);
                    self.counters.refreshes += 1;
                    cost += 1 + model.pair_record(pair).n_successors();
                }
            }
        }
        (n_backups, cycle.cursor)
    }

    /// Recomputes the pairs that are due in turn; one at most if there is a limit.
    #[cold]
    #[inline(never)]
    fn refresh_in_turn(&mut self, model: &Model, limit: usize) {
        while let Some(pair) = self.schedule.in_turn(model, limit) {
            self.counters.refreshes += 1;
            self.recompute(model, pair);
            if limit < usize::MAX {
                break;
            }
        }
    }

    /// Recomputes a pair from the model and restores everything that depends on it.
    fn recompute(&mut self, model: &Model, pair: Pair) {
        let successors =
            model.successors(pair).map(|next| (next.weight, self.value_in_use(next.state, next.arc)));
        let mut n_added = 0;
        let counted = successors.inspect(|_| n_added += 1);
        let q = self.values.full_backup_with_bonus(model, pair, counted);
        self.counters.additions += n_added;
        self.values.put(model, pair, q);
        self.requeue(model, pair);
    }

    /// The value of a state that the pair of an arc to it currently uses.
    #[inline]
    fn value_in_use(&self, state: State, arc: ArcId) -> f64 {
        let stale = self.partial.and_then(|cycle| cycle.stale_value(state, arc));
        stale.unwrap_or_else(|| V::published_value(self, state.0))
    }
}
