//! Prioritized sweeping as Peng & Williams (1993, queue-Dyna for stochastic worlds) do it, in the
//! reading of section 4.1.
//!
//! The queue holds triples (s,a,s'), each with the value U of s' on which Q(s,a) is built; their
//! priority is the residual γP̂|V(s') − U|. A cycle pops a triple, sets its U to V(s') and
//! recomputes Q(s,a) from all its successors: the effect of one small backup at the cost of a full
//! one. If V(s) changed, all triples that lead to s are promoted to their residuals. Invariants:
//! Q(s,a) = R̂ + γ Σ P̂ U for every pair seen often enough; V(s) = max Q(s,·); a triple whose
//! residual is above the threshold and whose pair has been seen often enough is queued with at
//! least that priority.
//!
//! Departure 11: the correction of Q after an observation is free; residuals are only promoted.
//!
//! Cost of a cycle: O(successors + actions + predecessors).

use crate::baseline::{Baseline, Method};
use backsweep_core::{ArcId, Change, Model, Pair, PlannerKind, Result, Snapshot, State};
use backsweep_core::{Cycle, MAX_VALUE};

/// Peng & Williams' prioritized sweeping.
#[derive(Clone, Debug, Default)]
pub(crate) struct PengWilliams {
    /// U of each arc.
    u: Vec<f64>,
    /// Scratch space: only its memory is kept between two calls.
    residuals: Vec<(u32, f64)>,
}

impl Baseline<PengWilliams> {
    /// The full backup of a pair from U.
    fn back_up_pair(&mut self, model: &Model, pair: Pair) {
        let cached = self.successors.of(pair).iter();
        let mut n_added = 0;
        let successors = cached.map(|next| (next.weight, self.method.u[next.arc.index()]));
        let q = self.values.full_backup(model, pair, successors.inspect(|_| n_added += 1));
        self.counters.additions += n_added;
        self.values.set_action_value(pair, q);
    }

    /// Promotes a pair's triples to their residuals.
    fn promote_residuals(&mut self, pair: Pair) {
        let scale = self.values.scale(pair);
        for next in self.successors.of(pair) {
            let difference = self.values.value(next.state) - self.method.u[next.arc.index()];
            let priority = scale * next.weight * difference.abs();
            if priority > self.settings.threshold {
                self.queue.promote(next.arc.0, priority);
            }
        }
    }

    /// Restores V of a pair's state after its Q changed, and promotes all triples that lead there.
    fn restore_maximum(&mut self, model: &Model, pair: Pair) -> bool {
        let state = model.state_of(pair);
        if self.values.update_maximum(model, state) == 0.0 {
            return false;
        }
        let v = self.values.value(state);
        // All residuals are computed before one is used, so that what they read is fetched side by side.
        let PengWilliams { u, residuals } = &mut self.method;
        residuals.clear();
        model.predecessors(state).for_each(|before| {
            let difference = (v - u[before.arc.index()]).abs();
            residuals.push((before.arc.0, self.values.scale(before.pair) * before.weight * difference));
        });
        for &(arc, residual) in residuals.iter() {
            if residual > self.settings.threshold {
                self.queue.promote(arc, residual);
            }
        }
        true
    }
}

impl Method for PengWilliams {
    const KIND: PlannerKind = crate::PENG_WILLIAMS;

    fn n_keys(model: &Model) -> usize {
        model.arc_bound()
    }

    fn grow(&mut self, model: &Model) {
        if self.u.len() < model.arc_bound() {
            self.u.resize(model.arc_bound(), 0.0);
        }
    }

    /// Sets all U of a pair to the values of their states and recomputes it.
    fn refresh(planner: &mut Baseline<Self>, model: &Model, pair: Pair) {
        for next in planner.successors.of(pair) {
            planner.method.u[next.arc.index()] = planner.values.value(next.state);
            planner.queue.remove(next.arc.0);
        }
        planner.back_up_pair(model, pair);
        planner.restore_maximum(model, pair);
    }

    fn observe(planner: &mut Baseline<Self>, model: &Model, change: &Change) {
        if let Some((state, arc)) = change.next {
            let weight = model.arc_weight(arc);
            if weight == change.weight {
                // The arc is new, or as good as new: its U starts as the value of its state.
                planner.method.u[arc.index()] = planner.values.value(state);
            } else if weight == 0.0 {
                planner.queue.remove(arc.0);
            }
        }
        planner.back_up_pair(model, change.pair);
        // The pair's probabilities changed, and with them the residuals of its triples.
        planner.promote_residuals(change.pair);
        planner.restore_maximum(model, change.pair);
    }

    fn update_cycle(planner: &mut Baseline<Self>, model: &Model) -> Cycle {
        let Some(arc) = planner.queue.pop() else { return Cycle::Idle };
        planner.counters.cycles += 1;
        let Some((pair, state)) = model.ends_of(ArcId(arc)) else { return Cycle::Done };
        planner.method.u[arc as usize] = planner.values.value(state);
        planner.back_up_pair(model, pair);
        planner.counters.full_backups += 1;
        if !planner.restore_maximum(model, pair) {
            planner.counters.idle_pops += 1;
        }
        let likely = planner.queue.likely_next();
        if let Some((pair, _)) = model.ends_of(ArcId(likely)) {
            let state = model.state_of(pair);
            planner.successors.prefetch(model, state);
            model.prefetch_predecessors(state);
        }
        Cycle::Done
    }

    fn state_of_key(model: &Model, arc: u32) -> Option<State> {
        model.ends_of(ArcId(arc)).map(|(_, state)| state)
    }

    /// The highest priority of the triples that lead to the state. O(predecessors).
    fn priority(planner: &Baseline<Self>, model: &Model, state: State) -> f64 {
        let queued = model.predecessors(state).filter_map(|before| planner.queue.priority(before.arc.0));
        queued.fold(0.0, f64::max)
    }

    fn backed_up_value(planner: &Baseline<Self>, state: State, arc: ArcId) -> Option<f64> {
        Some(planner.method.u.get(arc.index()).copied().unwrap_or_else(|| planner.values.value(state)))
    }

    fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("peng_williams.u", self.u.clone());
    }

    fn restore(planner: &mut Baseline<Self>, model: &Model, snapshot: &Snapshot) -> Result<()> {
        planner.method.u = snapshot.bounded("peng_williams.u", model.arc_bound(), MAX_VALUE)?.to_vec();
        let triples = model.states().flat_map(|state| model.predecessors(state));
        let n_queued = triples.filter(|triple| planner.queue.priority(triple.arc.0).is_some()).count();
        if n_queued < planner.queue.len() {
            return Err(Snapshot::problem("queue.keys", "a queued triple is not one of the model"));
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.u[..])
    }
}
