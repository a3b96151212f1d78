//! The comparisons that decide claims. The settings a claim is about are named
//! `experiment/task/method/cycles`.

use super::Claim;
use super::evidence::{Measured, Span, Test, curve, largest, measured, paired, score, summary, time, worst};
use crate::growth::{SIZES, exponent_range, power};
use crate::method::Method;
use crate::number::number;
use crate::published::{TD, errors_at, scores};
use crate::query::{self, setting_title};
use crate::result::{Results, Summary};
use serde::de::{Deserialize, Deserializer, Error};

/// The margin by which a fitted exponent may exceed the stated one: caches make large tasks slower than their
/// count of operations.
const EXPONENT_SLACK: f64 = 0.25;
/// The least exponent that shows growth: fixed costs flatten it.
const MIN_GROWTH_EXPONENT: f64 = 0.4;

/// The comparisons that decide a claim, or what is missing for them.
type Tests = Result<Vec<Test>, String>;
type CurvePoint<'a> = (f64, &'a Summary);

/// Decides a claim.
pub(super) type ClaimTest = fn(&Results, &Claim) -> Tests;

/// The comparisons by the names that claims give them.
const COMPARISONS: [(&str, ClaimTest); 25] = [
    ("at_most", at_most),
    ("exactly", exactly),
    ("equal", equal),
    ("more", more),
    ("ahead", ahead),
    ("ahead_in_pairs", ahead_in_pairs),
    ("close", close),
    ("best_parameter", best_parameter),
    ("largest_standard_error", largest_standard_error),
    ("more_cycles", more_cycles),
    ("published", published),
    ("similar", similar),
    ("similar_on_random_circles", similar_on_random_circles),
    ("best_step_size_differs", best_step_size_differs),
    ("best_step_size_is_1", best_step_size_is_1),
    ("wrong_step_size_costs", wrong_step_size_costs),
    ("shape", shape),
    ("band", band),
    ("complexity", complexity),
    ("grows_slower", grows_slower),
    ("step_cost", step_cost),
    ("same_cost", same_cost),
    ("cheapest", cheapest),
    ("value_iteration_above", |r, c| cost_of_value_iteration(r, c, Span::above)),
    ("value_iteration_below", |r, c| cost_of_value_iteration(r, c, Span::below)),
];

/// The comparison of a claim, by its name.
pub(super) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ClaimTest, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = COMPARISONS.iter().find(|(known, _)| *known == name);
    known.map(|(_, test)| *test).ok_or_else(|| D::Error::custom(format!("no test is called '{name}'")))
}

/// The largest score of each setting is at most the limit.
fn at_most(results: &Results, claim: &Claim) -> Tests {
    let test = |name: &String| {
        let (summary, largest) = (summary(results, name)?, largest(results, name)?);
        let size = if claim.limit < 1e-3 { format!("{largest:.1e}") } else { number(largest, 3) };
        Ok(Test::exact(largest <= claim.limit, format!("{}: {size}", summary.key.method.title())))
    };
    claim.about.iter().map(test).collect()
}

/// Each score is the limit, bit for bit.
fn exactly(results: &Results, claim: &Claim) -> Tests {
    let test = |name: &String| {
        let mean = score(results, name)?.mean;
        Ok(Test::exact(mean == claim.limit, mean.to_string()))
    };
    claim.about.iter().map(test).collect()
}

/// The scores are equal in pairs, bit for bit.
fn equal(results: &Results, claim: &Claim) -> Tests {
    let test = |names: &[String]| {
        let (one, other) = (score(results, &names[0])?, score(results, &names[1])?);
        let equal = one.mean.to_bits() == other.mean.to_bits() && one.runs == other.runs;
        Ok(Test::exact(equal, format!("{} and {}", one.mean, other.mean)))
    };
    claim.about.chunks_exact(2).map(test).collect()
}

/// The first score is higher than the second.
fn more(results: &Results, claim: &Claim) -> Tests {
    let (one, other) = (summary(results, &claim.about[0])?.mean, summary(results, &claim.about[1])?.mean);
    Ok(vec![Test::exact(one > other, format!("{} against {}", number(one, 1), number(other, 1)))])
}

/// The first score is ahead of all others by more than the limit.
fn ahead(results: &Results, claim: &Claim) -> Tests {
    let first = &claim.about[0];
    let tests = claim.about[1..].iter().map(|other| ahead_by(results, first, other, claim.limit));
    let tests = tests.collect::<Result<Vec<_>, String>>()?;
    let (ours, title) = (score(results, first)?, setting_title(&summary(results, first)?.key));
    Ok(std::iter::once(Test::exact(true, format!("{title} {ours}"))).chain(tests).collect())
}

