//! Prioritized sweeping as Peng & Williams (1993, queue-Dyna for stochastic worlds) do it, in the reading of section 4.1 and
//! of the paper notes, 5.7.
//!
//! The queue holds triples (s,a,s'), each with the value U of s' on which Q(s,a) is built; their priority is the residual
//! γP̂|V(s') − U|. A cycle pops a triple, sets its U to V(s') and recomputes Q(s,a) from all its successors: the effect of one
//! small backup at the cost of a full one. If V(s) changed, the residuals of all triples that lead to s are set again.
//! Invariants: Q(s,a) = R̂ + γ Σ P̂ U for every pair seen often enough; V(s) = max Q(s,·); a triple is queued with its residual
//! if and only if that is above the threshold and its pair has been seen often enough.
//!
//! Departure 11: the correction of Q after an observation is free, and residuals are set, not promoted.
//!
//! Cost of a cycle: O(successors + actions + predecessors).

use super::successor_cache::SuccessorCache;
use super::{Counters, Cycle, Planner, PlannerKind};
use crate::queue::{PriorityQueue, Queue, with_queue};
use crate::{ArcId, Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// Peng & Williams' prioritized sweeping.
#[derive(Clone, Debug)]
pub struct PengWilliams {
    settings: Settings,
    values: Values,
    successors: SuccessorCache,
    queue: PriorityQueue,
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
            successors: SuccessorCache::default(),
            queue: PriorityQueue::new(settings.queue),
            u: Vec::new(),
            counters: Counters::default(),
            settings,
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.successors.grow(model);
        planner.u = Values::stored(snapshot, "peng.u", model.arc_bound())?;
        planner.queue = PriorityQueue::restore(settings.queue, model.arc_bound(), snapshot)?;
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

    /// The full backup of a pair from U.
    fn back_up(&mut self, model: &Model, pair: Pair) {
        let row = self.successors.row(pair.index()).iter();
        let successors = row.map(|next| (next.weight, self.u[next.arc as usize]));
        let q = self.values.full_backup(model.row(pair), successors);
        self.values.put(model, pair, q);
    }

    /// Sets the priorities of a pair's triples from their residuals.
    fn set_residuals(&mut self, pair: Pair) {
        let scale = self.values.pairs[pair.index() + 1].scale;
        with_queue!(&mut self.queue, queue => for next in self.successors.row(pair.index()) {
            let difference = self.values.v[next.state as usize] - self.u[next.arc as usize];
            queue.set_above(self.settings.threshold, next.arc, scale * next.weight * difference.abs());
        });
    }

    /// Restores V of a pair's state after its Q changed, and the residuals of all that lead there.
    fn restore_maximum(&mut self, model: &Model, pair: Pair) -> bool {
        let state = model.state_of(pair);
        if self.values.update_maximum(model, state) == 0.0 {
            return false;
        }
        let v = self.values.v[state.index()];
        let (values, u, threshold) = (&self.values, &self.u, self.settings.threshold);
        let mut predecessors = model.predecessors_from(state.0, model.first_predecessor(state.0));
        with_queue!(&mut self.queue, queue => while let Some(lanes) = predecessors.next() {
            // All seven residuals first: their scales and U are then fetched side by side.
            let scales = lanes.slots.map(|slot| values.pairs[slot as usize].scale);
            let u = &u[lanes.first_arc as usize..][..scales.len()];
            let priorities: [f64; 7] =
                std::array::from_fn(|i| scales[i] * lanes.weights[i] * (v - u[i]).abs());
            for (arc, priority) in (lanes.first_arc..lanes.first_arc + 7).zip(priorities).rev() {
                queue.set_above(threshold, arc, priority);
            }
        });
        true
    }

    /// Sets all U of a pair to the values of their states and recomputes it.
    fn back_up_fully(&mut self, model: &Model, pair: Pair) {
        self.grow_arcs(model);
        for next in self.successors.row(pair.index()) {
            self.u[next.arc as usize] = self.values.v[next.state as usize];
            self.queue.remove(next.arc);
        }
        self.back_up(model, pair);
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
        let known = self.values.n_pairs();
        if self.values.extend(model) {
            self.successors.grow(model);
            for pair in (known as u32..model.n_pairs() as u32).map(Pair) {
                if model.is_in_use(pair) {
                    self.back_up_fully(model, pair);
                }
            }
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.successors.observe(change, || model.arc_weight(change));
        if !self.values.believes(model.row(change.pair), change.weight_before) {
            return self.back_up_fully(model, change.pair);
        }
        self.grow_arcs(model);
        if let Some((state, arc)) = change.next
            && model.arc_weight(change) == change.weight
        {
            // The arc is new, or as good as new: its U starts as the value of its state.
            self.u[arc.index()] = self.values.v[state.index()];
        }
        self.back_up(model, change.pair);
        // The pair's probabilities changed, and with them the residuals of its triples.
        self.set_residuals(change.pair);
        self.restore_maximum(model, change.pair);
        if let Some((next, _)) = change.next {
            self.successors.expect(model, next.0);
        }
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.successors.copy(model, pair);
        self.back_up_fully(model, pair);
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        // Pairs with new ids are taken in like new ones: each U becomes the value of its state.
        self.grow(model);
        self.successors.row_moved(moved);
        self.values.clear_row(moved);
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        let Some(arc) = self.queue.pop() else { return Cycle::Idle };
        self.counters.cycles += 1;
        let Some((pair, state)) = model.ends_of(ArcId(arc)) else { return Cycle::Done };
        self.u[arc as usize] = self.values.v[state.index()];
        self.back_up(model, pair);
        self.counters.full_backups += 1;
        if !self.restore_maximum(model, pair) {
            self.counters.idle_pops += 1;
        }
        let likely = with_queue!(&mut self.queue, queue => queue.likely());
        if let Some((pair, state)) = model.ends_of(ArcId(likely)) {
            self.successors.expect(model, model.state_of(pair).0);
            model.expect_cycle(state.0);
        }
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
        self.queue.first().and_then(|arc| model.ends_of(ArcId(arc))).map(|(_, state)| state)
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

    fn set_threshold(&mut self, model: &Model, threshold: f64) -> Result<()> {
        self.settings = Settings { threshold, ..self.settings }.check()?;
        self.grow(model);
        for pair in model.states().flat_map(|state| model.pairs(state)) {
            self.set_residuals(pair);
        }
        Ok(())
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.queue.store(snapshot);
        self.counters.store(snapshot);
        snapshot.put("peng.u", self.u.clone());
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.u[..]) + self.values.bytes() + self.successors.bytes() + self.queue.bytes()
    }
}
