//! Prioritized sweeping with reversed full backups (van Seijen & Sutton, ICML 2013, Algorithm 2). The default planner.
//!
//! Computes the optimal values of the model. U(s) is the value of s that its predecessors have last seen. Invariants, after
//! every call:
//!   * Q(s,a) = R̂ + γ Σ P̂ U(s') for every pair seen often enough (up to rounding, see "Refresh");
//!   * V(s) = max Q(s,·), exactly;
//!   * s is queued with priority |V(s) − U(s)| if and only if that is above the threshold.
//!
//! An update cycle takes the top state t and makes U(t) = V(t): every pair that leads to t receives one small backup. No pop
//! is ever wasted. Cost: O(predecessors of t), plus O(actions) for each whose greedy action got worse.
//!
//! **The greedy pair of each state is remembered** as the sign of its scale (Departure 9): a small backup that lowers another pair
//! touches one cache line and is done.
//!
//! **A cycle can be cut.** The pass keeps its state t, the old U(t) and the next block of predecessors; a pair not yet
//! reached counts as still holding the old U. Arcs added meanwhile go in front of the cursor and see the new U.
//!
//! **Refresh.** Rounding errors of the running sums are taken out by exact recomputation: of a pair at visits 8, 16, 32 …;
//! of all predecessors of a state whose value has fallen to a thousandth of its peak, or changed by no more than rounding can
//! keep alive; and of one pair in turn for every
//! thousand small backups a successor (amortised O(1)).

use super::pass::{Foreseen, Pass, Upkeep, is_too_long, with_queue};
use super::{Counters, Cycle, Planner};
use crate::arcs::{IN_BLOCK, NONE};
use crate::prefetch::{prefetch, prefetch_row};
use crate::queue::{AnyQueue, Queue};
use crate::{Arc, Change, Model, MovedRow, Pair, Result, Settings, Snapshot, State, Values};

/// Reversed full backups: the planner to use unless there is a reason for another.
///
/// ```
/// use backsweep::planner::{Planner, ReversedFullBackups, plan};
/// use backsweep::{Action, Budget, Model, Next, Outcome, Settings, State};
/// // A known problem: wait (reward -1, half of the time) or leave.
/// let mut model = Model::with_states([1]);
/// let wait = Outcome { probability: 0.5, reward: -1.0, next: Next::On(State(0)) };
/// let leave = Outcome { probability: 0.5, reward: -1.0, next: Next::End };
/// model.set_outcomes(State(0), Action(0), &[wait, leave]).unwrap();
/// let mut planner = ReversedFullBackups::new(Settings { discount: 0.9, ..Settings::default() }).unwrap();
/// planner.grow(&model);
/// plan(&mut planner, &model, &mut Budget::exhaust());
/// assert!((planner.values().value(State(0)) + 1.0 / 0.55).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct ReversedFullBackups {
    settings: Settings,
    core: Core,
    queue: AnyQueue,
    pass: Option<Pass>,
}

/// Pairs that are gathered before their states are seen to.
const TOUCHED: usize = 64;

/// Everything but the queue, so that the hot loop is compiled once for each kind of queue.
#[derive(Clone, Debug)]
struct Core {
    threshold: f64,
    values: Values,
    upkeep: Upkeep,
    counters: Counters,
}

impl Core {
    /// The U on which pairs that lead to `state` by `arc` are built at this moment.
    #[inline]
    fn seen(&self, pass: Option<Pass>, state: State, arc: Arc) -> f64 {
        pass.and_then(|pass| pass.held(state, arc)).unwrap_or_else(|| self.values.states[state.index()].u)
    }

    /// Restores the priority of a state after its V or U changed.
    #[inline(always)]
    fn set_priority(&self, queue: &mut impl Queue, state: u32) {
        let value = &self.values.states[state as usize];
        let priority = (value.v - value.u).abs();
        if priority > self.threshold {
            queue.set(state, priority);
        } else {
            queue.remove(state);
        }
    }

    /// Restores V(s) = max Q(s,·), the greedy mark and the priority after Q of one pair of s changed.
    #[inline(always)]
    fn restore_maximum(&mut self, model: &Model, queue: &mut impl Queue, pair: Pair) {
        let state = model.owners.of(pair.0);
        let crate::PairValue { q, scale } = self.values.pairs[pair.index()];
        let value = &mut self.values.states[state as usize];
        if scale.is_sign_negative() {
            if q >= value.second {
                value.v = q;
            } else {
                // The greedy pair may not be the best any more.
                self.find_greedy(model, state, pair);
            }
        } else if q > value.v {
            self.find_greedy(model, state, pair);
        } else {
            value.second = value.second.max(q);
            return;
        }
        self.set_priority(queue, state);
        prefetch(&model.states, state as usize);
    }

