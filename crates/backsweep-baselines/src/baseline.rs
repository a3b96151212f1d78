//! Shared by the four baselines: values, a queue, a copy of every pair's successors, and the
//! methods that every planner must have. A [`Method`] is what sets one of them apart.

use crate::successor_cache::SuccessorCache;
use backsweep_core::{
    ArcId, Change, Model, MovedPairs, Pair, PlannerKind, PriorityQueue, Result, Settings, Snapshot, State,
    Values,
};
use backsweep_core::{Counters, Cycle, Planner, QueueView, Storable};
use std::cell::Cell;
use std::fmt::Debug;

/// A baseline.
#[derive(Clone, Debug)]
pub(crate) struct Baseline<M> {
    pub settings: Settings,
    pub values: Values,
    pub successors: SuccessorCache,
    pub queue: PriorityQueue,
    pub counters: Counters,
    /// The data that only this method keeps.
    pub method: M,
}

/// The differences between the baselines. All of it may rely on up-to-date scales and copies of
/// successors.
pub(crate) trait Method: Clone + Debug + Default + Send + Sync + 'static {
    const KIND: PlannerKind;
    /// True if there is a queue.
    const HAS_QUEUE: bool = true;

    /// The number of keys of the queue.
    fn n_keys(model: &Model) -> usize {
        model.n_states()
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
        if M::HAS_QUEUE {
            planner.queue = PriorityQueue::restore(settings.queue, M::n_keys(model), snapshot)?;
        }
        planner.counters = Counters::restore(snapshot)?;
        M::restore(&mut planner, model, snapshot)?;
        Ok(planner)
    }

    /// The full value backup of a state from V: Q of all its actions, then V. Returns the change of
    /// V. The scales of its pairs are up to date.
    #[inline]
    pub fn back_up(&mut self, model: &Model, state: State) -> f64 {
        let n_added = Cell::new(0);
        let cached = |pair| {
            let successors = self.successors.of(pair).iter();
            successors.inspect(|_| n_added.set(n_added.get() + 1)).map(|next| (next.weight, next.state))
        };
        let (delta_v, n_backups) = self.values.full_value_backup_from(model, state, cached);
        self.counters.full_backups += n_backups;
        self.counters.additions += n_added.get();
        delta_v
    }

    /// Makes room for what is new in the model, and moves the values of pairs that were moved.
    #[inline]
    fn follow_model(&mut self, model: &Model, moved: Option<&MovedPairs>) {
        let (known, known_states) = (self.values.n_pairs(), self.values.n_states());
        let is_new = self.values.extend(model);
        self.method.grow(model);
        if M::HAS_QUEUE {
            self.queue.grow(M::n_keys(model));
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
            // A new action of a state that was there before changes its maximum even if nothing is
            // known about it.
            if self.values.is_known(model, pair) || model.state_of(pair).index() < known_states {
                M::refresh(self, model, pair);
            }
        }
    }
}

impl<M: Method> Planner for Baseline<M> {
    fn values(&self) -> &Values {
        &self.values
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
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
            self.successors.prefetch(model, next);
        }
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.refresh_all(model, &[pair]);
    }

    /// All copies first: a backup reads those of other pairs.
    fn refresh_all(&mut self, model: &Model, pairs: &[Pair]) {
        self.follow_model(model, None);
        for &pair in pairs {
            self.successors.copy(model, pair);
            self.values.rescale(model, pair);
        }
        for &pair in pairs {
            M::refresh(self, model, pair);
        }
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

    fn queue(&self) -> Option<&dyn QueueView> {
        M::HAS_QUEUE.then_some(self)
    }

    fn storable(&self) -> Option<&dyn Storable> {
        Some(self)
    }

    fn backed_up_value(&self, state: State, arc: ArcId) -> Option<f64> {
        M::backed_up_value(self, state, arc)
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.values.bytes() + self.successors.bytes() + self.queue.bytes() + self.method.bytes())
    }
}

impl<M: Method> QueueView for Baseline<M> {
    fn priority(&self, model: &Model, state: State) -> f64 {
        M::priority(self, model, state)
    }

    fn next_state(&self, model: &Model) -> Option<State> {
        self.queue.first().and_then(|key| M::state_of_key(model, key))
    }

    fn n_queued(&self) -> usize {
        self.queue.len()
    }
}

impl<M: Method> Storable for Baseline<M> {
    fn kind(&self) -> PlannerKind {
        M::KIND
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.counters.store(snapshot);
        if M::HAS_QUEUE {
            self.queue.store(snapshot);
        }
        self.method.store(snapshot);
    }
}