/// The same pair by pair; only the first pair has a limit above 0.
fn ahead_in_pairs(results: &Results, claim: &Claim) -> Tests {
    let limits = std::iter::once(claim.limit).chain(std::iter::repeat(0.0));
    let pairs = claim.about.chunks_exact(2).zip(limits);
    pairs.map(|(names, limit)| ahead_by(results, &names[0], &names[1], limit)).collect()
}

fn ahead_by(results: &Results, one: &str, other: &str, limit: f64) -> Result<Test, String> {
    let (ours, theirs) = (score(results, one)?, score(results, other)?);
    let ahead = ours.minus(theirs);
    let title = setting_title(&summary(results, other)?.key);
    Ok(ahead.span().above(limit).says(format!("{title} {theirs}, behind by {ahead}")))
}

/// The first two scores differ by no more than the limit.
fn close(results: &Results, claim: &Claim) -> Tests {
    let (one, other) = (score(results, &claim.about[0])?, score(results, &claim.about[1])?);
    let below = one.minus(other);
    Ok(vec![below.span().within(claim.limit).says(format!("{other} against {one}: {below} below"))])
}

/// No other point of a curve is better by more than the limit than the best of `values`.
fn best_parameter(results: &Results, claim: &Claim) -> Tests {
    let points = curve(results, &claim.about[0])?;
    let points =
        points.into_iter().map(|(x, s)| Ok((x, measured(s)?))).collect::<Result<Vec<_>, String>>()?;
    let (ours, others): (Vec<_>, Vec<_>) = points.into_iter().partition(|(x, _)| claim.values.contains(x));
    let best = ours.into_iter().max_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    let (m, best) = best.ok_or_else(|| format!("{} lacks {:?}", claim.about[0], claim.values))?;
    let test = |(other, score): (f64, Measured)| {
        let gain = score.minus(best);
        gain.span().below(claim.limit).says(format!("at {m} {best}; at {other} {score}, better by {gain}"))
    };
    worst(others.into_iter().map(test).collect())
}

/// The largest standard error that any of the settings would have with 100 runs.
fn largest_standard_error(results: &Results, claim: &Claim) -> Tests {
    let is_meant =
        |name: &str| claim.about.iter().any(|about| name == about || name.starts_with(&format!("{about}/")));
    let all = results.summaries.iter().filter(|summary| is_meant(&summary.key.name()));
    let all = all.map(|s| Ok((s, measured(s)?.error_of_100()))).collect::<Result<Vec<_>, String>>()?;
    let largest = all.into_iter().max_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    let (summary, error) = largest.ok_or_else(|| format!("{} was not measured", claim.about[0]))?;
    let scaled = if error.runs == 100 { String::new() } else { format!(", scaled from {} runs", error.runs) };
    let digits = if claim.limit < 0.05 { 4 } else { 2 };
    let [size, doubt] = [error.mean, error.error].map(|size| number(size, digits));
    let text = format!("{size} ± {doubt}, {}{scaled}", setting_title(&summary.key));
    Ok(vec![error.span().below(claim.limit).says(text)])
}

/// No method of a task loses more than the limit with more update cycles.
fn more_cycles(results: &Results, claim: &Claim) -> Tests {
    let (experiment, task) = claim.about[0].split_once('/').ok_or("the claim names no task")?;
    let mut tests = Vec::new();
    for method in query::methods(results, experiment, task) {
        for pair in query::curve(results, experiment, task, &method).windows(2) {
            let [before, after] = [measured(pair[0])?, measured(pair[1])?];
            let names = [setting_title(&pair[0].key), setting_title(&pair[1].key)];
            let text = format!("{} {before}, {} {after}", names[0], names[1]);
            tests.push(before.minus(after).span().below(claim.limit).says(text));
        }
    }
    worst(tests)
}

/// All scores of a method are within the limit of the published ones.
fn published(results: &Results, claim: &Claim) -> Tests {
    let (task, method) = claim.about[0].rsplit_once('/').ok_or("the claim names no method")?;
    let number_of_task = if task == "fig3/fifteen" { 2 } else { 1 };
    let method = Method::from(method);
    let tests = scores(number_of_task, &method).map(|point| {
        let cycles = point.cycles.map(|cycles| format!("/{cycles}")).unwrap_or_default();
        let ours = score(results, &(claim.about[0].clone() + &cycles))?;
        let difference = Measured { mean: ours.mean - point.score, ..ours };
        let at = point.cycles.map(|cycles| format!("{cycles}: ")).unwrap_or_default();
        let text = format!("{at}{ours}, published {}", number(point.score, 2));
        Ok(difference.span().within(claim.limit).says(text).unstated())
    });
    tests.collect()
}

