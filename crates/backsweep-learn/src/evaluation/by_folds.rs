//! A value in a model, with an interval from how much each fold of the cases moves it.

use super::{Against, Estimate};
use crate::bootstrap::jackknife;
use crate::evaluated_policy::EvaluatedPolicy;
use crate::fitted_model::FittedModel;
use backsweep_log::Counts;

/// A value in a model with what each fold adds to it.
pub(super) struct ByFolds {
    pub estimate: Estimate,
    influences: Vec<f64>,
    /// The change of the sum over cases per deviation at each pair.
    pub weights: Vec<f64>,
    /// The value of each pair.
    pub q: Vec<f64>,
}

impl ByFolds {
    /// This value, and how much it is above another one in the same folds.
    pub fn against(&self, logged: &Self) -> Against {
        let gain = self.estimate.value - logged.estimate.value;
        let influences: Vec<f64> =
            self.influences.iter().zip(&logged.influences).map(|(a, b)| a - b).collect();
        Against { policy: self.estimate, gain: Estimate::around(gain, jackknife(&influences)) }
    }
}

/// Whose value is estimated.
#[derive(Clone, Copy)]
pub(super) enum Policy<'a> {
    /// A policy that is given, by the probability of each pair.
    Given(&'a [f64]),
    /// The logged one, which is itself estimated, so the actions taken in a state add to the uncertainty.
    Logged,
}

/// A policy's mean value over starts, with an interval from how much each fold moves it.
pub(super) fn by_folds(
    counts: &Counts,
    folds: u16,
    model: &FittedModel,
    policy: Policy,
    evaluated: &EvaluatedPolicy,
    discount: f64,
) -> ByFolds {
    let values = &evaluated.values;
    let value = model.mean_start(values);
    let visits = evaluated.visits(model, discount);
    let n_cases = model.n_cases as f64;
    let (mut weights, mut q) = (vec![0.0; model.n.len()], vec![0.0; model.n.len()]);
    for (state, visits) in visits.iter().enumerate() {
        for pair in model.pairs_of(state) {
            (weights[pair], q[pair]) = match policy {
                Policy::Given(policy) => {
                    (visits * policy[pair] / model.n[pair] as f64, model.pair_value(pair, discount, values))
                }
                Policy::Logged => (visits / model.visits(state) as f64, values[state]),
            };
            weights[pair] *= n_cases;
        }
    }
    let mut sums = [0.0; backsweep_log::FOLDS];
    let mut seen = [false; backsweep_log::FOLDS];
    for start in &counts.starts {
        sums[usize::from(start.fold)] += start.n as f64 * (values[start.state as usize] - value);
    }
    for row in counts.rows.iter().filter(|row| folds >> row.fold & 1 == 1) {
        seen[usize::from(row.fold)] = true;
        let Some(pair) = model.pair(row.state, row.action) else { continue };
        let next = row.next.map_or(0.0, |next| values[next as usize]);
        let surprise = counts.reward(row.reward_sum) + row.n as f64 * (discount * next - q[pair]);
        sums[usize::from(row.fold)] += weights[pair] * surprise;
    }
    let influences: Vec<f64> =
        (0..sums.len()).filter(|&fold| seen[fold]).map(|fold| sums[fold] / n_cases).collect();
    ByFolds { estimate: Estimate::around(value, jackknife(&influences)), influences, weights, q }
}
