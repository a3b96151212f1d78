//! Prioritized sweeping as Peng & Williams (1993, queue-Dyna for stochastic worlds) do it, in the reading of section 4.1 and
//! of the paper notes, 5.7.
//!
//! The queue holds triples (s,a,s'), each with the value U of s' on which Q(s,a) is built; their priority is the residual
//! γP̂|V(s') − U|. A cycle pops a triple, sets its U to V(s') and recomputes Q(s,a) from all its successors: the effect of one
//! small backup at the cost of a full one. If V(s) changed, the residuals of all triples that lead to s are set anew.
//! Invariants: Q(s,a) = R̂ + γ Σ P̂ U for every pair seen often enough; V(s) = max Q(s,·); a triple is queued with its residual
//! if and only if that is above the threshold and its pair has been seen often enough.
//!
//! Departure 11: the correction of Q after an observation is free, and residuals are set, not promoted.
//!
//! Cost of a cycle: O(successors + actions + predecessors).

use super::pass::with_queue;
use super::rows::Rows;
use super::{Counters, Cycle, Planner};
use crate::prefetch::prefetch;
use crate::queue::{AnyQueue, Queue};
use crate::{Arc, Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// Peng & Williams' prioritized sweeping.
#[derive(Clone, Debug)]
pub struct PengWilliams {
    settings: Settings,
    values: Values,
    rows: Rows,
    queue: AnyQueue,
    /// U of each arc.
    u: Vec<f64>,
    /// The state that each arc leads to.
    target: Vec<u32>,
    counters: Counters,
}

impl PengWilliams {
    /// A planner that has not met any state.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        Ok(Self {
            values: Values::new(&settings),
            rows: Rows::default(),
            queue: AnyQueue::new(settings.queue),
            u: Vec::new(),
            target: Vec::new(),
            counters: Counters::default(),
            settings,
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.rows.grow(model);
        planner.u = snapshot.finite("peng.u", model.arc_bound())?.to_vec();
        planner.target = vec![crate::arcs::NONE; model.arc_bound()];
        for state in model.states() {
            for predecessor in model.predecessors(state) {
                planner.target[predecessor.arc.index()] = state.0;
            }
        }
        planner.queue = AnyQueue::restore(settings.queue, model.arc_bound(), snapshot)?;
        if (0..model.arc_bound()).any(|arc| {
            planner.target[arc] == crate::arcs::NONE && planner.queue.priority(arc as u32).is_some()
        }) {
            return Err(Snapshot::problem("queue.keys", "a queued triple is not one of the model"));
        }
        planner.counters = Counters::restore(snapshot)?;
        Ok(planner)
    }

    /// Makes room for new arcs; their U starts as the value of their state.
    fn extend_arcs(&mut self, model: &Model, pair: Pair) {
        if self.u.len() < model.arc_bound() {
            self.u.resize(model.arc_bound(), 0.0);
            self.target.resize(model.arc_bound(), crate::arcs::NONE);
            self.queue.grow(model.arc_bound());
        }
        for entry in self.rows.row(pair.index()) {
            let arc = entry.arc as usize;
            if self.target[arc] == crate::arcs::NONE {
                self.target[arc] = entry.state;
                self.u[arc] = self.values.value(State(entry.state));
            }
        }
    }

    /// Sets the priority of a triple from its residual.
    #[inline]
    fn set_residual(&mut self, pair: Pair, weight: f64, arc: Arc, v: f64) {
        let priority = self.values.pairs[pair.index()].scale * weight * (v - self.u[arc.index()]).abs();
        if priority > self.settings.threshold {
            self.queue.set(arc.0, priority);
        } else {
            self.queue.remove(arc.0);
        }
    }

    /// Restores V of a pair's state after its Q changed, and the residuals of all that lead there.
    fn restore_maximum(&mut self, model: &Model, pair: Pair) -> bool {
        let state = model.state_of(pair);
        let Some((_, v)) = self.values.maximum(model, state) else { return false };
        let v_old = std::mem::replace(&mut self.values.states[state.index()].v, v);
        if v == v_old {
            return false;
        }
        let (values, u, threshold) = (&self.values, &self.u, self.settings.threshold);
        with_queue!(self, queue => {
            model.arcs.visit_incoming(&model.states[state.index()].into, |pair, weight, arc| {
                let priority = values.pairs[pair.index()].scale * weight * (v - u[arc.index()]).abs();
                if priority > threshold {
                    queue.set(arc.0, priority);
                } else {
                    queue.remove(arc.0);
                }
            });
        });
        true
    }

    /// Sets all U of a pair to the values of their states and recomputes it.
    fn back_up_fully(&mut self, model: &Model, pair: Pair) {
        self.extend_arcs(model, pair);
        for entry in self.rows.row(pair.index()) {
            self.u[entry.arc as usize] = self.values.value(State(entry.state));
            self.queue.remove(entry.arc);
        }
        let value = self.rows.evaluated(&self.values, model, pair.index(), |_, arc| self.u[arc.index()]);
        self.values.put(pair, value);
        self.restore_maximum(model, pair);
    }
}