    #[inline]
    fn restore_maxima(&mut self, model: &Model, queue: &mut impl Queue, pairs: &[u32]) {
        for &pair in pairs {
            self.restore_maximum(model, queue, Pair(pair));
        }
    }

    /// Looks for the best pair of a state and for the second; among equally good ones `favoured` comes first, then the order of
    /// actions decides.
    #[cold]
    #[inline(never)]
    fn find_greedy(&mut self, model: &Model, state: u32, favoured: Pair) {
        let pairs = model.states[state as usize].pairs();
        let mut best = favoured.index();
        let mut highest = self.values.pairs[best].q;
        let mut second = f64::NEG_INFINITY;
        for pair in pairs {
            let value = &mut self.values.pairs[pair];
            value.scale = value.scale.abs();
            if pair == favoured.index() {
                continue;
            }
            if value.q > highest {
                (second, best, highest) = (highest, pair, value.q);
            } else {
                second = second.max(value.q);
            }
        }
        let scale = &mut self.values.pairs[best].scale;
        *scale = -*scale;
        let value = &mut self.values.states[state as usize];
        (value.v, value.second) = (highest, second);
    }

    /// Recomputes a pair from the model and restores all that depends on it.
    fn refresh(&mut self, model: &Model, queue: &mut impl Queue, pass: Option<Pass>, pair: Pair) {
        let value = self.values.evaluated(model, pair, |state, arc| self.seen(pass, state, arc));
        self.values.put(pair, value);
        self.restore_maximum(model, queue, pair);
    }

    /// Takes in a pair that is new to the planner.
    fn admit(&mut self, model: &Model, queue: &mut impl Queue, pass: Option<Pass>, pair: Pair) {
        let state = model.owners.of(pair.0);
        if state == NONE {
            return;
        }
        if model.states[state as usize].first_pair == pair.0 {
            self.values.pairs[pair.index()].scale = -0.0;
            self.values.states[state as usize].v = self.values.pairs[pair.index()].q;
            self.set_priority(queue, state);
        }
        self.refresh(model, queue, pass, pair);
    }

    /// Begins a cycle with the top state; `None` if the queue is empty.
    #[inline]
    fn begin(&mut self, model: &Model, queue: &mut impl Queue) -> Option<Pass> {
        let state = queue.pop()?;
        self.counters.cycles += 1;
        let value = &mut self.values.states[state as usize];
        let u_old = value.u;
        value.u = value.v;
        self.counters.idle_pops += u64::from(value.u == u_old);
        let exact = self.upkeep.wants_exact(state, u_old, value.u);
        Some(Pass::new(model, state, u_old, exact))
    }

