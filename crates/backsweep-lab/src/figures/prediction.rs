//! Figure 1: TD(0) against one small backup per step, on the fixed instance and over many random ones.

use super::chart::{Axis, Chart, INK, LineStyle, Mark, Panel, Point, Series};
use super::palette::{level, look, published};
use crate::method::Method;
use crate::published::{PublishedError, TD, figure_1};
use crate::query;
use crate::result::Results;

const TASKS: [(u32, &str); 2] = [(1, "circle1"), (2, "circle2")];
const STEP_SIZES: &str = "constant step size α, or decay rate d";
const ERROR: &str = "RMS error / initial error";

/// Figure 1 as published, and below it the same curves relative to the small backup: their shapes.
pub fn fixed_instance(results: &Results) -> Chart {
    let levels = TASKS.map(|(number, task)| Panel {
        title: task_title(results, "fig1", task, number),
        x: step_sizes(),
        y: Axis::linear(ERROR).between(0.0, 1.06),
        series: curves(results, number, task, false),
    });
    let shapes = TASKS.map(|(number, task)| Panel {
        title: format!("Task {number}: shape, each curve over its own small backup"),
        x: step_sizes(),
        y: Axis::log("error / error of the small backup"),
        series: curves(results, number, task, true),
    });
    let runs = query::runs_text(results, &["fig1"]);
    let title =
        format!("Figure 1: evaluation on the circle, 10,000 transitions ({runs}, one fixed instance)");
    let mut chart = Chart::new("fig1", title, 2, levels.into_iter().chain(shapes).collect());
    chart.keys = vec![published_key()];
    chart
}

/// The same curves over random instances: the middle 80 % of them, with the published curve on it.
pub fn band(results: &Results) -> Chart {
    let mut panels = Vec::new();
    for (number, task) in TASKS {
        for (method, published) in &TD {
            let mut series = vec![small_backup_band(results, task)];
            let summaries = query::curve(results, "fig1_band", task, method);
            let (color, name) = (look(method).0, method.title());
            let band = summaries.iter().filter_map(|s| {
                Some(Point { x: query::place(&s.key)?, y: s.iqm, low: s.quantile_10, high: s.quantile_90 })
            });
            let points: Vec<Point> = band.collect();
            let range = summaries.iter().filter_map(|s| {
                let (low, high) = query::range(results, &s.key)?;
                Some(Point { x: query::place(&s.key)?, y: s.iqm, low, high })
            });
            series.push(Series::band("", color, range.collect()));
            series.push(Series::band("", color, points.clone()));
            let middle = points.iter().map(|point| Point::new(point.x, point.y)).collect();
            series.push(Series::curve(name, color, LineStyle::Solid, middle));
            series.extend(published_curve(number, method, published));
            series.extend(published_level(number));
            panels.push(Panel {
                title: format!("{}: {}", short_title(number), method.title()),
                x: step_sizes_of(method),
                y: Axis::log(ERROR),
                series,
            });
        }
    }
    let runs =
        query::runs_text(results, &["fig1_band"]).replace("mean of ", "").replace("runs", "random instances");
    let title = format!("Figure 1 over {runs}: interquartile mean, middle 80 % (dark) and range (light)");
    let mut chart = Chart::new("fig1-band", title, 2, panels);
    chart.keys = vec![
        published_key(),
        Series::band("Middle 80 % of instances (lighter: their range)", "#8c8c8c", Vec::new()),
    ];
    chart
}

fn curves(results: &Results, number: u32, task: &str, relative: bool) -> Vec<Series> {
    let small = query::level(results, "fig1", task, &Method::SMALL_BACKUP);
    let unit = if relative { small.map_or(f64::NAN, |small| small.mean) } else { 1.0 };
    let mut series = Vec::new();
    for (method, published) in &TD {
        let ours = query::curve(results, "fig1", task, method);
        let points =
            ours.iter().filter_map(|s| Some(Point::new(query::place(&s.key)?, s.mean / unit))).collect();
        series.push(Series::curve(method.title(), look(method).0, LineStyle::Solid, points));
        let divisor = move |point: &PublishedError| if relative { point.small_backup } else { 1.0 };
        series.extend(published_curve(number, method, move |p| published(p) / divisor(p)));
    }
    if let Some(small) = small {
        series.push(level(&Method::SMALL_BACKUP, LineStyle::Solid, Point::new(0.0, small.mean / unit)));
        if !relative {
            series.extend(published_level(number));
        }
    }
    series
}

/// The published curve: dashed, with a hollow mark at every fifth point.
fn published_curve(number: u32, method: &Method, value: impl Fn(&PublishedError) -> f64) -> [Series; 2] {
    let points: Vec<Point> = figure_1()
        .iter()
        .filter(|point| point.task == number)
        .map(|point| Point::new(point.parameter, value(point)))
        .collect();
    let some = points.iter().step_by(5).copied().collect();
    [Series::curve("", look(method).0, LineStyle::Dashed, points), published(method, some)]
}

/// The published level of the small backup.
fn published_level(number: u32) -> [Series; 2] {
    published_curve(number, &Method::SMALL_BACKUP, |point| point.small_backup)
}

fn small_backup_band(results: &Results, task: &str) -> Series {
    let point = query::level(results, "fig1_band", task, &Method::SMALL_BACKUP).map_or(
        Point::new(0.0, f64::NAN),
        |s| Point { x: 0.0, y: s.iqm, low: s.quantile_10, high: s.quantile_90 },
    );
    level(&Method::SMALL_BACKUP, LineStyle::Solid, point)
}

fn published_key() -> Series {
    Series::curve("Published (dashed, hollow)", INK, LineStyle::Dashed, Vec::new())
        .marked(Mark::Circle)
        .hollow()
}

fn step_sizes() -> Axis {
    Axis::linear(STEP_SIZES).between(-0.02, 1.02)
}

fn step_sizes_of(method: &Method) -> Axis {
    Axis::linear(if *method == Method::TD_CONSTANT { "constant step size α" } else { "decay rate d" })
        .between(-0.02, 1.02)
}

fn short_title(number: u32) -> String {
    format!("Task {number}")
}

fn task_title(results: &Results, experiment: &str, task: &str, number: u32) -> String {
    let known =
        query::info(results, experiment).is_some_and(|info| info.tasks.iter().any(|(name, _)| name == task));
    let name = known.then(|| format!(": {}", query::task_title(results, experiment, task)));
    short_title(number) + &name.unwrap_or_default()
}
