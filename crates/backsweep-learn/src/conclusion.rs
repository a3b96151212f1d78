//! The numbers in words. No finding promises anything: a log cannot show what it does not contain.

use crate::evaluation::{Estimate, PolicyEvaluation, decimals};
use crate::history::HistoryDependence;

/// The fewest held-out cases that a finding may rest on.
pub const MIN_CASES: i64 = 30;
/// The smallest share of the policy's visits that held-out cases must carry.
pub const MIN_REACHED: f64 = 0.5;
/// The fewest effective cases for which estimates with weights of whole cases have an interval.
pub const MIN_EFFECTIVE_CASES: f64 = 50.0;
/// The gain of one period differs from that of the others by more standard errors than this: it drifts.
pub const DRIFT_ERRORS: f64 = 2.8;
/// If the previous step correlates with what follows by more than this, beyond [`MEMORY_ERRORS`] standard errors, states lack
/// something.
pub const MEMORY: f64 = 0.1;
/// See [`MEMORY`].
pub const MEMORY_ERRORS: f64 = 5.0;

/// The finding of the held-out data on the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyFinding {
    /// Nothing was held out, or only counts are known.
    NotTested,
    /// There are too few held-out cases, or they are too different from each other or from the policy's.
    TooLittleData,
    /// The estimates contradict each other, or states lack something that matters.
    Contradicted,
    /// The gain changes with time, and the last cases do not show it.
    Unstable,
    /// Held-out cases show no difference from what was logged.
    NoDifference,
    /// Held-out cases contradict the policy: the whole interval of the gain is below 0.
    Worse,
    /// Held-out cases support the policy, as far as a log can tell: the whole interval of the gain is above 0.
    Better,
}

impl PolicyFinding {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotTested => "not tested on whole cases",
            Self::TooLittleData => "too little data to say",
            Self::Contradicted => "the log contradicts the model",
            Self::Unstable => "the gain does not last",
            Self::NoDifference => "no visible difference",
            Self::Worse => "contradicted by held-out cases",
            Self::Better => "supported by held-out cases",
        }
    }
}

/// A finding and its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// The finding.
    pub finding: PolicyFinding,
    /// `true` if the log could show that states lack something: with one step per case it cannot.
    pub is_checked: bool,
    /// The gain in one sentence, or that none is stated; and the length of cases in another.
    pub headline: String,
    /// One sentence per reason, the most important first.
    pub reasons: Vec<String>,
}

/// A caveat that holds for every policy learned from a log.
pub const CAVEAT: &str = "Whoever made the logged decisions may have seen something that is not in the state. No number here can show \
     that, however narrow its interval. Try the policy under human supervision before relying on it.";

impl PolicyFinding {
    /// Returns `true` if the gain is stated as a number. Where too little is known, or the model is contradicted, it would be taken for a
    /// result.
    pub fn has_number(self) -> bool {
        matches!(self, Self::NoDifference | Self::Worse | Self::Better)
    }
}

impl Conclusion {
    /// The finding in a few words, with what it leaves open.
    pub fn words(&self) -> String {
        use PolicyFinding::{Better, NoDifference, Worse};
        let is_open = !self.is_checked && matches!(self.finding, Better | Worse | NoDifference);
        format!("{}{}", self.finding.words(), if is_open { " (hidden factors not checked)" } else { "" })
    }
}

/// If a case takes less than this share of the logged steps under the policy, that is pointed out.
const MUCH_SHORTER: f64 = 0.5;

