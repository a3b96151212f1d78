//! The outcomes of an action, in any order, as a row.

use crate::{MAX_REWARD, SUM_SLACK};

/// One outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceOutcome {
    /// Its probability.
    pub probability: f64,
    /// The next state; `None` if the episode ends.
    pub next: Option<u32>,
    /// The reward.
    pub reward: f64,
}

/// One action of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceRow {
    /// Next states with their probabilities, in ascending order; the probability missing from 1 ends the episode.
    pub outcomes: Vec<(u32, f64)>,
    /// The expected reward.
    pub reward: f64,
    /// The reward is within this of the one that it stands for.
    pub reward_error: f64,
}

/// Why outcomes are not those of an action.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OutcomeProblem {
    /// A probability is out of range.
    #[error("found the probability {0}; expected a number from 0 to 1")]
    Probability(f64),
    /// A reward is no number, or too large.
    #[error("found the reward {0}; expected a number from -1e150 to 1e150")]
    Reward(f64),
    /// The probabilities do not sum to 1.
    #[error("the probabilities sum to {0}; expected 1 (the end of the episode is an outcome, too)")]
    Sum(f64),
}

impl ChoiceRow {
    /// The row of outcomes whose probabilities are to be divided by a number. Those of the same next state add up, and the reward is
    /// the mean.
    ///
    /// # Errors
    /// If a number is out of range, or the probabilities do not sum to 1. The outcomes may be in another order afterwards.
    pub fn new(outcomes: &mut [SourceOutcome], divisor: f64) -> Result<Self, OutcomeProblem> {
        let first = outcomes.first().map_or(0.0, |outcome| outcome.reward);
        let (mut sum, mut mean, mut size, mut is_same) = (0.0, 0.0, 0.0, true);
        for outcome in outcomes.iter() {
            let (p, reward) = (outcome.probability / divisor, outcome.reward);
            if !(0.0..=1.0 + SUM_SLACK).contains(&p) {
                return Err(OutcomeProblem::Probability(outcome.probability));
            }
            if reward.is_nan() || reward.abs() > MAX_REWARD {
                return Err(OutcomeProblem::Reward(reward));
            }
            sum += p;
            mean += p * reward;
            size += p * reward.abs();
            is_same &= reward == first;
        }
        if (sum - 1.0).abs() > SUM_SLACK {
            return Err(OutcomeProblem::Sum(sum));
        }
        outcomes.sort_by_key(|outcome| outcome.next);
        let mut row: Vec<(u32, f64)> = Vec::with_capacity(outcomes.len());
        for outcome in outcomes.iter().filter(|outcome| outcome.probability > 0.0) {
            let Some(next) = outcome.next else { continue };
            let p = outcome.probability / divisor;
            match row.last_mut() {
                Some((known, sum)) if *known == next => *sum = (*sum + p).min(1.0),
                _ => row.push((next, p.min(1.0))),
            }
        }
        let rounding = (outcomes.len() as f64 + 4.0) * f64::EPSILON * size;
        let (reward, reward_error) = if is_same { (first, 0.0) } else { (mean, rounding) };
        Ok(Self { outcomes: row, reward, reward_error })
    }
}
