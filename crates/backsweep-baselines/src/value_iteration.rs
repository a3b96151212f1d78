//! Value iteration after every observation: in place, from the current values (warm start), until
//! the largest change of a value in a sweep is at most the threshold (Departure 13).
//!
//! An update cycle is one sweep over all states. Invariant after a sweep: V(s) = max Q(s,·). Cost
//! of a cycle: O(arcs). Where rounding keeps sweeps from making progress, they are skipped: cycles
//! are [`Cycle::Idle`] although the planner is not.

use crate::baseline::{Baseline, Method};
use backsweep_core::Cycle;
use backsweep_core::{Model, Pair, PlannerKind, Result, Snapshot};

/// Sweeps until no value changes by more than the threshold of the settings.
#[derive(Clone, Debug)]
pub(crate) struct ValueIteration {
    /// The largest change of a value in the last sweep; infinite if something was observed since.
    largest_change: f64,
    /// The largest change that later sweeps must halve, and how many have not. Near the fixed
    /// point, rounding can keep values in motion forever.
    to_halve: (f64, u32),
}

impl Default for ValueIteration {
    fn default() -> Self {
        Self { largest_change: 0.0, to_halve: (f64::INFINITY, 0) }
    }
}

impl ValueIteration {
    /// Something changed: sweeps begin again.
    fn restart(&mut self) {
        *self = Self { largest_change: f64::INFINITY, ..Self::default() };
    }
}

impl Method for ValueIteration {
    const KIND: PlannerKind = crate::VALUE_ITERATION;
    const HAS_QUEUE: bool = false;

    fn refresh(planner: &mut Baseline<Self>, _: &Model, _: Pair) {
        planner.method.restart();
    }

    fn update_cycle(planner: &mut Baseline<Self>, model: &Model) -> Cycle {
        if Self::top_priority(planner).is_none() {
            return Cycle::Idle;
        }
        // A sweep multiplies the largest change by at most γ, so it is halved every 0.7 / (1 − γ)
        // sweeps until rounding prevents it. Without discount the limit is a hundred thousand
        // sweeps.
        let patience = (100.0 + 1.0 / (1.0 - planner.settings.discount)).min(1e5);
        if f64::from(planner.method.to_halve.1) > patience {
            return Cycle::Idle;
        }
        let mut largest_change = 0.0f64;
        for state in model.states() {
            largest_change = largest_change.max(planner.back_up(model, state).abs());
        }
        planner.counters.cycles += 1;
        planner.counters.idle_pops += u64::from(largest_change == 0.0);
        let method = &mut planner.method;
        method.largest_change = largest_change;
        method.to_halve.1 += 1;
        if largest_change <= method.to_halve.0 / 2.0 {
            method.to_halve = (largest_change, 0);
        }
        Cycle::Done
    }

    /// The largest change of the last sweep, or infinity if something was observed since; `None`
    /// once it is at most the threshold.
    fn top_priority(planner: &Baseline<Self>) -> Option<f64> {
        let largest_change = planner.method.largest_change;
        (largest_change > planner.settings.threshold).then_some(largest_change)
    }

    fn store(&self, snapshot: &mut Snapshot) {
        let numbers = [self.largest_change, self.to_halve.0, f64::from(self.to_halve.1)];
        snapshot.put("value_iteration.numbers", numbers.to_vec());
    }

    fn restore(planner: &mut Baseline<Self>, _: &Model, snapshot: &Snapshot) -> Result<()> {
        let [largest_change, to_halve, n_sweeps] = snapshot.numbers("value_iteration.numbers")?;
        planner.method = ValueIteration { largest_change, to_halve: (to_halve, n_sweeps as u32) };
        Ok(())
    }
}
