//! What the numbers say, in words. No finding promises anything: a log cannot show what it does not contain.

use crate::evaluation::PolicyEvaluation;
use crate::history::HistoryDependence;

/// The fewest effective held-out cases for which an estimate by importance sampling means anything.
pub const MIN_EFFECTIVE_CASES: f64 = 30.0;
/// The smallest share of the policy's trajectories that held-out cases must cover.
pub const MIN_REACHED: f64 = 0.5;
/// If the previous step correlates with what follows by more than this, beyond [`MEMORY_ERRORS`] standard errors, states lack
/// something.
pub const MEMORY: f64 = 0.1;
/// See [`MEMORY`].
pub const MEMORY_ERRORS: f64 = 5.0;

/// What the held-out data says about the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyFinding {
    /// Nothing was held out, or only counts are known.
    NotTested,
    /// Too few held-out cases followed the policy.
    TooLittleData,
    /// The estimates contradict each other, or states lack something that matters.
    Contradicted,
    /// Held-out cases show no difference from what was logged.
    NoDifference,
    /// Held-out cases speak against the policy.
    Worse,
    /// Held-out cases speak for the policy, as far as a log can tell.
    Better,
}

impl PolicyFinding {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotTested => "not tested on whole cases",
            Self::TooLittleData => "too little data to say",
            Self::Contradicted => "the log contradicts the model",
            Self::NoDifference => "no visible difference",
            Self::Worse => "held-out cases speak against it",
            Self::Better => "held-out cases speak for it",
        }
    }
}

/// A finding and its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// The finding.
    pub finding: PolicyFinding,
    /// One sentence per reason, the most important first.
    pub reasons: Vec<String>,
}

/// What is true of every policy learned from a log.
pub const CAVEAT: &str = "Whoever made the logged decisions may have seen something that is not in the state. No number here can show \
     that, however narrow its interval: try the policy with people watching before relying on it.";

pub(crate) fn judge(evaluation: &PolicyEvaluation) -> Conclusion {
    let mut reasons = Vec::new();
    let finding = find(evaluation, &mut reasons);
    if evaluation.supported < 0.5 {
        reasons.push(format!(
            "Only {} of the visits are to states with a supported action; everywhere else the policy is what was logged.",
            percent(evaluation.supported)
        ));
    }
    Conclusion { finding, reasons }
}

fn find(evaluation: &PolicyEvaluation, reasons: &mut Vec<String>) -> PolicyFinding {
    let (Some(importance), Some(robust), Some(model)) =
        (evaluation.importance, evaluation.doubly_robust, evaluation.held_out)
    else {
        reasons.push(match (evaluation.n_cases, evaluation.doubly_robust) {
            ([0, _], _) => {
                "The log has no cases, only single transitions: nothing can be held out, and values are means over all steps.".to_owned()
            }
            ([_, 0], _) => "No cases were held out, so nothing tests the policy.".to_owned(),
            (_, None) => "Importance sampling and doubly robust estimates need whole cases, and only counts are known; the \
                          values in fitted models assume that states contain all that matters."
                .to_owned(),
            (_, Some(_)) => "No held-out case followed the policy.".to_owned(),
        });
        return if evaluation.doubly_robust.is_some() {
            PolicyFinding::TooLittleData
        } else {
            PolicyFinding::NotTested
        };
    };
    if let Some(HistoryDependence { correlation, errors }) = evaluation.history
        && correlation > MEMORY
        && errors > MEMORY_ERRORS
    {
        reasons.push(format!(
            "The previous step predicts what is done in a state, or what follows it (a correlation of {correlation:.2}, {errors:.0} standard \
             errors beyond chance): the states lack something that matters, and values in the fitted models cannot be trusted."
        ));
        return PolicyFinding::Contradicted;
    }
    let effective = evaluation.effective_cases;
    if effective < MIN_EFFECTIVE_CASES {
        reasons.push(format!(
            "The {} held-out cases amount to {effective:.1} cases that follow the policy; fewer than {MIN_EFFECTIVE_CASES} say nothing.",
            evaluation.n_cases[1]
        ));
        return PolicyFinding::TooLittleData;
    }
    if evaluation.reached < MIN_REACHED {
        reasons.push(format!(
            "Held-out cases cover at most {} of the policy's trajectories (the mean weight, which should be 1); nothing is known about the others.",
            percent(evaluation.reached)
        ));
        return PolicyFinding::TooLittleData;
    }
    if importance.policy.low > model.policy.high || importance.policy.high < model.policy.low {
        reasons.push(
            "The intervals of the value in the model of held-out cases and of the one by importance sampling do not overlap: states lack something \
             that matters."
                .to_owned(),
        );
        return PolicyFinding::Contradicted;
    }
    let gains = [importance.gain, robust.gain, model.gain];
    if gains.iter().any(|gain| gain.high < 0.0) {
        reasons.push(
            "For at least one estimate on held-out cases, the whole interval of the gain is below 0."
                .to_owned(),
        );
        return PolicyFinding::Worse;
    }
    if gains.iter().all(|gain| gain.low > 0.0) {
        reasons.push(
            "For all three estimates on held-out cases, the whole interval of the gain is above 0."
                .to_owned(),
        );
        return PolicyFinding::Better;
    }
    reasons.push("The intervals of the gain on held-out cases include 0.".to_owned());
    PolicyFinding::NoDifference
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
