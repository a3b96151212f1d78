//! What the four baselines share: values, a queue, a copy of every pair's successors, and the methods that
//! every planner must have. A [`Method`] is what sets one of them apart.

use super::{Counters, Cycle, Planner, PlannerKind};
use crate::model::SuccessorCache;
use crate::{
    ArcId, Change, Model, MovedPairs, Pair, PriorityQueue, Result, Settings, Snapshot, State, Values,
};
use std::fmt::Debug;

/// A baseline.
#[derive(Clone, Debug)]
pub(super) struct Baseline<M> {
    pub settings: Settings,
    pub values: Values,
    pub successors: SuccessorCache,
    pub queue: PriorityQueue,
    pub counters: Counters,
    /// What only this method keeps.
    pub method: M,
}

/// What differs between the baselines. All of it may rely on up-to-date scales and copies of successors.
pub(super) trait Method: Clone + Debug + Default + Send + Sync + 'static {
    const KIND: PlannerKind;
    /// How many keys the queue has; `None` without a queue.
    fn n_keys(model: &Model) -> Option<usize> {
        Some(model.n_states())
    }

    /// Makes room for all states and arcs of the model.
    fn grow(&mut self, _model: &Model) {}

    /// Responds to a change of everything known about a pair.
    fn refresh(planner: &mut Baseline<Self>, model: &Model, pair: Pair);

    /// Responds to an observation.
    fn observe(planner: &mut Baseline<Self>, model: &Model, change: &Change) {
        Self::refresh(planner, model, change.pair);
    }

    /// One update cycle.
    fn update_cycle(planner: &mut Baseline<Self>, model: &Model) -> Cycle;

    /// The highest priority.
    fn top_priority(planner: &Baseline<Self>) -> Option<f64> {
        planner.queue.top()
    }

    /// The state of a key.
    fn state_of_key(_model: &Model, key: u32) -> Option<State> {
        Some(State(key))
    }

    /// The priority of a state, 0 if it is not queued.
    fn priority(planner: &Baseline<Self>, _model: &Model, state: State) -> f64 {
        planner.queue.priority(state.0).unwrap_or(0.0)
    }

    /// See [`Planner::backed_up_value`].
    fn backed_up_value(_planner: &Baseline<Self>, _state: State, _arc: ArcId) -> Option<f64> {
        None
    }

    fn store(&self, _snapshot: &mut Snapshot) {}

    /// Restores what the method keeps; everything else has been restored.
    fn restore(_planner: &mut Baseline<Self>, _model: &Model, _snapshot: &Snapshot) -> Result<()> {
        Ok(())
    }

    fn bytes(&self) -> usize {
        0
    }
}

impl<M: Method> Baseline<M> {
    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        Ok(Self {
            values: Values::new(&settings),
            successors: SuccessorCache::default(),
            queue: PriorityQueue::new(settings.queue),
            counters: Counters::default(),
            method: M::default(),
            settings,
        })
    }

    pub fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.values = Values::restore(&settings, model, snapshot)?;
        planner.successors.grow(model);
        planner.method.grow(model);
        if let Some(n_keys) = M::n_keys(model) {
            planner.queue = PriorityQueue::restore(settings.queue, n_keys, snapshot)?;
        }
        planner.counters = Counters::restore(snapshot)?;
        M::restore(&mut planner, model, snapshot)?;
        Ok(planner)
    }

    /// The full value backup of a state from V: Q of all its actions, then V. Returns the change of V. The scales of its pairs
    /// are up to date.
    #[inline]
    pub fn back_up(&mut self, model: &Model, state: u32) -> f64 {
        let values = &mut self.values;
        let pairs = model.pair_range(state);
        let mut v = if pairs.is_empty() { 0.0 } else { f64::NEG_INFINITY };
        for pair in pairs.map(|pair| Pair(pair as u32)) {
            let record = model.pair_record(pair);
            let successors = self.successors.of(pair).iter();
            let q = values
                .full_backup(record, successors.map(|next| (next.weight, values.v[next.state as usize])));
            self.counters.full_backups += u64::from(values.trusts(record, record.weight()));
            values.pairs[pair.slot()].q = q;
            v = if q > v { q } else { v };
        }
        v - std::mem::replace(&mut values.v[state as usize], v)
    }

    /// Takes in what is new in the model, and moves the values of a row that was moved.
    #[inline]
    fn follow_model(&mut self, model: &Model, moved: Option<&MovedPairs>) {
        let (known, known_states) = (self.values.n_pairs(), self.values.v.len());
        let is_new = self.values.extend(model);
        self.method.grow(model);
        if let Some(n_keys) = M::n_keys(model) {
            self.queue.grow(n_keys);
        }
        if !is_new && moved.is_none() {
            return;
        }
        self.successors.grow(model);
        if let Some(moved) = moved {
            self.successors.pairs_moved(moved);
            if moved.from.index() < known {
                self.values.move_pairs(moved);
            }
        }
        for pair in (known as u32..model.n_pairs() as u32).map(Pair) {
            self.values.rescale(model, pair);
            // A new action of a state that was there before changes its maximum even if nothing is known about it.
            if self.values.is_known(model, pair) || model.state_of(pair).index() < known_states {
                M::refresh(self, model, pair);
            }
        }
    }
}

impl<M: Method> Planner for Baseline<M> {
    fn kind(&self) -> Option<PlannerKind> {
        Some(M::KIND)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn values(&self) -> &Values {
        &self.values
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn grow(&mut self, model: &Model) {
        self.follow_model(model, None);
    }

    fn pairs_moved(&mut self, model: &Model, moved: &MovedPairs) {
        self.follow_model(model, Some(moved));
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.follow_model(model, None);
        self.successors.observe(model, change);
        self.values.rescale(model, change.pair);
        M::observe(self, model, change);
        if let Some((next, _)) = change.next {
            self.successors.prefetch(model, next.0);
        }
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.follow_model(model, None);
        self.successors.copy(model, pair);
        self.values.rescale(model, pair);
        M::refresh(self, model, pair);
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        M::update_cycle(self, model)
    }

    fn top_priority(&self) -> Option<f64> {
        M::top_priority(self)
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty() && M::top_priority(self).is_none()
    }

    fn priority(&self, model: &Model, state: State) -> f64 {
        M::priority(self, model, state)
    }

    fn next_state(&self, model: &Model) -> Option<State> {
        self.queue.first().and_then(|key| M::state_of_key(model, key))
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn backed_up_value(&self, state: State, arc: ArcId) -> Option<f64> {
        M::backed_up_value(self, state, arc)
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.counters.store(snapshot);
        if M::n_keys(&Model::new()).is_some() {
            self.queue.store(snapshot);
        }
        self.method.store(snapshot);
    }

    fn bytes(&self) -> usize {
        self.values.bytes() + self.successors.bytes() + self.queue.bytes() + self.method.bytes()
    }
}
