//! The worth of a policy: every estimate with its interval.

mod by_folds;
mod calibration;
mod cohorts;
mod drift;
mod estimate;
mod held_out_model;
mod marginal;

pub use calibration::Calibration;
pub use cohorts::CohortGain;
pub use drift::Drift;
pub use estimate::{Against, Estimate};
pub(crate) use estimate::{decimals, figure};
pub use marginal::Sensitivity;

use crate::bootstrap::{CaseSums, intervals, total};
use crate::conclusion::MIN_EFFECTIVE_CASES;
use crate::error::Result;
use crate::evaluated_policy::{EvaluatedPolicy, Logged};
use crate::fitted_model::FittedModel;
use crate::history::HistoryDependence;
use crate::learned::Fit;
use crate::off_policy::{Cases, HeldOut, SelectedCases};
use crate::settings::LearnSettings;
use backsweep_log::Counts;
use by_folds::{Policy, by_folds};
use calibration::calibration;
use held_out_model::HeldOutModel;
use marginal::Scores;

/// All estimates of the worth of a policy.
#[derive(Clone, Debug, Default)]
pub struct PolicyEvaluation {
    /// Cases to learn from, and held out.
    pub n_cases: [i64; 2],
    /// Steps to learn from, and held out.
    pub n_steps: [i64; 2],
    /// The logged policy in the model fitted to the training cases.
    pub logged_training: Estimate,
    /// The logged policy on held-out data: the mean return of whole cases or, from counts alone, in the model fitted to them.
    pub logged: Option<Estimate>,
    /// The policy in the model it was optimised on, and therefore too high.
    pub training: Estimate,
    /// The policy in the model of held-out data.
    pub held_out: Option<Against>,
    /// The share of the policy's decisions for which held-out data has a row; the others use the training row.
    pub covered: f64,
    /// By weighted importance sampling; only from whole cases.
    pub importance: Option<Against>,
    /// Doubly robust; only from whole cases.
    pub doubly_robust: Option<Against>,
    /// The number of equally weighted cases that the weights of importance sampling amount to.
    pub effective_cases: f64,
    /// Doubly robust by marginal weights, the estimate that the finding rests on; only from whole cases.
    pub marginal: Option<Against>,
    /// The strength that a hidden factor would need to undo that gain.
    pub sensitivity: Option<Sensitivity>,
    /// That gain per cohort, the largest cohort first.
    pub cohorts: Vec<CohortGain>,
    /// The weight of each held-out case, lowest first: its share of the policy's visits, 1 on average if held-out cases go
    /// where the policy would.
    pub weights: Vec<f64>,
    /// The expected steps per case in the model of the training cases, as logged and under the policy; `None` where some cases
    /// never end.
    pub steps_per_case: [Option<f64>; 2],
    /// That gain over time, if it is known when cases began.
    pub drift: Option<Drift>,
    /// The standard deviation of the returns of held-out cases.
    pub spread: f64,
    /// An upper bound on the share of the policy's visits that held-out cases carry: the upper end of the mean marginal weight,
    /// which is 1 if they carry all.
    pub reached: f64,
    /// The share of visits to states with a supported action.
    pub supported: f64,
    /// The share of logged decisions that the policy would change.
    pub changed: f64,
    /// The correlation of the previous step with what is done or follows; only from whole cases.
    pub history: Option<HistoryDependence>,
    /// Predictions against what followed, lowest first; only from whole cases.
    pub calibration: Vec<Calibration>,
}

