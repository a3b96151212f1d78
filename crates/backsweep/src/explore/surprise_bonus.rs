//! β √((1 − γ) s / n) ln(1 + m / 20) + d / n, in units of the range of rewards: larger in more random worlds, and limited by
//! the number of steps so far.
//!
//! s is the *surprise* of the world: over all repeated tries of all pairs, the mean of 1 − w/W, where w of the pair's W earlier
//! tries led to the same place. It estimates the probability that two tries of a pair differ, and Var V(s') is at most half of
//! that times the span of values squared. A single try says nothing about a pair's own variance, so all pairs share the
//! estimate. In a deterministic world, s falls as 1 / tries and only d / n remains: one visit tells everything.
//!
//! m is the mean number of visits of the pairs tried. An agent that has tried each pair a few times cannot afford to try each of
//! them twenty times; one with many steps behind it can. The logarithm is unbounded, so no pair is abandoned for good.
//!
//! s and m change with every step, so the bonuses of some pairs are updated in turn, besides that of the visited
//! pair: O(1) per step.

use crate::Result;
use crate::planner::{Change, Model, Pair, Snapshot};

/// The unit of mean visits in which time is measured.
const SETTLED: f64 = 20.0;
/// Pairs updated per step.
pub(super) const RENEWED: usize = 4;
/// A bonus that is off by no more than this fraction is not updated.
pub(super) const TOLERANCE: f64 = 0.1;
/// A discount above .99 counts as .99: without discount there would be no bonus for randomness.
const LEAST_END: f64 = 0.01;

/// The observed randomness, over all pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Surprise {
    /// The sum of 1 − w/W over repeated tries, and how many there were.
    sum: f64,
    n_repeated: f64,
    /// Pairs tried, and tries.
    n_pairs: f64,
    n_tries: f64,
    /// The pair updated last.
    turn: usize,
}

impl Surprise {
    /// Records a change in the model, and whether it was one new observation.
    pub fn record(&mut self, model: &Model, change: &Change, is_new: bool) {
        self.n_tries = (self.n_tries + if is_new { 1.0 } else { change.weight }).max(0.0);
        if change.weight_before == 0.0 {
            // A row that has faded away counts as untried.
            self.n_pairs = (self.n_pairs + 1.0).min(model.n_pairs() as f64);
        } else if change.weight_after == 0.0 {
            self.n_pairs = (self.n_pairs - 1.0).max(0.0);
        } else if is_new {
            let after =
                change.next.map_or_else(|| model.ended_weight(change.pair), |(_, arc)| model.arc_weight(arc));
            self.sum += (1.0 - (after - change.weight) / change.weight_before).clamp(0.0, 1.0);
            self.n_repeated += 1.0;
        }
    }

    /// s, with one imagined try that was a surprise.
    fn share(&self) -> f64 {
        (self.sum + 1.0) / (self.n_repeated + 1.0)
    }

    /// The bonus after `n` visits.
    pub fn bonus(&self, beta: f64, d: f64, range: f64, discount: f64, n: f64) -> f64 {
        let mean = (self.n_tries / self.n_pairs.max(1.0)).max(1.0);
        let chance = ((1.0 - discount).max(LEAST_END) * self.share() / n).sqrt();
        range * (beta * chance * (mean / SETTLED).ln_1p() + d / n)
    }

    /// The pair whose turn it is; `None` if it was never tried.
    pub fn next_in_turn(&mut self, model: &Model) -> Option<Pair> {
        self.turn = if self.turn + 1 < model.n_pairs() { self.turn + 1 } else { 0 };
        let pair = Pair(self.turn as u32);
        (self.turn < model.n_pairs() && model.is_in_use(pair) && model.weight(pair) > 0.0).then_some(pair)
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        let Self { sum, n_repeated, n_pairs, n_tries, turn } = *self;
        snapshot.put("explore.surprise", vec![sum, n_repeated, n_pairs, n_tries, turn as f64]);
    }

    pub fn restore(model: &Model, snapshot: &Snapshot) -> Result<Self> {
        let items = snapshot.finite("explore.surprise", 5)?;
        let [sum, n_repeated, n_pairs, n_tries, turn] = [items[0], items[1], items[2], items[3], items[4]];
        let is_right = (0.0..=n_repeated).contains(&sum)
            && n_repeated <= 1e18
            && (0.0..=model.n_pairs() as f64).contains(&n_pairs)
            && (0.0..=1e18).contains(&n_tries)
            && (0.0..=model.n_pairs() as f64).contains(&turn);
        if !is_right {
            return Err(Snapshot::problem("explore.surprise", "the counts do not go together"));
        }
        Ok(Self { sum, n_repeated, n_pairs, n_tries, turn: turn as usize })
    }
}
