//! Claims about Figure 1: one small backup per step against TD(0) on the two circles.

use super::evidence::{Measured, curve, decide, measured, score};
use super::{Claim, Judged, Subject};
use crate::method::Method;
use crate::number::number;
use crate::published::{TD, errors_at};
use crate::query;
use crate::result::Results;

const PART: &str = "Figure 1";
const SECTION: &str = "section 5.1";

const fn on(task: &'static str, number: f64) -> Subject {
    Subject { experiment: "fig1", task, method: None, number }
}

/// How far above the best TD(0) an error still counts as similar, in units of the initial error.
const SIMILAR: f64 = 0.02;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "similar-to-tuned-td-1",
        part: PART,
        text: "Task 1: one small backup per step does about as well as TD(0) with the best step size (at most 0.02 worse)",
        place: SECTION,
        about: on("circle1", 1.0),
        judge: similar,
    },
    Claim {
        id: "similar-to-tuned-td-2",
        part: PART,
        text: "Task 2: one small backup per step does about as well as TD(0) with the best step size (at most 0.02 worse)",
        place: SECTION,
        about: on("circle2", 2.0),
        judge: similar,
    },
    Claim {
        id: "best-step-size-differs",
        part: PART,
        text: "The best constant step size differs a lot between the two tasks (by 0.5 or more)",
        place: SECTION,
        about: on("", 0.5),
        judge: best_step_size_differs,
    },
    Claim {
        id: "wrong-step-size-costs",
        part: PART,
        text: "A sub-optimal step size can cost a lot: the worst one above 0 at least doubles the error, in both tasks",
        place: SECTION,
        about: on("", 2.0),
        judge: wrong_step_size_costs,
    },
    Claim {
        id: "decay-0-is-step-size-1",
        part: PART,
        text: "Decay rate 0 equals constant step size 1, bit for bit, in both tasks",
        place: SECTION,
        about: on("", 0.0),
        judge: decay_zero,
    },
    Claim {
        id: "step-size-0-gives-1",
        part: PART,
        text: "Step size 0 leaves the normalised error at exactly 1, in both tasks",
        place: SECTION,
        about: on("", 0.0),
        judge: step_size_zero,
    },
    Claim {
        id: "standard-error-1",
        part: PART,
        text: "Task 1: standard errors of 100 runs are negligible (at most 0.02; the paper's instance gave 0.0057)",
        place: SECTION,
        about: on("circle1", 0.02),
        judge: standard_errors,
    },
    Claim {
        id: "standard-error-2",
        part: PART,
        text: "Task 2: standard errors of 100 runs are negligible (at most 0.0015; the paper's instance gave 0.0007)",
        place: SECTION,
        about: on("circle2", 0.0015),
        judge: standard_errors,
    },
    Claim {
        id: "shape-1",
        part: PART,
        text: "Task 1: our curves have the published shape (correlation of the logarithms at least 0.95)",
        place: "Figure 1, top",
        about: on("circle1", 1.0),
        judge: shape,
    },
    Claim {
        id: "shape-2",
        part: PART,
        text: "Task 2: our curves have the published shape (correlation of the logarithms at least 0.95)",
        place: "Figure 1, bottom",
        about: on("circle2", 2.0),
        judge: shape,
    },
    Claim {
        id: "band-1",
        part: PART,
        text: "Task 1: the published curves lie within the range of random instances (95 % of their points)",
        place: "Figure 1, top",
        about: on("circle1", 1.0),
        judge: band,
    },
    Claim {
        id: "band-2",
        part: PART,
        text: "Task 2: the published curves lie within the range of random instances (95 % of their points)",
        place: "Figure 1, bottom",
        about: on("circle2", 2.0),
        judge: band,
    },
];

fn similar(results: &Results, about: Subject) -> Judged {
    let small = score(results, "fig1", about.task, &Method::SmallBackup, None)?;
    let (_, constant) = best(results, about.task, &Method::TdConstant)?;
    let (_, decaying) = best(results, about.task, &Method::TdDecaying)?;
    let tuned = if constant.mean <= decaying.mean { constant } else { decaying };
    let worse = small.minus(tuned);
    let numbers = format!(
        "small backup {small}, best constant {constant}, best decaying {decaying}; difference {worse}"
    );
    Ok((worse.mean - worse.noise(2.0) <= SIMILAR, numbers))
}

fn best_step_size_differs(results: &Results, about: Subject) -> Judged {
    let (one, one_error) = best(results, "circle1", &Method::TdConstant)?;
    let (two, two_error) = best(results, "circle2", &Method::TdConstant)?;
    let numbers = format!(
        "best at {} in task 1 ({one_error}), at {} in task 2 ({two_error})",
        number(one, 2),
        number(two, 2)
    );
    Ok(((one - two).abs() >= about.number - 1e-9, numbers))
}

fn wrong_step_size_costs(results: &Results, about: Subject) -> Judged {
    let mut parts = Vec::new();
    let mut numbers = Vec::new();
    for task in ["circle1", "circle2"] {
        let (_, best) = best(results, task, &Method::TdConstant)?;
        let points = curve(results, "fig1", task, &Method::TdConstant)?.into_iter().filter(|(x, _)| *x > 0.0);
        let (x, worst) =
            points.max_by(|one, other| one.1.mean.total_cmp(&other.1.mean)).ok_or("no step size above 0")?;
        let twice = Measured { mean: about.number * best.mean, error: about.number * best.error, ..best };
        parts.push(worst.minus(twice).exceeds(0.0));
        let times = number(worst.mean / best.mean, 1);
        numbers.push(format!("{task}: {worst} at {} against {best} at best, {times} times", number(x, 2)));
    }
    decide(&parts, numbers.join("; "))
}

