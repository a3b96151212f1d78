//! The values that planners compute: V of every state and Q of every pair. Only their planner
//! writes them.
//!
//! The arithmetic that all planners share is here, once: which value of a pair counts while it has
//! hardly been seen, the full backup, the value correction after a model update (Theorem 3.4) and
//! the small backup (Theorem 3.3).

use crate::model::{Change, Model, MovedPairs, PairRecord};
use crate::store::prefetch_run;
use crate::{Error, Optimism, Result};
use crate::{Pair, Settings, Snapshot, State};

/// A bound on the magnitude of values: rewards are at most 1e150, and 1 / (1 − γ) at most 2⁵³.
pub const MAX_VALUE: f64 = 1e170;

/// The value of a pair and the weight of its small backups, side by side because a small backup
/// needs both.
#[derive(Clone, Copy, Debug)]
pub struct PairValue {
    /// Q(s,a), or the optimistic value while the pair has not been seen often enough.
    pub(crate) q: f64,
    /// Its magnitude is γ/W(s,a), or 0 while `q` is the optimistic value, which small backups then
    /// leave alone without a test. In the one planner that remembers the greedy pair of a state,
    /// the sign is negative for exactly that pair.
    pub(crate) scale: f64,
}

impl PairValue {
    /// The entry of slot 0, which belongs to no pair (see [`crate::store`]): no small backup
    /// changes it, and it is never the best.
    const NO_PAIR: Self = Self { q: f64::NEG_INFINITY, scale: 0.0 };

    /// Corrects Q for a change of the value of one successor, whose arc has this weight (Theorem
    /// 3.3).
    #[inline(always)]
    pub(crate) fn small_backup(&mut self, weight: f64, delta: f64) {
        self.q += self.scale.abs() * (weight * delta); // l.20
    }

    /// The value of the pair that counts in every maximum.
    #[inline]
    pub fn value(&self) -> f64 {
        self.q
    }
}

/// The values a planner has computed so far.
#[derive(Clone, Debug)]
pub struct Values {
    discount: f64,
    optimism: Optimism,
    /// The value of each pair, by slot: `pairs[p + 1]` is that of pair p.
    pub(crate) pairs: Vec<PairValue>,
    /// V(s); 0 for a state without actions.
    pub(crate) v: Vec<f64>,
    /// The bonus of each pair, up to the last that has one: empty for a planner without bonuses.
    bonuses: Vec<f64>,
}

impl Values {
    /// No values yet. For authors of planners, like all methods here that change values.
    pub fn new(settings: &Settings) -> Self {
        let Settings { discount, optimism, .. } = *settings;
        Self { discount, optimism, pairs: vec![PairValue::NO_PAIR], v: Vec::new(), bonuses: Vec::new() }
    }

    /// V(s). A state that the planner has not seen has the optimistic value.
    #[inline]
    pub fn value(&self, state: State) -> f64 {
        self.v.get(state.index()).copied().unwrap_or(self.optimism.value)
    }

    /// Q(s,a), or the optimistic value while the pair has not been seen often enough.
    #[inline]
    pub fn action_value(&self, pair: Pair) -> f64 {
        self.pairs.get(pair.slot()).map_or(self.optimism.value, |pair| pair.q)
    }

    /// The values of a state's pairs, in the order of its actions; empty if the planner has not
    /// seen the state.
    #[inline]
    pub fn pair_values(&self, model: &Model, state: State) -> &[PairValue] {
        if state.index() >= model.n_states() {
            return &[];
        }
        self.pairs.get(model.slots(state.0)).unwrap_or(&[])
    }

    /// Returns whether the pair's model is trusted: it has been seen often enough, or its probabilities are
    /// known.
    #[inline]
    pub fn is_known(&self, model: &Model, pair: Pair) -> bool {
        model.pair_records().get(pair.index()).is_some_and(|record| self.trusts(record, record.weight()))
    }

    /// Returns whether the model of the pair that an observation changed was trusted before.
    #[inline]
    pub fn was_known(&self, model: &Model, change: &Change) -> bool {
        self.trusts(model.pair_record(change.pair), change.weight_before)
    }

