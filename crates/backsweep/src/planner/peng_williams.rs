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
use super::rows::{Entry, Rows};
use super::{Counters, Cycle, Planner, PlannerKind};
use crate::arcs::Weights;
use crate::prefetch::prefetch;
use crate::queue::{AnyQueue, Queue};
use crate::{ArcId, Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// A triple in the row of its pair.
#[derive(Clone, Copy, Debug, Default)]
struct Triple {
    /// The same as `PengWilliams::u` of the arc, here a second time so that a full backup reads one piece of memory.
    u: f64,
    arc: u32,
    /// Stands for the weight.
    code: u32,
}

impl Entry for Triple {
    fn new(model: &Model, _state: State, arc: ArcId) -> Self {
        Self { u: 0.0, arc: arc.0, code: model.arcs.code(arc) }
    }

    #[inline]
    fn arc(&self) -> u32 {
        self.arc
    }

    #[inline]
    fn set_weight(&mut self, model: &Model) {
        self.code = model.arcs.code(ArcId(self.arc));
    }
}

impl Triple {
    /// What the triple adds to the sum of its pair.
    #[inline(always)]
    fn product(&self, model: &Model) -> f64 {
        model.arcs.decode(self.code) * self.u
    }
}

/// Peng & Williams' prioritized sweeping.
#[derive(Clone, Debug)]
pub struct PengWilliams {
    settings: Settings,
    values: Values,
    rows: Rows<Triple>,
    queue: AnyQueue,
    /// U of each arc.
    u: Vec<f64>,
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
            counters: Counters::default(),
            settings,
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.rows.grow(model);
        planner.u = snapshot.finite("peng.u", model.arc_bound())?.to_vec();
        for pair in 0..model.n_pairs() {
            for triple in planner.rows.row_mut(pair) {
                triple.u = planner.u[triple.arc as usize];
            }
        }
        planner.queue = AnyQueue::restore(settings.queue, model.arc_bound(), snapshot)?;
        let triples = model.states().flat_map(|state| model.predecessors(state));
        if triples.filter(|triple| planner.queue.priority(triple.arc.0).is_some()).count()
            < planner.queue.len()
        {
            return Err(Snapshot::problem("queue.keys", "a queued triple is not one of the model"));
        }
        planner.counters = Counters::restore(snapshot)?;
        Ok(planner)
    }

    /// Makes room for new arcs.
    fn grow_arcs(&mut self, model: &Model) {
        if self.u.len() < model.arc_bound() {
            self.u.resize(model.arc_bound(), 0.0);
            self.queue.grow(model.arc_bound());
        }
    }

    /// Sets the priority of a triple from its residual.
    #[inline]
    fn set_residual(&mut self, pair: Pair, weight: f64, arc: ArcId, v: f64) {
        let priority = self.values.pairs[pair.index()].scale * weight * (v - self.u[arc.index()]).abs();
        self.queue.set_above(self.settings.threshold, arc.0, priority);
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
        let into = &model.states[state.index()].into;
        with_queue!(self, queue => {
            model.arcs.prefetch(into);
            for first in into.first_arcs() {
                prefetch(u, first as usize);
                queue.prefetch(first);
            }
            // All of a block's priorities first: the seven scales are fetched side by side.
            model.arcs.visit_blocks(into, |first, block, weights, filled| {
                let scales = block.pairs.map(|pair| values.pairs[pair as usize].scale);
                let u = &u[first as usize..][..scales.len()];
                let priorities: Weights = std::array::from_fn(|i| scales[i] * weights[i] * (v - u[i]).abs());
                for i in (0..filled).rev() {
                    queue.set_above(threshold, first + i as u32, priorities[i]);
                }
            });
        });
        true
    }

    /// Sets all U of a pair to the values of their states and recomputes it.
    fn back_up_fully(&mut self, model: &Model, pair: Pair) {
        self.grow_arcs(model);
        for triple in self.rows.row_mut(pair.index()) {
            triple.u = self.values.value(model.arcs.target(ArcId(triple.arc)));
            self.u[triple.arc as usize] = triple.u;
            self.queue.remove(triple.arc);
        }
        let value = self.rows.evaluated(&self.values, model, pair.index(), |triple| triple.product(model));
        self.values.put(pair, value);
        self.restore_maximum(model, pair);
    }
}

