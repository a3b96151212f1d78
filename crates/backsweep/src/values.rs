//! What planners compute: V of every state and Q of every pair. Read-only to all but their planner.
//!
//! The arithmetic that all planners share stands here, once: which value of a pair counts while it has hardly been seen,
//! the full backup, and the correction of a value after a model update (Theorem 3.4).

use crate::model::{Change, Model, MovedRow, PairRow};
use crate::{ArcId, Pair, Settings, Snapshot, State};
use crate::{Error, Optimism, Result};

/// The value of a pair and the weight of its small backups, side by side because a small backup needs both.
#[derive(Clone, Copy, Debug)]
pub struct PairValue {
    /// Q(s,a), or the optimistic value while the pair has not been seen often enough.
    pub(crate) q: f64,
    /// |scale| is γ/W(s,a), or 0 while `q` is the optimistic value, which small backups then leave alone without a test.
    /// In the one planner that remembers the greedy pair of a state, the sign is negative for exactly that pair.
    pub(crate) scale: f64,
}

impl PairValue {
    /// The value of the pair that counts in every maximum.
    #[inline]
    pub fn value(&self) -> f64 {
        self.q
    }
}

/// The values of a state.
#[derive(Clone, Copy, Debug)]
pub struct StateValue {
    /// V(s); 0 for a state without actions.
    pub v: f64,
    /// U(s): the value of the state that its predecessors have last seen. Used by reversed full backups only.
    pub u: f64,
    /// No pair of the state but the greedy one is worth more than this. Used by reversed full backups only: while the
    /// greedy pair is worth as much, it is still the best, and the others need not be looked at.
    pub second: f64,
}

/// The values a planner has computed so far.
#[derive(Clone, Debug)]
pub struct Values {
    pub(crate) discount: f64,
    pub(crate) optimism: Optimism,
    pub(crate) pairs: Vec<PairValue>,
    pub(crate) states: Vec<StateValue>,
}

/// A value that has fallen by this factor leaves rounding errors behind that are worth removing.
pub(crate) const COLLAPSE: f64 = 1000.0;

/// Exact refreshes at these weights bound what rounding adds up to between two of them: 8, 16, 32 … Below 8 there have been
/// too few corrections to add up to anything, and in a large world most observations are of such pairs.
#[inline]
fn is_refreshed_at(weight: f64) -> bool {
    weight >= 8.0 && weight.to_bits() & ((1 << 52) - 1) == 0
}

impl Values {
    /// No values yet. For those who write a planner, like all methods here that change values.
    pub fn new(settings: &Settings) -> Self {
        Self {
            discount: settings.discount,
            optimism: settings.optimism,
            pairs: Vec::new(),
            states: Vec::new(),
        }
    }

    /// V(s). A state that the planner has not met is worth the optimistic value.
    #[inline]
    pub fn value(&self, state: State) -> f64 {
        self.states.get(state.index()).map_or(self.optimism.value, |state| state.v)
    }

    /// Q(s,a), or the optimistic value while the pair has not been seen often enough.
    #[inline]
    pub fn action_value(&self, pair: Pair) -> f64 {
        self.pairs.get(pair.index()).map_or(self.optimism.value, |pair| pair.q)
    }

    /// The values of a state's pairs, in the order of its actions; empty if the planner has not met the state.
    #[inline]
    pub fn row(&self, model: &Model, state: State) -> &[PairValue] {
        let Some(row) = model.states.get(state.index()) else { return &[] };
        let first = row.first_pair as usize;
        self.pairs.get(first..first + row.n_actions as usize).unwrap_or(&[])
    }

    /// Whether the pair's model is believed: it has been seen often enough, or its probabilities are known.
    pub fn is_known(&self, model: &Model, pair: Pair) -> bool {
        model.pairs.get(pair.index()).is_some_and(|row| self.believes(row, row.weight))
    }

