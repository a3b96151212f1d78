//! The trait [`Planner`] and those that it offers, for both versions of Algorithm 2.

use super::partial_cycle::PartialCycle;
use super::touched::Touched;
use super::{Sweeping, Variant};
use crate::planner::{Bonuses, Counters, Cycle, Planner, PlannerKind, QueueView, Storable};
use crate::refresh::RefreshSchedule;
use crate::{
    ArcId, Change, Model, MovedPairs, Pair, PriorityQueue, Result, Settings, Snapshot, State, Values,
};

impl<V: Variant> Sweeping<V> {
    /// A planner without states.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        Ok(Self {
            settings,
            values: Values::new(&settings),
            queue: PriorityQueue::new(settings.queue),
            schedule: RefreshSchedule::new(),
            counters: Counters::default(),
            partial: None,
            touched: Touched::default(),
            variant: V::default(),
        })
    }

    /// The planner that was [stored](Storable::store).
    ///
    /// # Errors
    /// If the snapshot does not describe such a planner on this model.
    pub fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.schedule = RefreshSchedule::restore(model, snapshot)?;
        planner.counters = Counters::restore(snapshot)?;
        planner.queue = PriorityQueue::restore(settings.queue, model.n_states(), snapshot)?;
        planner.partial = PartialCycle::restore(model, snapshot)?;
        V::restore(&mut planner, model, snapshot)?;
        Ok(planner)
    }

    /// Makes room for all states and pairs of the model; returns whether any are new.
    #[inline]
    fn extend(&mut self, model: &Model) -> bool {
        let is_new = self.values.extend(model);
        if is_new {
            self.queue.grow(model.n_states());
            self.schedule.grow(model, self.settings.optimism.value);
            self.variant.grow(model, &self.values, self.settings.threshold);
        }
        is_new
    }

    /// Computes a pair that is new to the planner.
    fn admit(&mut self, model: &Model, pair: Pair) {
        if !model.is_in_use(pair) {
            return;
        }
        let state = model.state_of(pair);
        if model.pair_range(state.0).start == pair.index() {
            V::admit_first(self, pair.slot());
        }
        self.recompute(model, pair);
    }
}

impl<V: Variant> Planner for Sweeping<V> {
    fn values(&self) -> &Values {
        &self.values
    }

    fn grow(&mut self, model: &Model) {
        let known = self.values.n_pairs();
        if self.extend(model) {
            for pair in known..model.n_pairs() {
                self.admit(model, Pair(pair as u32));
            }
        }
    }

    #[inline]
    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.observe_change(model, change);
    }

    fn loss_bound(&self) -> Option<f64> {
        // Every published value that a pair uses is within this of V. In a cycle that was cut some
        // pairs use an older one.
        let queued = self.queue.top().unwrap_or(0.0).max(self.settings.threshold);
        let stale = self.partial.map_or(0.0, |c| (V::published_value(self, c.state) - c.v_old).abs());
        let gamma = self.settings.discount;
        (gamma < 1.0).then(|| 2.0 * gamma * (queued + stale) / (1.0 - gamma))
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.recompute(model, pair);
    }

    fn pairs_moved(&mut self, model: &Model, moved: &MovedPairs) {
        let known = self.values.n_pairs();
        self.extend(model);
        let was_known = moved.from.index() < known;
        if was_known {
            self.values.move_pairs(moved);
            self.variant.pairs_moved(moved);
        }
        let moved_pairs = moved.to.index()..moved.to.index() + moved.n_pairs as usize;
        for pair in known..model.n_pairs() {
            if !(was_known && moved_pairs.contains(&pair)) {
                self.admit(model, Pair(pair as u32));
            }
        }
    }

    fn update_cycle(&mut self, model: &Model, limit: usize) -> Cycle {
        self.run_cycle(model, limit)
    }

    fn top_priority(&self) -> Option<f64> {
        let under_way = self.partial.map(|cycle| {
            let delta_v = V::published_value(self, cycle.state) - cycle.v_old;
            delta_v.abs().max(f64::MIN_POSITIVE)
        });
        self.queue.top().into_iter().chain(under_way).reduce(f64::max)
    }

    fn is_idle(&self) -> bool {
        self.partial.is_none() && self.queue.is_empty()
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }

    fn queue(&self) -> Option<&dyn QueueView> {
        Some(self)
    }

    fn bonuses(&mut self) -> Option<&mut dyn Bonuses> {
        Some(self)
    }

    fn storable(&self) -> Option<&dyn Storable> {
        Some(self)
    }

    fn backed_up_value(&self, state: State, arc: ArcId) -> Option<f64> {
        Some(self.value_in_use(state, arc))
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.values.bytes() + self.schedule.bytes() + self.queue.bytes() + self.variant.bytes())
    }
}

impl<V: Variant> QueueView for Sweeping<V> {
    fn priority(&self, _model: &Model, state: State) -> f64 {
        self.queue.priority(state.0).unwrap_or(0.0)
    }

    fn next_state(&self, _model: &Model) -> Option<State> {
        self.partial.map(|cycle| cycle.state).or_else(|| self.queue.first()).map(State)
    }

    fn n_queued(&self) -> usize {
        self.queue.len()
    }
}

impl<V: Variant> Bonuses for Sweeping<V> {
    fn set_bonus(&mut self, model: &Model, pair: Pair, bonus: f64) {
        self.grow(model);
        let q_old = self.values.set_bonus(pair, bonus, self.values.is_known(model, pair));
        self.schedule.note_peak(pair, q_old);
        self.requeue(model, pair);
    }

    /// A bonus is a reward that every observation of the pair has received: W times the bonus is in
    /// the sum of rewards. So Q is corrected for the new bonus first, and the observation then adds
    /// its share of it.
    fn observe_with_bonus(&mut self, model: &Model, change: &Change, bonus: f64) {
        self.grow(model);
        let was_known = self.values.trusts(model.pair_record(change.pair), change.weight_before);
        let q_old = self.values.set_bonus(change.pair, bonus, was_known);
        self.schedule.note_peak(change.pair, q_old);
        self.observe(model, &Change { reward: change.reward + change.weight * bonus, ..*change });
    }
}

impl<V: Variant> Storable for Sweeping<V> {
    fn kind(&self) -> PlannerKind {
        V::KIND
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.queue.store(snapshot);
        self.counters.store(snapshot);
        self.schedule.store(snapshot);
        PartialCycle::store(self.partial.as_ref(), snapshot);
        self.variant.store(snapshot);
    }
}
