//! Prioritized sweeping as Moore & Atkeson (1993) do it, in the reading of section 4.1 and of the paper notes, 5.6.
//!
//! The queue holds states; a cycle gives the top state a full backup of all its actions, then promotes each predecessor state
//! to P̂|ΔV|. After every observation its state goes to the top, which uses up one of the cycles. Priorities are only
//! promoted. Invariant: V(s) = max Q(s,·), where Q(s,·) is from the last backup of s.
//!
//! Departure 10: pairs that have not been seen often enough are not promoted; a backup could not change them.
//!
//! Cost of a cycle: O(actions × successors + predecessors).

use super::baseline::{Baseline, Method};
use super::{Cycle, PlannerKind};
use crate::{Model, Pair};

/// Moore & Atkeson's prioritized sweeping.
#[derive(Clone, Debug, Default)]
pub(super) struct MooreAtkeson;

impl Method for MooreAtkeson {
    const KIND: PlannerKind = PlannerKind::MooreAtkeson;

    fn refresh(planner: &mut Baseline<Self>, model: &Model, pair: Pair) {
        planner.queue.set(model.state_of(pair).0, f64::INFINITY);
    }

    fn update_cycle(planner: &mut Baseline<Self>, model: &Model) -> Cycle {
        let Some(state) = planner.queue.pop() else { return Cycle::Idle };
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
        let mut predecessors = model.predecessors_from(state, model.first_predecessor(state));
        while let Some(lanes) = predecessors.next() {
            let priorities = lanes.map(|_, slot, weight| values.pairs[slot].scale * weight * factor);
            for (&slot, &priority) in lanes.slots.iter().zip(&priorities).rev() {
                if priority > settings.threshold {
                    queue.promote(model.state_of_slot(slot as usize), priority);
                }
            }
        }
        successors.prefetch(model, queue.likely_next());
        Cycle::Done
    }
}
