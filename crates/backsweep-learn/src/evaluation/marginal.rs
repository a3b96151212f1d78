//! The gain by marginal weights: doubly robust, and as precise as the model allows (Kallus & Uehara 2020).
//!
//! With w(s, a) = d(s) π(a|s) / n(s, a), the policy's discounted visits to a pair in the model of the training cases over the
//! steps per training case that took it, a held-out case scores
//!
//! > V(s₀) + Σ w(sₜ, aₜ) (rₜ + γ V(sₜ₊₁) − Q(sₜ, aₜ)).
//!
//! The mean score is the policy's value if w or Q is right, and its error is of second order if both are nearly so. Weights
//! of single steps do not multiply along a case, so that long cases keep their information; that needs states that hold all
//! that matters, which [`history`](crate::history) checks. Nothing here is fitted to the held-out cases, so the scores are
//! independent and their mean has Student's interval.

use super::cohorts::{CohortGain, cohorts};
use super::drift::{Drift, drift};
use super::{Against, Estimate};
use crate::bootstrap::mean_interval;
use crate::learned::Fit;
use crate::off_policy::{SelectedCases, propensity};
use backsweep_log::Case;
use serde::Serialize;
use std::collections::BTreeMap;

/// The largest factor that [`Sensitivity`] looks for.
const MAX_FACTOR: f64 = 100.0;
/// A pair with fewer held-out steps borrows the spread of all of them.
const MIN_RESIDUALS: usize = 10;

/// Held-out cases, scored.
pub(super) struct Scores {
    /// The score of each case.
    policy: Vec<f64>,
    /// That minus what the case returned.
    gains: Vec<f64>,
    /// Σ w per case, over the policy's discounted visits: 1 on average if held-out cases go where the policy would.
    weights: Vec<f64>,
    /// The targets that followed each pair, minus Q.
    residuals: BTreeMap<usize, Vec<f64>>,
}

impl Scores {
    pub fn new(cases: &SelectedCases<'_>, fit: &Fit, returns: &[f64], discount: f64) -> Self {
        let mut scores =
            Self { policy: Vec::new(), gains: Vec::new(), weights: Vec::new(), residuals: BTreeMap::new() };
        let weights = Weights::new(fit, discount);
        for (case, logged) in cases.cases.iter().zip(returns) {
            let mut follow = |pair: usize, residual| scores.residuals.entry(pair).or_default().push(residual);
            let (score, weight) = weights.score(cases, case, fit, discount, &mut follow);
            scores.policy.push(score);
            scores.gains.push(score - logged);
            scores.weights.push(weight / weights.n_visits);
        }
        scores
    }

    /// The policy's value and its gain.
    pub fn estimate(&self) -> Against {
        Against { policy: mean_interval(&self.policy), gain: mean_interval(&self.gains) }
    }

    /// Compares the gain over time, in all cases that are known.
    pub fn drift(all: &SelectedCases<'_>, fit: &Fit, discount: f64) -> Option<Drift> {
        let weights = Weights::new(fit, discount);
        let logged = &fit.logged.evaluated.values;
        let gain = |case: &&Case| {
            weights.score(all, case, fit, discount, &mut |_, _| ()).0
                - all.case_return(case, logged, discount)
        };
        let gains: Vec<f64> = all.cases.iter().map(gain).collect();
        drift(&gains, &all.order)
    }

    /// An upper bound on the share of the policy's visits that held-out cases carry.
    pub fn reached(&self) -> f64 {
        mean_interval(&self.weights).high.clamp(0.0, 1.0)
    }

    /// The gain of each cohort.
    pub fn by_cohort(&self, of_cases: &[u32], names: &[String]) -> Vec<CohortGain> {
        cohorts(&self.gains, of_cases, names)
    }

    /// The weights of cases, lowest first.
    pub fn sorted_weights(&self) -> Vec<f64> {
        let mut weights = self.weights.clone();
        weights.sort_by(f64::total_cmp);
        weights
    }

    /// The strength that a hidden factor would need to undo the gain.
    pub fn sensitivity(self, fit: &Fit, gain: Estimate, discount: f64) -> Sensitivity {
        let visits = fit.supported.evaluated.visits(&fit.model, discount);
        let mut pooled: Vec<f64> = Vec::new();
        let mut spreads: BTreeMap<usize, Spread> = BTreeMap::new();
        for (pair, mut residuals) in self.residuals {
            let mean = residuals.iter().sum::<f64>() / residuals.len() as f64;
            residuals.iter_mut().for_each(|x| *x -= mean);
            pooled.extend_from_slice(&residuals);
            if residuals.len() >= MIN_RESIDUALS {
                spreads.insert(pair, Spread::new(residuals));
            }
        }
        let pooled = Spread::new(pooled);
        // Per pair that the policy takes: how often, times the share of decisions that a hidden factor may have diverted.
        let mut taken = Vec::new();
        for (state, visits) in visits.iter().enumerate() {
            for pair in fit.model.pairs_of(state) {
                let (logged, policy) = (fit.logged.probabilities[pair], fit.supported.probabilities[pair]);
                // Decisions that stay as they were logged are worth what they were worth.
                let moved = visits * (policy - logged).max(0.0);
                if moved > 0.0 {
                    taken.push((moved, spreads.get(&pair).unwrap_or(&pooled)));
                }
            }
        }
        let loss = |factor: f64| {
            let losses =
                taken.iter().map(|(weight, spread)| weight * spread.lower_tail(1.0 / (factor + 1.0)));
            (1.0 - 1.0 / factor) * losses.sum::<f64>()
        };
        let undone = |gain: f64| (gain > 0.0).then(|| first_above(&loss, gain));
        Sensitivity { finding: undone(gain.low), gain: undone(gain.value) }
    }
}

