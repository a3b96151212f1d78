//! What the numbers say, in words. No word promises anything: a log cannot show what it does not hold.

use crate::evaluation::Evaluation;
use crate::memory::Memory;

/// Held-out cases that weights must be worth before an estimate by importance sampling says anything.
pub const MIN_EFFECTIVE_CASES: f64 = 30.0;
/// The share of the policy's ways through a case that held-out cases must have gone at least.
pub const MIN_REACHED: f64 = 0.5;
/// If the step before correlates with what follows by more than this, beyond [`MEMORY_ERRORS`] standard errors, states miss something.
pub const MEMORY: f64 = 0.1;
/// See [`MEMORY`].
pub const MEMORY_ERRORS: f64 = 5.0;

/// What the held-out data says about the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nothing was held out, or only counts are known.
    NotTested,
    /// Too few held-out cases went the way of the policy.
    TooLittleData,
    /// The estimates contradict each other, or states miss something that matters.
    Contradicted,
    /// Held-out cases show no difference to what was logged.
    NoDifference,
    /// Held-out cases speak against the policy.
    Worse,
    /// Held-out cases speak for the policy, as far as a log can tell.
    Better,
}

impl Finding {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotTested => "not tested on whole cases",
            Self::TooLittleData => "too little data to say",
            Self::Contradicted => "the log contradicts the model",
            Self::NoDifference => "no difference to see",
            Self::Worse => "held-out cases speak against it",
            Self::Better => "held-out cases speak for it",
        }
    }
}

/// A finding and its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The finding.
    pub finding: Finding,
    /// One sentence per reason, the most important first.
    pub reasons: Vec<String>,
}

/// What is true of every policy learned from a log.
pub const CAVEAT: &str = "Whoever made the logged decisions may have seen something that is not in the state. No number here can show \
     that, however narrow its interval: try the policy with people watching before relying on it.";

pub(crate) fn judge(evaluation: &Evaluation) -> Verdict {
    let mut reasons = Vec::new();
    let finding = find(evaluation, &mut reasons);
    if evaluation.supported < 0.5 {
        reasons.push(format!(
            "Only {} of the visits are to states with a supported action; everywhere else the policy is what was logged.",
            percent(evaluation.supported)
        ));
    }
    Verdict { finding, reasons }
}

fn find(evaluation: &Evaluation, reasons: &mut Vec<String>) -> Finding {
    let (Some(importance), Some(robust), Some(model)) =
        (evaluation.importance, evaluation.doubly_robust, evaluation.held_out)
    else {
        reasons.push(match (evaluation.n_cases, evaluation.doubly_robust) {
            ([0, _], _) => {
                "The log has no cases, only single transitions: nothing can be held out, and values are means over all steps.".to_owned()
            }
            ([_, 0], _) => "No cases were held out, so nothing tests the policy.".to_owned(),
            (_, None) => "Importance sampling and doubly robust estimates need whole cases, and only counts are known; the \
                          values in fitted models trust that states hold all that matters."
                .to_owned(),
            (_, Some(_)) => "No held-out case went the way of the policy.".to_owned(),
        });
        return if evaluation.doubly_robust.is_some() { Finding::TooLittleData } else { Finding::NotTested };
    };
    if let Some(Memory { correlation, errors }) = evaluation.memory
        && correlation > MEMORY
        && errors > MEMORY_ERRORS
    {
        reasons.push(format!(
            "What came before a step foretells what is done in a state, or what follows it (a correlation of {correlation:.2}, {errors:.0} standard \
             errors beyond chance): the states miss something that matters, and values in the fitted models cannot be trusted."
        ));
        return Finding::Contradicted;
    }
    let effective = evaluation.effective_cases;
    if effective < MIN_EFFECTIVE_CASES {
        reasons.push(format!(
            "The {} held-out cases are worth {effective:.1} cases that follow the policy; from fewer than {MIN_EFFECTIVE_CASES} nothing can be said.",
            evaluation.n_cases[1]
        ));
        return Finding::TooLittleData;
    }
    if evaluation.reached < MIN_REACHED {
        reasons.push(format!(
            "Held-out cases went at most {} of the ways that the policy would go (the mean weight, which should be 1); nothing is known about the others.",
            percent(evaluation.reached)
        ));
        return Finding::TooLittleData;
    }
    if importance.policy.low > model.policy.high || importance.policy.high < model.policy.low {
        reasons.push(
            "The value in the model of held-out cases and the one by importance sampling exclude each other: states miss something \
             that matters."
                .to_owned(),
        );
        return Finding::Contradicted;
    }
    let gains = [importance.gain, robust.gain, model.gain];
    if gains.iter().any(|gain| gain.high < 0.0) {
        reasons.push(
            "At least one estimate on held-out cases is below what was logged, beyond its interval."
                .to_owned(),
        );
        return Finding::Worse;
    }
    if gains.iter().all(|gain| gain.low > 0.0) {
        reasons.push(
            "All three estimates on held-out cases are above what was logged, beyond their intervals."
                .to_owned(),
        );
        return Finding::Better;
    }
    reasons.push("The intervals of the gain on held-out cases include 0.".to_owned());
    Finding::NoDifference
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
