//! What the two planners on small backups share: cycles that pass a state's new value on to its predecessors and can be cut at
//! any block, the upkeep, and all that a planner has to answer. What differs is a [`Kind`]. Line numbers are those of Algorithm 2.

use super::pass::{Foreseen, Pass, Upkeep, is_too_long, with_queue};
use super::{Counters, Cycle, Planner, PlannerKind};
use crate::prefetch::prefetch_row;
use crate::queue::{AnyQueue, Queue};
use crate::values::StateValue;
use crate::{ArcId, Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};
use std::fmt::Debug;

/// A planner on small backups; use it by the names of its kinds.
#[derive(Clone, Debug)]
pub struct Swept<K> {
    pub(super) settings: Settings,
    pub(super) core: Core<K>,
    queue: AnyQueue,
    pass: Option<Pass>,
}

/// Everything but the queue, so that the hot loops are compiled once for each kind of queue.
#[derive(Clone, Debug)]
pub struct Core<K> {
    pub(super) threshold: f64,
    pub(super) values: Values,
    pub(super) upkeep: Upkeep,
    pub(super) counters: Counters,
    /// What this kind of planner keeps besides.
    pub(super) own: K,
}

/// A part of a pass: what its predecessors are told, and for how long.
pub struct Stretch<'a> {
    pub(super) model: &'a Model,
    pub(super) pass: &'a mut Pass,
    /// How much the value of the state is above the one that pairs not yet reached hold.
    pub(super) delta: f64,
    /// The backups after which to stop, about.
    pub(super) limit: usize,
    pub(super) next: Foreseen,
}

/// In what the planners on small backups differ. After every call the relation of the kind holds again.
pub trait Kind: Clone + Debug + Default + Send + Sync + 'static {
    /// The planner's name.
    const KIND: PlannerKind;

    /// The value of a state that its predecessors are told when it is popped.
    fn told(value: &StateValue) -> f64;

    /// Makes room for what the model has. The values have it already.
    fn extend(core: &mut Core<Self>, model: &Model);

    /// Takes in a pair that is new to the planner.
    fn admit(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue, pass: Option<Pass>, pair: Pair);

    /// Takes over a row of pairs that got new ids. The values have done so already.
    fn row_moved(core: &mut Core<Self>, moved: &MovedRow);

    /// Restores all that depends on the Q of a pair after it changed.
    fn changed(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue, pair: Pair);

    /// Begins a cycle with a state that was popped: returns what its predecessors hold. From now on they are told another value.
    fn begin(core: &mut Core<Self>, model: &Model, state: u32) -> f64;

    /// Gives predecessors their small backups; returns how many.
    fn tell(core: &mut Core<Self>, queue: &mut impl Queue, stretch: Stretch<'_>) -> usize;

    /// Looks for all that the threshold, which was changed, kept off the queue or keeps off it now.
    fn look_again(core: &mut Core<Self>, model: &Model, queue: &mut impl Queue);

    /// Stores what the kind keeps.
    fn store(&self, snapshot: &mut Snapshot);

    /// Restores it, given everything else.
    fn restore(core: &mut Core<Self>, model: &Model, snapshot: &Snapshot) -> Result<()>;

    /// Bytes in use for it.
    fn bytes(&self) -> usize;
}

impl<K: Kind> Core<K> {
    /// The value on which pairs that lead to `state` by `arc` are built at this moment.
    #[inline]
    fn seen(&self, pass: Option<Pass>, state: State, arc: ArcId) -> f64 {
        pass.and_then(|pass| pass.held(state, arc))
            .unwrap_or_else(|| K::told(&self.values.states[state.index()]))
    }

    /// Recomputes a pair from the model and restores all that depends on it.
    pub(super) fn refresh(&mut self, model: &Model, queue: &mut impl Queue, pass: Option<Pass>, pair: Pair) {
        let value = self.values.evaluated(model, pair, |state, arc| self.seen(pass, state, arc));
        self.values.put(pair, value);
        K::changed(self, model, queue, pair);
    }

