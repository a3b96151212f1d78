//! The entry point: counts in, a policy and what is known about it out.

use crate::conclusion::{self, Conclusion};
use crate::error::{Error, Result};
use crate::evaluated_policy::Logged;
use crate::evaluation::PolicyEvaluation;
use crate::fitted_model::FittedModel;
use crate::off_policy::Cases;
use crate::settings::LearnSettings;
use crate::states::{self, StateComparison};
use crate::supported_policy::SupportedPolicy;
use backsweep_log::Counts;

/// Everything that was fitted to the training cases.
pub struct Fit {
    /// The counts of the training cases.
    pub model: FittedModel,
    /// The logged policy and its values.
    pub logged: Logged,
    /// The learned policy and its values.
    pub supported: SupportedPolicy,
    /// The value of each pair if the learned policy follows.
    pub q: Vec<f64>,
}

/// A policy learned from a log, and what it is worth.
pub struct Learned {
    /// The settings it was learned with.
    pub settings: LearnSettings,
    /// The fitted model and policies.
    pub fit: Fit,
    /// Its estimated worth.
    pub evaluation: PolicyEvaluation,
    /// The same in words.
    pub conclusion: Conclusion,
    /// One row per state that was ever left, the largest contribution to the gain first.
    pub states: Vec<StateComparison>,
}

/// Learns a policy from counts and evaluates it on held-out folds; `cases` are the held-out cases in full, and others if they are known; none if
/// only counts are.
///
/// # Errors
/// If a setting is out of range, the counts are inconsistent, there is nothing to learn from, or values are not defined because a
/// policy never ends in its own model without discount.
pub fn learn(
    counts: &Counts,
    cases: Cases,
    settings: &LearnSettings,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Learned> {
    settings.check()?;
    let model = FittedModel::new(counts, !settings.hold_out)?;
    if model.n.is_empty() {
        return Err(Error::NoSteps);
    }
    let logged = Logged::new(&model, settings, &counts.states, stop)?;
    let supported = SupportedPolicy::new(&model, &logged, settings, &counts.states, stop)?;
    let value = |pair: usize| model.pair_value(pair, settings.discount, &supported.evaluated.values);
    let q = (0..model.n.len()).map(value).collect();
    let fit = Fit { model, logged, supported, q };
    let known = |state: u32| (state as usize) < counts.states.len();
    for case in cases.cases {
        if !case.steps.iter().map(|step| step.state).chain(case.cut_state()).all(known) {
            return Err(Error::ForeignCase);
        }
    }
    let evaluation = PolicyEvaluation::new(counts, cases, &fit, settings, stop)?;
    let conclusion = conclusion::judge(&evaluation, settings.unit.as_deref());
    let states = states::rows(counts, &fit, settings.discount);
    Ok(Learned { settings: settings.clone(), fit, evaluation, conclusion, states })
}