impl Planner for PengWilliams {
    fn kind(&self) -> Option<PlannerKind> {
        Some(PlannerKind::PengWilliams)
    }

    fn settings(&self) -> Settings {
        self.settings
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
        let is_new = self.rows.observe(model, change);
        let row = &model.pairs[change.pair.index()];
        if !self.values.believes(row, change.weight_before) {
            return self.back_up_fully(model, change.pair);
        }
        self.grow_arcs(model);
        if let (Some((state, arc)), true, [.., triple]) =
            (change.next, is_new, self.rows.row_mut(change.pair.index()))
        {
            // Its U starts as the value of its state.
            triple.u = self.values.value(state);
            self.u[arc.index()] = triple.u;
        }
        for triple in self.rows.row(change.pair.index()) {
            model.arcs.prefetch_arc(triple.arc as usize);
            self.queue.prefetch(triple.arc);
        }
        let value = self.values.corrected(model, change, |_, arc| self.u[arc.index()]);
        self.values.put(change.pair, value);
        // The pair's probabilities changed, and with them the residuals of its triples.
        for i in (0..self.rows.row(change.pair.index()).len()).rev() {
            let Triple { arc, code, .. } = self.rows.row(change.pair.index())[i];
            let v = self.values.value(model.arcs.target(ArcId(arc)));
            self.set_residual(change.pair, model.arcs.decode(code), ArcId(arc), v);
        }
        self.restore_maximum(model, change.pair);
        self.rows.expect(model, change);
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.rows.copy(model, pair);
        self.back_up_fully(model, pair);
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        // Pairs with new ids are taken in like new ones: each U becomes the value of its state.
        self.grow(model);
        self.rows.row_moved(moved);
        self.values.clear_row(moved);
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        let Some(arc) = self.queue.pop() else { return Cycle::Idle };
        self.counters.cycles += 1;
        let pair = model.arcs.pair(ArcId(arc));
        let next = self.queue.likely() as usize;
        model.arcs.prefetch_arc(next);
        prefetch(&self.u, next);
        prefetch(&model.states, model.owners.of(pair.0) as usize);
        let u = self.values.value(model.arcs.target(ArcId(arc)));
        self.u[arc as usize] = u;
        let value = self.rows.evaluated(&self.values, model, pair.index(), |triple| {
            if triple.arc == arc {
                triple.u = u;
            }
            triple.product(model)
        });
        self.values.put(pair, value);
        self.counters.full_backups += 1;
        let next = if next < model.arc_bound() { model.arcs.pair(ArcId(next as u32)).index() } else { 0 };
        self.rows.prefetch(next);
        prefetch(&model.pairs, next);
        prefetch(&model.states, model.owners.of(next as u32) as usize);
        if !self.restore_maximum(model, pair) {
            self.counters.idle_pops += 1;
        }
        self.rows.prefetch_rows(next..next + 1);
        self.rows.prefetch_expected();
        Cycle::Done
    }

    fn top_priority(&self) -> Option<f64> {
        self.queue.top()
    }

    /// The highest priority of the triples that lead to the state. O(predecessors).
    fn priority(&self, model: &Model, state: State) -> f64 {
        let queued = model.predecessors(state).filter_map(|before| self.queue.priority(before.arc.0));
        queued.fold(0.0, f64::max)
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    fn next_state(&self, model: &Model) -> Option<State> {
        self.queue.first().map(|arc| model.arcs.target(ArcId(arc)))
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn backed_up_value(&self, state: State, arc: ArcId) -> Option<f64> {
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
        size_of_val(&self.u[..]) + self.values.bytes() + self.rows.bytes() + self.queue.bytes()
    }
}
