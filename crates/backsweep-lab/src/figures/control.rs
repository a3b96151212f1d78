//! Figure 3: score against update cycles and against time; and the choice of M.

use super::chart::{Axis, Chart, INK, LineStyle, Mark, Panel, Point, Series};
use super::palette::{curve, level, published};
use crate::method::Method;
use crate::published::scores;
use crate::query;
use crate::result::Results;

/// Experiment and task, with the task of the conference version that is laid over it.
const TASKS: [(&str, &str, u32); 3] =
    [("fig3", "fifteen", 2), ("fig3_icml", "four_80", 1), ("fig3_icml", "four_60", 1)];
const CYCLES: [f64; 4] = [1.0, 3.0, 5.0, 10.0];
/// The methods without update cycles.
const LEVELS: [Method; 2] = [Method::VALUE_ITERATION, Method::R_MAX];
const SCORE: &str = "mean discounted return";
/// The distance below the best score that the close view reaches.
const CLOSE_VIEW_HEIGHT: f64 = 3.5;

/// Score against update cycles per step: the whole range above, the best scores below.
pub fn against_cycles(results: &Results) -> Option<Chart> {
    let x = || Axis::log("update cycles per step").between(0.84, 13.0).ticked(&CYCLES);
    two_views(
        results,
        "fig3-cycles",
        "Figure 3: score against update cycles",
        x,
        |experiment, task, number| {
            let mut series = levels(results, experiment, task, number, 12.2);
            for (index, method) in planners(results, experiment, task).iter().enumerate() {
                // Methods are shifted a little, so that error bars at the same number of cycles do not overlap.
                let aside = 1.0 + 0.025 * (index as f64 - 2.0);
                let summaries = query::curve(results, experiment, task, method);
                let ours = summaries
                    .iter()
                    .filter_map(|s| Some(Point::of_summary(query::place(&s.key)? * aside, s)));
                let theirs = scores(number, method)
                    .filter_map(|point| Some(Point::new(f64::from(point.cycles?) * aside, point.score)));
                series.extend([curve(method, ours.collect()), published(method, theirs.collect())]);
            }
            series
        },
    )
}

/// Score against the measured time per step.
pub fn against_time(results: &Results) -> Option<Chart> {
    if !TASKS.iter().any(|(experiment, ..)| query::is_timed(results, experiment)) {
        return None;
    }
    let x = || Axis::log("measured time per step (µs)");
    two_views(results, "fig3-time", "Figure 3: score against measured time", x, |experiment, task, number| {
        let mut series = levels(results, experiment, task, number, f64::NAN);
        for method in planners(results, experiment, task) {
            let summaries = query::curve(results, experiment, task, &method);
            let ours = summaries.iter().filter_map(|summary| {
                Some(Point::of_summary(query::time(results, &summary.key)?.microseconds, summary))
            });
            let theirs = scores(number, &method)
                .filter_map(|point| Some(Point::new(point.microseconds?, point.score)));
            series.extend([curve(&method, ours.collect()), published(&method, theirs.collect())]);
        }
        series
    })
}

/// Score of value iteration against M, a panel for each task.
pub fn choice_of_m(results: &Results) -> Option<Chart> {
    let mut panels = Vec::new();
    for task in query::tasks(results, "choice_of_m") {
        let mut series = Vec::new();
        let mut ticks = Vec::new();
        for method in query::methods(results, "choice_of_m", &task) {
            let summaries = query::curve(results, "choice_of_m", &task, &method);
            let points: Vec<Point> =
                summaries.iter().filter_map(|s| Some(Point::of_summary(query::place(&s.key)?, s))).collect();
            ticks.extend(points.iter().map(|point| point.x));
            let best = points.iter().copied().max_by(|one, other| one.y.total_cmp(&other.y));
            series.push(curve(&method, points));
            let best = best.map(|best| Point::new(best.x, best.y)).into_iter().collect();
            series.push(Series::marks("Best M measured", "#0072b2", Mark::Circle, best).hollow());
        }
        let heights = series.iter().flat_map(|s| s.points()).flat_map(|point| [point.low, point.high]);
        let (low, high) =
            heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        let chosen = vec![Point::new(4.0, low), Point::new(4.0, high)];
        series.insert(0, Series::curve("The paper's choice, M = 4", "#d55e00", LineStyle::Dashed, chosen));
        panels.push(Panel {
            title: query::task_title(results, "choice_of_m", &task),
            x: Axis::linear("M: visits below which a pair is treated as worth 0").ticked(&ticks),
            y: Axis::linear(SCORE),
            series,
        });
    }
    let runs = query::runs_text(results, &["choice_of_m"]);
    let columns = panels.len().min(3);
    let title = format!("The choice of M ({runs}, 95 % interval)");
    (!panels.is_empty()).then(|| Chart::new("choice-of-m", title, columns, panels))
}

/// The panels of all measured tasks: a row with the whole range, and one with the best scores.
fn two_views(
    results: &Results,
    id: &str,
    title: &str,
    x: impl Fn() -> Axis,
    series: impl Fn(&str, &str, u32) -> Vec<Series>,
) -> Option<Chart> {
    let measured =
        |experiment: &str, task: &str| query::tasks(results, experiment).iter().any(|name| name == task);
    let tasks: Vec<_> =
        TASKS.into_iter().filter(|(experiment, task, _)| measured(experiment, task)).collect();
    let mut whole = Vec::new();
    let mut close = Vec::new();
    for (experiment, task, number) in &tasks {
        let title = query::task_title(results, experiment, task);
        let series = series(experiment, task, *number);
        let best =
            series.iter().flat_map(|s| s.points()).map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
        let mut y = Axis::linear(SCORE);
        whole.push(Panel { title: title.clone(), x: x(), y: y.clone(), series: series.clone() });
        y.range = best.is_finite().then_some((best - CLOSE_VIEW_HEIGHT, best + 0.5));
        close.push(Panel { title: format!("{title}: the best scores"), x: x(), y, series });
    }
    let columns = tasks.len();
    let runs = query::runs_text(results, &["fig3", "fig3_icml"]);
    let mut chart = Chart::new(id, format!("{title} ({runs}, 95 % interval)"), columns, whole);
    chart.panels.extend(close);
    let key = Series::marks("Published (hollow)", INK, Mark::Circle, Vec::new()).hollow();
    chart.keys = vec![key];
    (columns > 0).then_some(chart)
}

/// The methods without cycles as lines through the panel; their published score as a hollow mark at `sign_x`.
fn levels(results: &Results, experiment: &str, task: &str, number: u32, sign_x: f64) -> Vec<Series> {
    let mut series = Vec::new();
    for method in &LEVELS {
        if let Some(summary) = query::level(results, experiment, task, method) {
            let point = Point::of_summary(1.0, summary);
            series.push(level(method, LineStyle::Dashed, point));
        }
        let signs = scores(number, method).map(|point| Point::new(sign_x, point.score)).collect();
        series.push(published(method, signs));
    }
    series
}

fn planners(results: &Results, experiment: &str, task: &str) -> Vec<Method> {
    let mut methods = query::methods(results, experiment, task);
    methods.retain(|method| !LEVELS.contains(method));
    methods
}