    /// Recomputes the predecessors of a pass one by one; returns how many.
    #[cold]
    #[inline(never)]
    fn tell_exactly(
        &mut self,
        model: &Model,
        queue: &mut impl Queue,
        pass: &mut Pass,
        delta: f64,
        limit: usize,
    ) -> usize {
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
                    self.restore_maximum(model, queue, Pair(pair));
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

    /// Gives the predecessors of a pass their small backups; returns how many.
    #[inline(always)]
    fn tell<const RISES: bool>(
        &mut self,
        model: &Model,
        queue: &mut impl Queue,
        pass: &mut Pass,
        delta: f64,
        limit: usize,
        next: Foreseen,
    ) -> usize {
        let mut done = 0;
        // Pairs whose state may have a new value. Whether one has is a coin toss to the processor, so they are gathered
        // without a branch and seen to afterwards.
        let mut touched = [0; TOUCHED];
        let mut n_touched = 0;
        let (mut blocks, mut filled) = pass.blocks(model);
        while done < limit
            && let Some((_, block)) = blocks.next()
        {
            done += filled;
            let weights = model.arcs.weights(block);
            let mut is_first_touched = 0;
            for (i, (&pair, weight)) in block.pairs.iter().zip(weights).enumerate() {
                let value = &mut self.values.pairs[pair as usize];
                let q = value.q + value.scale.abs() * (weight * delta);
                value.q = q;
                let is_greedy = value.scale.to_bits() >> 63;
                let is_touched = if RISES {
                    let state = &mut self.values.states[model.owners.of(pair) as usize];
                    let raised = if q > state.second { q } else { state.second };
                    state.second = if is_greedy != 0 { state.second } else { raised };
                    is_greedy | u64::from(q > state.v)
                } else {
                    is_greedy
                };
                if i == 0 {
                    is_first_touched = is_touched as usize;
                }
                touched[n_touched % TOUCHED] = pair;
                n_touched += is_touched as usize;
            }
            // What is not filled repeats the first pair, and was gathered if that was.
            n_touched -= is_first_touched * (IN_BLOCK as usize - filled);
            filled = IN_BLOCK as usize;
            if n_touched > TOUCHED - IN_BLOCK as usize {
                self.restore_maxima(model, queue, &touched[..n_touched]);
                n_touched = 0;
            }
        }
        pass.leave(&blocks);
        if pass.is_finished() {
            next.blocks(model);
        }
        self.restore_maxima(model, queue, &touched[..n_touched]);
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
        let delta = self.values.states[pass.state as usize].u - pass.old;
        let done = if pass.exact {
            self.tell_exactly(model, queue, pass, delta, limit)
        } else if delta < 0.0 {
            self.tell::<false>(model, queue, pass, delta, limit, next)
        } else {
            self.tell::<true>(model, queue, pass, delta, limit, next)
        };
        self.counters.small_backups += done as u64;
        if let Some(pair) = self.upkeep.due(model, done, limit) {
            self.counters.refreshes += 1;
            self.refresh(model, queue, Some(*pass), pair);
        }
    }
}

impl ReversedFullBackups {
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
            },
            queue: AnyQueue::new(settings.queue),
            pass: None,
            settings,
        })
    }

    pub(crate) fn restore(settings: Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut planner = Self::new(settings)?;
        planner.core.values = Values::restore(&settings, model, snapshot)?;
        planner.queue = AnyQueue::restore(settings.queue, model.n_states(), snapshot)?;
        planner.core.upkeep = Upkeep::restore(model, snapshot)?;
        planner.core.counters = Counters::restore(snapshot)?;
        planner.pass = Pass::restore(model, snapshot)?;
        for (i, row) in model.states.iter().enumerate() {
            let marks = planner.core.values.row(model, State(i as u32)).iter();
            if marks.filter(|pair| pair.scale.is_sign_negative()).count() != usize::from(row.n_actions > 0) {
                return Err(Snapshot::problem("values.scale", &format!("state {i} has not one greedy pair")));
            }
        }
        Ok(planner)
    }
}

impl Planner for ReversedFullBackups {
    fn name(&self) -> &'static str {
        "reversed_full_backups"
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn values(&self) -> &Values {
        &self.core.values
    }

    fn grow(&mut self, model: &Model) {
        let known = self.core.values.pairs.len();
        if self.core.values.extend(model) {
            self.queue.grow(model.n_states());
            self.core.upkeep.grow(model, self.settings.optimism.value);
            for pair in known..model.n_pairs() {
                with_queue!(self, queue => self.core.admit(model, queue, self.pass, Pair(pair as u32)));
            }
        }
    }

    #[inline]
    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        let core = &mut self.core;
        let pass = self.pass;
        let value = core.values.corrected(model, change, |state, arc| core.seen(pass, state, arc));
        core.values.put(change.pair, value);
        with_queue!(self, queue => self.core.restore_maximum(model, queue, change.pair));
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
        self.core.values.extend(model);
        self.queue.grow(model.n_states());
        self.core.upkeep.grow(model, self.settings.optimism.value);
        let was_known = moved.from.index() < known;
        if was_known {
            self.core.values.move_row(moved);
        }
        let moved_pairs = moved.to.index()..moved.to.index() + moved.n_pairs as usize;
        for pair in known..model.n_pairs() {
            if !(was_known && moved_pairs.contains(&pair)) {
                with_queue!(self, queue => self.core.admit(model, queue, self.pass, Pair(pair as u32)));
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
        let under_way = self.pass.map(|pass| {
            let delta = self.core.values.states[pass.state as usize].u - pass.old;
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
        self.settings.threshold = threshold;
        for state in 0..model.n_states() as u32 {
            with_queue!(self, queue => self.core.set_priority(queue, state));
        }
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.core.values.store(snapshot);
        self.queue.store(snapshot);
        self.core.counters.store(snapshot);
        self.core.upkeep.store(snapshot);
        Pass::store(self.pass, snapshot);
    }

    fn bytes(&self) -> usize {
        self.core.values.bytes() + self.core.upkeep.bytes() + self.queue.bytes()
    }

    fn boxed_clone(&self) -> Box<dyn Planner> {
        Box::new(self.clone())
    }
}
