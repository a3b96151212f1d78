//! Small backups, the paper's arXiv version of Algorithm 2. V(s) changes only when s is popped, and
//! all predecessors are backed up at once, so that the U of the small backups equals V and is not
//! stored. Invariants, after every call:
//!   * Q(s,a) = R̂ + γ Σ P̂ V(s') for every pair seen often enough, up to rounding (see
//!     `refresh.rs`);
//!   * V(s) = max Q_prev(s,·), where Q_prev(s,·) is Q(s,·) at the last pop of s;
//!   * if |Q(s,a) − Q_prev(s,a)| is above the threshold for some a, s is queued. Priorities are
//!     only ever promoted.
//!
//! Cost of a cycle: O(predecessors), plus O(actions) for the popped state.

use super::{SmallBackups, Sweeping, Variant};
use crate::values::MAX_VALUE;
use crate::{
    Model, MovedPairs, Pair, PairValue, PlannerKind, PriorityQueue, Result, Snapshot, State, Values,
};

/// The data of small backups for pairs and states.
#[derive(Clone, Debug)]
pub struct Small {
    /// Q of each pair when its state was last popped, by slot.
    q_prev: Vec<f64>,
    /// A new priority of a state matters only above this: the larger of the threshold and the
    /// queued priority.
    floor: Vec<f64>,
}

impl Default for Small {
    fn default() -> Self {
        // Slot 0 is not a pair: its Q never changes, and this difference is NaN, which is above
        // nothing.
        Self { q_prev: vec![f64::NEG_INFINITY], floor: Vec::new() }
    }
}

impl Variant for Small {
    const KIND: PlannerKind = PlannerKind::SMALL_BACKUPS;

    #[inline(always)]
    fn published_value(planner: &Sweeping<Self>, state: u32) -> f64 {
        planner.values.v[state as usize]
    }

    #[inline]
    fn publish(planner: &mut Sweeping<Self>, model: &Model, state: u32) -> (f64, f64) {
        planner.variant.floor[state as usize] = planner.settings.threshold;
        for slot in model.slots(state) {
            planner.variant.q_prev[slot] = planner.values.pairs[slot].q; // l.15
        }
        let v = planner.values.maximum(model, State(state)); // l.17
        (std::mem::replace(&mut planner.values.v[state as usize], v), v) // l.16
    }

    #[inline(always)]
    fn filter<const RISES: bool>(&self, model: &Model) -> impl Fn(usize, PairValue) -> bool {
        let (q_prev, floor) = (&self.q_prev[..], &self.floor[..]);
        move |slot, pair| (pair.q - q_prev[slot]).abs() > floor[model.state_of_slot(slot) as usize] // l.21
    }

    #[inline(always)]
    fn requeue(
        &mut self,
        values: &mut Values,
        queue: &mut PriorityQueue,
        _threshold: f64,
        model: &Model,
        slots: &[u32],
    ) {
        let (pairs, q_prev, floor) = (&values.pairs[..], &self.q_prev[..], &mut self.floor[..]);
        for &slot in slots {
            let priority = (pairs[slot as usize].q - q_prev[slot as usize]).abs(); // l.11, 21
            let state = model.state_of_slot(slot as usize);
            let floor = &mut floor[state as usize];
            if priority > *floor {
                *floor = priority;
                queue.set(state, priority); // l.12, 22: above what is queued (Departure 6)
            }
        }
    }

    fn grow(&mut self, model: &Model, values: &Values, threshold: f64) {
        self.floor.resize(model.n_states(), threshold);
        for slot in self.q_prev.len()..=model.n_pairs() {
            // A new pair starts at the value of its state.
            self.q_prev.push(values.value(State(model.state_of_slot(slot)))); // l.2
        }
    }

    fn pairs_moved(&mut self, moved: &MovedPairs) {
        let from = moved.from.slot();
        self.q_prev.copy_within(from..from + moved.n_pairs as usize, moved.to.slot());
    }

    fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("small.q_prev", self.q_prev[1..].to_vec());
    }

    fn restore(planner: &mut Sweeping<Self>, model: &Model, snapshot: &Snapshot) -> Result<()> {
        let queued = |state| planner.queue.priority(state).unwrap_or(0.0);
        let floors = (0..model.n_states() as u32).map(|state| queued(state).max(planner.settings.threshold));
        planner.variant.floor = floors.collect();
        planner.variant.q_prev.extend_from_slice(snapshot.bounded(
            "small.q_prev",
            model.n_pairs(),
            MAX_VALUE,
        )?);
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.q_prev[..]) + size_of_val(&self.floor[..])
    }
}

impl SmallBackups {
    /// Q of a pair when its state was last popped.
    pub fn previous_action_value(&self, pair: Pair) -> f64 {
        let optimistic = self.values.optimism().value;
        self.variant.q_prev.get(pair.slot()).copied().unwrap_or(optimistic)
    }
}
