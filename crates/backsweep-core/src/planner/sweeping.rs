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
    /// use.
    fn publish(planner: &mut Sweeping<Self>, model: &Model, state: u32) -> f64;

    /// Returns whether a changed Q may change its state's priority. `RISES`: Q went up. It must not branch,
    /// as no processor could predict the outcome. It is only a filter: [`requeue`](Self::requeue)
    /// decides.
    fn is_touched<const RISES: bool>(&self, model: &Model, slot: usize, pair: PairValue) -> bool;

    /// Restores the priority of a pair's state, and everything else that depends on Q of the pair.
    fn requeue(planner: &mut Sweeping<Self>, model: &Model, slot: usize);

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
        V::requeue(self, model, pair.slot()); // l.11, 12
        if let Some((next, _)) = change.next {
            self.values.prefetch_values(model, next);
        }
    }

    /// Lines 14 to 22: one update cycle, or as much of it as `limit` backups allow.
    #[inline]
    fn run_cycle(&mut self, model: &Model, limit: usize) -> Cycle {
        let mut cycle = match self.partial {
            Some(cycle) => cycle,
            None if limit < usize::MAX && !self.queue.prepare(limit) => return Cycle::Cut,
            None => {
                let Some(state) = self.queue.pop() else { return Cycle::Idle }; // l.14
                self.counters.cycles += 1;
                let v_old = V::publish(self, model, state); // l.15, 16, 17
                let v = V::published_value(self, state);
                self.counters.idle_pops += u64::from(v == v_old);
                let is_exact = self.schedule.must_be_exact(model, state, v_old, v);
                PartialCycle { state, v_old, is_exact, cursor: model.first_predecessor(state) }
            }
        };
        let delta_v = V::published_value(self, cycle.state) - cycle.v_old; // l.18
        let n_backups = if delta_v == 0.0 {
            cycle.finish() // Departure 8
        } else if cycle.is_exact {
            self.refresh_predecessors(model, &mut cycle, delta_v, limit)
        } else if delta_v < 0.0 {
            self.back_up_predecessors::<false>(model, &mut cycle, delta_v, limit)
        } else {
            self.back_up_predecessors::<true>(model, &mut cycle, delta_v, limit)
        };
        self.counters.small_backups += n_backups as u64;
        self.schedule.count(n_backups);
        self.partial = (!cycle.is_finished()).then_some(cycle);
        while let Some(pair) = self.schedule.in_turn(model, limit) {
            self.counters.refreshes += 1;
            self.recompute(model, pair);
            if limit < usize::MAX {
                break;
            }
        }
        model.prefetch_predecessors(State(self.queue.likely_next()));
        if cycle.is_finished() { Cycle::Done } else { Cycle::Cut }
    }

    /// Lines 19 to 22: gives predecessors their small backups; returns how many.
    #[inline(always)]
    fn back_up_predecessors<const RISES: bool>(
        &mut self,
        model: &Model,
        cycle: &mut PartialCycle,
        delta_v: f64,
        limit: usize,
    ) -> usize {
        let mut predecessors = model.predecessors_from(cycle.state, cycle.cursor);
        while predecessors.n_taken() < limit
            && let Some(lanes) = predecessors.next()
        {
            // l.19
            for (slot, weight) in lanes.iter() {
                let pair = &mut self.values.pairs[slot];
                pair.small_backup(weight, delta_v); // l.20
                self.touched.push(slot, self.variant.is_touched::<RISES>(model, slot, *pair)); // l.21
            }
            if self.touched.is_complete() {
                self.requeue_touched(model); // l.22
            }
        }
        cycle.cursor = predecessors.cursor();
        self.requeue_touched(model);
        self.counters.additions += predecessors.n_taken() as u64;
        predecessors.n_taken()
    }

    #[inline]
    fn requeue_touched(&mut self, model: &Model) {
        for i in 0..self.touched.n {
            V::requeue(self, model, self.touched.slots[i] as usize);
        }
        (self.touched.n, self.touched.n_blocks) = (0, 0);
    }

    /// Recomputes the predecessors one by one instead; returns how many. The cost of a pair is its
    /// number of successors.
    #[cold]
    #[inline(never)]
    fn refresh_predecessors(
        &mut self,
        model: &Model,
        cycle: &mut PartialCycle,
        delta_v: f64,
        limit: usize,
    ) -> usize {
        let (mut n_backups, mut cost) = (0, 0);
        while cost < limit {
            let mut predecessors = model.predecessors_from(cycle.state, cycle.cursor);
            let Some(lanes) = predecessors.next() else { break };
            cycle.cursor = predecessors.cursor();
            n_backups += predecessors.n_taken();
            self.partial = Some(*cycle);
            for (pair, weight, _) in lanes.filled() {
                if RefreshSchedule::is_too_long(model, pair, limit) {
                    self.values.small_backup(pair, weight, delta_v);
                    self.counters.additions += 1;
                    V::requeue(self, model, pair.slot());
                    cost += 1;
                } else {
                    self.recompute(model, pair);
                    self.counters.refreshes += 1;
                    cost += 1 + model.pair_record(pair).n_successors();
                }
            }
        }
        n_backups
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
        V::requeue(self, model, pair.slot());
    }

    /// The value of a state that the pair of an arc to it currently uses.
    #[inline]
    fn value_in_use(&self, state: State, arc: ArcId) -> f64 {
        let stale = self.partial.and_then(|cycle| cycle.stale_value(state, arc));
        stale.unwrap_or_else(|| V::published_value(self, state.0))
    }
}