    #[inline]
    pub(crate) fn believes(&self, row: &PairRow, weight: f64) -> bool {
        weight > 0.0 && (weight >= f64::from(self.optimism.min_visits) || row.is_given())
    }

    /// The discount.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The optimism.
    pub fn optimism(&self) -> Optimism {
        self.optimism
    }

    /// Takes in states and pairs that the model has and the values have not, at the optimistic value. Returns whether
    /// there were any.
    #[inline]
    pub fn extend(&mut self, model: &Model) -> bool {
        if self.pairs.len() == model.pairs.len() && self.states.len() == model.states.len() {
            return false;
        }
        self.pairs.resize(model.pairs.len(), PairValue { q: self.optimism.value, scale: 0.0 });
        for row in &model.states[self.states.len()..] {
            let v = if row.n_actions == 0 { 0.0 } else { self.optimism.value };
            self.states.push(StateValue { v, u: v, second: v });
        }
        true
    }

    /// Takes over the values of a row of pairs that got new ids.
    pub fn move_row(&mut self, moved: &MovedRow) {
        let from = moved.from.index();
        for i in 0..moved.n_pairs as usize {
            self.pairs[moved.to.index() + i] = self.pairs[from + i];
            self.pairs[from + i] = PairValue { q: self.optimism.value, scale: 0.0 };
        }
    }

    /// Leaves nothing behind in a row whose pairs got new ids and were evaluated anew.
    pub(crate) fn clear_row(&mut self, moved: &MovedRow) {
        let from = moved.from.index();
        self.pairs[from..from + moved.n_pairs as usize]
            .fill(PairValue { q: self.optimism.value, scale: 0.0 });
    }

    /// The full backup of a pair, (R̂ + γ Σ P̂ U), from the values that `seen` gives for its successors. The pair has weight.
    #[inline]
    pub(crate) fn expectation(&self, model: &Model, pair: Pair, seen: impl Fn(State, ArcId) -> f64) -> f64 {
        let row = &model.pairs[pair.index()];
        let mut sum = 0.0;
        for (state, arc) in model.arcs.out(row.out()) {
            sum += model.arcs.weight(arc) * seen(state, arc);
        }
        (row.reward_sum + self.discount * sum) / row.weight
    }

    /// What a pair is worth by its model, recomputed in full: its full backup, or the optimistic value while it has not been
    /// seen often enough.
    #[inline]
    pub(crate) fn evaluated(
        &self,
        model: &Model,
        pair: Pair,
        seen: impl Fn(State, ArcId) -> f64,
    ) -> PairValue {
        let row = &model.pairs[pair.index()];
        if self.believes(row, row.weight) {
            PairValue { q: self.expectation(model, pair, seen), scale: self.discount / row.weight }
        } else {
            PairValue { q: self.optimism.value, scale: 0.0 }
        }
    }

    /// The value correction after a model update (Theorem 3.4, Algorithm 2 line 10): O(1), except that at weights 8, 16,
    /// 32 … and when value or weight collapses the pair is recomputed in full, O(successors). Departure 2.
    #[inline]
    pub(crate) fn corrected(
        &self,
        model: &Model,
        change: &Change,
        seen: impl Fn(State, ArcId) -> f64,
    ) -> PairValue {
        let row = &model.pairs[change.pair.index()];
        let u = change.next.map_or(0.0, |(state, arc)| seen(state, arc));
        if change.weight_before == 0.0 && self.believes(row, change.weight_after) {
            // The only observation there is: the full backup, without looking for its successor.
            let q = (row.reward_sum + self.discount * (change.weight * u)) / row.weight;
            return PairValue { q, scale: self.discount / row.weight };
        }
        if !self.believes(row, change.weight_before)
            || !self.believes(row, change.weight_after)
            || is_refreshed_at(change.weight_after)
        {
            return self.evaluated(model, change.pair, seen);
        }
        let q_old = self.pairs[change.pair.index()].q;
        let q = q_old + (change.reward + change.weight * (self.discount * u - q_old)) / row.weight; // l.10
        // Taking most of a weight back multiplies the rounding error of what is left.
        if q_old.abs() > COLLAPSE * q.abs() || change.weight_before > COLLAPSE * change.weight_after {
            return self.evaluated(model, change.pair, seen);
        }
        PairValue { q, scale: self.discount / row.weight }
    }

