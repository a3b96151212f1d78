//! The verdict: each claim of the paper as data, judged by the numbers at hand.
//!
//! A claim is a row of a table: its text, its place in the paper, its subject and a function from the results to a
//! finding. A claim that the results do not decide is *not measured*; one that they contradict *does not hold*, and
//! the verdict names the numbers. Noise enters through standard errors: for a claim of equality the results must not
//! differ by more than noise explains, and a claim of a difference must exceed the noise; where noise hides the sign
//! of a difference, it is not measured either.

mod control;
mod cost;
mod evidence;
mod prediction;
mod published;
mod terminal;
#[cfg(test)]
mod tests;

use crate::method::Method;
use crate::result::Results;
use backsweep::PlannerKind;
use serde::Serialize;

pub use terminal::{Style, terminal};

/// The finding on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The numbers agree with it.
    Holds,
    /// The numbers contradict it.
    DoesNotHold,
    /// The numbers that would decide it are missing or too noisy.
    NotMeasured,
}

impl Finding {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Finding::Holds => "holds",
            Finding::DoesNotHold => "does not hold",
            Finding::NotMeasured => "not measured",
        }
    }
}

/// A claim and its finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Short name of the claim.
    pub id: String,
    /// The part of the paper it belongs to.
    pub part: &'static str,
    /// The claim in plain words.
    pub claim: &'static str,
    /// Where the paper says it.
    pub place: &'static str,
    /// The finding.
    pub finding: Finding,
    /// The numbers that decided, or what is missing.
    pub numbers: String,
}

/// The subject of a claim. Fields that a claim does not need are empty.
#[derive(Clone, Copy, Debug, Default)]
struct Subject {
    experiment: &'static str,
    task: &'static str,
    method: Option<&'static Method>,
    /// The task's number in the published data, or a limit the claim names.
    number: f64,
}

impl Subject {
    fn method(&self) -> Result<&'static Method, String> {
        self.method.ok_or_else(|| "the claim names no method".to_owned())
    }
}

/// The two classical methods, with which the paper compares its own.
const CLASSICAL: [Method; 2] =
    [Method::Planner(PlannerKind::MooreAtkeson), Method::Planner(PlannerKind::PengWilliams)];

/// `Ok((holds, numbers))`, or `Err` with what is missing.
type Judged = Result<(bool, String), String>;

/// A claim of the paper.
struct Claim {
    id: &'static str,
    part: &'static str,
    text: &'static str,
    place: &'static str,
    about: Subject,
    judge: fn(&Results, Subject) -> Judged,
}

/// Judges every claim, in the order of the paper.
pub fn judge(results: &Results) -> Vec<Verdict> {
    let claims =
        prediction::CLAIMS.iter().chain(control::CLAIMS).chain(cost::CLAIMS).chain(published::CLAIMS);
    claims.map(|claim| verdict(claim, results)).collect()
}

/// How many claims hold, do not hold, and were not measured.
pub fn count(verdicts: &[Verdict]) -> [usize; 3] {
    [Finding::Holds, Finding::DoesNotHold, Finding::NotMeasured]
        .map(|finding| verdicts.iter().filter(|verdict| verdict.finding == finding).count())
}

/// Whether any claim was decided: an experiment of a user says nothing about the paper.
pub fn any_decided(verdicts: &[Verdict]) -> bool {
    verdicts.iter().any(|verdict| verdict.finding != Finding::NotMeasured)
}

fn verdict(claim: &Claim, results: &Results) -> Verdict {
    let (finding, numbers) = match (claim.judge)(results, claim.about) {
        Ok((true, numbers)) => (Finding::Holds, numbers),
        Ok((false, numbers)) => (Finding::DoesNotHold, numbers),
        Err(missing) => (Finding::NotMeasured, missing),
    };
    let Claim { part, text, place, .. } = *claim;
    Verdict { id: claim.id.to_string(), part, claim: text, place, finding, numbers }
}
