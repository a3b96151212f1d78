//! A picture for any experiment: score against cycles, or against whatever number its settings differ in.

use super::chart::{Axis, Chart, Line, Panel, Series};
use super::palette::{look, title};
use super::pick;
use crate::result::Results;

/// One panel a task, one curve a method; methods without cycles are lines through the panel.
pub fn scores(results: &Results, experiment: &str) -> Option<Chart> {
    let mut panels = Vec::new();
    for task in pick::tasks(results, experiment) {
        let mut series = Vec::new();
        let mut places: Vec<f64> = Vec::new();
        let mut cycles = true;
        for method in pick::methods(results, experiment, &task) {
            let look = look(&method);
            if let Some(summary) = pick::level(results, experiment, &task, &method) {
                series.push(Series::level(
                    title(&method),
                    look.paint,
                    Line::Dashed,
                    pick::point(1.0, summary),
                ));
            }
            let summaries = pick::curve(results, experiment, &task, &method);
            cycles &= summaries.iter().all(|summary| summary.key.cycles.is_some());
            let points: Vec<_> =
                summaries.iter().filter_map(|s| Some(pick::point(pick::place(&s.key)?, s))).collect();
            places.extend(points.iter().map(|point| point.x));
            series.push(Series::curve(title(&method), look.paint, Line::Solid, points).marked(look.mark));
        }
        let x = axis(&mut places, cycles);
        let y = Axis::linear("mean score of an episode");
        panels.push(Panel { title: pick::task_title(results, experiment, &task), x, y, series });
    }
    let name =
        pick::info(results, experiment).map(|info| info.title.clone()).filter(|title| !title.is_empty());
    let runs = pick::runs_text(results, &[experiment]);
    let heading = format!("{} ({runs}, 95 % interval)", name.unwrap_or_else(|| experiment.to_string()));
    let columns = panels.len().min(3);
    (columns > 0).then(|| Chart::new(&file_name(experiment), heading, columns, panels))
}

/// Cycles get a logarithmic axis with a tick at each value in use; anything else a plain one.
fn axis(places: &mut Vec<f64>, cycles: bool) -> Axis {
    places.sort_by(f64::total_cmp);
    places.dedup();
    match (places.first(), places.last()) {
        (Some(first), Some(last)) if cycles && *first > 0.0 => {
            let axis = Axis::log("update cycles a step").between(first * 0.84, last * 1.19);
            if places.len() <= 12 { axis.ticked(places) } else { axis }
        }
        _ if cycles => Axis::linear("update cycles a step"),
        _ => Axis::linear("parameter"),
    }
}

/// An experiment's name as a file name: letters, digits, `-` and `_` only.
fn file_name(experiment: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let name: String = experiment.chars().map(safe).collect();
    if name.is_empty() { "experiment".to_string() } else { name }
}