impl PolicyEvaluation {
    pub(crate) fn new(
        counts: &Counts,
        all: Cases<'_>,
        fit: &Fit,
        settings: &LearnSettings,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let cases = &SelectedCases::new(all, settings.hold_out);
        let Fit { model, logged, supported, .. } = fit;
        let discount = settings.discount;
        let train = !settings.hold_out;
        let by_training = |policy: Policy, evaluated: &EvaluatedPolicy| {
            by_folds(counts, train, model, policy, evaluated, discount).estimate
        };
        let steps = model.n_steps() as f64;
        let in_supported = |state: &usize| supported.chosen[*state].is_some();
        let n_supported: i64 =
            (0..model.n_states()).filter(in_supported).map(|state| model.visits(state)).sum();
        let moved = |pair: usize| {
            model.n[pair] as f64 * (1.0 - supported.probabilities[pair] / logged.probabilities[pair]).max(0.0)
        };
        let mut evaluation = Self {
            n_cases: [if counts.starts.is_empty() { 0 } else { model.n_cases }, 0],
            n_steps: [model.n_steps(), 0],
            logged_training: by_training(Policy::Logged, &logged.evaluated),
            training: by_training(Policy::Given(&supported.probabilities), &supported.evaluated),
            steps_per_case: [logged.evaluated.steps(model), supported.evaluated.steps(model)],
            supported: n_supported as f64 / steps,
            changed: (0..model.n.len()).map(moved).sum::<f64>() / steps,
            ..Self::default()
        };
        let other = FittedModel::new(counts, settings.hold_out)?;
        if other.n_cases == 0 || counts.starts.is_empty() {
            return Ok(evaluation);
        }
        evaluation.n_cases[1] = other.n_cases;
        evaluation.n_steps[1] = other.n_steps();
        let held_out = HeldOutModel::new(&other, fit, settings, &counts.states, stop)?;
        let by_fold = by_folds(
            counts,
            settings.hold_out,
            &other,
            Policy::Given(&held_out.policy),
            &held_out.evaluated,
            discount,
        );
        evaluation.covered = held_out.covered;
        if cases.cases.is_empty() {
            // Without discount, the few held-out folds may contain cases that never end; then they cannot be compared.
            let Ok(logged) = Logged::new(&other, settings, &counts.states, stop) else {
                return Ok(evaluation);
            };
            let by_fold_logged =
                by_folds(counts, settings.hold_out, &other, Policy::Logged, &logged.evaluated, discount);
            evaluation.logged = Some(by_fold_logged.estimate);
            evaluation.held_out = Some(by_fold.against(&by_fold_logged));
            return Ok(evaluation);
        }
        let found = HeldOut::new(cases, fit, discount);
        let influences = held_out.influences(cases, &other, &by_fold, discount);
        let resampled = Resampled::new(&found, &influences, by_fold.estimate.value);
        evaluation.logged = Some(resampled.logged);
        evaluation.held_out = Some(resampled.model);
        evaluation.effective_cases = found.effective_sample_size();
        let is_enough = evaluation.effective_cases >= MIN_EFFECTIVE_CASES;
        let stated = |found: Against| if is_enough { found } else { found.without_interval() };
        evaluation.importance = (evaluation.effective_cases > 0.0).then(|| stated(resampled.importance));
        evaluation.doubly_robust = Some(stated(resampled.doubly_robust));
        let scores = Scores::new(cases, fit, &found.returns, discount);
        let marginal = scores.estimate();
        evaluation.reached = scores.reached();
        evaluation.spread = deviation(&found.returns);
        evaluation.drift = Scores::drift(&SelectedCases::new(all, u16::MAX), fit, discount);
        evaluation.weights = scores.sorted_weights();
        let names = all.cohorts.map_or(&[][..], |cohorts| &cohorts.names);
        evaluation.cohorts = scores.by_cohort(&cases.cohorts, names);
        evaluation.sensitivity = Some(scores.sensitivity(fit, marginal.gain, discount));
        evaluation.marginal = Some(marginal);
        evaluation.history = found.history;
        evaluation.calibration = calibration(found.predictions);
        Ok(evaluation)
    }
}

fn deviation(numbers: &[f64]) -> f64 {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt()
}

/// All estimates on the same resampled cases.
struct Resampled {
    logged: Estimate,
    importance: Against,
    doubly_robust: Against,
    model: Against,
}

impl Resampled {
    fn new(found: &HeldOut, influences: &[f64], in_model: f64) -> Self {
        let sums: Vec<CaseSums<6>> = (0..found.returns.len())
            .map(|i| {
                let w = found.weights[i];
                [1.0, found.returns[i], w, w * found.policy_returns[i], found.doubly_robust[i], influences[i]]
            })
            .collect();
        let statistics = |[n, returns, weight, weighted, robust, influence]: &CaseSums<6>| {
            let (logged, importance) = (returns / n, weighted / weight);
            let (robust, model) = (robust / n, in_model + influence / n);
            [logged, importance, importance - logged, robust, robust - logged, model, model - logged]
        };
        let (values, ends) = (statistics(&total(&sums)), intervals(&sums, statistics));
        let estimate = |i: usize| Estimate { value: values[i], low: ends[i].0, high: ends[i].1 };
        let against = |i: usize| Against { policy: estimate(i), gain: estimate(i + 1) };
        Self { logged: estimate(0), importance: against(1), doubly_robust: against(3), model: against(5) }
    }
}
