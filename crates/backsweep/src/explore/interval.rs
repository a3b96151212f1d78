//! An interval for the true values, not those of the learned model: upper values with a bonus from Hoeffding's
//! inequality, and lower ones with the same subtracted.
//!
//! Let V* be the optimal values of the world. The n steps of a pair draw r + γ V*(s') independently, each within a range w
//! that follows from the range of rewards. Their mean is therefore off by more than b = w √(ln(2 / δ') / 2n) with
//! probability at most δ'. With δ' = δ / (pairs · n (n + 1)) that holds for all pairs at all times with probability 1 − δ,
//! and then, by induction over backups, V* lies between the values of the learned model with bonuses −b and b. An untried
//! pair has the smallest or the largest possible value.

use super::Exploration;
use crate::explore::{Forgetting, Optimism};
use crate::planner::{Model, Pair, Planner, plan};
use crate::{Budget, Error, Result, Settings};
use backsweep_core::{Bonuses, ReversedFullBackups};

/// The distance of the computed values from the exact ends of the intervals, relative to the largest possible value.
const TOLERANCE: f64 = 1e-6;

/// The two problems between whose values the true ones lie: the learned model with the bonus of each pair subtracted, and
/// with it added.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfidenceBonuses {
    /// No value is below this; that of an untried pair in the first problem.
    pub least: f64,
    /// No value is above this; that of an untried pair in the second problem.
    pub most: f64,
    /// The accuracy to which values are computed.
    pub tolerance: f64,
    /// One per pair, in the order of states and their actions; 0 for a pair that is untried, or given and not learned.
    pub bonuses: Vec<f64>,
}

impl Exploration {
    /// The bonuses with which the values of the model contain the true ones, all of them at once with this probability.
    pub(crate) fn confidence_bonuses(
        &self,
        model: &Model,
        discount: f64,
        confidence: f64,
    ) -> Result<ConfidenceBonuses> {
        let is_probability = confidence > 0.0 && confidence < 1.0;
        Error::ensure(is_probability, "confidence", confidence, "a number above 0 and below 1")?;
        let Some((lowest, highest)) = self.reward_range else {
            return Err(super::missing_range("an interval for the true values"));
        };
        if self.forgetting != Forgetting::Never {
            let by = "an interval for the true values needs a world that does not change";
            return Err(Error::RuledOut { by, expected: "an agent that does not forget" });
        }
        let expected = "below 1, for an interval for the true values";
        Error::ensure(discount < 1.0, "discount", discount, expected)?;
        let (least, most) = super::value_range((lowest, highest), discount);
        let width = highest - lowest + discount * (most - least);
        let pairs: Vec<Pair> = pairs(model).collect();
        let chances = 2.0 * pairs.len() as f64 / (1.0 - confidence);
        let bonus = |pair: Pair| {
            // Of a pair with known outcomes only what was observed in addition is drawn.
            let n = model.weight(pair) - f64::from(u8::from(model.is_given(pair)));
            // Less than one observation is as likely to be off as one.
            let times = n.max(1.0) * (n.max(1.0) + 1.0);
            if n > 0.0 { width * ((chances * times).ln() / (2.0 * n)).sqrt() } else { 0.0 }
        };
        let bonuses = pairs.into_iter().map(bonus).collect();
        let tolerance = TOLERANCE * width.max(f64::MIN_POSITIVE);
        Ok(ConfidenceBonuses { least, most, tolerance, bonuses })
    }
}

impl ConfidenceBonuses {
    /// For each state an interval between the values of the two problems.
    pub(crate) fn intervals(&self, model: &Model, discount: f64) -> Result<Vec<(f64, f64)>> {
        let &Self { least, most, tolerance, ref bonuses } = self;
        let ends = [(-1.0, least), (1.0, most)].map(|(sign, value)| {
            let optimism = Optimism { value, min_visits: 0 };
            let settings = Settings { discount, optimism, ..Settings::default() };
            let mut planner = ReversedFullBackups::new(settings.accurate_to(tolerance))?;
            for (pair, &bonus) in pairs(model).zip(bonuses).filter(|(_, bonus)| **bonus > 0.0) {
                planner.set_bonus(model, pair, sign * bonus);
            }
            planner.grow(model);
            plan(&mut planner, model, Budget::UNTIL_IDLE);
            let end = |state| (planner.values().value(state) + sign * tolerance).clamp(least, most);
            let is_terminal = |state| model.n_actions(state) == 0;
            Ok(model.states().map(|s| if is_terminal(s) { 0.0 } else { end(s) }).collect::<Vec<f64>>())
        });
        let [lower, upper] = ends;
        Ok(lower?.into_iter().zip(upper?).collect())
    }
}

fn pairs(model: &Model) -> impl Iterator<Item = Pair> {
    model.states().flat_map(|state| model.pairs(state))
}
