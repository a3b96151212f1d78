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
use crate::{Model, PairValue, PlannerKind, PriorityQueue, Result, Snapshot, State, Values};

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
    fn publish(planner: &mut Sweeping<Self>, _: &Model, state: u32) -> (f64, f64) {
        let v = planner.values.v[state as usize];
        (std::mem::replace(&mut planner.variant.states[state as usize].u, v), v) // l.16, 17: U takes the place of V
    }

    #[inline(always)]
    fn filter<const RISES: bool>(&self, model: &Model) -> impl Fn(usize, PairValue) -> bool {
        // The greedy pair is remembered as the sign of its scale (Departure 9): a small backup that
        // lowers another pair touches one cache line. The bound is only read here; updated in this
        // loop, it made the loop wait for its own stores, a tenth of the time.
        let states = &self.states[..];
        move |slot, pair| {
            if !RISES {
                return pair.scale.is_sign_negative();
            }
            // Negative if Q is above the bound.
            let room = states[model.state_of_slot(slot) as usize].second - pair.q;
            (room.to_bits() | pair.scale.to_bits()) >> 63 == 1
        }
    }

    #[inline(always)]
    fn requeue(
        &mut self,
        values: &mut Values,
        queue: &mut PriorityQueue,
        threshold: f64,
        model: &Model,
        slots: &[u32],
    ) {
        let (pairs, states) = (&mut values.pairs[..], &mut self.states[..]);
        let v = &mut values.v[..states.len()]; // so that one check of an index serves both
        for &slot in slots {
            let state = model.state_of_slot(slot as usize);
            let PairValue { q, scale } = pairs[slot as usize];
            let (v, row) = (&mut v[state as usize], &mut states[state as usize]);
            if scale.is_sign_negative() && q >= row.second {
                *v = q;
            } else if scale.is_sign_negative() || q > *v {
                let slots = model.slots(state);
                let favored = slot as usize - slots.start;
                (*v, row.second) = find_greedy(&mut pairs[slots], favored);
            } else {
                if q > row.second {
                    // Not q itself: q will rise again, and rises up to this bound need no attention.
                    row.second = (q + HEADROOM * (*v - q)).min(*v);
                }
                continue;
            }
            queue.set_above(threshold, state, (*v - row.u).abs()); // l.11, 12, 21, 22
        }
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

/// Marks the best pair of a state; returns its value and that of the second. Among equally good
/// ones `favored` comes first, then the order of actions decides.
#[cold]
#[inline(never)]
fn find_greedy(pairs: &mut [PairValue], favored: usize) -> (f64, f64) {
    let (mut best, mut highest) = (favored, pairs[favored].q);
    let mut second = f64::NEG_INFINITY;
    for (i, pair) in pairs.iter_mut().enumerate() {
        pair.scale = pair.scale.abs();
        if i == favored {
            continue;
        }
        if pair.q > highest {
            (second, best, highest) = (highest, i, pair.q);
        } else {
            second = second.max(pair.q);
        }
    }
    pairs[best].scale = -pairs[best].scale;
    (highest, second)
}
