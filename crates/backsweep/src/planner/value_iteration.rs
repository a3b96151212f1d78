//! Value iteration after every observation: in place, from the values there are (warm start), until the largest change of a
//! value in a sweep is below the tolerance (paper notes, 5.8; Departure 13).
//!
//! An update cycle is one sweep over all states. Invariant after a sweep: V(s) = max Q(s,·). Cost of a cycle: O(arcs).
//!
//! The planner keeps a copy of every pair's successors in one piece (see `successor_cache.rs`), so that a sweep reads memory in order.

use super::successor_cache::SuccessorCache;
use super::{Counters, Cycle, Planner, PlannerKind};
use crate::{Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// Value iteration, until [`Settings::tolerance`].
#[derive(Clone, Debug)]
pub struct ValueIteration {
    settings: Settings,
    values: Values,
    successors: SuccessorCache,
    /// The largest change of a value in the last sweep; infinite if something was observed since.
    largest_change: f64,
    counters: Counters,
}

impl ValueIteration {
    /// A planner that has not met any state.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        let values = Values::new(&settings);
        Ok(Self {
            settings,
            values,
            successors: SuccessorCache::default(),
            largest_change: 0.0,
            counters: Counters::default(),
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.successors.grow(model);
        planner.counters = Counters::restore(snapshot)?;
        let &[largest_change] = snapshot.f64s("iteration.largest_change")? else {
            return Err(Snapshot::problem("iteration.largest_change", "expected 1 item"));
        };
        planner.largest_change = largest_change;
        Ok(planner)
    }
}

impl Planner for ValueIteration {
    fn kind(&self) -> Option<PlannerKind> {
        Some(PlannerKind::ValueIteration)
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
            for pair in known..model.n_pairs() {
                self.values.rescale(model, Pair(pair as u32));
            }
            self.largest_change = f64::INFINITY;
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.values.rescale(model, change.pair);
        self.successors.observe(change, || model.arc_weight(change));
        self.largest_change = f64::INFINITY;
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.successors.copy(model, pair);
        self.values.rescale(model, pair);
        self.largest_change = f64::INFINITY;
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        self.grow(model);
        self.successors.row_moved(moved);
        self.values.move_row(moved);
        self.largest_change = f64::INFINITY;
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        if self.top_priority().is_none() {
            return Cycle::Idle;
        }
        let mut largest_change = 0.0f64;
        for state in 0..model.n_states() as u32 {
            let (delta_v, n_backups) = self.successors.full_value_backup(&mut self.values, model, state);
            self.counters.full_backups += n_backups;
            largest_change = largest_change.max(delta_v.abs());
        }
        self.counters.cycles += 1;
        self.counters.idle_pops += u64::from(largest_change == 0.0);
        self.largest_change = largest_change;
        Cycle::Done
    }

    /// The largest change of the last sweep, or infinity if something was observed since; `None` once it is below the
    /// tolerance.
    fn top_priority(&self) -> Option<f64> {
        (self.largest_change >= self.settings.tolerance).then_some(self.largest_change)
    }

    fn priority(&self, _model: &Model, _state: State) -> f64 {
        0.0
    }

    /// Value iteration has no queue.
    fn queue_length(&self) -> usize {
        0
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    /// Sets the tolerance of the sweeps too.
    fn set_threshold(&mut self, model: &Model, threshold: f64) {
        self.grow(model);
        self.settings.threshold = threshold;
        self.settings.tolerance = threshold.max(f64::MIN_POSITIVE);
        self.largest_change = f64::INFINITY;
    }

    fn restore_settings(&mut self, _: &Model, settings: &Settings) {
        self.settings = *settings;
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.counters.store(snapshot);
        snapshot.put("iteration.largest_change", vec![self.largest_change]);
    }

    fn bytes(&self) -> usize {
        self.successors.bytes() + self.values.bytes()
    }
}
