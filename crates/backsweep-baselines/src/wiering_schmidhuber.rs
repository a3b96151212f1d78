//! Prioritized sweeping as Wiering & Schmidhuber (1998) do it, in the reading that gives the
//! published scores.
//!
//! On an observation all actions of its state are backed up, the change of V is added to the
//! state's Δ, the queue is emptied (all Δ are kept) and the state is put on top. A cycle pops a
//! state, sets its Δ to 0, and gives every *predecessor state* a full backup of all its actions,
//! once per predecessor *pair*; the change of V is added to its Δ and it is promoted to |Δ|. So
//! Δ(s) is how much V(s) has changed since its predecessors were last backed up. Invariant: V(s) =
//! max Q(s,·).
//!
//! Departure 12: the conference version's cost counts pairs, and its scores are those of a loop
//! over pairs.
//!
//! Cost of a cycle: O(predecessor pairs × actions × successors).

use crate::baseline::{Baseline, Method};
use backsweep_core::Cycle;
use backsweep_core::{Change, Model, Pair, PlannerKind, Result, Snapshot, State};

/// Wiering & Schmidhuber's prioritized sweeping.
#[derive(Clone, Debug, Default)]
pub(crate) struct WieringSchmidhuber {
    /// Δ(s).
    delta: Vec<f64>,
}

/// Backs up all actions of a state and queues it by its Δ if that is above the threshold. Returns
/// whether its value changed.
fn back_up(planner: &mut Baseline<WieringSchmidhuber>, model: &Model, state: State) -> bool {
    let delta_v = planner.back_up(model, state);
    let delta = &mut planner.method.delta[state.index()];
    *delta += delta_v;
    if delta.abs() > planner.settings.threshold {
        planner.queue.promote(state.0, delta.abs());
    }
    delta_v != 0.0
}

impl Method for WieringSchmidhuber {
    const KIND: PlannerKind = crate::WIERING_SCHMIDHUBER;

    fn grow(&mut self, model: &Model) {
        self.delta.resize(model.n_states(), 0.0);
    }

    fn refresh(planner: &mut Baseline<Self>, model: &Model, pair: Pair) {
        back_up(planner, model, model.state_of(pair));
    }

    fn observe(planner: &mut Baseline<Self>, model: &Model, change: &Change) {
        back_up(planner, model, change.state);
        planner.queue.clear();
        planner.queue.set(change.state.0, f64::INFINITY);
    }

    fn update_cycle(planner: &mut Baseline<Self>, model: &Model) -> Cycle {
        let Some(state) = planner.queue.pop().map(State) else { return Cycle::Idle };
        planner.counters.cycles += 1;
        // Predecessors are backed up even if Δ is 0: full backups pick up all other changes among
        // their successors.
        planner.method.delta[state.index()] = 0.0;
        let mut changed = false;
        model.predecessors(state).for_each(|before| {
            changed |= back_up(planner, model, model.state_of(before.pair));
        });
        planner.counters.idle_pops += u64::from(!changed);
        Cycle::Done
    }

    fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("wiering_schmidhuber.delta", self.delta.clone());
    }

    fn restore(planner: &mut Baseline<Self>, model: &Model, snapshot: &Snapshot) -> Result<()> {
        planner.method.delta = snapshot.finite("wiering_schmidhuber.delta", model.n_states())?.to_vec();
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.delta[..])
    }
}
