//! Setting whole rows of weights: scaled rows, and rows drawn from others.

use super::record::{MAX_WEIGHT, check_reward};
use super::{MIN_WEIGHT, Model};
use crate::store::{Sparse, Sum};
use crate::{ArcId, Error, Pair, Result, State};

/// A weight, or 0 if it is below the smallest allowed weight.
fn weight_or_nothing(weight: Sum) -> Sum {
    if weight.high < MIN_WEIGHT { Sum::default() } else { weight }
}

impl Model {
    /// Multiplies all weights of a pair, and its rewards, by a factor from 0 to 1; weights below the smallest allowed one are
    /// dropped. A power of two changes no other ratio at all. Planners must be notified ([`crate::Planner::refresh`]).
    ///
    /// # Complexity
    /// O(successors of the pair).
    ///
    /// # Errors
    /// If the factor is out of range, or there is no such pair. The model is then unchanged.
    pub fn scale_row(&mut self, pair: Pair, factor: f64) -> Result<()> {
        Error::unless((0.0..=1.0).contains(&factor), "factor", factor, "a number from 0 to 1")?;
        self.expect_pair(pair)?;
        let scaled = |sum: Sum| Sum { high: sum.high * factor, low: sum.low * factor };
        for arc in self.arc_ids(pair) {
            self.arcs.set_weight(arc, weight_or_nothing(scaled(self.arcs.exact_weight(arc))));
        }
        self.set_ended(pair, weight_or_nothing(scaled(self.ended(pair))));
        let row = self.pairs[pair.index()];
        let low = |column: &Sparse| column.get(pair.index());
        let weight = scaled(Sum { high: row.weight, low: low(&self.weight_low) });
        let reward_sum = scaled(Sum { high: row.reward_sum, low: low(&self.reward_low) });
        self.set_sums(pair, weight, reward_sum);
        Ok(())
    }

    /// Sets the weights of a pair's successors, of what ended, and the sum of rewards, replacing everything. Weights below the
    /// smallest allowed one count as 0. Planners must be notified ([`crate::Planner::refresh`]).
    ///
    /// # Complexity
    /// O(old and new successors of the pair).
    ///
    /// # Errors
    /// If there is no such pair or next state, a weight is negative or not finite, or the mean reward is out of range. The
    /// model is then unchanged.
    pub fn set_weights(
        &mut self,
        pair: Pair,
        arcs: &[(State, f64)],
        ended: f64,
        reward_sum: f64,
    ) -> Result<()> {
        self.expect_pair(pair)?;
        let (state, action) = (self.state_of(pair), self.action_of(pair));
        let weights = arcs.iter().map(|&(_, weight)| weight).chain([ended]);
        if let Some(found) = weights.clone().find(|weight| !(0.0..MAX_WEIGHT).contains(weight)) {
            return Err(Error::Weight { state, action, found });
        }
        let mean = reward_sum / weights.sum::<f64>().max(MIN_WEIGHT);
        check_reward(state, action, mean)?;
        for &(next, _) in arcs {
            self.state_row(next)?;
        }
        self.arcs.expect_room(arcs.len())?;
        for arc in self.arc_ids(pair) {
            self.arcs.set_weight(arc, Sum::default());
        }
        let ended = weight_or_nothing(Sum::new(ended));
        self.set_ended(pair, ended);
        let mut sum = ended;
        for &(next, weight) in arcs.iter().filter(|&&(_, weight)| weight >= MIN_WEIGHT) {
            let arc = self.find_arc(pair, next).unwrap_or_else(|| self.add_arc(pair, next));
            self.arcs.set_weight(arc, Sum::new(weight));
            sum = sum.plus(weight);
        }
        self.set_sums(pair, sum, Sum::new(reward_sum));
        Ok(())
    }

    fn expect_pair(&self, pair: Pair) -> Result<()> {
        let (found, expected) = (f64::from(pair.0), "the id of a pair of the model");
        Error::unless(self.is_in_use(pair), "pair", found, expected)
    }

    fn arc_ids(&self, pair: Pair) -> Vec<ArcId> {
        self.successors(pair).map(|next| next.arc).collect()
    }

    /// Sets W(s,a) and the sum of rewards; both to 0 if the weight is below the smallest allowed one.
    fn set_sums(&mut self, pair: Pair, weight: Sum, reward_sum: Sum) {
        let weight = weight_or_nothing(weight);
        let reward_sum = if weight.high == 0.0 { Sum::default() } else { reward_sum };
        self.weight_low.set(pair.index(), weight.low);
        self.reward_low.set(pair.index(), reward_sum.low);
        let row = &mut self.pairs[pair.index()];
        (row.weight, row.reward_sum) = (weight.high, reward_sum.high);
        if weight.high == 0.0 {
            row.set_given(false);
        }
    }
}
