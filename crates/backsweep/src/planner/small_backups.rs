//! Prioritized sweeping with small backups (van Seijen & Sutton 2013, arXiv version, Algorithm 2).
//!
//! Computes the optimal values of the model. V(s) changes only when s is popped, and all predecessors are told at once, so
//! that the U of the small backups equals V and is not stored. Invariants, after every call:
//!   * Q(s,a) = R̂ + γ Σ P̂ V(s') for every pair seen often enough (up to rounding, see `pass.rs`);
//!   * V(s) = max Q_prev(s,·), where Q_prev(s,·) is Q(s,·) at the last pop of s;
//!   * if |Q(s,a) − Q_prev(s,a)| is above the threshold for some a, s is queued. Priorities are only ever promoted.
//!
//! Cost of a cycle: O(actions + predecessors). A pop whose maximum did not change is wasted; it is counted.
//!
//! Line numbers are those of Algorithm 2.

use super::pass::{Foreseen, Pass, Upkeep, is_too_long, with_queue};
use super::{Counters, Cycle, Planner};
use crate::arcs::IN_BLOCK;
use crate::queue::{AnyQueue, Queue};
use crate::{Arc, Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// Small backups, as in the paper's arXiv version.
#[derive(Clone, Debug)]
pub struct SmallBackups {
    settings: Settings,
    core: Core,
    queue: AnyQueue,
    pass: Option<Pass>,
}

/// Everything but the queue, so that the hot loop is compiled once for each kind of queue.
#[derive(Clone, Debug)]
struct Core {
    threshold: f64,
    values: Values,
    /// Q of each pair when its state was last popped.
    q_prev: Vec<f64>,
    /// What a priority of each state must exceed to matter: the threshold, or above it the priority with which the state is
    /// queued (or less, for a planner just restored, which costs time and nothing else).
    floor: Vec<f64>,
    upkeep: Upkeep,
    counters: Counters,
}

impl Core {
    /// The value on which pairs that lead to `state` by `arc` are built at this moment.
    #[inline]
    fn seen(&self, pass: Option<Pass>, state: State, arc: Arc) -> f64 {
        pass.and_then(|pass| pass.held(state, arc)).unwrap_or_else(|| self.values.states[state.index()].v)
    }

    /// Queues the state of a pair whose Q changed.
    #[inline]
    fn promote(&mut self, model: &Model, queue: &mut impl Queue, pair: usize) {
        let priority = (self.values.pairs[pair].q - self.q_prev[pair]).abs(); // l.11, 21
        let state = model.owners.of(pair as u32);
        if priority > self.floor[state as usize] {
            self.floor[state as usize] = priority;
            queue.promote(state, priority); // l.12, 22 (Departure 6)
        }
    }

    fn refresh(&mut self, model: &Model, queue: &mut impl Queue, pass: Option<Pass>, pair: Pair) {
        let value = self.values.evaluated(model, pair, |state, arc| self.seen(pass, state, arc));
        self.values.put(pair, value);
        self.promote(model, queue, pair.index());
    }

    fn begin(&mut self, model: &Model, queue: &mut impl Queue) -> Option<Pass> {
        let state = queue.pop()?; // l.14
        self.floor[state as usize] = self.threshold;
        self.counters.cycles += 1;
        let row = &model.states[state as usize];
        for pair in row.first_pair as usize..(row.first_pair + row.n_actions) as usize {
            self.q_prev[pair] = self.values.pairs[pair].q; // l.15
        }
        let v_new = self.values.maximum(model, State(state)).map_or(0.0, |(_, q)| q);
        let v_old = std::mem::replace(&mut self.values.states[state as usize].v, v_new); // l.16, 17
        if v_new == v_old {
            self.counters.idle_pops += 1;
        }
        let exact = self.upkeep.wants_exact(state, v_old, v_new);
        Some(Pass::new(model, state, v_old, exact))
    }

    #[inline]
    fn go_on(&mut self, model: &Model, queue: &mut impl Queue, pass: &mut Pass, limit: usize) {
        let delta_v = self.values.states[pass.state as usize].v - pass.old; // l.18
        let mut done = 0;
        if delta_v == 0.0 {
            // Departure 8.
            pass.finish();
            return;
        }
        let mut spent = 0;
        while pass.exact
            && spent < limit
            && let Some((block, filled)) = pass.advance(model)
        {
            done += filled;
            self.counters.refreshes += filled as u64;
            let weights = model.arcs.weights(block);
            for (&pair, weight) in block.pairs[..filled].iter().zip(weights) {
                if is_too_long(model, pair, limit) {
                    let value = &mut self.values.pairs[pair as usize];
                    value.q += value.scale * (weight * delta_v);
                    self.promote(model, queue, pair as usize);
                    spent += 1;
                    continue;
                }
                // A pair costs as much as it has successors.
                spent += 1 + model.pairs[pair as usize].out().len as usize;
                self.refresh(model, queue, Some(*pass), Pair(pair));
            }
        }
        let (mut blocks, mut filled) = pass.blocks(model);
        while !pass.exact
            && done < limit
            && let Some((_, block)) = blocks.next()
        {
            done += filled;
            // Pairs whose state must be promoted, gathered without a branch that no processor can guess. What is not filled
            // repeats the first pair and changes nothing.
            let mut touched = [0; IN_BLOCK as usize];
            let mut n_touched = 0;
            let weights = model.arcs.weights(block);
            for (&pair, weight) in block.pairs.iter().zip(weights) {
                let value = &mut self.values.pairs[pair as usize];
                value.q += value.scale * (weight * delta_v); // l.20
                let priority = (value.q - self.q_prev[pair as usize]).abs(); // l.21
                let state = model.owners.of(pair);
                touched[n_touched] = pair;
                n_touched += usize::from(priority > self.floor[state as usize]);
            }
            for &pair in &touched[..n_touched] {
                self.promote(model, queue, pair as usize);
            }
            filled = IN_BLOCK as usize;
        }
        pass.leave(&blocks);
        self.counters.small_backups += done as u64;
        if let Some(pair) = self.upkeep.due(model, done, limit) {
            self.counters.refreshes += 1;
            self.refresh(model, queue, Some(*pass), pair);
        }
    }
}

impl SmallBackups {
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
                q_prev: Vec::new(),
                floor: Vec::new(),
                upkeep: Upkeep::default(),
                counters: Counters::default(),
            },
            queue: AnyQueue::new(settings.queue),
            pass: None,
            settings,
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.core.values = Values::restore(&settings, model, snapshot)?;
        planner.core.floor = vec![settings.threshold; model.n_states()];
        planner.core.q_prev = snapshot.finite("small.q_prev", model.n_pairs())?.to_vec();
        planner.core.upkeep = Upkeep::restore(model, snapshot)?;
        planner.core.counters = Counters::restore(snapshot)?;
        planner.queue = AnyQueue::restore(settings.queue, model.n_states(), snapshot)?;
        planner.pass = Pass::restore(model, snapshot)?;
        Ok(planner)
    }

    /// Q of a pair when its state was last popped.
    pub fn previous_action_value(&self, pair: Pair) -> f64 {
        self.core.q_prev.get(pair.index()).copied().unwrap_or(self.settings.optimism.value)
    }

    /// Makes room for what the model has; the pairs from `known` on are new and start as worth what their state is.
    fn extend(&mut self, model: &Model) {
        self.core.values.extend(model);
        self.core.floor.resize(model.n_states(), self.core.threshold);
        self.queue.grow(model.n_states());
        self.core.upkeep.grow(model, self.settings.optimism.value);
        for pair in self.core.q_prev.len()..model.n_pairs() {
            let value = self.core.values.states.get(model.owners.of(pair as u32) as usize);
            self.core.q_prev.push(value.map_or(self.settings.optimism.value, |state| state.v));
        }
    }
}