impl Planner for PengWilliams {
    fn name(&self) -> &'static str {
        "peng_williams"
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn grow(&mut self, model: &Model) {
        let known = self.values.pairs.len();
        if self.values.extend(model) {
            self.rows.grow(model);
            for pair in known..model.n_pairs() {
                if model.owners.of(pair as u32) != crate::arcs::NONE {
                    self.back_up_fully(model, Pair(pair as u32));
                }
            }
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.rows.observe(model, change);
        let row = &model.pairs[change.pair.index()];
        if !self.values.believes(row, change.weight_before) {
            return self.back_up_fully(model, change.pair);
        }
        self.extend_arcs(model, change.pair);
        let value = self.values.corrected(model, change, |_, arc| self.u[arc.index()]);
        self.values.put(change.pair, value);
        // The pair's probabilities changed, and with them the residuals of its triples.
        for i in (0..self.rows.row(change.pair.index()).len()).rev() {
            let entry = self.rows.row(change.pair.index())[i];
            self.set_residual(
                change.pair,
                entry.weight,
                Arc(entry.arc),
                self.values.value(State(entry.state)),
            );
        }
        self.restore_maximum(model, change.pair);
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.rows.copy(model, pair);
        self.back_up_fully(model, pair);
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        // Pairs with new ids are taken in like new ones; U goes with the arcs, whose ids stay.
        self.grow(model);
        self.values.clear_row(moved);
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        let Some(arc) = self.queue.pop() else { return Cycle::Idle };
        self.counters.cycles += 1;
        let pair = model.arcs.pair(Arc(arc));
        let next = self.queue.likely() as usize;
        model.arcs.prefetch_arc(next);
        prefetch(&self.u, next);
        prefetch(&self.target, next);
        model.arcs.prefetch(&model.states[model.owners.of(pair.0) as usize].into);
        self.u[arc as usize] = self.values.value(State(self.target[arc as usize]));
        let value = self.rows.evaluated(&self.values, model, pair.index(), |_, arc| self.u[arc.index()]);
        self.values.put(pair, value);
        self.counters.full_backups += 1;
        let next = if next < model.arc_bound() { model.arcs.pair(Arc(next as u32)).index() } else { 0 };
        self.rows.prefetch(next);
        prefetch(&model.pairs, next);
        if !self.restore_maximum(model, pair) {
            self.counters.idle_pops += 1;
        }
        self.rows.prefetch_rows(next..next + 1);
        Cycle::Done
    }

    fn top_priority(&self) -> Option<f64> {
        self.queue.top()
    }

    /// The sum of the priorities of the triples that lead to the state is not kept; this is 0.
    fn priority(&self, _state: State) -> f64 {
        0.0
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    fn next_state(&mut self) -> Option<State> {
        self.queue.peek().map(|arc| State(self.target[arc as usize]))
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn seen(&self, state: State, arc: Arc) -> Option<f64> {
        Some(self.u.get(arc.index()).copied().unwrap_or_else(|| self.values.value(state)))
    }

    fn set_threshold(&mut self, model: &Model, threshold: f64) {
        self.grow(model);
        self.settings.threshold = threshold;
        for state in model.states() {
            let v = self.values.value(state);
            for (pair, weight, arc) in model.arcs.incoming(&model.states[state.index()].into) {
                self.set_residual(pair, weight, arc, v);
            }
        }
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.queue.store(snapshot);
        self.counters.store(snapshot);
        snapshot.put("peng.u", self.u.clone());
    }

    fn bytes(&self) -> usize {
        let arcs = size_of_val(&self.u[..]) + size_of_val(&self.target[..]);
        arcs + self.values.bytes() + self.rows.bytes() + self.queue.bytes()
    }

    fn boxed_clone(&self) -> Box<dyn Planner> {
        Box::new(self.clone())
    }
}
