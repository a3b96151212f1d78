//! The verdict: each claim as data, judged by the numbers at hand.
//!
//! A claim is a row of `data/claims.toml`: its text, its place in the paper, the comparison that
//! decides it, the settings that it compares, and the limit. There are three answers, from 95 %
//! intervals: a claim *holds* if every interval lies inside its limit, *does not hold* if one lies
//! outside, and is *undecided* otherwise. That goes for claims of equality too: they hold only if
//! the whole interval lies within the limit. An undecided claim says how many runs it would take.

mod comparison;
mod evidence;
mod terminal;

use crate::number::short;
use crate::query;
use crate::result::Results;
use comparison::ClaimTest;
use serde::Deserialize;
use std::sync::LazyLock;

pub use terminal::{brief, verbose};

/// The answer to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Every interval lies inside the limit.
    Holds,
    /// An interval lies outside.
    DoesNotHold,
    /// The numbers are missing or too noisy.
    Undecided,
}

impl Finding {
    /// All answers, in the order in which they are counted.
    pub const ALL: [Self; 3] = [Self::Holds, Self::DoesNotHold, Self::Undecided];

    /// The answer in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Undecided => "undecided",
        }
    }
}

/// The kind of claim. The three are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimList {
    /// A claim that the paper states.
    Paper,
    /// A published number.
    Published,
    /// A check of our own, which the paper does not state.
    Own,
}

impl ClaimList {
    /// All lists, in the order of the verdict.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Published, Self::Own];

    /// The heading of the list.
    pub fn title(self) -> &'static str {
        match self {
            Self::Paper => "Claims of the paper",
            Self::Published => "Published numbers",
            Self::Own => "Checks of our own",
        }
    }
}

/// A claim and its finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The short name of the claim.
    pub id: &'static str,
    /// The list it belongs to.
    pub list: ClaimList,
    /// The claim in plain words, with its limit.
    pub claim: String,
    /// Where the paper says it.
    pub place: &'static str,
    /// The finding.
    pub finding: Finding,
    /// The numbers that decided, or what is missing.
    pub numbers: String,
    /// Why it does not hold, in one sentence; empty if it does.
    pub explanation: &'static str,
}

/// A claim, as `data/claims.toml` has it.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Claim {
    id: String,
    /// The claim; `{}` stands for the limit.
    text: String,
    place: String,
    /// The test.
    #[serde(deserialize_with = "comparison::named")]
    test: ClaimTest,
    /// The settings that the test compares.
    about: Vec<String>,
    #[serde(default)]
    limit: f64,
    /// Further numbers that the test needs.
    #[serde(default)]
    values: Vec<f64>,
    /// Why it does not hold, if we know of data against it.
    #[serde(default)]
    explanation: String,
}

/// All claims, list by list.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
struct Claims {
    paper: Vec<Claim>,
    published: Vec<Claim>,
    own: Vec<Claim>,
}

/// A test reads the file, so that it cannot be wrong here.
static CLAIMS: LazyLock<Claims> =
    LazyLock::new(|| toml::from_str(include_str!("../data/claims.toml")).unwrap_or_default());

/// Judges every claim, list by list.
pub fn judge(results: &Results) -> Vec<Verdict> {
    let Claims { paper, published, own } = &*CLAIMS;
    let lists = ClaimList::ALL.into_iter().zip([paper, published, own]);
    lists.flat_map(|(list, claims)| claims.iter().map(move |claim| verdict(list, claim, results))).collect()
}

/// The numbers of claims of a list that hold, do not hold and are undecided.
pub fn count(verdicts: &[Verdict], list: ClaimList) -> [usize; 3] {
    let of = |finding| verdicts.iter().filter(move |v| v.list == list && v.finding == finding).count();
    Finding::ALL.map(of)
}

/// The counts in words: "21 hold, 4 do not hold, 3 undecided".
pub fn counts(verdicts: &[Verdict], list: ClaimList) -> String {
    let [holds, fails, open] = count(verdicts, list);
    format!("{holds} hold, {fails} do not hold, {open} undecided")
}

/// Returns whether any claim was decided: an experiment of a user says nothing about the paper.
pub fn any_decided(verdicts: &[Verdict]) -> bool {
    verdicts.iter().any(|verdict| verdict.finding != Finding::Undecided)
}

/// A warning, if there are fewer runs than the paper's 100.
pub fn banner(results: &Results) -> Option<String> {
    let runs = query::info(results, "fig3").map(|info| info.runs).filter(|runs| *runs < 100)?;
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    Some(format!("{runs}, where the paper has 100: only large differences can be decided."))
}

/// The verdict as a CSV file: list, claim and finding, the same on every machine except where times
/// decide.
pub fn to_csv(verdicts: &[Verdict]) -> String {
    let list = |list: ClaimList| list.title().to_lowercase();
    let line = |v: &Verdict| format!("{},{},{}\n", list(v.list), v.id, v.finding.words());
    "list,claim,finding\n".to_owned() + &verdicts.iter().map(line).collect::<String>()
}

fn verdict(list: ClaimList, claim: &'static Claim, results: &Results) -> Verdict {
    let (finding, numbers) = match (claim.test)(results, claim) {
        Ok(tests) => evidence::decide(&tests),
        Err(missing) => (Finding::Undecided, missing),
    };
    Verdict {
        id: &claim.id,
        list,
        claim: claim.text.replace("{}", &short(claim.limit)),
        place: &claim.place,
        finding,
        numbers,
        explanation: if finding == Finding::DoesNotHold { &claim.explanation } else { "" },
    }
}
