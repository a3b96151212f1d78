//! Prioritized sweeping as Wiering & Schmidhuber (1998) do it, in the reading of the paper notes, section 1.
//!
//! On an observation all actions of its state are backed up, the change of V is added to the state's Δ, the queue is emptied
//! (all Δ are kept) and the state is put on top. A cycle pops a state, sets its Δ to 0, and gives every *predecessor state* a
//! full backup of all its actions; the change of V is added to its Δ and it is promoted to |Δ|. So Δ(s) is how much V(s) has
//! changed since its predecessors were last backed up. Invariant: V(s) = max Q(s,·).
//!
//! Departure 12: a predecessor state is backed up once a cycle.
//!
//! Cost of a cycle: O(predecessor states × actions × successors).

use super::successor_cache::SuccessorCache;
use super::{Counters, Cycle, Planner, PlannerKind};
use crate::queue::PriorityQueue;
use crate::{Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// Wiering & Schmidhuber's prioritized sweeping.
#[derive(Clone, Debug)]
pub struct WieringSchmidhuber {
    settings: Settings,
    values: Values,
    successors: SuccessorCache,
    queue: PriorityQueue,
    /// Δ(s).
    delta: Vec<f64>,
    /// The cycle in which a state was last backed up, so that one with several actions that lead to the popped state is backed
    /// up once.
    stamp: Vec<u64>,
    counters: Counters,
}

impl WieringSchmidhuber {
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
            delta: Vec::new(),
            stamp: Vec::new(),
            counters: Counters::default(),
            settings,
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.successors.grow(model);
        planner.queue = PriorityQueue::restore(settings.queue, model.n_states(), snapshot)?;
        planner.delta = snapshot.finite("wiering.delta", model.n_states())?.to_vec();
        planner.stamp = vec![0; model.n_states()];
        planner.counters = Counters::restore(snapshot)?;
        Ok(planner)
    }

    /// Backs up all actions of a state and adds the change of its value to Δ. Returns whether it changed.
    fn back_up(&mut self, model: &Model, state: u32) -> bool {
        let (delta_v, n_backups) = self.successors.full_value_backup(&mut self.values, model, state);
        self.counters.full_backups += n_backups;
        self.delta[state as usize] += delta_v;
        delta_v != 0.0
    }

    /// Queues a state by its Δ if that is above the threshold.
    fn promote(&mut self, state: u32) {
        let priority = self.delta[state as usize].abs();
        if priority > self.settings.threshold {
            self.queue.promote(state, priority);
        }
    }
}

impl Planner for WieringSchmidhuber {
    fn kind(&self) -> Option<PlannerKind> {
        Some(PlannerKind::WieringSchmidhuber)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn grow(&mut self, model: &Model) {
        let (known, known_states) = (self.values.n_pairs(), self.values.v.len());
        if self.values.extend(model) {
            self.queue.grow(model.n_states());
            self.successors.grow(model);
            self.delta.resize(model.n_states(), 0.0);
            self.stamp.resize(model.n_states(), 0);
            for pair in (known as u32..model.n_pairs() as u32).map(Pair) {
                let state = model.state_of(pair).0;
                self.values.rescale(model, pair);
                // A new action of a state that was there before changes its maximum even if nothing is known of it.
                if self.values.is_known(model, pair) || (state as usize) < known_states {
                    self.back_up(model, state);
                    self.promote(state);
                }
            }
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.successors.observe(change, || model.arc_weight(change));
        self.values.rescale(model, change.pair);
        self.back_up(model, change.state.0);
        self.queue.clear();
        self.queue.set(change.state.0, f64::INFINITY);
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.successors.copy(model, pair);
        self.values.rescale(model, pair);
        let state = model.state_of(pair).0;
        self.back_up(model, state);
        self.promote(state);
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        self.grow(model);
        self.successors.row_moved(moved);
        self.refresh(model, moved.to);
        self.values.clear_row(moved);
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        let Some(state) = self.queue.pop() else { return Cycle::Idle };
        self.counters.cycles += 1;
        // Predecessors are backed up even if Δ is 0: full backups take in what else has changed among their successors.
        self.delta[state as usize] = 0.0;
        let mut changed = false;
        for before in model.predecessors(State(state)) {
            let predecessor = model.state_of(before.pair).0;
            if std::mem::replace(&mut self.stamp[predecessor as usize], self.counters.cycles)
                != self.counters.cycles
            {
                changed |= self.back_up(model, predecessor);
                self.promote(predecessor);
            }
        }
        self.counters.idle_pops += u64::from(!changed);
        Cycle::Done
    }

    fn top_priority(&self) -> Option<f64> {
        self.queue.top()
    }

    fn priority(&self, _model: &Model, state: State) -> f64 {
        self.queue.priority(state.0).unwrap_or(0.0)
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    fn next_state(&self, _model: &Model) -> Option<State> {
        self.queue.first().map(State)
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn set_threshold(&mut self, model: &Model, threshold: f64) -> Result<()> {
        self.settings = Settings { threshold, ..self.settings }.check()?;
        self.grow(model);
        // Observations empty the queue, so states wait off it whose predecessors have not seen their Δ. And Δ can be 0 although
        // a predecessor uses another value: one that was backed up in between, before the changes cancelled out. So every
        // state is backed up again.
        for state in 0..model.n_states() as u32 {
            self.back_up(model, state);
            self.promote(state);
        }
        Ok(())
    }

    fn restore_settings(&mut self, _: &Model, settings: &Settings) -> Result<()> {
        self.settings = settings.check()?;
        Ok(())
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.queue.store(snapshot);
        self.counters.store(snapshot);
        snapshot.put("wiering.delta", self.delta.clone());
    }

    fn bytes(&self) -> usize {
        let states = size_of_val(&self.delta[..]) + size_of_val(&self.stamp[..]);
        states + self.values.bytes() + self.successors.bytes() + self.queue.bytes()
    }
}
