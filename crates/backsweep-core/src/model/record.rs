//! Writing a model: by transitions, which can be undone, and by known probabilities.

use super::Model;
use crate::store::{Sum, prefetch_run};
use crate::{Action, ArcId, Error, Next, Outcome, Pair, Result, State, Transition};

/// The largest magnitude of a reward. Values then stay below 1e170, and no sum or product in a
/// planner overflows.
pub const MAX_REWARD: f64 = 1e150;
/// The smallest magnitude of a weight. The largest is 2⁵³, up to which `f64` counts exactly.
pub const MIN_WEIGHT: f64 = 1e-100;
pub(super) const MAX_WEIGHT: f64 = (1u64 << 53) as f64;
/// The largest accepted distance from 1 of the sum of a pair's probabilities.
const SUM_TOLERANCE: f64 = 1e-9;
/// A remainder smaller than this fraction of a reward that was undone may come from a sum of
/// rewards that the caller has rounded.
const ROUNDING_FLOOR: f64 = 1.0 / (1u128 << 80) as f64;
/// Weights of one pair must be so close together that its sum loses at most this fraction of any
/// of them: everything recorded can then be undone.
const MAX_LOST: f64 = 1.0 / (1u64 << 20) as f64;
/// Where what is left of a pair's weight is no larger than this many times what its sum lost, it is added up again.
const MAX_HIDDEN: f64 = (1u64 << 32) as f64;

/// The effect of [`Model::record`]: everything a planner needs to restore its values in constant time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The pair that changed.
    pub pair: Pair,
    /// Its state.
    pub state: State,
    /// The arc that changed and the state it leads to; `None` for a step that terminated.
    pub next: Option<(State, ArcId)>,
    /// The amount added to the weight of the pair (and of the arc); negative when a transition was
    /// undone.
    pub weight: f64,
    /// The amount added to the pair's sum of rewards.
    pub reward: f64,
    /// The pair's weight before.
    pub weight_before: f64,
    /// The pair's weight after.
    pub weight_after: f64,
}

/// A weight after adding `added`; 0 if only rounding remains after undoing.
#[inline]
fn snap_to_zero(sum: Sum, added: f64) -> Sum {
    let is_nothing = added < 0.0 && (sum.high.abs() < MIN_WEIGHT || sum.may_be_zero());
    if is_nothing { Sum::default() } else { sum }
}

impl Model {
    /// Adds one observed transition (Algorithm 2, line 9). `None` if the pair is frozen and nothing
    /// changed.
    ///
    /// # Complexity
    /// O(1).
    ///
    /// # Errors
    /// A state or action that does not exist, a step out of a terminal state, a reward that is not
    /// finite or above [`MAX_REWARD`]. The model is then unchanged.
    #[inline]
    pub fn record(&mut self, transition: &Transition) -> Result<Option<Change>> {
        self.change(transition, 1.0, None)
    }

    /// Undoes one transition that was [`record`](Self::record)ed, as if it had never happened.
    /// Recorded observations can be undone in any order: sums have 106 bits and know how much they
    /// have rounded away, and nothing remains after the last one.
    ///
    /// # Complexity
    /// O(1).
    ///
    /// # Errors
    /// As for `record`, and if no such transition was recorded: that the pair led to this next
    /// state often enough is always checked. Rewards are kept as a sum, so a reward that was never
    /// recorded is detected only when the last observation of its pair is undone, or when no
    /// reward in the accepted range could have given what would remain.
    pub fn forget(&mut self, transition: &Transition) -> Result<Option<Change>> {
        self.change(transition, -1.0, None)
    }

    /// Adds a transition that counts as `weight` observations, or undoes it if the weight is
    /// negative.
    ///
    /// # Complexity
    /// O(1).
    ///
    /// # Errors
    /// As for [`record`](Self::record) and [`forget`](Self::forget), and if the magnitude of the
    /// weight is below [`MIN_WEIGHT`] or not finite, or if the weight and those recorded before are
    /// so far apart (about 2⁸⁰) that one of them would be lost in their sum.
    pub fn record_weighted(&mut self, transition: &Transition, weight: f64) -> Result<Option<Change>> {
        self.change(transition, weight, None)
    }

    /// Adds `n` transitions to one next state at once, or undoes them if `n` is negative;
    /// `reward_sum` is the sum of their rewards, with the sign of `n`. Whole rewards add up
    /// exactly, so counts in any order give the same bits.
    ///
    /// # Complexity
    /// O(1).
    ///
    /// # Errors
    /// As for [`record_weighted`](Self::record_weighted), with the mean of the rewards.
    pub fn add_counts(
        &mut self,
        state: State,
        action: Action,
        next: Next,
        n: i64,
        reward_sum: f64,
    ) -> Result<Option<Change>> {
        let weight = n as f64;
        self.change(
            &Transition { state, action, reward: reward_sum / weight, next },
            weight,
            Some(reward_sum),
        )
    }

