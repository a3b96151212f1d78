//! What a planner has to answer, for both versions of Algorithm 2.

use super::partial_cycle::PartialCycle;
use super::touched::Touched;
use super::{SweepState, Variant};
use crate::planner::{Counters, Cycle, Planner, PlannerKind};
use crate::queue::{PriorityQueue, with_queue};
use crate::refresh::RefreshSchedule;
use crate::{ArcId, Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// A planner on small backups; use it by the names of its versions.
#[derive(Clone, Debug)]
pub struct Sweeping<V> {
    settings: Settings,
    pub(super) sweep: SweepState<V>,
    queue: PriorityQueue,
    partial: Option<PartialCycle>,
}

impl<V: Variant> Sweeping<V> {
    /// A planner that has not met any state.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        let sweep = SweepState {
            threshold: settings.threshold,
            values: Values::new(&settings),
            schedule: RefreshSchedule::new(),
            counters: Counters::default(),
            touched: Touched::default(),
            own: V::default(),
        };
        Ok(Self { sweep, queue: PriorityQueue::new(settings.queue), partial: None, settings })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.sweep.values = Values::restore(&settings, model, snapshot)?;
        planner.sweep.schedule = RefreshSchedule::restore(model, &planner.sweep.values, snapshot)?;
        planner.sweep.counters = Counters::restore(snapshot)?;
        planner.queue = PriorityQueue::restore(settings.queue, model.n_states(), snapshot)?;
        planner.partial = PartialCycle::restore(model, snapshot)?;
        V::restore(&mut planner.sweep, model, snapshot)?;
        Ok(planner)
    }

    /// Makes room for what the model has; returns whether there was anything new.
    #[inline]
    fn extend(&mut self, model: &Model) -> bool {
        let is_new = self.sweep.values.extend(model);
        if is_new {
            self.queue.grow(model.n_states());
            self.sweep.schedule.grow(model, self.settings.optimism.value);
            self.sweep.own.grow(model, &self.sweep.values, self.settings.threshold);
        }
        is_new
    }

    /// Takes in a pair that is new to the planner.
    fn admit(&mut self, model: &Model, pair: Pair) {
        if !model.is_in_use(pair) {
            return;
        }
        let state = model.state_of(pair);
        if model.pair_range(state.0).start == pair.index() {
            V::admit_first(&mut self.sweep, pair.0 + 1);
        }
        self.recompute(model, pair);
    }

    fn recompute(&mut self, model: &Model, pair: Pair) {
        with_queue!(&mut self.queue, queue => self.sweep.refresh(model, queue, self.partial.as_ref(), pair));
    }
}

impl<V: Variant> Planner for Sweeping<V> {
    fn kind(&self) -> Option<PlannerKind> {
        Some(V::KIND)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn values(&self) -> &Values {
        &self.sweep.values
    }

    fn grow(&mut self, model: &Model) {
        let known = self.sweep.values.n_pairs();
        if self.extend(model) {
            for pair in known..model.n_pairs() {
                self.admit(model, Pair(pair as u32));
            }
        }
    }

    #[inline]
    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        with_queue!(&mut self.queue, queue => self.sweep.observe(model, queue, self.partial.as_ref(), change));
    }

    fn takes_bonuses(&self) -> bool {
        true
    }

    fn set_bonus(&mut self, model: &Model, pair: Pair, bonus: f64) {
        self.grow(model);
        let q_old = self.sweep.values.set_bonus(pair, bonus, self.sweep.values.is_known(model, pair));
        self.sweep.schedule.note_peak(pair, q_old);
        with_queue!(&mut self.queue, queue => V::requeue(&mut self.sweep, model, queue, pair.index() + 1));
    }

    /// A bonus is a reward that every observation of the pair has received: W times the bonus is in the sum of rewards. So
    /// Q is corrected for the new bonus first, and the observation then brings its share of it.
    fn observe_with_bonus(&mut self, model: &Model, change: &Change, bonus: f64) {
        self.grow(model);
        let was_known = self.sweep.values.believes(model.row(change.pair), change.weight_before);
        let q_old = self.sweep.values.set_bonus(change.pair, bonus, was_known);
        self.sweep.schedule.note_peak(change.pair, q_old);
        self.observe(model, &Change { reward: change.reward + change.weight * bonus, ..*change });
    }

    fn loss_bound(&self) -> Option<f64> {
        // Every published value that a pair uses is within this of V. In a cycle that was cut some pairs use an older one.
        let queued = self.queue.top().unwrap_or(0.0).max(self.settings.threshold);
        let stale = self.partial.map_or(0.0, |c| (V::published_value(&self.sweep, c.state) - c.v_old).abs());
        let gamma = self.settings.discount;
        (gamma < 1.0).then(|| 2.0 * gamma * (queued + stale) / (1.0 - gamma))
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.recompute(model, pair);
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        let known = self.sweep.values.n_pairs();
        self.extend(model);
        let was_known = moved.from.index() < known;
        if was_known {
            self.sweep.values.move_row(moved);
            self.sweep.own.row_moved(moved);
        }
        let moved_pairs = moved.to.index()..moved.to.index() + moved.n_pairs as usize;
        for pair in known..model.n_pairs() {
            if !(was_known && moved_pairs.contains(&pair)) {
                self.admit(model, Pair(pair as u32));
            }
        }
    }

    fn update_cycle(&mut self, model: &Model, limit: usize) -> Cycle {
        with_queue!(&mut self.queue, queue => self.sweep.update_cycle(model, queue, &mut self.partial, limit))
    }

    fn top_priority(&self) -> Option<f64> {
        let under_way = self.partial.map(|cycle| {
            let delta_v = V::published_value(&self.sweep, cycle.state) - cycle.v_old;
            delta_v.abs().max(f64::MIN_POSITIVE)
        });
        self.queue.top().into_iter().chain(under_way).reduce(f64::max)
    }

    fn is_idle(&self) -> bool {
        self.partial.is_none() && self.queue.is_empty()
    }

    fn priority(&self, _model: &Model, state: State) -> f64 {
        self.queue.priority(state.0).unwrap_or(0.0)
    }

    fn next_state(&self, _model: &Model) -> Option<State> {
        self.partial.map(|cycle| cycle.state).or_else(|| self.queue.first()).map(State)
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn counters(&self) -> Counters {
        self.sweep.counters
    }

    fn backed_up_value(&self, state: State, arc: ArcId) -> Option<f64> {
        Some(self.sweep.backed_up_value(self.partial.as_ref(), state, arc))
    }

    fn set_threshold(&mut self, model: &Model, threshold: f64) -> Result<()> {
        self.settings = Settings { threshold, ..self.settings }.check()?;
        self.grow(model);
        self.sweep.threshold = threshold;
        self.sweep.own.set_threshold(threshold);
        for pair in (0..model.n_pairs() as u32).map(Pair).filter(|&pair| model.is_in_use(pair)) {
            with_queue!(&mut self.queue, queue => V::requeue(&mut self.sweep, model, queue, pair.index() + 1));
        }
        Ok(())
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.sweep.values.store(snapshot);
        self.queue.store(snapshot);
        self.sweep.counters.store(snapshot);
        self.sweep.schedule.store(snapshot);
        PartialCycle::store(self.partial.as_ref(), snapshot);
        self.sweep.own.store(snapshot);
    }

    fn bytes(&self) -> usize {
        let SweepState { values, schedule, own, .. } = &self.sweep;
        values.bytes() + schedule.bytes() + self.queue.bytes() + own.bytes()
    }
}
