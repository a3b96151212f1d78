//! Whether the published scores of Figure 3 are reproduced, within noise, method by method.

use super::evidence::{reach, score};
use super::{Claim, Judged, Subject};
use crate::method::Method::{self, Planner, RMax};
use crate::number::number;
use crate::published::scores;
use crate::result::Results;
use backsweep::PlannerKind;

const PART: &str = "Published scores";
const PLACE: &str = "conference version, Figure 3";

const fn fifteen(method: &'static Method) -> Subject {
    Subject { experiment: "fig3", task: "fifteen", method: Some(method), number: 2.0 }
}

const fn four_60(method: &'static Method) -> Subject {
    Subject { experiment: "fig3_icml", task: "four_60", method: Some(method), number: 1.0 }
}

const fn claim(id: &'static str, text: &'static str, about: Subject) -> Claim {
    Claim { id, part: PART, text, place: PLACE, about, judge: reproduced }
}

pub(super) const CLAIMS: &[Claim] = &[
    claim(
        "level-15-reversed-full-backups",
        "15 successors: the published scores of reversed full backups are reproduced",
        fifteen(&Planner(PlannerKind::ReversedFullBackups)),
    ),
    claim(
        "level-15-moore-atkeson",
        "15 successors: the published scores of Moore & Atkeson are reproduced",
        fifteen(&Planner(PlannerKind::MooreAtkeson)),
    ),
    claim(
        "level-15-peng-williams",
        "15 successors: the published scores of Peng & Williams are reproduced",
        fifteen(&Planner(PlannerKind::PengWilliams)),
    ),
    claim(
        "level-15-wiering-schmidhuber",
        "15 successors: the published scores of Wiering & Schmidhuber are reproduced",
        fifteen(&Planner(PlannerKind::WieringSchmidhuber)),
    ),
    claim(
        "level-15-value-iteration",
        "15 successors: the published score of value iteration is reproduced",
        fifteen(&Planner(PlannerKind::ValueIteration)),
    ),
    claim("level-15-r-max", "15 successors: the published score of R-max is reproduced", fifteen(&RMax)),
    claim(
        "level-4-reversed-full-backups",
        "4 successors at 0.6: the published scores of reversed full backups are reproduced",
        four_60(&Planner(PlannerKind::ReversedFullBackups)),
    ),
    claim(
        "level-4-moore-atkeson",
        "4 successors at 0.6: the published scores of Moore & Atkeson are reproduced",
        four_60(&Planner(PlannerKind::MooreAtkeson)),
    ),
    claim(
        "level-4-peng-williams",
        "4 successors at 0.6: the published scores of Peng & Williams are reproduced",
        four_60(&Planner(PlannerKind::PengWilliams)),
    ),
    claim(
        "level-4-wiering-schmidhuber",
        "4 successors at 0.6: the published scores of Wiering & Schmidhuber are reproduced",
        four_60(&Planner(PlannerKind::WieringSchmidhuber)),
    ),
    claim(
        "level-4-value-iteration",
        "4 successors at 0.6: the published score of value iteration is reproduced",
        four_60(&Planner(PlannerKind::ValueIteration)),
    ),
    claim("level-4-r-max", "4 successors at 0.6: the published score of R-max is reproduced", four_60(&RMax)),
    Claim {
        id: "level-4-as-written",
        part: PART,
        text: "4 successors at 0.8, as the text says: the published scores of reversed full backups are reproduced",
        place: "conference version, section 5.2",
        about: Subject {
            experiment: "fig3_icml",
            task: "four_80",
            method: Some(&Planner(PlannerKind::ReversedFullBackups)),
            number: 1.0,
        },
        judge: reproduced,
    },
];

/// A difference counts if it exceeds this many standard errors: by chance, 99 % of sets of four comparisons stay within 2.8.
const LIMIT: f64 = 2.8;

/// The published standard error: the paper gives only the largest one, and the figure can be read to about 0.02.
fn published_error(method: &Method) -> f64 {
    if *method == Planner(PlannerKind::PengWilliams) { 1.0 } else { 0.1 }
}

fn reproduced(results: &Results, about: Subject) -> Judged {
    let method = about.method()?;
    let mut worst = 0.0f64;
    let mut holds = true;
    let mut numbers = Vec::new();
    for point in scores(about.number as u32, method) {
        let ours = score(results, about.experiment, about.task, method, point.cycles)?;
        let difference = ours.mean - point.score;
        let errors = difference / ours.error.hypot(published_error(method));
        holds &= errors.abs() <= reach(LIMIT, ours.runs);
        if errors.abs() > worst.abs() {
            worst = errors;
        }
        let cycles = point.cycles.map(|cycles| format!("{cycles}: ")).unwrap_or_default();
        numbers.push(format!("{cycles}{ours} ({})", number(point.score, 2)));
    }
    if numbers.is_empty() {
        return Err(format!("no published score of {}", method.title()));
    }
    let side = if worst > 0.0 { "better" } else { "worse" };
    let text = numbers.join("; ");
    let size = number(worst.abs(), 1);
    Ok((holds, format!("ours (published): {text}; furthest {size} standard errors {side}")))
}
