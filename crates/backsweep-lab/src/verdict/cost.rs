//! Claims about computation time: Table 1, the cost of a cycle, of value iteration, and of a step of prediction.

use super::evidence::time;
use super::{CLASSICAL, Claim, Judged, Subject};
use crate::growth::{SIZES, exponent, power};
use crate::method::Method::{self, Planner};
use crate::number::number;
use crate::query;
use crate::result::{Results, Unit};
use backsweep::PlannerKind;

const PART: &str = "Table 1 and times";

const fn about(method: Option<&'static Method>, number: f64) -> Subject {
    Subject { experiment: "table1", task: "maze", method, number }
}

/// The three implementations that the paper compares.
const COMPARED: [Method; 3] = [
    Planner(PlannerKind::SmallBackups),
    Planner(PlannerKind::MooreAtkeson),
    Planner(PlannerKind::PengWilliams),
];
/// How far a fitted exponent may exceed the stated one: caches make large tasks slower than their count of operations.
const SLACK: f64 = 0.25;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "complexity-small-backups",
        part: PART,
        text: "Small backups: an update cycle costs O(actions) + O(predecessors), independent of successors and states",
        place: "Table 1",
        about: about(Some(&Planner(PlannerKind::SmallBackups)), 0.0),
        judge: complexity,
    },
    Claim {
        id: "complexity-moore-atkeson",
        part: PART,
        text: "Moore & Atkeson: an update cycle costs O(successors × actions) + O(predecessors)",
        place: "Table 1",
        about: about(Some(&Planner(PlannerKind::MooreAtkeson)), 0.0),
        judge: complexity,
    },
    Claim {
        id: "complexity-peng-williams",
        part: PART,
        text: "Peng & Williams: an update cycle costs O(successors + actions) + O(predecessors)",
        place: "Table 1",
        about: about(Some(&Planner(PlannerKind::PengWilliams)), 0.0),
        judge: complexity,
    },
    Claim {
        id: "successors-cost-nothing",
        part: PART,
        text: "As successors grow, the cycle of small backups grows slower than those of both classical methods",
        place: "Table 1",
        about: about(Some(&Planner(PlannerKind::SmallBackups)), 0.2),
        judge: successors,
    },
    Claim {
        id: "cycles-cost-the-same",
        part: PART,
        text: "On the maze, an update cycle takes about the same time for the three implementations (within a factor of 2)",
        place: "section 5.2",
        about: about(None, 2.0),
        judge: same_cost,
    },
    Claim {
        id: "small-backups-cheapest",
        part: PART,
        text: "On the maze, a cycle of small backups is a little cheaper than those of the classical methods",
        place: "section 5.2",
        about: about(None, 0.0),
        judge: cheapest,
    },
    Claim {
        id: "value-iteration-400-times-1e-3",
        part: PART,
        text: "Value iteration takes more than 400 times an update cycle (stopped at a change of 1e-3)",
        place: "section 5.2",
        about: about(Some(&Planner(PlannerKind::ValueIteration)), 1e-3),
        judge: value_iteration_cost,
    },
    Claim {
        id: "value-iteration-400-times-1e-6",
        part: PART,
        text: "Value iteration takes more than 400 times an update cycle (stopped at a change of 1e-6)",
        place: "section 5.2",
        about: about(Some(&Planner(PlannerKind::ValueIteration)), 1e-6),
        judge: value_iteration_cost,
    },
    Claim {
        id: "step-as-cheap-as-td",
        part: PART,
        text: "A step with one small backup costs the same order as one of TD(0) (less than 10 times)",
        place: "sections 1 and 5.1",
        about: about(None, 10.0),
        judge: step_cost,
    },
];

/// The exponents of Table 1 in successors, actions, predecessors and states.
fn stated(method: &Method) -> [f64; 4] {
    match method {
        Planner(PlannerKind::SmallBackups) => [0.0, 1.0, 1.0, 0.0],
        _ => [1.0, 1.0, 1.0, 0.0],
    }
}

/// Growth with successors, actions and predecessors is judged by time. Growth with states is judged by the number of
/// backups per cycle: the model then outgrows the caches, and its time reflects them and not the operations that
/// the paper counts. The time is printed as well.
fn complexity(results: &Results, about: Subject) -> Judged {
    let method = about.method()?;
    let mut holds = true;
    let mut numbers = Vec::new();
    for ((task, _), stated) in SIZES.iter().zip(stated(method)) {
        let time = fitted(results, task, method)?;
        let (judged, text) = if *task == "states" {
            let backups = backups(results, task, method)?;
            (backups, format!("states: backups n^{}, time n^{}", number(backups, 2), number(time, 2)))
        } else {
            (time, format!("{task} n^{}", number(time, 2)))
        };
        let exceeds = judged > stated + SLACK;
        holds &= !exceeds;
        let sign = if exceeds { ", above" } else { "" };
        numbers.push(format!("{text} (at most {stated:.0}{sign})"));
    }
    Ok((holds, numbers.join(", ")))
}

