//! Prioritized sweeping as Moore & Atkeson (1993) do it, in the reading of section 4.1.
//!
//! The queue holds states; a cycle gives the top state a full backup of all its actions, then
//! promotes each predecessor state to P̂|ΔV|. After every observation its state goes to the top,
//! which uses up one of the cycles. Priorities are only promoted. Invariant: V(s) = max Q(s,·),
//! where Q(s,·) is from the last backup of s.
//!
//! Departure 10: pairs that have not been seen often enough are not promoted; a backup could not
//! change them.
//!
//! Cost of a cycle: O(actions × successors + predecessors).

use crate::baseline::{Baseline, Method};
use backsweep_core::Cycle;
use backsweep_core::{Model, Pair, PlannerKind, State};

/// Moore & Atkeson's prioritized sweeping.
#[derive(Clone, Debug, Default)]
pub(crate) struct MooreAtkeson;

impl Method for MooreAtkeson {
    const KIND: PlannerKind = crate::MOORE_ATKESON;

    fn refresh(planner: &mut Baseline<Self>, model: &Model, pair: Pair) {
        planner.queue.set(model.state_of(pair).0, f64::INFINITY);
    }

    fn update_cycle(planner: &mut Baseline<Self>, model: &Model) -> Cycle {
        let Some(state) = planner.queue.pop().map(State) else { return Cycle::Idle };
        model.prefetch_predecessors(state);
        planner.counters.cycles += 1;
        let delta_v = planner.back_up(model, state);
        if delta_v == 0.0 {
            planner.counters.idle_pops += 1;
            return Cycle::Done;
        }
        let Baseline { values, successors, queue, settings, .. } = planner;
        // A pair's scale is γ/W, so this times w is P̂|ΔV|.
        let gamma = values.discount();
        let factor = if gamma > 0.0 { delta_v.abs() / gamma } else { 0.0 };
        model.predecessors(state).for_each(|before| {
            let priority = values.scale(before.pair) * before.weight * factor;
            if priority > settings.threshold {
                queue.promote(model.state_of(before.pair).0, priority);
            }
        });
        successors.prefetch(model, State(queue.likely_next()));
        Cycle::Done
    }
}
