//! Estimates of a policy from held-out cases that it did not make.
//!
//! With ρ = π(a|s) / b(a|s), b the logged policy of the training cases, and the values V and Q of the fitted model:
//!
//! - weighted importance sampling: Σ w G / Σ w over cases, w the product of a case's ρ and G its return;
//! - doubly robust (Jiang & Li 2016), backward over a case: D ← V(s) + ρ (r + γ D − Q(s, a)), and the mean of D over cases.
//!
//! For both, a case that was cut continues with the fitted value of the state in which it was cut.

use crate::history::{HistoryDependence, Targets};
use crate::learned::Fit;
use backsweep_log::decimal::Decimal;
use backsweep_log::{Case, CaseStep, Cohorts};

/// Whole cases, as `backsweep_log::read` keeps them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cases<'a> {
    /// The held-out cases, and others: these only show whether the gain changes with time.
    pub cases: &'a [Case],
    /// Rewards of their steps are in units of 10^-`decimals`.
    pub decimals: u8,
    /// The place in time of each case; empty if it is unknown.
    pub order: &'a [u32],
    /// The cohorts of the cases, if there are any.
    pub cohorts: Option<&'a Cohorts>,
}

/// Some cases that have at least one step.
pub(crate) struct SelectedCases<'a> {
    pub cases: Vec<&'a Case>,
    /// The place in time of each, if it is known.
    pub order: Vec<u32>,
    /// The cohort of each, if there are any.
    pub cohorts: Vec<u32>,
    decimals: u8,
}

impl<'a> SelectedCases<'a> {
    /// Those of some folds.
    pub fn new(cases: Cases<'a>, folds: u16) -> Self {
        let is_selected = |case: &&Case| folds >> case.fold & 1 == 1 && !case.steps.is_empty();
        let selected = |numbers: &[u32]| {
            let numbered = cases.cases.iter().zip(numbers).filter(|(case, _)| is_selected(case));
            numbered.map(|(_, &number)| number).collect()
        };
        Self {
            order: selected(cases.order),
            cohorts: cases.cohorts.map_or(Vec::new(), |cohorts| selected(&cohorts.of_cases)),
            cases: cases.cases.iter().filter(is_selected).collect(),
            decimals: cases.decimals,
        }
    }

    /// The discounted return of a case; one that was cut continues with the value of the state in which it was cut.
    pub fn case_return(&self, case: &Case, values: &[f64], discount: f64) -> f64 {
        let rest = case.cut_state().map_or(0.0, |state| values[state as usize]);
        case.steps.iter().rev().fold(rest, |after, step| self.reward(step) + discount * after)
    }

    pub fn reward(&self, step: &CaseStep) -> f64 {
        Decimal { mantissa: step.reward, decimals: self.decimals }.to_f64()
    }
}

/// The facts about each held-out case.
#[derive(Clone, Debug, Default)]
pub struct HeldOut {
    /// The discounted return as logged.
    pub returns: Vec<f64>,
    /// The discounted return, cut cases continued by the policy's value.
    pub policy_returns: Vec<f64>,
    /// The weight, up to a common factor.
    pub weights: Vec<f64>,
    /// The doubly robust value.
    pub doubly_robust: Vec<f64>,
    /// The correlation of the previous action with what follows, if that can be determined.
    pub history: Option<HistoryDependence>,
    /// For one decision per case, if it is long enough: the value that the fitted model gives the logged policy there, and the
    /// return that followed.
    pub predictions: Vec<(f64, f64)>,
}

impl HeldOut {
    pub(crate) fn new(selected: &SelectedCases, fit: &Fit, discount: f64) -> Self {
        let mut found = Self::default();
        let cases = &selected.cases;
        let mut log_weights = Vec::with_capacity(cases.len());
        let mut targets = Targets::default();
        let usual_length = ((fit.model.n_steps() / fit.model.n_cases.max(1)) as usize).max(1);
        for (i, case) in cases.iter().enumerate() {
            let rewards: Vec<f64> = case.steps.iter().map(|step| selected.reward(step)).collect();
            let n = case.steps.len();
            let (logged, policy) = (&fit.logged.evaluated.values, &fit.supported.evaluated.values);
            let value =
                |state: Option<u32>, values: &[f64]| state.map_or(0.0, |state| values[state as usize]);
            let (mut g, mut g_policy) = (value(case.cut_state(), logged), value(case.cut_state(), policy));
            let (mut robust, mut log_weight) = (g_policy, 0.0);
            // Which decision is used must not depend on how the case continues.
            let decision = i % usual_length;
            for t in (0..n).rev() {
                let (state, reward) = (case.steps[t].state as usize, rewards[t]);
                let (rho, q) = ratio(fit, &case.steps[t]);
                robust = policy[state] + rho * (reward + discount * robust - q);
                log_weight += rho.ln();
                g = reward + discount * g;
                g_policy = reward + discount * g_policy;
                if t > 0 {
                    let pair = |t: usize| (case.steps[t].state, case.steps[t].action);
                    let target = reward + discount * value(case.next_state(t), logged);
                    targets.add(pair(t), pair(t - 1), target);
                    let usual = fit.model.pairs_of(state).max_by_key(|&pair| fit.model.n[pair]);
                    if let Some(usual) = usual {
                        let is_usual = fit.model.actions[usual] == case.steps[t].action;
                        targets.add_decision(case.steps[t].state, pair(t - 1), is_usual);
                    }
                }
                if t == decision {
                    found.predictions.push((logged[state], g));
                }
            }
            found.returns.push(g);
            found.policy_returns.push(g_policy);
            found.doubly_robust.push(robust);
            log_weights.push(log_weight);
        }
        // Only ratios of weights count; the largest is 1, so that no product overflows.
        let largest = log_weights.iter().fold(f64::NEG_INFINITY, |most, &w| most.max(w));
        let weight = |w: &f64| if largest == f64::NEG_INFINITY { 0.0 } else { (w - largest).exp() };
        found.history = targets.dependence();
        found.weights = log_weights.iter().map(weight).collect();
        found
    }

    /// The number of equally weighted cases that the weights amount to: (Σ w)² / Σ w².
    pub fn effective_sample_size(&self) -> f64 {
        let (sum, squares) =
            self.weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        if squares > 0.0 { sum * sum / squares } else { 0.0 }
    }
}

/// The probability with which the logged action was taken, if the log says.
pub(crate) fn propensity(step: &CaseStep) -> Option<f64> {
    (step.propensity > 0).then(|| f64::from(step.propensity) / 1e9)
}

/// ρ of a step, and the fitted value of its pair. A state that training has not seen keeps its logged actions.
fn ratio(fit: &Fit, step: &CaseStep) -> (f64, f64) {
    if fit.model.pairs_of(step.state as usize).is_empty() {
        return (1.0, fit.logged.unseen);
    }
    let Some(pair) = fit.model.pair(step.state, step.action) else { return (0.0, 0.0) };
    let logged = propensity(step).unwrap_or(fit.logged.probabilities[pair]);
    (fit.supported.probabilities[pair] / logged, fit.q[pair])
}