/// The exponent with which the number of backups of a cycle grows: the same on every machine.
fn backups(results: &Results, task: &str, method: &Method) -> Result<f64, String> {
    let curve = query::curve(results, "table1", task, method);
    let points = curve.iter().filter_map(|summary| Some((query::place(&summary.key)?, summary.mean)));
    let points: Vec<(f64, f64)> = points.filter(|(size, backups)| *size > 0.0 && *backups > 0.0).collect();
    power(&points).ok_or_else(|| format!("fewer than three counts of backups of table1/{task}/{method}"))
}

fn successors(results: &Results, about: Subject) -> Judged {
    let small = fitted(results, "successors", about.method()?)?;
    let mut holds = true;
    let mut numbers = vec![format!("small backups n^{}", number(small, 2))];
    for method in &CLASSICAL {
        let other = fitted(results, "successors", method)?;
        holds &= other >= small + about.number;
        numbers.push(format!("{} n^{}", method.title(), number(other, 2)));
    }
    Ok((holds, numbers.join(", ")))
}

fn same_cost(results: &Results, about: Subject) -> Judged {
    let times = cycle_times(results)?;
    let (least, most) =
        times.iter().fold((f64::INFINITY, 0.0f64), |(least, most), t| (least.min(t.1), most.max(t.1)));
    let ratio = most / least;
    Ok((
        ratio <= about.number,
        format!("{}; the slowest {} times the fastest", list(&times), number(ratio, 2)),
    ))
}

fn cheapest(results: &Results, _: Subject) -> Judged {
    let small = time(results, "maze", &Planner(PlannerKind::SmallBackups), None, Unit::Cycle)?;
    let mut holds = true;
    for method in &COMPARED[1..] {
        let other = time(results, "maze", method, None, Unit::Cycle)?;
        // A tie within a twentieth, with ranges that overlap, does not disprove it.
        let tie = small.low <= other.high && small.microseconds <= 1.05 * other.microseconds;
        holds &= small.microseconds <= other.microseconds || tie;
    }
    Ok((holds, list(&cycle_times(results)?)))
}

fn value_iteration_cost(results: &Results, about: Subject) -> Judged {
    let exact =
        time(results, "maze", &Planner(PlannerKind::ValueIteration), Some(about.number), Unit::Observation)?;
    let cycle = time(results, "maze", &Planner(PlannerKind::SmallBackups), None, Unit::Cycle)?;
    let ratio = exact.microseconds / cycle.microseconds;
    let numbers = format!(
        "{} µs per observation against {} µs per cycle of small backups: {} times",
        number(exact.microseconds, 1),
        number(cycle.microseconds, 3),
        number(ratio, 0)
    );
    Ok((ratio > 400.0, numbers))
}

fn step_cost(results: &Results, about: Subject) -> Judged {
    let small = time(results, "circle", &Method::SmallBackup, None, Unit::Step)?.microseconds;
    let sample = time(results, "circle", &Method::TdConstant, None, Unit::Step)?.microseconds;
    let ratio = small / sample;
    let (small, sample) = (number(small * 1000.0, 1), number(sample * 1000.0, 1));
    Ok((ratio < about.number, format!("{small} ns against {sample} ns per step: {} times", number(ratio, 2))))
}

fn fitted(results: &Results, task: &str, method: &Method) -> Result<f64, String> {
    let times = query::times(results, "table1", task, method);
    exponent(&times).ok_or_else(|| format!("fewer than three sizes of table1/{task}/{method}"))
}

fn cycle_times(results: &Results) -> Result<Vec<(&'static Method, f64)>, String> {
    COMPARED
        .iter()
        .map(|method| Ok((method, time(results, "maze", method, None, Unit::Cycle)?.microseconds)))
        .collect()
}

fn list(times: &[(&Method, f64)]) -> String {
    let one = |(method, time): &(&Method, f64)| format!("{} {} µs", method.title(), number(*time, 3));
    times.iter().map(one).collect::<Vec<_>>().join(", ")
}