    /// Begins a cycle with the top state; `None` if the queue is empty.
    #[inline]
    fn begin(&mut self, model: &Model, queue: &mut impl Queue) -> Option<Pass> {
        let state = queue.pop()?; // l.14
        self.counters.cycles += 1;
        let old = K::begin(self, model, state);
        let new = K::told(&self.values.states[state as usize]);
        self.counters.idle_pops += u64::from(new == old);
        let exact = self.upkeep.wants_exact(state, old, new);
        Some(Pass::new(model, state, old, exact))
    }

    /// How much the value of a pass is above the one that pairs not yet reached hold.
    #[inline]
    fn delta(&self, pass: &Pass) -> f64 {
        K::told(&self.values.states[pass.state as usize]) - pass.old
    }

    /// Recomputes the predecessors of a pass one by one; returns how many.
    #[cold]
    #[inline(never)]
    fn tell_exactly(&mut self, queue: &mut impl Queue, stretch: Stretch<'_>) -> usize {
        let Stretch { model, pass, delta, limit, .. } = stretch;
        let (mut done, mut spent) = (0, 0);
        while spent < limit
            && let Some((block, filled)) = pass.advance(model)
        {
            done += filled;
            self.counters.refreshes += filled as u64;
            let weights = model.arcs.weights(block);
            for (&pair, weight) in block.pairs[..filled].iter().zip(weights) {
                if is_too_long(model, pair, limit) {
                    let value = &mut self.values.pairs[pair as usize];
                    value.q += value.scale.abs() * (weight * delta);
                    K::changed(self, model, queue, Pair(pair));
                    spent += 1;
                    continue;
                }
                // A pair costs as much as it has successors.
                spent += 1 + model.pairs[pair as usize].out().len as usize;
                self.refresh(model, queue, Some(*pass), Pair(pair));
            }
        }
        done
    }

    /// Goes on with a pass for about `limit` backups.
    #[inline]
    fn go_on(
        &mut self,
        model: &Model,
        queue: &mut impl Queue,
        pass: &mut Pass,
        limit: usize,
        next: Foreseen,
    ) {
        let delta = self.delta(pass); // l.18
        if delta == 0.0 {
            // Departure 8.
            return pass.finish();
        }
        let stretch = Stretch { model, pass: &mut *pass, delta, limit, next };
        let done = if stretch.pass.exact {
            self.tell_exactly(queue, stretch)
        } else {
            K::tell(self, queue, stretch)
        };
        self.counters.small_backups += done as u64;
        if let Some(pair) = self.upkeep.due(model, done, limit) {
            self.counters.refreshes += 1;
            self.refresh(model, queue, Some(*pass), pair);
        }
    }
}

impl<K: Kind> Swept<K> {
    /// A planner that has not met any state.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        Ok(Self {
            core: Core {
                threshold: settings.threshold,
                values: Values::new(&settings),
                upkeep: Upkeep::default(),
                counters: Counters::default(),
                own: K::default(),
            },
            queue: AnyQueue::new(settings.queue),
            pass: None,
            settings,
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.core.values = Values::restore(&settings, model, snapshot)?;
        planner.core.upkeep = Upkeep::restore(model, snapshot)?;
        planner.core.counters = Counters::restore(snapshot)?;
        planner.queue = AnyQueue::restore(settings.queue, model.n_states(), snapshot)?;
        planner.pass = Pass::restore(model, snapshot)?;
        K::restore(&mut planner.core, model, snapshot)?;
        Ok(planner)
    }

    /// Makes room for what the model has; returns whether there was anything new.
    #[inline]
    fn extend(&mut self, model: &Model) -> bool {
        let is_new = self.core.values.extend(model);
        if is_new {
            self.queue.grow(model.n_states());
            self.core.upkeep.grow(model, self.settings.optimism.value);
            K::extend(&mut self.core, model);
        }
        is_new
    }

    fn admit(&mut self, model: &Model, pair: usize) {
        if model.owners.of(pair as u32) != crate::arcs::NONE {
            with_queue!(self, queue => K::admit(&mut self.core, model, queue, self.pass, Pair(pair as u32)));
        }
    }
}

