//! What held-out cases say about a policy that did not make them.
//!
//! With ρ = π(a|s) / b(a|s), b the logged policy of the training cases, and the values V and Q of the fitted model:
//!
//! - weighted importance sampling: Σ w G / Σ w over cases, w the product of a case's ρ and G its return;
//! - doubly robust (Jiang & Li 2016), backward over a case: D ← V(s) + ρ (r + γ D − Q(s, a)), and the mean of D over cases.
//!
//! A case that was cut goes on, for both, with the fitted value of the state in which it was cut.

use crate::chain::Logged;
use crate::learned::Fit;
use crate::table::Table;
use backsweep_log::{Case, Counts, End};

/// What is known of each held-out case.
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
    /// The sum over a case of the products of successive surprises, and of their squares.
    pub surprises: Vec<[f64; 2]>,
    /// Of one decision per case: the value that the fitted model gives the logged policy there, and the return that followed.
    pub predictions: Vec<(f64, f64)>,
}

/// A state's surprise under the logged policy: r + γ V(s') − V(s). In a state that holds all that matters, surprises cannot be
/// foretold, so successive ones are not correlated.
fn surprises(
    case: &Case,
    next: impl Fn(usize) -> f64,
    rewards: &[f64],
    values: &[f64],
    discount: f64,
) -> [f64; 2] {
    let surprise = |t: usize| rewards[t] + discount * next(t) - values[case.steps[t].state as usize];
    let mut sums = [0.0; 2];
    let mut before = None;
    for t in 0..case.steps.len() {
        let now = surprise(t);
        if let Some(before) = before {
            sums[0] += before * now;
            sums[1] += (before * before + now * now) / 2.0;
        }
        before = Some(now);
    }
    sums
}

impl HeldOut {
    pub(crate) fn new(counts: &Counts, cases: &[&Case], fit: &Fit, discount: f64) -> Self {
        let mut found = Self::default();
        let mut log_weights = Vec::with_capacity(cases.len());
        for (i, case) in cases.iter().enumerate() {
            let rewards: Vec<f64> = case.steps.iter().map(|step| counts.reward(step.reward)).collect();
            let n = case.steps.len();
            let rest = |values: &[f64]| match case.end {
                End::Terminated => 0.0,
                End::Truncated(state) => values[state as usize],
            };
            let next = |values: &[f64], t: usize| match case.steps.get(t + 1) {
                Some(step) => values[step.state as usize],
                None => rest(values),
            };
            let (mut g, mut g_policy) = (rest(&fit.logged.chain.values), rest(&fit.plan.chain.values));
            let (mut robust, mut log_weight) = (g_policy, 0.0);
            let decision = i % n.max(1);
            for t in (0..n).rev() {
                let (state, reward) = (case.steps[t].state as usize, rewards[t]);
                let (rho, q) =
                    ratio(&fit.table, &fit.logged, &fit.plan.policy, &fit.q, case, t, fit.logged.unseen);
                robust = fit.plan.chain.values[state] + rho * (reward + discount * robust - q);
                log_weight += rho.ln();
                g = reward + discount * g;
                g_policy = reward + discount * g_policy;
                if t == decision {
                    found.predictions.push((fit.logged.chain.values[state], g));
                }
            }
            let logged = &fit.logged.chain.values;
            found.surprises.push(surprises(case, |t| next(logged, t), &rewards, logged, discount));
            found.returns.push(g);
            found.policy_returns.push(g_policy);
            found.doubly_robust.push(robust);
            log_weights.push(log_weight);
        }
        // Only ratios of weights count; the largest is 1, so that no product overflows.
        let largest = log_weights.iter().fold(f64::NEG_INFINITY, |most, &w| most.max(w));
        let weight = |w: &f64| if largest == f64::NEG_INFINITY { 0.0 } else { (w - largest).exp() };
        found.weights = log_weights.iter().map(weight).collect();
        found
    }

    /// How many cases the weights are worth: (Σ w)² / Σ w².
    pub fn effective_sample_size(&self) -> f64 {
        let (sum, squares) =
            self.weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        if squares > 0.0 { sum * sum / squares } else { 0.0 }
    }

    /// The correlation of successive surprises and how many standard errors it is away from 0.
    pub fn memory(&self) -> Option<(f64, f64)> {
        let (products, scale, squares) =
            self.surprises.iter().fold((0.0, 0.0, 0.0), |(p, s, q), [product, square]| {
                (p + product, s + square, q + product * product)
            });
        (scale > 0.0 && squares > 0.0).then(|| (products / scale, products / squares.sqrt()))
    }
}

/// ρ of a step, and the fitted value of its pair. A state that training has not seen keeps its logged actions.
fn ratio(
    table: &Table,
    logged: &Logged,
    policy: &[f64],
    q: &[f64],
    case: &Case,
    t: usize,
    unseen: f64,
) -> (f64, f64) {
    let step = case.steps[t];
    if table.pairs_of(step.state as usize).is_empty() {
        return (1.0, unseen);
    }
    match table.pair(step.state, step.action) {
        Some(pair) => (policy[pair] / logged.policy[pair], q[pair]),
        None => (0.0, 0.0),
    }
}
