//! Prioritized sweeping with small backups: the paper's Algorithm 2, in both of its versions. Line numbers are those of
//! Algorithm 2.
//!
//! [`SmallBackups`] is the arXiv version. V(s) changes only when s is popped, and all predecessors are backed up at once, so
//! that the U of the small backups equals V and is not stored. Invariants, after every call:
//!   * Q(s,a) = R̂ + γ Σ P̂ V(s') for every pair seen often enough, up to rounding (see `refresh.rs`);
//!   * V(s) = max Q_prev(s,·), where Q_prev(s,·) is Q(s,·) at the last pop of s;
//!   * if |Q(s,a) − Q_prev(s,a)| is above the threshold for some a, s is queued. Priorities are only ever promoted.
//!
//! [`ReversedFullBackups`] is the ICML version, and the default planner. U(s) is the value of s that its predecessors use.
//!   * Q(s,a) = R̂ + γ Σ P̂ U(s') for every pair seen often enough, up to rounding;
//!   * V(s) = max Q(s,·), exactly;
//!   * s is queued with priority |V(s) − U(s)| if and only if that is above the threshold: no pop is ever wasted.
//!
//! Cost of a cycle: O(predecessors), plus O(actions) for the popped state (small backups) or for each predecessor whose greedy
//! action got worse (reversed full backups).
//!
//! A cycle can be cut after every seven predecessors: see `partial_cycle.rs`.

mod kept;
mod partial_cycle;
mod planner;
mod touched;

pub use kept::{Reversed, Small};

use super::{Counters, Cycle, PlannerKind};
use crate::refresh::RefreshSchedule;
use crate::{ArcId, Change, Model, Pair, PairValue, PriorityQueue, Settings, State, Values};
use kept::Kept;
use partial_cycle::PartialCycle;
use touched::Touched;

/// Reversed full backups, as in the paper's ICML version: the planner to use unless you have a reason to choose another.
///
/// ```
/// use backsweep_core::planner::{Planner, ReversedFullBackups, plan};
/// use backsweep_core::{Action, Budget, Model, Next, Outcome, Settings, State};
/// // A known problem: wait (reward -1, half of the time) or leave.
/// let mut model = Model::with_states([1])?;
/// let wait = Outcome { probability: 0.5, reward: -1.0, next: Next::Continue(State(0)) };
/// let leave = Outcome { probability: 0.5, reward: -1.0, next: Next::Terminated };
/// model.set_outcomes(State(0), Action(0), &[wait, leave])?;
/// let mut planner = ReversedFullBackups::new(Settings { discount: 0.9, ..Settings::default() })?;
/// planner.grow(&model);
/// plan(&mut planner, &model, Budget::exhaust());
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
    /// What only this version keeps.
    own: V,
}

/// What differs between the two versions of Algorithm 2.
#[expect(private_bounds, reason = "the planners are public, their parts are not")]
pub trait Variant: Kept {
    /// Which planner it is.
    const KIND: PlannerKind;

    /// The value that all predecessors of a state use, except those that a cycle under way has yet to reach: U, or V.
    fn published_value(planner: &Sweeping<Self>, state: u32) -> f64;

    /// Publishes the value of a state that was popped; returns the one that its predecessors still use.
    fn publish(planner: &mut Sweeping<Self>, model: &Model, state: u32) -> f64;

    /// Whether the state of a pair may have a new priority now that Q of the pair has changed; `RISES` if it rose. It must
    /// not branch, as no processor could predict the outcome. It is only a filter: [`requeue`](Self::requeue) decides.
    fn is_touched<const RISES: bool>(&self, model: &Model, slot: usize, pair: PairValue) -> bool;

    /// Restores the priority of a pair's state, and everything else that depends on Q of the pair.
    fn requeue(planner: &mut Sweeping<Self>, model: &Model, slot: usize);
}