/// The gain and the length of cases, for those who decide.
fn headline(evaluation: &PolicyEvaluation, finding: PolicyFinding, unit: Option<&str>) -> String {
    let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
    let gain = evaluation.marginal.map(|found| found.gain).filter(|_| finding.has_number());
    let mut text = match gain {
        None => "No gain is stated: the log does not support a number.".to_owned(),
        Some(gain) => {
            // Three digits of the gain, and as many decimals for its interval.
            let digits = (2 - gain.value.abs().max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
            let number = |x: f64| decimals(x, digits);
            let size = number(gain.value.abs());
            let range = format!("95 % interval {} to {}", number(gain.low), number(gain.high));
            match finding {
                PolicyFinding::Better => {
                    format!("The policy would gain {size}{unit} per case over what was logged ({range}).")
                }
                PolicyFinding::Worse => {
                    format!("The policy would lose {size}{unit} per case against what was logged ({range}).")
                }
                _ => format!("The policy may gain or lose: {}{unit} per case ({range}).", number(gain.value)),
            }
        }
    };
    let steps = |n: f64| decimals(n, if n < 100.0 { 1 } else { 0 });
    match evaluation.steps_per_case {
        [Some(logged), Some(policy)] => {
            text += &format!(
                " A case takes {} steps as logged and {} under the policy, in the fitted model.",
                steps(logged),
                steps(policy)
            );
            if policy < MUCH_SHORTER * logged {
                text +=
                    " The policy mostly ends cases sooner: check that this is what rewards should pay for.";
            }
        }
        [Some(logged), None] => {
            text += &format!(
                " A case takes {} steps as logged; under the policy some cases never end, in the fitted model.",
                steps(logged)
            );
        }
        _ => {}
    }
    text
}

pub(crate) fn judge(evaluation: &PolicyEvaluation, unit: Option<&str>) -> Conclusion {
    let mut reasons = Vec::new();
    let finding = find(evaluation, &mut reasons);
    let is_checked = evaluation.history.is_some();
    if finding != PolicyFinding::NotTested {
        reasons.extend(doubts(evaluation, finding, is_checked));
    }
    if evaluation.supported < 0.5 {
        reasons.push(format!(
            "Only {} of the visits are to states with a supported action; everywhere else the policy is what was logged.",
            percent(evaluation.supported)
        ));
    }
    Conclusion { finding, is_checked, headline: headline(evaluation, finding, unit), reasons }
}

fn find(evaluation: &PolicyEvaluation, reasons: &mut Vec<String>) -> PolicyFinding {
    let Some(marginal) = evaluation.marginal else {
        reasons.push(match evaluation.n_cases {
            [0, _] => "The log has no cases, only single transitions: nothing can be held out, and values are means over all steps.",
            [_, 0] => "No cases were held out, so nothing tests the policy.",
            _ => "Importance sampling and doubly robust estimates need whole cases, and only counts are known; the values in fitted \
                  models assume that states contain all that matters.",
        }.to_owned());
        return PolicyFinding::NotTested;
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
    let (gain, n) = (marginal.gain, evaluation.n_cases[1]);
    if n < MIN_CASES {
        reasons.push(format!("There are {n} held-out cases; below {MIN_CASES} no conclusion is drawn."));
        return PolicyFinding::TooLittleData;
    }
    if evaluation.reached < MIN_REACHED {
        reasons.push(format!(
            "Held-out cases carry at most {} of the policy's visits; nothing is known about the others.",
            percent(evaluation.reached)
        ));
        return PolicyFinding::TooLittleData;
    }
    let has_both_signs = gain.low <= 0.0 && gain.high >= 0.0;
    if has_both_signs && gain.high - gain.low > 2.0 * evaluation.spread {
        reasons.push(format!(
            "The gain is {gain}: even one as large as the returns of single cases differ ({}) would be invisible in {n} held-out cases.",
            decimals(evaluation.spread, 4)
        ));
        return PolicyFinding::TooLittleData;
    }
    if let Some(drift) = &evaluation.drift
        && let Some(last) = drift.periods.last()
        && drift.errors > DRIFT_ERRORS
        && last.value * drift.periods[0].value < 0.0
    {
        reasons.push(format!(
            "The gain of the cases that began last is {last}, and of the first {}: what was true of the first is not true of the last.",
            drift.periods[0]
        ));
        return PolicyFinding::Unstable;
    }
    let held = format!("The gain is {gain} per case, estimated on {n} held-out cases. ");
    let chance =
        "In a log without any gain or loss the interval excludes 0 by chance in about 1 of 20 such logs.";
    let (finding, text) = if gain.high < 0.0 {
        (PolicyFinding::Worse, chance)
    } else if gain.low > 0.0 {
        (PolicyFinding::Better, chance)
    } else {
        (PolicyFinding::NoDifference, "The interval includes 0.")
    };
    reasons.push(held + text);
    finding
}

/// The questions that the finding leaves open.
fn doubts(evaluation: &PolicyEvaluation, finding: PolicyFinding, is_checked: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    if !is_checked && finding != PolicyFinding::Contradicted {
        doubts.push(
            "Not checked: whether states lack something that whoever decided could see. A log shows that only in cases of several \
             steps, and in enough of them."
                .to_owned(),
        );
    }
    if finding == PolicyFinding::Better
        && let Some(sensitivity) = evaluation.sensitivity
        && let (Some(undone), Some(lost)) = (sensitivity.finding, sensitivity.gain)
    {
        let factor = |x: f64| if x.is_finite() { format!("{x:.2}") } else { "more than 100".to_owned() };
        doubts.push(format!(
            "A hidden factor that changes the odds of the logged decisions by a factor of {} could undo this finding; by {}, the whole gain.",
            factor(undone),
            factor(lost)
        ));
    }
    match &evaluation.drift {
        Some(drift) if drift.errors > DRIFT_ERRORS => {
            let periods: Vec<String> = drift.periods.iter().map(Estimate::to_string).collect();
            doubts.push(format!(
                "The gain drifts: {} in the cases of the three thirds of the time; they differ by {:.1} standard errors.",
                periods.join(", "),
                drift.errors
            ));
        }
        Some(_) => {}
        None => doubts.push(
            "Not checked: whether the gain changes with time, for too few cases or because their order in time is unknown.".to_owned(),
        ),
    }
    doubts
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
