//! Queries on results: the summaries and timings that belong together, in the order of their x.

use crate::method::Method;
use crate::number::short;
use crate::result::{ExperimentInfo, Results, SettingKey, Summary, Timing};

/// The place of a setting on the x axis: its cycles, otherwise its parameter.
pub fn place(key: &SettingKey) -> Option<f64> {
    key.cycles.map(f64::from).or(key.parameter)
}

/// The settings of one curve, in order of increasing x.
pub fn curve<'a>(results: &'a Results, experiment: &str, task: &str, method: &Method) -> Vec<&'a Summary> {
    rising(&results.summaries, |summary| &summary.key, experiment, task, method)
}

/// The only setting of a method that has neither cycles nor a parameter.
pub fn level<'a>(results: &'a Results, experiment: &str, task: &str, method: &Method) -> Option<&'a Summary> {
    let mut found = results.summaries.iter().filter(|summary| is_of(&summary.key, experiment, task, method));
    found.find(|summary| place(&summary.key).is_none())
}

/// The timings of one curve, in order of increasing x.
pub fn times<'a>(results: &'a Results, experiment: &str, task: &str, method: &Method) -> Vec<&'a Timing> {
    rising(&results.timings, |timing| &timing.key, experiment, task, method)
}

/// The measured time of a setting.
pub fn time<'a>(results: &'a Results, key: &SettingKey) -> Option<&'a Timing> {
    results.timings.iter().find(|timing| timing.key == *key)
}

/// The records of one curve, in order of increasing x.
fn rising<'a, T>(
    records: &'a [T],
    key: fn(&T) -> &SettingKey,
    experiment: &str,
    task: &str,
    method: &Method,
) -> Vec<&'a T> {
    let is_point = |key: &SettingKey| is_of(key, experiment, task, method) && place(key).is_some();
    let mut found: Vec<&T> = records.iter().filter(|record| is_point(key(record))).collect();
    found.sort_by(|one, other| order(key(one)).total_cmp(&order(key(other))));
    found
}

/// The experiments that have results, in the order of the settings.
pub fn experiments(results: &Results) -> Vec<String> {
    distinct(results.summaries.iter().map(|summary| &summary.key.experiment))
}

/// The tasks of an experiment, in the order in which they first occur.
pub fn tasks(results: &Results, experiment: &str) -> Vec<String> {
    distinct(keys(results).filter(|key| key.experiment == experiment).map(|key| &key.task))
}

/// The methods of a task, the paper's own first.
pub fn methods(results: &Results, experiment: &str, task: &str) -> Vec<Method> {
    let of = keys(results).filter(|key| key.experiment == experiment && key.task == task);
    let mut methods = distinct(of.map(|key| &key.method));
    methods.sort_by_key(Method::rank);
    methods
}

/// The different items, in the order in which they first occur.
fn distinct<'a, T: Clone + PartialEq + 'a>(items: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for item in items {
        if !found.contains(item) {
            found.push(item.clone());
        }
    }
    found
}

/// Returns whether the runs of `experiment` have episodes.
pub fn has_episodes(results: &Results, experiment: &str) -> bool {
    results.rows.iter().any(|row| row.key.experiment == experiment && row.episodes > 0)
}

/// Returns whether any setting of `experiment` was timed.
pub fn is_timed(results: &Results, experiment: &str) -> bool {
    results.timings.iter().any(|timing| timing.key.experiment == experiment)
}

/// Returns whether anything of `experiment` was measured.
pub fn has(results: &Results, experiment: &str) -> bool {
    keys(results).any(|key| key.experiment == experiment)
}

/// The experiment and its settings.
pub fn info<'a>(results: &'a Results, experiment: &str) -> Option<&'a ExperimentInfo> {
    results.experiments.iter().find(|info| info.name == experiment)
}

/// The title of a task.
pub fn task_title(results: &Results, experiment: &str, task: &str) -> String {
    let known = info(results, experiment).and_then(|info| info.tasks.iter().find(|(name, _)| name == task));
    known.map_or_else(|| task.replace('_', " "), |(_, title)| title.clone())
}

/// The name of a setting for people: "Moore & Atkeson, 3 cycles", "TD(0), decaying step size, d = 0.60".
pub fn setting_title(key: &SettingKey) -> String {
    let place = match (key.cycles, key.parameter, key.method.name()) {
        (Some(1), ..) => ", 1 cycle".to_owned(),
        (Some(cycles), ..) => format!(", {cycles} cycles"),
        (None, Some(step_size), "td_constant") => format!(", α = {step_size:.2}"),
        (None, Some(decay), "td_decaying") => format!(", d = {decay:.2}"),
        (None, Some(visits), "r_max") => format!(", m = {visits}"),
        (None, Some(parameter), _) => format!(", {}", short(parameter)),
        (None, None, _) => String::new(),
    };
    key.method.title() + &place
}

/// The number of runs behind a figure of `experiment`, in words: "mean of 100 runs".
pub fn runs_text(results: &Results, experiments: &[&str]) -> String {
    let of =
        results.summaries.iter().filter(|summary| experiments.contains(&summary.key.experiment.as_str()));
    let (least, most) = of.fold((u32::MAX, 0), |(least, most), s| (least.min(s.runs), most.max(s.runs)));
    match (least, most) {
        (_, 0) => "no runs".to_string(),
        (_, 1) => "1 run".to_string(),
        (least, most) if least == most => format!("mean of {most} runs"),
        (least, most) => format!("mean of {least} to {most} runs"),
    }
}

/// The smallest and the largest score of the runs of a setting; `None` without rows.
pub fn range(results: &Results, key: &SettingKey) -> Option<(f64, f64)> {
    let scores = results.rows.iter().filter(|row| row.key == *key).map(|row| row.score);
    let scores = scores.filter(|score| score.is_finite());
    scores.fold(None, |range, score| match range {
        None => Some((score, score)),
        Some((low, high)) => Some((f64::min(low, score), f64::max(high, score))),
    })
}

fn keys(results: &Results) -> impl Iterator<Item = &SettingKey> {
    results.summaries.iter().map(|s| &s.key).chain(results.timings.iter().map(|t| &t.key))
}

fn is_of(key: &SettingKey, experiment: &str, task: &str, method: &Method) -> bool {
    key.experiment == experiment && key.task == task && key.method == *method
}

fn order(key: &SettingKey) -> f64 {
    place(key).unwrap_or(f64::NEG_INFINITY)
}
