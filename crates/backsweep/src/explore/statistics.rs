//! The input of bonuses and draws: statistics of pairs that the model does not keep.

use super::achievable_bonus::Achievable;
use super::ages::Ages;
use super::posterior::MeanReward;
use super::{Constants, Exploration, Explore, bayes_bonus, count_bonus, variance_bonus};
use crate::explore::Forgetting;
use crate::forget::fading::Fading;
use crate::planner::{Change, MAX_REWARD, Model, MovedPairs, Pair, Planner, Snapshot};
use crate::{Result, Transition};

/// More steps than any agent takes; they are not counted beyond.
pub(super) const MAX_STEPS: u64 = 1 << 53;

#[derive(Clone, Debug)]
pub(super) struct Statistics {
    pub constants: Constants,
    pub fading: Option<Fading>,
    /// Σ w (r − lowest)² of each pair, where the variance of rewards is needed.
    squares: Option<Vec<f64>>,
    pub ages: Option<Ages>,
    pub achievable: Option<Achievable>,
    /// Observations so far.
    pub steps: u64,
}

impl Statistics {
    pub fn new(exploration: &Exploration, constants: Constants) -> Self {
        let Exploration { explore, forgetting, .. } = exploration;
        let needs_squares = matches!(
            explore,
            Explore::VarianceBonus { .. }
                | Explore::PosteriorSampling { .. }
                | Explore::AchievableBonus { .. }
        );
        // Where observations fade with time, so do these statistics.
        let needs_ages = exploration.age_bonus > 0.0
            || exploration.has_bonus() && matches!(forgetting, Forgetting::HalfLife(_));
        Self {
            constants,
            fading: Fading::new(*forgetting),
            squares: needs_squares.then(Vec::new),
            ages: needs_ages.then(Ages::default),
            achievable: exploration.uses_recommended_values().then(|| Achievable::new(constants.start)),
            steps: 0,
        }
    }

    pub fn grow(&mut self, model: &Model) {
        if let Some(squares) = &mut self.squares {
            squares.resize(model.n_pairs(), 0.0);
        }
        if let Some(fading) = &mut self.fading {
            fading.grow(model);
        }
        if let Some(ages) = &mut self.ages {
            ages.grow(model);
        }
        if let Some(achievable) = &mut self.achievable {
            achievable.grow(model);
        }
    }

    pub fn pairs_moved(&mut self, moved: &MovedPairs) {
        let (from, n) = (moved.from.index(), moved.n_pairs as usize);
        if let Some(squares) = &mut self.squares {
            squares.copy_within(from..from + n, moved.to.index());
        }
        if let Some(fading) = &mut self.fading {
            fading.pairs_moved(moved);
        }
        if let Some(ages) = &mut self.ages {
            ages.pairs_moved(moved);
        }
        if let Some(achievable) = &mut self.achievable {
            achievable.pairs_moved(moved);
        }
    }

    /// The row of a pair was scaled down.
    pub fn row_scaled(&mut self, model: &Model, pair: Pair, factor: f64) {
        if let Some(achievable) = &mut self.achievable {
            achievable.row_scaled(model, pair, factor);
        }
        if let Some(fading) = &mut self.fading {
            fading.scaled(pair, factor);
        }
        if let Some(squares) = &mut self.squares {
            squares[pair.index()] *= factor;
        }
    }

    /// The outcomes of a pair were set.
    pub fn row_set(&mut self, model: &Model, pair: Pair) {
        if let Some(achievable) = &mut self.achievable {
            achievable.row_set(model, pair);
        }
        if let Some(squares) = &mut self.squares {
            squares[pair.index()] = 0.0;
        }
        if let Some(fading) = &mut self.fading {
            fading.row_set(pair);
        }
    }

    /// The history of a pair was dropped, but for two tries with one outcome and these rewards.
    pub fn row_dropped(&mut self, model: &Model, change: &Change, rewards: [f64; 2]) {
        if let Some(achievable) = &mut self.achievable {
            achievable.row_dropped(model, change);
        }
        if let Some(squares) = &mut self.squares {
            let lowest = self.constants.lowest;
            squares[change.pair.index()] = rewards.map(|reward| (reward - lowest).powi(2)).iter().sum();
        }
    }

    /// A step was taken: time advances for all pairs.
    pub fn stepped(&mut self, pair: Pair, weight: f64) {
        self.steps = (self.steps + 1).min(MAX_STEPS);
        if let Some(fading) = &mut self.fading {
            fading.recorded(pair, weight);
        }
        if let Some(ages) = &mut self.ages {
            ages.visit(pair, self.steps);
        }
    }

    /// Records a change in the model, and whether it was one new observation.
    pub fn record(&mut self, model: &Model, transition: &Transition, change: &Change, is_new: bool) {
        if let Some(squares) = &mut self.squares {
            let above = transition.reward - self.constants.lowest;
            let square = &mut squares[change.pair.index()];
            *square += change.weight * above * above;
            *square = if change.weight_after > 0.0 { square.max(0.0) } else { 0.0 };
        }
        if let Some(achievable) = &mut self.achievable {
            achievable.record(model, transition.reward, change, &self.constants, is_new);
        }
    }