fn decay_zero(results: &Results, _: Subject) -> Judged {
    let mut holds = true;
    let mut numbers = Vec::new();
    for task in ["circle1", "circle2"] {
        let decaying = at(results, task, &Method::TdDecaying, 0.0)?;
        let constant = at(results, task, &Method::TdConstant, 1.0)?;
        holds &= decaying.mean.to_bits() == constant.mean.to_bits() && decaying.runs == constant.runs;
        numbers.push(format!("{task}: {} and {}", decaying.mean, constant.mean));
    }
    Ok((holds, numbers.join("; ")))
}

fn step_size_zero(results: &Results, _: Subject) -> Judged {
    let mut holds = true;
    let mut numbers = Vec::new();
    for task in ["circle1", "circle2"] {
        let zero = at(results, task, &Method::TdConstant, 0.0)?;
        holds &= zero.mean == 1.0;
        numbers.push(format!("{task}: {}", zero.mean));
    }
    Ok((holds, numbers.join("; ")))
}

fn standard_errors(results: &Results, about: Subject) -> Judged {
    let mut all: Vec<(String, Measured)> = Vec::new();
    for (method, _) in &TD {
        for (x, point) in curve(results, "fig1", about.task, method)? {
            all.push((format!("{method}/{}", number(x, 2)), point));
        }
    }
    all.push((
        Method::SmallBackup.to_string(),
        score(results, "fig1", about.task, &Method::SmallBackup, None)?,
    ));
    let largest =
        all.into_iter().max_by(|one, other| one.1.error_of_100().total_cmp(&other.1.error_of_100()));
    let (name, largest) = largest.ok_or("no errors")?;
    let error = largest.error_of_100();
    let scaled =
        if largest.runs == 100 { String::new() } else { format!(", scaled from {} runs", largest.runs) };
    Ok((error <= about.number, format!("largest {} at {name}{scaled}", number(error, 5))))
}

fn shape(results: &Results, about: Subject) -> Judged {
    let mut holds = true;
    let mut numbers = Vec::new();
    for (method, published) in &TD {
        let mut pairs = Vec::new();
        for (x, ours) in curve(results, "fig1", about.task, method)? {
            let theirs = errors_at(about.number as u32, x).map(|point| published(&point));
            if let Some(theirs) = theirs.filter(|theirs| *theirs > 0.0 && ours.mean > 0.0) {
                pairs.push((ours.mean.ln(), theirs.ln()));
            }
        }
        let correlation = correlation(&pairs).ok_or(format!("too few points of {method}"))?;
        holds &= correlation >= 0.95;
        numbers.push(format!("{method}: correlation {} over {} points", number(correlation, 3), pairs.len()));
    }
    Ok((holds, numbers.join("; ")))
}

/// The published curve is one instance, so it may well lie outside the middle 80 % of them, but hardly outside the range
/// of a hundred.
fn band(results: &Results, about: Subject) -> Judged {
    let mut holds = true;
    let mut numbers = Vec::new();
    for (method, published) in &TD {
        let (mut all, mut inside, mut middle) = (0, 0, 0);
        for summary in query::curve(results, "fig1_band", about.task, method) {
            measured(summary)?;
            let x = query::place(&summary.key).unwrap_or(f64::NAN);
            // Step size 0 is 1 by definition and says nothing about instances.
            let theirs = errors_at(about.number as u32, x).map(|point| published(&point));
            let Some(theirs) = theirs.filter(|_| *method != Method::TdConstant || x != 0.0) else { continue };
            let (low, high) =
                query::range(results, &summary.key).ok_or(format!("no rows of {}", summary.key.name()))?;
            all += 1;
            inside += usize::from(low <= theirs && theirs <= high);
            middle += usize::from(summary.quantile_10 <= theirs && theirs <= summary.quantile_90);
        }
        if all == 0 {
            return Err(format!("no fig1_band/{}/{method}", about.task));
        }
        holds &= inside * 100 >= all * 95;
        numbers.push(format!("{method}: {inside} of {all} points in the range, {middle} in the middle 80 %"));
    }
    Ok((holds, numbers.join("; ")))
}

fn best(results: &Results, task: &str, method: &Method) -> Result<(f64, Measured), String> {
    let points = curve(results, "fig1", task, method)?;
    points.into_iter().min_by(|one, other| one.1.mean.total_cmp(&other.1.mean)).ok_or("no points".to_string())
}

fn at(results: &Results, task: &str, method: &Method, x: f64) -> Result<Measured, String> {
    let points = curve(results, "fig1", task, method)?;
    let found = points.into_iter().find(|(place, _)| (place - x).abs() < 1e-9);
    found.map(|(_, point)| point).ok_or_else(|| format!("no fig1/{task}/{method}/{x}"))
}

fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let both = sum(&|(x, y)| (x - mean_x) * (y - mean_y));
    let spread = (sum(&|(x, _)| (x - mean_x).powi(2)) * sum(&|(_, y)| (y - mean_y).powi(2))).sqrt();
    (pairs.len() >= 5 && spread > 0.0).then(|| both / spread)
}