    #[inline]
    pub(crate) fn trusts(&self, record: &PairRecord, weight: f64) -> bool {
        weight > 0.0 && (weight >= f64::from(self.optimism.min_visits) || record.is_given())
    }

    /// The discount.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The optimism.
    pub fn optimism(&self) -> Optimism {
        self.optimism
    }

    /// The number of states with values.
    #[inline]
    pub fn n_states(&self) -> usize {
        self.v.len()
    }

    /// The number of pairs with values.
    #[inline]
    pub fn n_pairs(&self) -> usize {
        self.pairs.len() - 1
    }

    /// The value of a pair whose model is not trusted.
    fn unknown(&self) -> PairValue {
        PairValue { q: self.optimism.value, scale: 0.0 }
    }

    /// Adds states and pairs that the model has and the values lack, at the optimistic value.
    /// Returns whether there were any.
    #[inline]
    pub fn extend(&mut self, model: &Model) -> bool {
        if self.n_pairs() == model.n_pairs() && self.v.len() == model.n_states() {
            return false;
        }
        self.pairs.resize(model.n_pairs() + 1, self.unknown()); // l.2
        for state in self.v.len()..model.n_states() {
            let is_terminal = model.pair_range(state as u32).is_empty();
            self.v.push(if is_terminal { 0.0 } else { self.optimism.value }); // l.1
        }
        true
    }

    /// Moves the values of pairs that got new ids.
    pub fn move_pairs(&mut self, moved: &MovedPairs) {
        let (from, to) = (moved.from.slot(), moved.to.slot());
        self.pairs.copy_within(from..from + moved.n_pairs as usize, to);
        let n_bonuses = if self.bonuses.is_empty() { 0 } else { moved.n_pairs };
        for i in 0..n_bonuses {
            let bonus = self.bonus(Pair(moved.from.0 + i));
            self.put_bonus(Pair(moved.to.0 + i), bonus);
        }
        self.clear_pairs(moved);
    }

    /// Resets the old ids of moved pairs.
    pub(crate) fn clear_pairs(&mut self, moved: &MovedPairs) {
        let from = moved.from.slot();
        let unknown = self.unknown();
        self.pairs[from..from + moved.n_pairs as usize].fill(unknown);
    }

    /// The full backup of a pair, R̂ + γ Σ P̂ U, from the weight and the value of each of its
    /// successors; the optimistic value while it has not been seen often enough. All planners use
    /// this full backup.
    ///
    /// # Panics
    /// If the model does not have the pair.
    #[inline]
    pub fn full_backup(
        &self,
        model: &Model,
        pair: Pair,
        successors: impl Iterator<Item = (f64, f64)>,
    ) -> f64 {
        let record = model.pair_record(pair);
        if !self.trusts(record, record.weight()) {
            return self.optimism.value;
        }
        let mut sum = 0.0;
        for (weight, u) in successors {
            sum += weight * u;
        }
        (record.reward_sum() + self.discount * sum) / record.weight()
    }

    /// The full backup of a pair with its bonus, if it has one and its model is trusted.
    #[inline]
    pub(crate) fn full_backup_with_bonus(
        &self,
        model: &Model,
        pair: Pair,
        successors: impl Iterator<Item = (f64, f64)>,
    ) -> f64 {
        let record = model.pair_record(pair);
        let q = self.full_backup(model, pair, successors);
        match self.bonuses.get(pair.index()) {
            Some(bonus) if self.trusts(record, record.weight()) => q + bonus,
            _ => q,
        }
    }

    /// The bonus of a pair: Q = R̂ + bonus + γ Σ P̂ U. 0 unless one was set.
    #[inline]
    pub fn bonus(&self, pair: Pair) -> f64 {
        self.bonuses.get(pair.index()).copied().unwrap_or(0.0)
    }

    /// Replaces the bonus of a pair, and corrects its Q for that, if it `was_known`. Returns the
    /// previous Q.
    #[inline]
    pub(crate) fn set_bonus(&mut self, pair: Pair, bonus: f64, was_known: bool) -> f64 {
        let q_old = self.pairs[pair.slot()].q;
        if was_known {
            self.pairs[pair.slot()].q += bonus - self.bonus(pair);
        }
        self.put_bonus(pair, bonus);
        q_old
    }