/// The weight of each pair.
struct Weights {
    of_pairs: Vec<f64>,
    /// The policy's discounted visits, in all.
    n_visits: f64,
}

impl Weights {
    fn new(fit: &Fit, discount: f64) -> Self {
        let visits = fit.supported.evaluated.visits(&fit.model, discount);
        let mut of_pairs = vec![0.0; fit.model.n.len()];
        for (state, visits) in visits.iter().enumerate() {
            for pair in fit.model.pairs_of(state) {
                let per_case = fit.model.n[pair] as f64 / fit.model.n_cases as f64;
                of_pairs[pair] = visits * fit.supported.probabilities[pair] / per_case;
            }
        }
        Self { of_pairs, n_visits: visits.iter().sum() }
    }

    /// The score of a case and the sum of its weights; `follow` learns what followed each pair, minus Q.
    fn score(
        &self,
        cases: &SelectedCases<'_>,
        case: &Case,
        fit: &Fit,
        discount: f64,
        follow: &mut dyn FnMut(usize, f64),
    ) -> (f64, f64) {
        let values = &fit.supported.evaluated.values;
        let (mut score, mut sum, mut weight) = (values[case.steps[0].state as usize], 0.0, 1.0);
        for (t, step) in case.steps.iter().enumerate() {
            let state = step.state as usize;
            let next = case.next_state(t).map_or(0.0, |next| values[next as usize]);
            let target = cases.reward(step) + discount * next;
            let q;
            // A state that training has not seen is as likely as the pair before it, and keeps its logged actions.
            (weight, q) = match fit.model.pair(step.state, step.action) {
                Some(pair) => {
                    follow(pair, target - fit.q[pair]);
                    // Known probabilities take the place of the shares in the training cases.
                    let known = propensity(step).map_or(1.0, |p| fit.logged.probabilities[pair] / p);
                    (self.of_pairs[pair] * known, fit.q[pair])
                }
                None if fit.model.pairs_of(state).is_empty() => (weight, values[state]),
                None => (0.0, 0.0),
            };
            score += weight * (target - q);
            sum += weight;
        }
        (score, sum)
    }
}

/// The smallest factor whose loss reaches a gain; infinite beyond [`MAX_FACTOR`].
fn first_above(loss: &impl Fn(f64) -> f64, gain: f64) -> f64 {
    if loss(MAX_FACTOR) < gain {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (1.0, MAX_FACTOR);
    while high - low > 1e-3 {
        let middle = (low + high) / 2.0;
        *(if loss(middle) < gain { &mut low } else { &mut high }) = middle;
    }
    high
}

/// Residuals with mean 0, lowest first, with their running sums.
struct Spread {
    sorted: Vec<f64>,
    sums: Vec<f64>,
}

impl Spread {
    fn new(mut sorted: Vec<f64>) -> Self {
        sorted.sort_by(f64::total_cmp);
        let mut sum = 0.0;
        let sums = std::iter::once(0.0).chain(sorted.iter().map(|x| {
            sum += x;
            sum
        }));
        Self { sums: sums.collect(), sorted }
    }

    /// The distance of the mean of the lowest share below 0.
    fn lower_tail(&self, share: f64) -> f64 {
        let place = share * self.sorted.len() as f64;
        let whole = place as usize;
        let rest = self.sorted.get(whole).map_or(0.0, |x| place.fract() * x);
        if place > 0.0 { -(self.sums[whole] + rest) / place } else { 0.0 }
    }
}

/// The strength that a hidden factor would need to undo a gain: the factor by which it changes the odds of the logged decisions
/// (the marginal sensitivity model, Tan 2006), infinite beyond 100. Values of later states are held fixed, so that it is an
/// approximation in cases of several steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// To move the lower end of the gain to 0; `None` if it is not above 0.
    #[serde(rename = "undoes_finding")]
    pub finding: Option<f64>,
    /// To move the gain itself to 0.
    #[serde(rename = "undoes_gain")]
    pub gain: Option<f64>,
}
