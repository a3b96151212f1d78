//! Reversed full backups, the paper's ICML version of Algorithm 2 and the default planner. U(s) is
//! the value of s that its predecessors use. Invariants, after every call:
//!   * Q(s,a) = R̂ + γ Σ P̂ U(s') for every pair seen often enough, up to rounding (see
//!     `refresh.rs`);
//!   * V(s) = max Q(s,·), exactly;
//!   * s is queued with priority |V(s) − U(s)| if and only if that is above the threshold: no pop
//!     is ever wasted.
//!
//! Cost of a cycle: O(predecessors), plus O(actions) for each predecessor whose greedy action got
//! worse.

use super::{Sweeping, Variant};
use crate::values::MAX_VALUE;
use crate::{Model, PairValue, PlannerKind, Result, Snapshot, State, Values};

/// The headroom of the bound on the second-best pair, as a fraction of the way to the best.
const HEADROOM: f64 = 0.75;

/// The data of reversed full backups.
#[derive(Clone, Debug, Default)]
pub struct Reversed {
    states: Vec<ReversedState>,
}

/// The data of reversed full backups for each state.
#[derive(Clone, Copy, Debug)]
struct ReversedState {
    /// U(s): the value of the state that its predecessors use.
    pub u: f64,
    /// No pair of the state but the greedy one is worth more than this: while the greedy pair is
    /// worth as much, it is still the best, and the others need not be checked.
    pub second: f64,
}

impl Variant for Reversed {
    const KIND: PlannerKind = PlannerKind::REVERSED_FULL_BACKUPS;

    #[inline(always)]
    fn published_value(planner: &Sweeping<Self>, state: u32) -> f64 {
        planner.variant.states[state as usize].u
    }

    #[inline]
    fn publish(planner: &mut Sweeping<Self>, _: &Model, state: u32) -> f64 {
        let v = planner.values.v[state as usize];
        std::mem::replace(&mut planner.variant.states[state as usize].u, v) // l.16, 17: U takes the place of V
    }

    #[inline(always)]
    fn is_touched<const RISES: bool>(&self, model: &Model, slot: usize, pair: PairValue) -> bool {
        // The greedy pair is remembered as the sign of its scale (Departure 9): a small backup that
        // lowers another pair touches one cache line. The bound is only read here; updated in this
        // loop, it made the loop wait for its own stores, a tenth of the time.
        let is_greedy = pair.scale.is_sign_negative();
        is_greedy | (RISES && pair.q > self.states[model.state_of_slot(slot) as usize].second)
    }

    #[inline(always)]
    fn requeue(planner: &mut Sweeping<Self>, model: &Model, slot: usize) {
        let state = model.state_of_slot(slot);
        let PairValue { q, scale } = planner.values.pairs[slot];
        let v = &mut planner.values.v[state as usize];
        let second = &mut planner.variant.states[state as usize].second;
        if scale.is_sign_negative() && q >= *second {
            *v = q;
        } else if scale.is_sign_negative() || q > *v {
            planner.find_greedy(model, state, slot);
        } else {
            if q > *second {
                // Not q itself: q will rise again, and rises up to this bound need no attention.
                *second = (q + HEADROOM * (*v - q)).min(*v);
            }
            return;
        }
        planner.set_priority(state);
    }

    fn grow(&mut self, _: &Model, values: &Values, _: f64) {
        let new = values.v[self.states.len()..].iter();
        self.states.extend(new.map(|&v| ReversedState { u: v, second: v }));
    }

    fn admit_first(planner: &mut Sweeping<Self>, slot: usize) {
        planner.values.pairs[slot].scale = -0.0;
    }

    fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("reversed.u", self.states.iter().map(|state| state.u).collect::<Vec<f64>>());
    }

    fn restore(planner: &mut Sweeping<Self>, model: &Model, snapshot: &Snapshot) -> Result<()> {
        let u = snapshot.bounded("reversed.u", model.n_states(), MAX_VALUE)?;
        let states = u.iter().zip(&planner.values.v);
        planner.variant.states = states.map(|(&u, &v)| ReversedState { u, second: v }).collect();
        for (i, &v) in planner.values.v.iter().enumerate() {
            let state = State(i as u32);
            let pairs = planner.values.pair_values(model, state);
            let greedy = || pairs.iter().filter(|pair| pair.scale.is_sign_negative());
            if greedy().count() != usize::from(!pairs.is_empty()) {
                let problem = format!("expected one greedy pair in state {i}, found {}", greedy().count());
                return Err(Snapshot::problem("values.scale", &problem));
            }
            if v != planner.values.maximum(model, state) || greedy().any(|pair| pair.q != v) {
                let problem = format!("item {i} is {v}, which is not the value of its best pair");
                return Err(Snapshot::problem("values.v", &problem));
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.states[..])
    }
}

impl Sweeping<Reversed> {
    /// Lines 11, 12, 21 and 22: the priority of a state is set, up or down.
    #[inline(always)]
    fn set_priority(&mut self, state: u32) {
        let (v, u) = (self.values.v[state as usize], self.variant.states[state as usize].u);
        self.queue.set_above(self.settings.threshold, state, (v - u).abs()); // l.11, 12, 21, 22
    }

    /// Finds the best pair of a state and the second; among equally good ones `favored` comes
    /// first, then the order of actions decides.
    #[cold]
    #[inline(never)]
    fn find_greedy(&mut self, model: &Model, state: u32, favored: usize) {
        let (mut best, mut highest) = (favored, self.values.pairs[favored].q);
        let mut second = f64::NEG_INFINITY;
        for slot in model.slots(state) {
            let value = &mut self.values.pairs[slot];
            value.scale = value.scale.abs();
            if slot == favored {
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
        self.variant.states[state as usize].second = second;
    }
}