fn lowest<'a>(points: &[CurvePoint<'a>]) -> Result<CurvePoint<'a>, String> {
    let lowest = points.iter().copied().min_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    lowest.ok_or_else(|| "no step size was measured".to_owned())
}

fn at<'a>(points: &[CurvePoint<'a>], x: f64) -> Result<CurvePoint<'a>, String> {
    let found = points.iter().copied().find(|(place, _)| (place - x).abs() < 1e-9);
    found.ok_or_else(|| format!("step size {x} was not measured"))
}

/// TD(0) has the best of all its step sizes, chosen by the same runs, which favors it.
fn similar(results: &Results, claim: &Claim) -> Tests {
    let task = &claim.about[0];
    let small = summary(results, &format!("{task}/small_backup"))?;
    let mut points = curve(results, &format!("{task}/td_constant"))?;
    points.extend(curve(results, &format!("{task}/td_decaying"))?);
    let (_, tuned) = lowest(&points)?;
    let excess = paired(results, &[(1.0, small), (-claim.limit, tuned)])?;
    let times = number(small.mean / tuned.mean, 2);
    let [ours, theirs] = [measured(small)?, measured(tuned)?];
    let text = format!("small backup {ours}; {} {theirs}; {times} times", setting_title(&tuned.key));
    Ok(vec![excess.span().below(0.0).says(text).unstated()])
}

/// Each run has a circle of its own, the same for all methods.
fn similar_on_random_circles(results: &Results, claim: &Claim) -> Tests {
    let (experiment, task) = claim.about[0].split_once('/').ok_or("the claim names no task")?;
    let (mut small, mut tuned): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for row in results.rows.iter().filter(|row| row.key.experiment == experiment && row.key.task == task) {
        let errors = if row.key.method == Method::SMALL_BACKUP { &mut small } else { &mut tuned };
        let run = row.run as usize;
        errors.resize(errors.len().max(run + 1), f64::INFINITY);
        errors[run] = errors[run].min(row.score);
    }
    let mut times: Vec<f64> = small.iter().zip(&tuned).map(|(small, tuned)| small / tuned).collect();
    if times.len() < 2 || times.len() < small.len() || times.iter().any(|times| !times.is_finite()) {
        return Err(format!("{experiment}/{task} was not measured on two circles"));
    }
    times.sort_by(f64::total_cmp);
    let (all, similar) = (times.len(), times.iter().filter(|times| **times <= claim.limit).count());
    // A share after Agresti and Coull, with two more of each kind: otherwise all of few circles
    // would count as certain.
    let n = all as f64 + 4.0;
    let share = (similar as f64 + 2.0) / n;
    let share = Measured { mean: share, error: (share * (1.0 - share) / n).sqrt(), runs: all as u32 };
    let [least, median, most] = [0, all / 2, all - 1].map(|place| number(times[place], 2));
    let text = format!("on {similar} of {all} circles; {least} to {most} times, median {median}");
    Ok(vec![share.span().above(0.5).says(text).unstated()])
}

fn best_step_size_differs(results: &Results, claim: &Claim) -> Tests {
    let (one, two) = (curve(results, &claim.about[0])?, curve(results, &claim.about[1])?);
    let (best_of_one, best_of_two) = (lowest(&one)?, lowest(&two)?);
    let is_far = (best_of_one.0 - best_of_two.0).abs() >= claim.limit - 1e-9;
    let [first, second] = [best_of_one.0, best_of_two.0].map(|x| number(x, 2));
    let mut tests = vec![Test::exact(is_far, format!("best at {first} in task 1 and at {second} in task 2"))];
    if is_far {
        // Either one costs something in the other task.
        for (points, best, other) in [(&one, best_of_one, best_of_two), (&two, best_of_two, best_of_one)] {
            tests.push(paired(results, &[(1.0, at(points, other.0)?.1), (-1.0, best.1)])?.span().above(0.0));
        }
    }
    Ok(tests)
}

fn best_step_size_is_1(results: &Results, claim: &Claim) -> Tests {
    let mut points = curve(results, &claim.about[0])?;
    let (_, one) = at(&points, 1.0)?;
    points.retain(|(x, _)| *x < 1.0);
    let (x, other) = lowest(&points)?;
    let excess = paired(results, &[(1.0, one), (-1.0, other)])?;
    let text = format!("the error at 1 minus the one at {}: {excess}", number(x, 2));
    Ok(vec![excess.span().below(claim.limit).says(text)])
}