    #[inline]
    fn put_bonus(&mut self, pair: Pair, bonus: f64) {
        if self.bonuses.len() <= pair.index() {
            self.bonuses.resize(self.n_pairs().max(pair.index() + 1), 0.0);
        }
        self.bonuses[pair.index()] = bonus;
    }

    /// Restores Q of a pair that an observation changed, from the values that `u` gives for its
    /// successors: by the value correction if its model was trusted before and is now, in O(1), and
    /// by a full backup if not.
    ///
    /// # Panics
    /// If the pair is new to the values: [`extend`](Self::extend) comes first.
    pub fn correct(&mut self, model: &Model, change: &Change, u: impl Fn(&Self, State) -> f64) {
        let record = model.pair_record(change.pair);
        if !self.trusts(record, change.weight_before) || !self.trusts(record, change.weight_after) {
            return self.recompute(model, change.pair, u);
        }
        let next = change.next.map_or(0.0, |(state, _)| u(self, state));
        self.put(model, change.pair, self.value_correction(model, change, next));
    }

    /// The value correction of a pair after a model update (Theorem 3.4), given U of the state that
    /// the step led to, 0 for an end: the Q after the update, if the pair's Q was right before it
    /// and the model was trusted. O(1). Departure 2.
    #[inline]
    pub(crate) fn value_correction(&self, model: &Model, change: &Change, u: f64) -> f64 {
        let (q, weight) = (self.pairs[change.pair.slot()].q, model.pair_record(change.pair).weight());
        q + (change.reward + change.weight * (self.discount * u - q)) / weight // l.10
    }

    /// The small backup of a pair (Theorem 3.3): corrects its Q for a change of the value of one
    /// successor, whose arc has this weight. O(1).
    #[inline]
    pub fn small_backup(&mut self, pair: Pair, weight: f64, delta: f64) {
        self.pairs[pair.slot()].small_backup(weight, delta);
    }

    /// Recomputes Q of a pair from the values that `u` gives for its successors.
    pub fn recompute(&mut self, model: &Model, pair: Pair, u: impl Fn(&Self, State) -> f64) {
        let successors = model.successors(pair).map(|next| (next.weight, u(self, next.state)));
        let q = self.full_backup(model, pair, successors);
        self.put(model, pair, q);
    }

    /// Prefetches the values of a state's pairs: the next observation is likely to start there.
    #[inline(always)]
    pub(crate) fn prefetch_values(&self, model: &Model, state: State) {
        prefetch_run(&self.pairs, model.slots(state.0).start);
    }

    /// Sets Q of a pair, and its scale from its current weight. Its greedy mark stays.
    #[inline]
    pub(crate) fn put(&mut self, model: &Model, pair: Pair, q: f64) {
        let scale = self.scale_of(model.pair_record(pair));
        let place = &mut self.pairs[pair.slot()];
        *place = PairValue { q, scale: scale.copysign(place.scale) };
    }

    /// Sets Q of a pair. Its scale stays: see [`rescale`](Self::rescale).
    ///
    /// # Panics
    /// If the pair is new to the values: [`extend`](Self::extend) comes first.
    #[inline]
    pub fn set_action_value(&mut self, pair: Pair, q: f64) {
        self.pairs[pair.slot()].q = q;
    }

    /// γ/W(s,a), by which small backups multiply; 0 while the pair has not been seen often enough.
    ///
    /// # Panics
    /// If the pair is new to the values: [`extend`](Self::extend) comes first.
    #[inline]
    pub fn scale(&self, pair: Pair) -> f64 {
        self.pairs[pair.slot()].scale.abs()
    }

    /// Sets the scale of a pair from its current weight, after the model changed. All methods here
    /// that recompute or correct a pair do that too, except
    /// [`set_action_value`](Self::set_action_value).
    #[inline]
    pub fn rescale(&mut self, model: &Model, pair: Pair) {
        self.put(model, pair, self.pairs[pair.slot()].q);
    }

    #[inline]
    fn scale_of(&self, record: &PairRecord) -> f64 {
        if self.trusts(record, record.weight()) { self.discount / record.weight() } else { 0.0 }
    }