impl<K: Kind> Planner for Swept<K> {
    fn kind(&self) -> Option<PlannerKind> {
        Some(K::KIND)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn values(&self) -> &Values {
        &self.core.values
    }

    fn grow(&mut self, model: &Model) {
        let known = self.core.values.pairs.len();
        if self.extend(model) {
            for pair in known..model.n_pairs() {
                self.admit(model, pair);
            }
        }
    }

    #[inline]
    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        let (core, pass) = (&mut self.core, self.pass);
        let value = core.values.corrected(model, change, |state, arc| core.seen(pass, state, arc)); // l.10
        core.values.put(change.pair, value);
        with_queue!(self, queue => K::changed(&mut self.core, model, queue, change.pair));
        if let Some((next, _)) = change.next {
            // Most likely the next observation begins there.
            let first = model.states[next.index()].first_pair as usize;
            prefetch_row(&self.core.values.pairs, first);
        }
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        with_queue!(self, queue => self.core.refresh(model, queue, self.pass, pair));
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        let known = self.core.values.pairs.len();
        self.extend(model);
        let was_known = moved.from.index() < known;
        if was_known {
            self.core.values.move_row(moved);
            K::row_moved(&mut self.core, moved);
        }
        let moved_pairs = moved.to.index()..moved.to.index() + moved.n_pairs as usize;
        for pair in known..model.n_pairs() {
            if !(was_known && moved_pairs.contains(&pair)) {
                self.admit(model, pair);
            }
        }
    }

    fn update_cycle(&mut self, model: &Model, limit: usize) -> Cycle {
        with_queue!(self, queue => {
            let mut pass = match self.pass.take() {
                Some(pass) => pass,
                None if limit < usize::MAX && !queue.ready(limit) => return Cycle::Cut,
                None => match self.core.begin(model, queue) {
                    Some(pass) => pass,
                    None => return Cycle::Idle,
                },
            };
            let next = Foreseen::row(model, queue);
            self.core.go_on(model, queue, &mut pass, limit, next);
            if pass.is_finished() {
                next.pairs(model, &self.core.values, queue);
                Cycle::Done
            } else {
                self.pass = Some(pass);
                Cycle::Cut
            }
        })
    }

    fn top_priority(&self) -> Option<f64> {
        let under_way = self.pass.map(|pass| self.core.delta(&pass).abs().max(f64::MIN_POSITIVE));
        self.queue.top().into_iter().chain(under_way).reduce(f64::max)
    }

    fn is_idle(&self) -> bool {
        self.pass.is_none() && self.queue.is_empty()
    }

    fn priority(&self, _model: &Model, state: State) -> f64 {
        self.queue.priority(state.0).unwrap_or(0.0)
    }

    fn next_state(&self, _model: &Model) -> Option<State> {
        self.pass.map(|pass| pass.state).or_else(|| self.queue.first()).map(State)
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn counters(&self) -> Counters {
        self.core.counters
    }

    fn backed_up_value(&self, state: State, arc: ArcId) -> Option<f64> {
        Some(self.core.seen(self.pass, state, arc))
    }

    fn set_threshold(&mut self, model: &Model, threshold: f64) {
        self.grow(model);
        self.core.threshold = threshold;
        self.settings.threshold = threshold;
        with_queue!(self, queue => K::look_again(&mut self.core, model, queue));
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.core.values.store(snapshot);
        self.queue.store(snapshot);
        self.core.counters.store(snapshot);
        self.core.upkeep.store(snapshot);
        Pass::store(self.pass, snapshot);
        self.core.own.store(snapshot);
    }

    fn bytes(&self) -> usize {
        self.core.values.bytes() + self.core.upkeep.bytes() + self.queue.bytes() + self.core.own.bytes()
    }
}