impl<V: Variant> Sweeping<V> {
    /// Lines 10 to 12: restores Q of the observed pair, and the priority of its state.
    #[inline]
    fn observe_change(&mut self, model: &Model, change: &Change) {
        let (pair, row) = (change.pair, model.row(change.pair));
        let u = change.next.map_or(0.0, |(state, arc)| self.value_in_use(state, arc));
        let was_known = self.values.trusts(row, change.weight_before);
        let is_known = self.values.trusts(row, change.weight_after);
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
            self.values.full_backup_with_bonus(row, pair, std::iter::once((change.weight, u)))
        } else {
            return self.recompute(model, pair);
        };
        self.values.put(model, pair, q);
        V::requeue(self, model, pair.slot()); // l.11, 12
        if let Some((next, _)) = change.next {
            self.values.expect_observation(model, next);
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
        model.expect_cycle(self.queue.likely());
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
                self.touched.push(slot, self.own.is_touched::<RISES>(model, slot, *pair)); // l.21
            }
            if self.touched.is_complete() {
                self.requeue_touched(model); // l.22
            }
        }
        cycle.cursor = predecessors.cursor();
        self.requeue_touched(model);
        predecessors.n_taken()
    }

    #[inline]
    fn requeue_touched(&mut self, model: &Model) {
        for i in 0..self.touched.n {
            V::requeue(self, model, self.touched.slots[i] as usize);
        }
        (self.touched.n, self.touched.n_sevens) = (0, 0);
    }

    /// Recomputes the predecessors one by one instead; returns how many. The cost of a pair is its number of successors.
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
                    V::requeue(self, model, pair.slot());
                    cost += 1;
                } else {
                    self.recompute(model, pair);
                    self.counters.refreshes += 1;
                    cost += 1 + model.row(pair).n_successors();
                }
            }
        }
        n_backups
    }

    /// Recomputes a pair from the model and restores everything that depends on it.
    fn recompute(&mut self, model: &Model, pair: Pair) {
        let successors =
            model.successors(pair).map(|next| (next.weight, self.value_in_use(next.state, next.arc)));
        let q = self.values.full_backup_with_bonus(model.row(pair), pair, successors);
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

impl Variant for Small {
    const KIND: PlannerKind = PlannerKind::SmallBackups;

    #[inline(always)]
    fn published_value(planner: &Sweeping<Self>, state: u32) -> f64 {
        planner.values.v[state as usize]
    }

    #[inline]
    fn publish(planner: &mut Sweeping<Self>, model: &Model, state: u32) -> f64 {
        planner.own.floor[state as usize] = planner.settings.threshold;
        for slot in model.slots(state) {
            planner.own.q_prev[slot] = planner.values.pairs[slot].q; // l.15
        }
        let v_old = planner.values.v[state as usize]; // l.16
        planner.values.update_maximum(model, State(state)); // l.17
        v_old
    }

    #[inline(always)]
    fn is_touched<const RISES: bool>(&self, model: &Model, slot: usize, pair: PairValue) -> bool {
        (pair.q - self.q_prev[slot]).abs() > self.floor[model.state_of_slot(slot) as usize] // l.21
    }

    #[inline(always)]
    fn requeue(planner: &mut Sweeping<Self>, model: &Model, slot: usize) {
        let priority = (planner.values.pairs[slot].q - planner.own.q_prev[slot]).abs(); // l.11, 21
        let state = model.state_of_slot(slot);
        let floor = &mut planner.own.floor[state as usize];
        if priority > *floor {
            *floor = priority;
            planner.queue.promote(state, priority); // l.12, 22 (Departure 6)
        }
    }
}

/// How far the bound on the second-best pair is set above it, as a fraction of the way to the best.
const HEADROOM: f64 = 0.75;

impl Variant for Reversed {
    const KIND: PlannerKind = PlannerKind::ReversedFullBackups;

    #[inline(always)]
    fn published_value(planner: &Sweeping<Self>, state: u32) -> f64 {
        planner.own.states[state as usize].u
    }

    #[inline]
    fn publish(planner: &mut Sweeping<Self>, _: &Model, state: u32) -> f64 {
        let v = planner.values.v[state as usize];
        std::mem::replace(&mut planner.own.states[state as usize].u, v) // l.16, 17: U takes the place of V
    }

    #[inline(always)]
    fn is_touched<const RISES: bool>(&self, model: &Model, slot: usize, pair: PairValue) -> bool {
        // The greedy pair is remembered as the sign of its scale (Departure 9): a small backup that lowers another pair touches
        // one cache line. The bound is only read here; updated in this loop, it made the loop wait for its own stores, a tenth
        // of the time.
        let is_greedy = pair.scale.is_sign_negative();
        is_greedy | (RISES && pair.q > self.states[model.state_of_slot(slot) as usize].second)
    }

    #[inline(always)]
    fn requeue(planner: &mut Sweeping<Self>, model: &Model, slot: usize) {
        let state = model.state_of_slot(slot);
        let PairValue { q, scale } = planner.values.pairs[slot];
        let (v, own) = (&mut planner.values.v[state as usize], &mut planner.own.states[state as usize]);
        if scale.is_sign_negative() && q >= own.second {
            *v = q;
        } else if scale.is_sign_negative() || q > *v {
            planner.find_greedy(model, state, slot);
        } else {
            if q > own.second {
                // Not q itself: q will rise again, and rises up to this bound need no attention.
                own.second = (q + HEADROOM * (*v - q)).min(*v);
            }
            return;
        }
        planner.set_priority(state);
    }
}

impl Sweeping<Reversed> {
    /// Lines 11, 12, 21 and 22: the priority of a state is set, up or down.
    #[inline(always)]
    fn set_priority(&mut self, state: u32) {
        let (v, u) = (self.values.v[state as usize], self.own.states[state as usize].u);
        self.queue.set_above(self.settings.threshold, state, (v - u).abs()); // l.11, 12, 21, 22
    }

    /// Finds the best pair of a state and the second; among equally good ones `favoured` comes first, then the order of
    /// actions decides.
    #[cold]
    #[inline(never)]
    fn find_greedy(&mut self, model: &Model, state: u32, favoured: usize) {
        let (mut best, mut highest) = (favoured, self.values.pairs[favoured].q);
        let mut second = f64::NEG_INFINITY;
        for slot in model.slots(state) {
            let value = &mut self.values.pairs[slot];
            value.scale = value.scale.abs();
            if slot == favoured {
                continue;
            }
            if value.q > highest {
                (second, best, highest) = (highest, slot, value.q);
            } else {
                second = second.max(value.q);
            }
        }
        let scale = &mut self.values.pairs[best].scale;
        *scale = -*scale;
        self.values.v[state as usize] = highest;
        self.own.states[state as usize].second = second;
    }
}