impl Planner for SmallBackups {
    fn name(&self) -> &'static str {
        "small_backups"
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn values(&self) -> &Values {
        &self.core.values
    }

    fn grow(&mut self, model: &Model) {
        let known = self.core.values.pairs.len();
        if known < model.n_pairs() || self.core.values.states.len() < model.n_states() {
            self.extend(model);
            for pair in known..model.n_pairs() {
                with_queue!(self, queue => self.core.refresh(model, queue, self.pass, Pair(pair as u32)));
            }
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        let (core, pass) = (&mut self.core, self.pass);
        let value = core.values.corrected(model, change, |state, arc| core.seen(pass, state, arc)); // l.10
        core.values.put(change.pair, value);
        with_queue!(self, queue => self.core.promote(model, queue, change.pair.index()));
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        with_queue!(self, queue => self.core.refresh(model, queue, self.pass, pair));
    }

    fn row_moved(&mut self, model: &Model, moved: &MovedRow) {
        let known = self.core.values.pairs.len();
        self.extend(model);
        if moved.from.index() < known {
            self.core.values.move_row(moved);
            for i in 0..moved.n_pairs as usize {
                self.core.q_prev[moved.to.index() + i] = self.core.q_prev[moved.from.index() + i];
            }
        }
        for pair in known..model.n_pairs() {
            with_queue!(self, queue => self.core.refresh(model, queue, self.pass, Pair(pair as u32)));
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
            self.core.go_on(model, queue, &mut pass, limit);
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
        let under_way = self.pass.map(|pass| {
            let delta = self.core.values.states[pass.state as usize].v - pass.old;
            delta.abs().max(f64::MIN_POSITIVE)
        });
        self.queue.top().into_iter().chain(under_way).reduce(f64::max)
    }

    fn is_idle(&self) -> bool {
        self.pass.is_none() && self.queue.is_empty()
    }

    fn priority(&self, state: State) -> f64 {
        self.queue.priority(state.0).unwrap_or(0.0)
    }

    fn next_state(&mut self, _model: &Model) -> Option<State> {
        self.pass.map(|pass| pass.state).or_else(|| self.queue.peek()).map(State)
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn counters(&self) -> Counters {
        self.core.counters
    }

    fn seen(&self, state: State, arc: Arc) -> Option<f64> {
        Some(self.core.seen(self.pass, state, arc))
    }

    fn set_threshold(&mut self, model: &Model, threshold: f64) {
        self.grow(model);
        self.core.threshold = threshold;
        self.core.floor.fill(threshold);
        self.settings.threshold = threshold;
        for pair in 0..model.n_pairs() {
            if model.owners.of(pair as u32) != crate::arcs::NONE {
                with_queue!(self, queue => self.core.promote(model, queue, pair));
            }
        }
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.core.values.store(snapshot);
        self.queue.store(snapshot);
        self.core.counters.store(snapshot);
        self.core.upkeep.store(snapshot);
        Pass::store(self.pass, snapshot);
        snapshot.put("small.q_prev", self.core.q_prev.clone());
    }

    fn bytes(&self) -> usize {
        let q_prev = size_of_val(&self.core.q_prev[..]) + size_of_val(&self.core.floor[..]);
        q_prev + self.core.values.bytes() + self.core.upkeep.bytes() + self.queue.bytes()
    }

    fn boxed_clone(&self) -> Box<dyn Planner> {
        Box::new(self.clone())
    }
}