fn wrong_step_size_costs(results: &Results, claim: &Claim) -> Tests {
    let test = |name: &String| {
        let mut points = curve(results, name)?;
        points.retain(|(x, _)| *x > 0.0);
        let (best, lowest) = lowest(&points)?;
        let worst = points.into_iter().max_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
        let (x, highest) = worst.ok_or("no step size was measured")?;
        let excess = paired(results, &[(1.0, highest), (-claim.limit, lowest)])?;
        let times = number(highest.mean / lowest.mean, 1);
        let text = format!("{times} times, at {} instead of {}", number(x, 2), number(best, 2));
        Ok(excess.span().above(0.0).says(text).unstated())
    };
    claim.about.iter().map(test).collect()
}

/// The error curves of TD(0) next to the published ones: x, our summary, the published error.
fn beside_published<'a>(
    results: &'a Results,
    task: &str,
    (method, published): &crate::published::PublishedCurve,
) -> Result<Vec<(f64, &'a Summary, f64)>, String> {
    let number = if task.ends_with('1') { 1 } else { 2 };
    let points = curve(results, &format!("{task}/{method}"))?;
    points.iter().try_for_each(|(_, summary)| measured(summary).map(drop))?;
    let beside = |(x, ours): CurvePoint<'a>| Some((x, ours, published(&errors_at(number, x)?)));
    Ok(points.into_iter().filter_map(beside).collect())
}

fn shape(results: &Results, claim: &Claim) -> Tests {
    let test = |curve| {
        let points = beside_published(results, &claim.about[0], curve)?;
        let logs = points.into_iter().filter(|(_, ours, theirs)| ours.mean > 0.0 && *theirs > 0.0);
        let pairs: Vec<(f64, f64)> = logs.map(|(_, ours, theirs)| (ours.mean.ln(), theirs.ln())).collect();
        let correlation = correlation(&pairs).ok_or_else(|| format!("too few points of {}", curve.0))?;
        let text = format!("{}: {} over {} points", curve.0.title(), number(correlation, 3), pairs.len());
        Ok(Test::exact(correlation >= claim.limit, text))
    };
    TD.iter().map(test).collect()
}

