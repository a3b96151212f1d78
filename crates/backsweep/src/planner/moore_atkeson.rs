//! Prioritized sweeping as Moore & Atkeson (1993) do it, in the reading of section 4.1 and of the paper notes, 5.6.
//!
//! The queue holds states; a cycle gives the top state a full backup of all its actions, then promotes each predecessor state
//! to P̂|ΔV|. After every observation its state goes to the top, which uses up one of the cycles. Priorities are only
//! promoted. Invariant: V(s) = max Q(s,·), where Q(s,·) is from the last backup of s.
//!
//! Departure 10: pairs that have not been seen often enough are not promoted; a backup could not change them.
//!
//! Cost of a cycle: O(actions × successors + predecessors).

use super::successor_cache::SuccessorCache;
use super::{Counters, Cycle, Planner, PlannerKind};
use crate::queue::{PriorityQueue, Queue, with_queue};
use crate::{Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// Moore & Atkeson's prioritized sweeping.
#[derive(Clone, Debug)]
pub struct MooreAtkeson {
    settings: Settings,
    values: Values,
    successors: SuccessorCache,
    queue: PriorityQueue,
    counters: Counters,
}

impl MooreAtkeson {
    /// A planner that has not met any state.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        let (values, queue) = (Values::new(&settings), PriorityQueue::new(settings.queue));
        Ok(Self {
            settings,
            values,
            successors: SuccessorCache::default(),
            queue,
            counters: Counters::default(),
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.successors.grow(model);
        planner.queue = PriorityQueue::restore(settings.queue, model.n_states(), snapshot)?;
        planner.counters = Counters::restore(snapshot)?;
        Ok(planner)
    }
}

impl Planner for MooreAtkeson {
    fn kind(&self) -> Option<PlannerKind> {
        Some(PlannerKind::MooreAtkeson)
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
            for pair in (known as u32..model.n_pairs() as u32).map(Pair) {
                self.values.rescale(model, pair);
                let state = model.state_of(pair).0;
                // A new action of a state that was there before changes its maximum even if nothing is known of it.
                if self.values.is_known(model, pair) || (state as usize) < known_states {
                    self.queue.set(state, f64::INFINITY);
                }
            }
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.successors.observe(change, || model.arc_weight(change));
        self.values.rescale(model, change.pair);
        self.queue.set(change.state.0, f64::INFINITY);
        if let Some((next, _)) = change.next {
            self.successors.expect(model, next.0);
        }
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.successors.copy(model, pair);
        self.values.rescale(model, pair);
        self.queue.set(model.state_of(pair).0, f64::INFINITY);
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        let was_known = moved.from.index() < self.values.n_pairs();
        self.grow(model);
        self.successors.row_moved(moved);
        if was_known {
            self.values.move_row(moved);
        }
        self.queue.set(model.state_of(moved.to).0, f64::INFINITY);
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        let Some(state) = self.queue.pop() else { return Cycle::Idle };
        self.counters.cycles += 1;
        let (delta_v, n_backups) = self.successors.full_value_backup(&mut self.values, model, state);
        self.counters.full_backups += n_backups;
        if delta_v == 0.0 {
            self.counters.idle_pops += 1;
            return Cycle::Done;
        }
        // A pair's scale is γ/W, so this times w is P̂|ΔV|.
        let gamma = self.values.discount();
        let factor = if gamma > 0.0 { delta_v.abs() / gamma } else { 0.0 };
        let (values, threshold) = (&self.values, self.settings.threshold);
        let mut predecessors = model.predecessors_from(state, model.first_predecessor(state));
        with_queue!(&mut self.queue, queue => while let Some(lanes) = predecessors.next() {
            for (slot, weight) in lanes.iter().rev() {
                let priority = values.pairs[slot].scale * weight * factor;
                if priority > threshold {
                    queue.promote(model.state_of_slot(slot), priority);
                }
            }
        });
        with_queue!(&mut self.queue, queue => self.successors.expect(model, queue.likely()));
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
        // What was kept off the queue is not remembered: every state with a model is looked at again.
        for pair in model.states().flat_map(|state| model.pairs(state)) {
            if self.values.is_known(model, pair) {
                self.queue.promote(model.state_of(pair).0, f64::INFINITY);
            }
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
    }

    fn bytes(&self) -> usize {
        self.values.bytes() + self.successors.bytes() + self.queue.bytes()
    }
}