    /// The weight of an observation made now in the row of a pair.
    #[inline]
    pub fn unit(&self, pair: Pair) -> f64 {
        self.fading.as_ref().map_or(1.0, |fading| fading.unit(pair))
    }

    /// The mean of (r − lowest)² over a pair's tries; that of its mean reward if squares are not kept.
    fn square(&self, model: &Model, pair: Pair) -> f64 {
        let above = model.mean_reward(pair) - self.constants.lowest;
        let squares = self.squares.as_ref();
        squares.map_or(above * above, |squares| squares[pair.index()] / model.weight(pair))
    }

    /// The variance of a pair's rewards; 0 if squares are not kept.
    fn variance(&self, model: &Model, pair: Pair) -> f64 {
        let above = model.mean_reward(pair) - self.constants.lowest;
        (self.square(model, pair) - above * above).max(0.0)
    }

    /// The mean reward of a pair, and the standard deviation of what the mean may be: that of the mean of n rewards with
    /// weights drawn from a Dirichlet distribution.
    pub fn mean_reward(&self, model: &Model, pair: Pair) -> MeanReward {
        let weight = model.weight(pair);
        if weight == 0.0 {
            return MeanReward { mean: 0.0, deviation: 0.0 };
        }
        let deviation = (self.variance(model, pair) / (weight / self.unit(pair) + 1.0)).sqrt();
        MeanReward { mean: model.mean_reward(pair), deviation }
    }

    /// The current bonus of a pair, for acting and recommended values of these planners.
    pub fn bonus(
        &mut self,
        exploration: &Exploration,
        model: &Model,
        [acting, recommending]: [&dyn Planner; 2],
        pair: Pair,
    ) -> f64 {
        let weight = model.weight(pair);
        if weight == 0.0 || model.is_given(pair) {
            return 0.0;
        }
        // A pair whose observations have faded away counts as tried once.
        let (n, range) = ((weight / self.unit(pair)).max(1.0), self.constants.range);
        let own = match exploration.explore {
            Explore::CountBonus { beta } => count_bonus::bonus(beta, range, n),
            Explore::BayesBonus { beta } => bayes_bonus::bonus(beta, range, n),
            Explore::VarianceBonus { c, d } => {
                let variance = variance_bonus::variance(model, acting, pair, self.variance(model, pair));
                variance_bonus::bonus(c, d, range, n, variance.min(f64::MAX))
            }
            Explore::AchievableBonus { beta, d } => {
                let known = (n, self.square(model, pair));
                self.achievable.as_mut().map_or(0.0, |achievable| {
                    achievable.bonus((beta, d), &self.constants, model, recommending, pair, known)
                })
            }
            Explore::EpsilonGreedy { .. } | Explore::Optimism(_) | Explore::PosteriorSampling { .. } => 0.0,
        };
        let age = self.ages.as_ref().map_or(0, |ages| ages.age(pair, self.steps));
        (own + exploration.age_bonus * range * (age as f64).sqrt()).min(MAX_REWARD)
    }

    pub fn bytes(&self) -> usize {
        self.fading.as_ref().map_or(0, Fading::bytes)
            + self.squares.as_ref().map_or(0, |squares| size_of_val(&squares[..]))
            + self.ages.as_ref().map_or(0, Ages::bytes)
            + self.achievable.as_ref().map_or(0, Achievable::bytes)
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("explore.steps", vec![self.steps]);
        if let Some(fading) = &self.fading {
            fading.store(snapshot);
        }
        if let Some(squares) = &self.squares {
            snapshot.put("explore.squares", squares.clone());
        }
        if let Some(ages) = &self.ages {
            ages.store(snapshot);
        }
        if let Some(achievable) = &self.achievable {
            achievable.store(snapshot);
        }
    }

    /// Restores into statistics without observations.
    pub fn restore(&mut self, forgetting: Forgetting, model: &Model, snapshot: &Snapshot) -> Result<()> {
        self.steps = match snapshot.u64s("explore.steps")? {
            &[steps] if steps <= MAX_STEPS => steps,
            _ => return Err(Snapshot::problem("explore.steps", "expected one number of at most 2^53")),
        };
        self.fading = Fading::restore(forgetting, model, snapshot)?;
        if let Some(squares) = &mut self.squares {
            *squares = snapshot.bounded("explore.squares", model.n_pairs(), f64::MAX)?.to_vec();
            if squares.iter().any(|&square| square < 0.0) {
                return Err(Snapshot::problem("explore.squares", "a sum of squares is below 0"));
            }
        }
        if self.ages.is_some() {
            self.ages = Some(Ages::restore(model, self.steps, snapshot)?);
        }
        if self.achievable.is_some() {
            let mut achievable = Achievable::restore(model, snapshot)?;
            achievable.restore_noise(model, &self.constants, |pair| self.square(model, pair));
            self.achievable = Some(achievable);
        }
        Ok(())
    }
}