/// The published curve is one instance, so it may well lie outside the middle 80 % of them, but
/// hardly outside the range of a hundred.
fn band(results: &Results, claim: &Claim) -> Tests {
    let test = |curve| {
        let mut points = beside_published(results, &claim.about[0], curve)?;
        // Step size 0 gives 1 by definition and says nothing about instances.
        points.retain(|(x, ..)| curve.0 != Method::TD_CONSTANT || *x != 0.0);
        let (mut inside, mut middle) = (0, 0);
        for (_, ours, theirs) in &points {
            let name = || format!("no rows of {}", ours.key.name());
            let (low, high) = query::range(results, &ours.key).ok_or_else(name)?;
            inside += usize::from(low <= *theirs && *theirs <= high);
            middle += usize::from(ours.quantile_10 <= *theirs && *theirs <= ours.quantile_90);
        }
        let all = points.len();
        let text = format!("{}: {inside} of {all} points, {middle} in the middle 80 %", curve.0.title());
        Ok(Test::exact(inside as f64 >= claim.limit * all as f64, text))
    };
    TD.iter().map(test).collect()
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

/// The exponent with which the time grows.
fn growth(results: &Results, task: &str, method: &str) -> Result<Span, String> {
    let range = exponent_range(&query::times(results, "table1", task, &Method::from(method)));
    let [low, middle, high] =
        range.ok_or_else(|| format!("table1/{task}/{method} has fewer than three sizes"))?;
    Ok(Span { low, middle, high, runs: 0 })
}

/// The exponent with which the number of backups of a cycle grows: the same on every machine.
fn backups(results: &Results, task: &str, method: &str) -> Result<Span, String> {
    let points = curve(results, &format!("table1/{task}/{method}"))?.into_iter().map(|(x, s)| (x, s.mean));
    let points: Vec<(f64, f64)> = points.filter(|(x, y)| *x > 0.0 && *y > 0.0).collect();
    let middle =
        power(&points).ok_or_else(|| format!("table1/{task}/{method} has fewer than three sizes"))?;
    Ok(Span { low: middle, middle, high: middle, runs: 0 })
}

/// The exponents in successors, actions, predecessors and states are those in `values`.
///
/// Growth with successors, actions and predecessors is judged by time. Growth with states is judged
/// by the number of backups per cycle: the model then outgrows the caches, and its time reflects
/// them and not the operations that the paper counts. A stated growth must show, so that a cycle of
/// constant time fails.
fn complexity(results: &Results, claim: &Claim) -> Tests {
    let test = |((task, _), stated): (&(&str, &str), &f64)| {
        let measure = if *task == "states" { backups } else { growth };
        let span = measure(results, task, &claim.about[0])?;
        let of = if *task == "states" { "backups with states" } else { task };
        let test = if *stated == 0.0 {
            span.below(EXPONENT_SLACK)
        } else {
            span.between(MIN_GROWTH_EXPONENT, stated + EXPONENT_SLACK)
        };
        Ok(test.says(format!("{of} n^{}", number(span.middle, 2))))
    };
    SIZES.iter().zip(&claim.values).map(test).collect()
}

fn grows_slower(results: &Results, claim: &Claim) -> Tests {
    let ours = growth(results, "successors", &claim.about[0])?;
    let test = |method: &String| {
        let theirs = growth(results, "successors", method)?;
        let middle = theirs.middle - ours.middle;
        let gap = Span { low: theirs.low - ours.high, middle, high: theirs.high - ours.low, runs: 0 };
        let [one, other] = [ours, theirs].map(|span| number(span.middle, 2));
        Ok(gap
            .above(claim.limit)
            .says(format!("n^{one}; {} n^{other}", Method::from(method.as_str()).title())))
    };
    claim.about[1..].iter().map(test).collect()
}

fn step_cost(results: &Results, claim: &Claim) -> Tests {
    let mut tests = Vec::new();
    for method in &claim.about {
        for (task, of) in [("step_successors", "successors"), ("step_states", "states")] {
            let span = growth(results, task, method)?;
            let text =
                format!("{}: {of} n^{}", Method::from(method.as_str()).title(), number(span.middle, 2));
            tests.push(span.below(EXPONENT_SLACK).says(text));
        }
    }
    let [ours, theirs] =
        [&claim.about[0], &claim.about[1]].map(|name| time(results, &format!("table1/circle/{name}")));
    let times = number(ours?.over(theirs?).middle, 1);
    tests.push(Test::exact(true, format!("on the circle, the small backup takes {times} times as long")));
    Ok(tests)
}

/// The times of a cycle in the maze.
fn cycle_times(results: &Results, claim: &Claim) -> Result<Vec<(String, Span)>, String> {
    let named = |name: &String| {
        Ok((Method::from(name.as_str()).title(), time(results, &format!("table1/maze/{name}"))?))
    };
    claim.about.iter().map(named).collect()
}

fn same_cost(results: &Results, claim: &Claim) -> Tests {
    let times = cycle_times(results, claim)?;
    let list: Vec<String> =
        times.iter().map(|(name, time)| format!("{name} {} µs", number(time.middle, 3))).collect();
    let by_time = |one: &&(String, Span), other: &&(String, Span)| one.1.middle.total_cmp(&other.1.middle);
    let (least, most) = (times.iter().min_by(by_time), times.iter().max_by(by_time));
    let ratio = most.ok_or("no times")?.1.over(least.ok_or("no times")?.1);
    let text = format!(
        "{}; the slowest takes {} times as long as the fastest",
        list.join(", "),
        number(ratio.middle, 2)
    );
    Ok(vec![ratio.below(claim.limit).says(text)])
}

fn cheapest(results: &Results, claim: &Claim) -> Tests {
    let times = cycle_times(results, claim)?;
    let test = |(name, time): &(String, Span)| {
        let ratio = times[0].1.over(*time);
        ratio.below(claim.limit).says(format!("{} times the cost of {name}", number(ratio.middle, 2)))
    };
    Ok(times[1..].iter().map(test).collect())
}

/// The paper states no tolerance, so the claim must hold from the coarse one to the fine one.
fn cost_of_value_iteration(results: &Results, claim: &Claim, compare: fn(Span, f64) -> Test) -> Tests {
    let cycle = time(results, &format!("table1/maze/{}", claim.about[0]))?;
    let coarse = time(results, "table1/maze/value_iteration/0.001")?.over(cycle);
    let fine = time(results, "table1/maze/value_iteration/0.000001")?.over(cycle);
    let span =
        Span { low: coarse.low, middle: (coarse.middle * fine.middle).sqrt(), high: fine.high, runs: 0 };
    let [coarse, fine] = [coarse, fine].map(|span| number(span.middle, 0));
    let text = format!("{coarse} times if it stops at a change of 1e-3, {fine} times at 1e-6");
    let mut test = compare(span, claim.limit).says(text);
    test.reason = "the paper does not state the tolerance";
    Ok(vec![test])
}