    /// The full value backup of a state from V: Q of all its actions, then V. Returns the change of
    /// V and how many full backups of pairs it took.
    pub fn full_value_backup(&mut self, model: &Model, state: State) -> (f64, u64) {
        let mut n_backups = 0;
        for pair in model.pairs(state) {
            let successors = model.successors(pair).map(|next| (next.weight, self.v[next.state.index()]));
            let q = self.full_backup(model, pair, successors);
            n_backups += u64::from(self.is_known(model, pair));
            self.put(model, pair, q);
        }
        (self.update_maximum(model, state), n_backups)
    }

    /// As [`full_value_backup`](Self::full_value_backup), for planners that keep a copy of the
    /// successors (weight and next state) of each pair. Scales stay: see
    /// [`rescale`](Self::rescale).
    #[inline]
    pub fn full_value_backup_from<I: Iterator<Item = (f64, State)>>(
        &mut self,
        model: &Model,
        state: State,
        successors: impl Fn(Pair) -> I,
    ) -> (f64, u64) {
        let pairs = model.pair_range(state.0);
        let (mut v, mut n_backups) = (if pairs.is_empty() { 0.0 } else { f64::NEG_INFINITY }, 0);
        for pair in pairs.map(|pair| Pair(pair as u32)) {
            let next = successors(pair).map(|(weight, next)| (weight, self.v[next.index()]));
            let q = self.full_backup(model, pair, next);
            n_backups += u64::from(self.is_known(model, pair));
            self.pairs[pair.slot()].q = q;
            v = if q > v { q } else { v };
        }
        (v - std::mem::replace(&mut self.v[state.index()], v), n_backups)
    }

    /// Sets V(s) to max Q(s,·), 0 for a state without actions; returns by how much that changed it.
    #[inline]
    pub fn update_maximum(&mut self, model: &Model, state: State) -> f64 {
        let v = self.maximum(model, state);
        v - std::mem::replace(&mut self.v[state.index()], v)
    }

    /// max Q(s,·), 0 for a state without actions.
    #[inline]
    pub(crate) fn maximum(&self, model: &Model, state: State) -> f64 {
        let values = self.pair_values(model, state).iter().map(|pair| pair.q);
        values.reduce(|highest, q| if q > highest { q } else { highest }).unwrap_or(0.0)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.pairs[..]) + size_of_val(&self.v[..]) + size_of_val(&self.bonuses[..])
    }

    /// Stores the values as parts of a snapshot.
    pub fn store(&self, snapshot: &mut Snapshot) {
        let pairs = || self.pairs.iter().skip(1);
        snapshot.put("values.q", pairs().map(|pair| pair.q).collect::<Vec<f64>>());
        snapshot.put("values.scale", pairs().map(|pair| pair.scale).collect::<Vec<f64>>());
        snapshot.put("values.v", self.v.clone());
        if !self.bonuses.is_empty() {
            snapshot.put("values.bonus", self.bonuses.clone());
        }
    }

    /// Restores what was [stored](Self::store).
    ///
    /// # Errors
    /// If the snapshot does not hold values of this model.
    pub fn restore(settings: &Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut values = Self::new(settings);
        let q = snapshot.bounded("values.q", model.n_pairs(), MAX_VALUE)?;
        let scale = snapshot.finite("values.scale", model.n_pairs())?;
        values.v = snapshot.bounded("values.v", model.n_states(), MAX_VALUE)?.to_vec();
        values.pairs.extend(q.iter().zip(scale).map(|(&q, &scale)| PairValue { q, scale }));
        if let Some(bonuses) = snapshot.get("values.bonus").map(|_| snapshot.f64s("values.bonus")) {
            let n_bonuses = bonuses?.len().min(model.n_pairs());
            values.bonuses = snapshot.bounded("values.bonus", n_bonuses, MAX_VALUE)?.to_vec();
        }
        for (i, (value, record)) in values.pairs[1..].iter().zip(model.pair_records()).enumerate() {
            let expected = values.scale_of(record);
            if value.scale.abs() != expected {
                let problem = format!("item {i} is {}; the model says {expected}", value.scale);
                return Err(Error::Snapshot { part: "values.scale".into(), problem });
            }
        }
        Ok(values)
    }
}
