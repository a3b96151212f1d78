//! Value iteration after every observation: in place, from the values there are (warm start), until the largest change of a
//! value in a sweep is below the tolerance (paper notes, 5.8; Departure 13).
//!
//! An update cycle is one sweep over all states. Invariant after a sweep: V(s) = max Q(s,·). Cost of a cycle: O(arcs).
//! Sweeps that no longer get anywhere, for rounding, are not carried out: see [`Cycle::Stalled`].
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
    /// The largest change that later sweeps must halve, and how many have not. Near the fixed point, rounding can keep values
    /// in motion for ever.
    to_halve: (f64, u32),
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
            to_halve: (f64::INFINITY, 0),
            counters: Counters::default(),
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.successors.grow(model);
        planner.counters = Counters::restore(snapshot)?;
        (planner.largest_change, planner.to_halve) = match *snapshot.f64s("iteration.largest_change")? {
            [largest_change] => (largest_change, (f64::INFINITY, 0)), // version 0.1
            [largest_change, to_halve, n_sweeps] => (largest_change, (to_halve, n_sweeps as u32)),
            _ => return Err(Snapshot::problem("iteration.largest_change", "expected 3 items")),
        };
        Ok(planner)
    }
}

impl ValueIteration {
    /// Something changed: sweeps begin again.
    fn restart(&mut self) {
        self.largest_change = f64::INFINITY;
        self.to_halve = (f64::INFINITY, 0);
    }

    /// Whether sweeps no longer get anywhere. A sweep multiplies the largest change by γ at the most, so it is halved every
    /// 0.7 / (1 − γ) sweeps until rounding prevents it; without discount that is left to a hundred thousand.
    fn is_stalled(&self) -> bool {
        let patience = (100.0 + 1.0 / (1.0 - self.settings.discount)).min(1e5);
        f64::from(self.to_halve.1) > patience
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
            self.restart();
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.values.rescale(model, change.pair);
        self.successors.observe(change, || model.arc_weight(change));
        self.restart();
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.successors.copy(model, pair);
        self.values.rescale(model, pair);
        self.restart();
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        let was_known = moved.from.index() < self.values.n_pairs();
        self.grow(model);
        self.successors.row_moved(moved);
        if was_known {
            self.values.move_row(moved);
        }
        self.restart();
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        if self.top_priority().is_none() {
            return Cycle::Idle;
        }
        if self.is_stalled() {
            return Cycle::Stalled;
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
        self.to_halve.1 += 1;
        if largest_change <= self.to_halve.0 / 2.0 {
            self.to_halve = (largest_change, 0);
        }
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
    fn set_threshold(&mut self, model: &Model, threshold: f64) -> Result<()> {
        self.settings = Settings { threshold, ..self.settings }.check()?;
        self.grow(model);
        self.settings.tolerance = threshold.max(f64::MIN_POSITIVE);
        self.restart();
        Ok(())
    }

    fn restore_settings(&mut self, _: &Model, settings: &Settings) -> Result<()> {
        self.settings = settings.check()?;
        Ok(())
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.counters.store(snapshot);
        snapshot.put(
            "iteration.largest_change",
            vec![self.largest_change, self.to_halve.0, f64::from(self.to_halve.1)],
        );
    }

    fn bytes(&self) -> usize {
        self.successors.bytes() + self.values.bytes()
    }
}
