//! Pictures for any experiment: score against cycles, or against the number in which its settings differ; and
//! against time.

use super::chart::{Axis, Chart, LineStyle, Panel, Point, Series, SeriesShape};
use super::palette::{curve, level};
use crate::query;
use crate::result::{Results, Summary, Unit};

/// One panel per task, one curve per method; methods without cycles are lines through the panel.
pub fn scores(results: &Results, experiment: &str) -> Option<Chart> {
    let panel = |task: &str| {
        let mut places: Vec<f64> = Vec::new();
        let mut cycles = true;
        for method in query::methods(results, experiment, task) {
            let summaries = query::curve(results, experiment, task, &method);
            cycles &= summaries.iter().all(|summary| summary.key.cycles.is_some());
            places.extend(summaries.iter().filter_map(|summary| query::place(&summary.key)));
        }
        let x = axis(&mut places, cycles);
        // Methods are shifted a little, so that error bars at the same number of cycles do not overlap.
        let apart = if x.log { 0.02 } else { 0.0 };
        let series = curves(results, experiment, task, |summary, index| {
            Some(query::place(&summary.key)? * (1.0 + apart * index as f64))
        });
        Panel {
            title: query::task_title(results, experiment, task),
            x,
            y: score_axis(results, experiment),
            series,
        }
    };
    let panels = query::tasks(results, experiment).iter().map(|task| panel(task)).collect();
    chart(results, experiment, "", panels)
}

/// The same scores against the measured time of a step; `None` where nothing was timed.
pub fn against_time(results: &Results, experiment: &str) -> Option<Chart> {
    let time = |summary: &Summary| {
        let timing = query::time(results, &summary.key).filter(|timing| timing.unit == Unit::Step)?;
        (timing.microseconds > 0.0).then_some(timing.microseconds)
    };
    results
        .summaries
        .iter()
        .find(|s| s.key.experiment == experiment && s.key.cycles.is_some() && time(s).is_some())?;
    let panel = |task: &str| Panel {
        title: query::task_title(results, experiment, task),
        x: Axis::log("measured time per step (µs)"),
        y: score_axis(results, experiment),
        series: curves(results, experiment, task, |summary, _| time(summary)),
    };
    let panels = query::tasks(results, experiment).iter().map(|task| panel(task)).collect();
    chart(results, experiment, "-time", panels)
}

/// The panels of an experiment under its title; `None` if there are none.
pub fn chart(results: &Results, experiment: &str, suffix: &str, panels: Vec<Panel>) -> Option<Chart> {
    let name =
        query::info(results, experiment).map(|info| info.title.clone()).filter(|title| !title.is_empty());
    let runs = query::runs_text(results, &[experiment]);
    let heading = format!("{} ({runs}, 95 % interval)", name.unwrap_or_else(|| experiment.to_string()));
    let columns = panels.len().min(3);
    (columns > 0).then(|| Chart::new(&(file_name(experiment) + suffix), heading, columns, panels))
}

/// The curves of a task, with levels below them; `place` says where a setting of the method with that number lies.
fn curves(
    results: &Results,
    experiment: &str,
    task: &str,
    place: impl Fn(&Summary, usize) -> Option<f64>,
) -> Vec<Series> {
    let mut series = Vec::new();
    for (index, method) in query::methods(results, experiment, task).iter().enumerate() {
        if let Some(summary) = query::level(results, experiment, task, method) {
            let point = Point::of_summary(1.0, summary);
            series.push(level(method, LineStyle::Dashed, point));
        }
        let summaries = query::curve(results, experiment, task, method);
        let points = summaries.iter().filter_map(|s| Some(Point::of_summary(place(s, index)?, s))).collect();
        series.push(curve(method, points));
    }
    series.sort_by_key(|series| series.shape != SeriesShape::Level);
    series
}

fn score_axis(results: &Results, experiment: &str) -> Axis {
    let has_episodes = query::has_episodes(results, experiment);
    Axis::linear(if has_episodes { "mean discounted return" } else { "mean score" })
}

/// Cycles get a logarithmic axis with a tick at each value in use; anything else a plain one.
fn axis(places: &mut Vec<f64>, cycles: bool) -> Axis {
    places.sort_by(f64::total_cmp);
    places.dedup();
    match (places.first(), places.last()) {
        (Some(first), Some(last)) if cycles && *first > 0.0 => {
            let axis = Axis::log("update cycles per step").between(first * 0.84, last * 1.25);
            if places.len() <= 12 { axis.ticked(places) } else { axis }
        }
        _ if cycles => Axis::linear("update cycles per step"),
        _ => Axis::linear("parameter"),
    }
}

/// An experiment's name as a file name: letters, digits, `-` and `_` only.
pub fn file_name(experiment: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let name: String = experiment.chars().map(safe).collect();
    if name.is_empty() { "experiment".to_string() } else { name }
}