    /// Sets a pair's value and keeps its greedy mark.
    #[inline]
    pub(crate) fn put(&mut self, pair: Pair, value: PairValue) {
        let place = &mut self.pairs[pair.index()];
        *place = PairValue { q: value.q, scale: value.scale.copysign(place.scale) };
    }

    /// Sets a pair's scale to what its weight now is.
    pub(crate) fn rescale(&mut self, model: &Model, pair: Pair) {
        let row = &model.pairs[pair.index()];
        self.pairs[pair.index()].scale =
            if self.believes(row, row.weight) { self.discount / row.weight } else { 0.0 };
    }

    /// The full value backup of a state from V: Q of all its actions, then V. Returns the change of V and how many full
    /// backups of pairs it took. The planners here do the same on copies of the model's rows, which is faster.
    pub fn full_value_backup(&mut self, model: &Model, state: State) -> (f64, u64) {
        let mut n_backups = 0;
        for pair in model.pairs(state) {
            let value = self.evaluated(model, pair, |next, _| self.states[next.index()].v);
            n_backups += u64::from(value.scale > 0.0);
            self.put(pair, value);
        }
        let v = self.maximum(model, state).map_or(0.0, |(_, q)| q);
        let v_old = std::mem::replace(&mut self.states[state.index()].v, v);
        (v - v_old, n_backups)
    }

    /// max over the state's pairs and the first pair that attains it; `None` for a state without actions.
    #[inline]
    pub(crate) fn maximum(&self, model: &Model, state: State) -> Option<(Pair, f64)> {
        let row = &model.states[state.index()];
        let first = row.first_pair as usize;
        let row = &self.pairs[first..first + row.n_actions as usize];
        let mut best = 0;
        let mut highest = row.first()?.q;
        for (i, pair) in row.iter().enumerate().skip(1) {
            if pair.q > highest {
                (best, highest) = (i, pair.q);
            }
        }
        Some((Pair((first + best) as u32), highest))
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.pairs[..]) + size_of_val(&self.states[..])
    }

    /// Stores the values as parts of a snapshot.
    pub fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("values.q", self.pairs.iter().map(|pair| pair.q).collect::<Vec<f64>>());
        snapshot.put("values.scale", self.pairs.iter().map(|pair| pair.scale).collect::<Vec<f64>>());
        snapshot.put("values.v", self.states.iter().map(|state| state.v).collect::<Vec<f64>>());
        snapshot.put("values.u", self.states.iter().map(|state| state.u).collect::<Vec<f64>>());
    }

    /// Restores what was [stored](Self::store).
    ///
    /// # Errors
    /// If the snapshot does not hold values of this model.
    pub fn restore(settings: &Settings, model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let mut values = Self::new(settings);
        let q = snapshot.finite("values.q", model.n_pairs())?;
        let scale = snapshot.finite("values.scale", model.n_pairs())?;
        let v = snapshot.finite("values.v", model.n_states())?;
        let u = snapshot.finite("values.u", model.n_states())?;
        values.pairs = q.iter().zip(scale).map(|(&q, &scale)| PairValue { q, scale }).collect();
        values.states = v.iter().zip(u).map(|(&v, &u)| StateValue { v, u, second: v }).collect();
        for (i, (value, row)) in values.pairs.iter().zip(&model.pairs).enumerate() {
            let expected =
                if values.believes(row, row.weight) { settings.discount / row.weight } else { 0.0 };
            if value.scale.abs() != expected {
                let problem = format!("item {i} does not belong to the weight of its pair in the model");
                return Err(Error::Snapshot { part: "values.scale".into(), problem });
            }
        }
        Ok(values)
    }
}