    /// The pair of a transition, if that can be recorded.
    ///
    /// # Errors
    /// As for [`record`](Self::record).
    #[inline]
    pub fn check(&self, transition: &Transition) -> Result<Pair> {
        let &Transition { state, action, reward, next } = transition;
        let pair = self.pair(state, action)?;
        check_reward(state, action, reward)?;
        if let Some(next) = next.state() {
            self.state_record(next)?;
        }
        Ok(pair)
    }

    /// Returns whether a transition can be recorded with this weight, or undone if that is negative.
    ///
    /// # Errors
    /// As for [`record_weighted`](Self::record_weighted), which then changes nothing.
    pub fn check_weighted(&self, transition: &Transition, weight: f64) -> Result<()> {
        let pair = self.check(transition)?;
        let arc = transition.next.state().and_then(|next| self.find_arc(pair, next));
        self.checked_sums(transition, pair, arc, weight, None).map(drop)
    }

    /// `reward_sum` is added in place of weight times reward, if there is one. Inlined, so that the
    /// constants of `record` remove the checks.
    #[inline(always)]
    fn change(
        &mut self,
        transition: &Transition,
        weight: f64,
        reward_sum: Option<f64>,
    ) -> Result<Option<Change>> {
        let &Transition { state, action, reward, next } = transition;
        if !weight.is_finite() || weight.abs() < MIN_WEIGHT {
            let expected = "a number of at least 1e-100, or of at most -1e-100 to undo";
            return Err(Error::Weight { state, action, found: weight, expected });
        }
        let pair = self.check(transition)?;
        let next = next.state();
        if let Some(next) = next {
            self.prefetch_predecessors(next);
        }
        let record = self.pairs[pair.index()];
        if weight > 0.0 && self.freeze_at.is_some_and(|m| record.weight >= f64::from(m)) {
            return Ok(None);
        }
        self.arcs.check_room(1)?;
        let arc = next.and_then(|next| self.find_arc(pair, next));
        let (weight_after, sum) = self.checked_sums(transition, pair, arc, weight, reward_sum)?;
        let next = match (next, arc) {
            (None, _) => {
                let ended = self.ended.get(pair.index()).plus(weight);
                self.ended.set(pair.index(), snap_to_zero(ended, weight));
                None
            }
            (Some(next), Some(arc)) => Some((next, arc)),
            (Some(next), None) => Some((next, self.add_arc(pair, next))),
        };
        if let Some((next, arc)) = next {
            if weight != 1.0 || !self.arcs.count_once(arc) {
                let sum = self.arcs.exact_weight(arc).plus(weight);
                self.arcs.set_weight(arc, snap_to_zero(sum, weight));
            }
            // The next observation is likely to start there.
            prefetch_run(&self.pairs, self.states[next.index()].first_pair as usize);
        }
        self.weight_rest.set(pair.index(), weight_after.rest());
        self.reward_rest.set(pair.index(), sum.rest());
        let record = &mut self.pairs[pair.index()];
        let weight_before = std::mem::replace(&mut record.weight, weight_after.high); // l.9
        record.reward_sum = sum.high;
        if weight_after.high == 0.0 {
            record.set_given(false);
        }
        let weight_after = weight_after.high;
        let reward = reward_sum.unwrap_or(reward * weight);
        Ok(Some(Change { pair, state, next, weight, reward, weight_before, weight_after }))
    }

    /// W(s,a) and the sum of rewards after the change, if the transition can be added or taken
    /// back.
    #[inline(always)]
    fn checked_sums(
        &self,
        transition: &Transition,
        pair: Pair,
        arc: Option<ArcId>,
        weight: f64,
        reward_sum: Option<f64>,
    ) -> Result<(Sum, Sum)> {
        let &Transition { state, action, reward, next } = transition;
        let record = &self.pairs[pair.index()];
        let before = Sum::with_rest(record.weight, self.weight_rest.get(pair.index()));
        let mut after = snap_to_zero(before.plus(weight), weight);
        if after.high >= MAX_WEIGHT {
            return Err(Error::Full { what: "observations of one pair", limit: 1 << 53 });
        }
        let sum = Sum::with_rest(record.reward_sum, self.reward_rest.get(pair.index()));
        let mut sum = match reward_sum {
            None => sum.plus_product(weight, reward),
            Some(added) => sum.plus(added),
        };
        if weight > 0.0 {
            let least = if before.high > 0.0 { weight.min(before.high) } else { weight };
            if after.lost > MAX_LOST * least {
                let expected = "one that is not lost beside those recorded before (about 2^80 times apart)";
                return Err(Error::Weight { state, action, found: weight, expected });
            }
            return Ok((after, sum));
        }
        let recorded = match (next, arc) {
            (Next::Terminated, _) => self.ended.get(pair.index()),
            (_, Some(arc)) => self.arcs.exact_weight(arc),
            (_, None) => Sum::default(),
        };
        let left = snap_to_zero(recorded.plus(weight), weight);
        if left.high < 0.0 || after.high < 0.0 {
            return Err(Error::NotRecorded { state, action, taken: -weight, recorded: recorded.high });
        }
        if after.high <= MAX_HIDDEN * before.lost && before.lost > 0.0 {
            after = self.weight_without(pair, next, left);
        }
        // A reward sum that a caller adds up may be rounded.
        let rounding = 2.0 * sum.lost - weight * reward.abs() * ROUNDING_FLOOR;
        let possible = MAX_REWARD * after.high * (1.0 + SUM_TOLERANCE) + rounding;
        if sum.high.abs() > possible {
            let recorded = record.reward_sum / record.weight;
            return Err(Error::RewardNotRecorded { state, action, taken: reward, recorded });
        }
        if after.high == 0.0 {
            sum = Sum::default();
        }
        Ok((after, sum))
    }

