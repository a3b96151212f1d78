//! Scaling the weights of a pair, or setting them all.

use super::record::{MAX_WEIGHT, check_reward};
use super::{MIN_WEIGHT, Model};
use crate::store::Sum;
use crate::{ArcId, Error, Pair, Result, State};

/// A weight, or 0 if it is below [`MIN_WEIGHT`].
fn drop_tiny(weight: Sum) -> Sum {
    if weight.high < MIN_WEIGHT { Sum::default() } else { weight }
}

impl Model {
    /// Multiplies all weights of a pair, and its rewards, by a factor from 0 to 1. A power of two
    /// changes no ratio, except that weights below [`MIN_WEIGHT`] become 0. Planners must be
    /// notified ([`crate::Planner::refresh`]).
    ///
    /// # Complexity
    /// O(successors of the pair).
    ///
    /// # Errors
    /// If the factor is out of range, or there is no such pair. The model is then unchanged.
    pub fn scale_weights(&mut self, pair: Pair, factor: f64) -> Result<()> {
        Error::ensure((0.0..=1.0).contains(&factor), "factor", factor, "a number from 0 to 1")?;
        self.check_pair(pair)?;
        let (mut kept, mut is_complete) = (Sum::default(), true);
        let mut keep = |old: Sum| {
            let new = drop_tiny(old.scaled(factor));
            is_complete &= new.high > 0.0 || old.high == 0.0;
            kept = kept.plus(new.high).plus(new.low);
            new
        };
        for arc in self.arc_ids(pair) {
            self.arcs.set_weight(arc, keep(self.arcs.exact_weight(arc)));
        }
        self.ended.set(pair.index(), keep(self.ended.get(pair.index())));
        let (record, mean) = (self.pairs[pair.index()], self.mean_reward(pair));
        if is_complete {
            let weight = Sum::with_rest(record.weight, self.weight_rest.get(pair.index()));
            let reward_sum = Sum::with_rest(record.reward_sum, self.reward_rest.get(pair.index()));
            self.set_sums(pair, weight.scaled(factor), reward_sum.scaled(factor));
        } else {
            self.set_sums(pair, kept, Sum::new(mean * kept.high));
        }
        Ok(())
    }

    /// Sets the weights of a pair's successors, of what ended, and the sum of rewards, replacing
    /// everything: the pair no longer has known probabilities. The weights of a state that is
    /// listed twice add up; those below the smallest allowed one count as 0. Planners must be
    /// notified ([`crate::Planner::refresh`]).
    ///
    /// # Complexity
    /// O(old and new successors of the pair).
    ///
    /// # Errors
    /// If there is no such pair or next state, a weight is negative or not finite, their sum is 2⁵³
    /// or more, or the mean reward is out of range. The model is then unchanged.
    pub fn set_weights(
        &mut self,
        pair: Pair,
        arcs: &[(State, f64)],
        ended: f64,
        reward_sum: f64,
    ) -> Result<()> {
        self.check_pair(pair)?;
        let (state, action) = (self.state_of(pair), self.action_of(pair));
        let weights = arcs.iter().map(|&(_, weight)| weight).chain([ended]);
        if let Some(found) = weights.clone().find(|weight| !(0.0..=f64::MAX).contains(weight)) {
            return Err(Error::Weight { state, action, found, expected: "a finite number, 0 or more" });
        }
        let sum: f64 = weights.sum();
        if sum >= MAX_WEIGHT {
            return Err(Error::Full { what: "observations of one pair", limit: 1 << 53 });
        }
        check_reward(state, action, reward_sum / sum.max(MIN_WEIGHT))?;
        for &(next, _) in arcs {
            self.state_record(next)?;
        }
        self.arcs.check_room(arcs.len())?;
        self.clear_arcs(pair);
        let ended = drop_tiny(Sum::new(ended));
        self.ended.set(pair.index(), ended);
        let mut sum = ended;
        for &(next, weight) in arcs.iter().filter(|&&(_, weight)| weight >= MIN_WEIGHT) {
            let arc = self.find_arc(pair, next).unwrap_or_else(|| self.add_arc(pair, next));
            self.arcs.set_weight(arc, self.arcs.exact_weight(arc).plus(weight));
            sum = sum.plus(weight);
        }
        self.set_sums(pair, sum, Sum::new(reward_sum));
        self.pairs[pair.index()].set_given(false);
        Ok(())
    }

    fn check_pair(&self, pair: Pair) -> Result<()> {
        let (found, expected) = (f64::from(pair.0), "the id of a pair of the model");
        Error::ensure(self.is_in_use(pair), "pair", found, expected)
    }

    /// Sets the weights of all arcs out of a pair to 0.
    pub(super) fn clear_arcs(&mut self, pair: Pair) {
        for arc in self.arc_ids(pair) {
            self.arcs.set_weight(arc, Sum::default());
        }
    }

    fn arc_ids(&self, pair: Pair) -> Vec<ArcId> {
        self.successors(pair).map(|next| next.arc).collect()
    }

    /// Sets W(s,a) and the sum of rewards; both to 0 if the weight is below the smallest allowed
    /// one.
    fn set_sums(&mut self, pair: Pair, weight: Sum, reward_sum: Sum) {
        let weight = drop_tiny(weight);
        let reward_sum = if weight.high == 0.0 { Sum::default() } else { reward_sum };
        self.weight_rest.set(pair.index(), weight.rest());
        self.reward_rest.set(pair.index(), reward_sum.rest());
        let record = &mut self.pairs[pair.index()];
        (record.weight, record.reward_sum) = (weight.high, reward_sum.high);
        if weight.high == 0.0 {
            record.set_given(false);
        }
    }
}
