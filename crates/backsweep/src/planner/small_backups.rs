//! Prioritized sweeping with small backups (van Seijen & Sutton 2013, arXiv version, Algorithm 2).
//!
//! Computes the optimal values of the model. V(s) changes only when s is popped, and all predecessors are told at once, so
//! that the U of the small backups equals V and is not stored. Invariants, after every call:
//!   * Q(s,a) = R̂ + γ Σ P̂ V(s') for every pair seen often enough (up to rounding, see `pass.rs`);
//!   * V(s) = max Q_prev(s,·), where Q_prev(s,·) is Q(s,·) at the last pop of s;
//!   * if |Q(s,a) − Q_prev(s,a)| is above the threshold for some a, s is queued. Priorities are only ever promoted.
//!
//! Cost of a cycle: O(actions + predecessors). A pop whose maximum did not change is wasted; it is counted.
//!
//! Line numbers are those of Algorithm 2.

use super::PlannerKind;
use super::pass::Pass;
use super::swept::{Core, Kind, Stretch, Swept};
use crate::arcs::IN_BLOCK;
use crate::queue::Queue;
use crate::values::StateValue;
use crate::{Model, MovedRow, Pair, Result, Snapshot, State};

/// Small backups, as in the paper's arXiv version.
pub type SmallBackups = Swept<Small>;

/// What small backups keep besides.
#[derive(Clone, Debug, Default)]
pub struct Small {
    /// Q of each pair when its state was last popped.
    q_prev: Vec<f64>,
    /// What a priority of each state must exceed to matter: the threshold, or above it the priority with which the state is
    /// queued (or less, for a planner just restored, which costs time and nothing else).
    floor: Vec<f64>,
}

impl SmallBackups {
    /// Q of a pair when its state was last popped.
    pub fn previous_action_value(&self, pair: Pair) -> f64 {
        self.core.own.q_prev.get(pair.index()).copied().unwrap_or(self.settings.optimism.value)
    }
}

impl Kind for Small {
    const KIND: PlannerKind = PlannerKind::SmallBackups;

    #[inline(always)]
    fn told(value: &StateValue) -> f64 {
        value.v
    }

    fn extend(core: &mut Core<Self>, model: &Model) {
        core.own.floor.resize(model.n_states(), core.threshold);
        for pair in core.own.q_prev.len()..model.n_pairs() {
            // New pairs start as worth what their state is.
            let state = core.values.states.get(model.owners.of(pair as u32) as usize);
            core.own.q_prev.push(state.map_or(core.values.optimism.value, |state| state.v));
        }
    }

    fn admit(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue, pass: Option<Pass>, pair: Pair) {
        core.refresh(model, queue, pass, pair);
    }

    fn row_moved(core: &mut Core<Self>, moved: &MovedRow) {
        let from = moved.from.index();
        core.own.q_prev.copy_within(from..from + moved.n_pairs as usize, moved.to.index());
    }

    /// Queues the state of the pair.
    #[inline]
    fn changed(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue, pair: Pair) {
        let priority = (core.values.pairs[pair.index()].q - core.own.q_prev[pair.index()]).abs(); // l.11, 21
        let state = model.owners.of(pair.0);
        let floor = &mut core.own.floor[state as usize];
        if priority > *floor {
            *floor = priority;
            queue.promote(state, priority); // l.12, 22 (Departure 6)
        }
    }

    #[inline]
    fn begin(core: &mut Core<Self>, model: &Model, state: u32) -> f64 {
        core.own.floor[state as usize] = core.threshold;
        for pair in model.states[state as usize].pairs() {
            core.own.q_prev[pair] = core.values.pairs[pair].q; // l.15
        }
        let v_new = core.values.maximum(model, State(state)).map_or(0.0, |(_, q)| q);
        std::mem::replace(&mut core.values.states[state as usize].v, v_new) // l.16, 17
    }

    #[inline(always)]
    fn tell(core: &mut Core<Self>, queue: &mut impl Queue, stretch: Stretch<'_>) -> usize {
        let Stretch { model, pass, delta, limit, next } = stretch; // l.18
        let mut done = 0;
        let (mut blocks, mut filled) = pass.blocks(model);
        while done < limit
            && let Some((_, block)) = blocks.next()
        {
            done += filled;
            // Pairs whose state must be promoted, gathered without a branch that no processor can guess. What is not filled
            // repeats the first pair and changes nothing.
            let mut touched = [0; IN_BLOCK as usize];
            let mut n_touched = 0;
            let weights = model.arcs.weights(block);
            for (&pair, weight) in block.pairs.iter().zip(weights) {
                let value = &mut core.values.pairs[pair as usize];
                value.q += value.scale * (weight * delta); // l.20
                let priority = (value.q - core.own.q_prev[pair as usize]).abs(); // l.21
                let state = model.owners.of(pair);
                touched[n_touched] = pair;
                n_touched += usize::from(priority > core.own.floor[state as usize]);
            }
            for &pair in &touched[..n_touched] {
                Self::changed(core, model, queue, Pair(pair));
            }
            filled = IN_BLOCK as usize;
        }
        pass.leave(&blocks);
        if pass.is_finished() {
            next.blocks(model);
        }
        done
    }

    fn look_again(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue) {
        core.own.floor.fill(core.threshold);
        for pair in 0..model.n_pairs() as u32 {
            if model.owners.of(pair) != crate::arcs::NONE {
                Self::changed(core, model, queue, Pair(pair));
            }
        }
    }

    fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("small.q_prev", self.q_prev.clone());
    }

    fn restore(core: &mut Core<Self>, model: &Model, snapshot: &Snapshot) -> Result<()> {
        core.own.floor = vec![core.threshold; model.n_states()];
        core.own.q_prev = snapshot.finite("small.q_prev", model.n_pairs())?.to_vec();
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.q_prev[..]) + size_of_val(&self.floor[..])
    }
}