    /// W(s,a) added up again, with one of its outcomes weighing this much: what is left may be too
    /// small to be told from rounding in the running sum. O(successors).
    #[cold]
    fn weight_without(&self, pair: Pair, next: Next, left: Sum) -> Sum {
        let next = next.state();
        let others = self.successors(pair).filter(|other| Some(other.state) != next);
        let ended = next.map_or(Sum::default(), |_| self.ended.get(pair.index()));
        others.map(|other| self.arcs.exact_weight(other.arc)).chain([ended]).fold(left, |sum, weight| {
            let sum = sum.plus(weight.high).plus(weight.low);
            Sum { lost: sum.lost + weight.lost, ..sum }
        })
    }

    /// Sets the outcomes of a pair from known probabilities, replacing everything the model held
    /// for it. Outcomes with the same next state are added up; probabilities that sum to 1 within
    /// 1e-9 are normalized. Planners must be notified ([`crate::Planner::refresh`]).
    ///
    /// ```
    /// use backsweep_core::{Action, Model, Next, Outcome, State};
    /// let mut model = Model::with_states([1])?;
    /// let stay = Outcome { probability: 0.75, reward: -1.0, next: Next::Continue(State(0)) };
    /// let end = Outcome { probability: 0.25, reward: -1.0, next: Next::Terminated };
    /// let pair = model.set_outcomes(State(0), Action(0), &[stay, end])?;
    /// assert_eq!(model.mean_reward(pair), -1.0);
    /// # Ok::<(), backsweep_core::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(old and new successors of the pair).
    ///
    /// # Errors
    /// A state or action that does not exist, a reward that is not finite or above [`MAX_REWARD`],
    /// a probability outside `[0, 1]` or below [`MIN_WEIGHT`], a sum other than 1. The model is then unchanged.
    pub fn set_outcomes(&mut self, state: State, action: Action, outcomes: &[Outcome]) -> Result<Pair> {
        let pair = self.pair(state, action)?;
        let mut sum = 0.0;
        for &Outcome { probability, reward, next } in outcomes {
            if probability != 0.0 && !(MIN_WEIGHT..=1.0).contains(&probability) {
                return Err(Error::Probability { state, action, found: probability });
            }
            check_reward(state, action, reward)?;
            if let Some(next) = next.state() {
                self.state_record(next)?;
            }
            sum += probability;
        }
        if sum.is_nan() || (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(Error::ProbabilitySum { state, action, found: sum });
        }
        self.arcs.check_room(outcomes.len())?;
        self.clear_arcs(pair);
        let [mut reward_sum, mut ended, mut weight] = [Sum::default(); 3];
        for &Outcome { probability, reward, next } in outcomes {
            let p = if probability > 0.0 { (probability / sum).max(MIN_WEIGHT) } else { 0.0 };
            reward_sum = reward_sum.plus_product(p, reward);
            weight = weight.plus(p);
            match next.state() {
                None => ended = ended.plus(p),
                Some(next) => {
                    let arc = self.find_arc(pair, next).unwrap_or_else(|| self.add_arc(pair, next));
                    self.arcs.set_weight(arc, self.arcs.exact_weight(arc).plus(p));
                }
            }
        }
        self.ended.set(pair.index(), ended);
        // The row weighs 1, and knows by how much its rounded probabilities miss that: they can be undone one by one.
        let off = weight.plus(-1.0);
        self.weight_rest.set(pair.index(), [0.0, off.high.abs() + off.lost]);
        self.reward_rest.set(pair.index(), reward_sum.rest());
        let record = &mut self.pairs[pair.index()];
        (record.weight, record.reward_sum) = (1.0, reward_sum.high);
        record.set_given(true);
        Ok(pair)
    }
}

#[inline]
pub(crate) fn check_reward(state: State, action: Action, reward: f64) -> Result<()> {
    if reward.abs() <= MAX_REWARD { Ok(()) } else { Err(Error::Reward { state, action, found: reward }) }
}
