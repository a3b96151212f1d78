//! Setting whole rows of weights: scaled rows, and rows drawn from others.

use super::{MIN_WEIGHT, Model};
use crate::store::Sum;
use crate::{ArcId, Pair, State};

/// A weight, or 0 if it is below the smallest allowed weight.
fn weight_or_nothing(weight: Sum) -> Sum {
    if weight.high < MIN_WEIGHT { Sum::default() } else { weight }
}

impl Model {
    /// Multiplies all weights of a pair, and its rewards, by a power of two of at most 1: no ratio changes, except that
    /// weights below the smallest allowed one are dropped. Planners must be notified ([`crate::Planner::refresh`]).
    ///
    /// # Complexity
    /// O(successors of the pair).
    pub(crate) fn scale_row(&mut self, pair: Pair, factor: f64) {
        let scaled = |sum: Sum| Sum { high: sum.high * factor, low: sum.low * factor };
        for arc in self.arc_ids(pair) {
            self.arcs.set_weight(arc, weight_or_nothing(scaled(self.arcs.exact_weight(arc))));
        }
        self.set_ended(pair, weight_or_nothing(scaled(self.ended(pair))));
        let row = self.pairs[pair.index()];
        let low = |column: &crate::store::Sparse| column.get(pair.index());
        let weight = scaled(Sum { high: row.weight, low: low(&self.weight_low) });
        let reward_sum = scaled(Sum { high: row.reward_sum, low: low(&self.reward_low) });
        self.set_sums(pair, weight, reward_sum);
    }

    /// Sets the weights of a pair's successors, of what ended, and the sum of rewards, replacing everything. Weights below the
    /// smallest allowed one count as 0. Planners must be notified ([`crate::Planner::refresh`]).
    ///
    /// # Complexity
    /// O(old and new successors of the pair).
    pub(crate) fn set_weights(&mut self, pair: Pair, arcs: &[(State, f64)], ended: f64, reward_sum: f64) {
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
