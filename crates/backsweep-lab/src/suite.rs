//! The results of a suite of worlds: one line per world and agent, with its target.

use crate::method::Method;
use crate::query;
use crate::result::{Results, Row, Summary, WorldInfo};
use crate::statistics::quantile;

/// One agent in one world.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteRow {
    /// The world's title; for a family, with the member.
    pub world: String,
    /// The meaning of the score.
    pub score: String,
    /// The agent.
    pub agent: Method,
    /// Runs.
    pub runs: u32,
    /// The mean score with the ends of its 95 % interval.
    pub mean: (f64, f64, f64),
    /// The median of the runs.
    pub median: f64,
    /// The worst run.
    pub worst: f64,
    /// The expected score of an agent that knows the world.
    pub ceiling: Option<f64>,
    /// The score to reach, and whether it was: by the median where a score is a number of steps, else by the mean.
    pub mark: Option<(f64, bool)>,
}

/// The lines of an experiment, world by world. A family of worlds has a line with the share of its runs that reached their goal
/// (bsuite's score for DeepSea), and one for its last member.
pub fn rows(results: &Results, experiment: &str) -> Vec<SuiteRow> {
    let worlds = query::info(results, experiment).map_or(&[][..], |info| &info.worlds);
    let mut rows = Vec::new();
    for world in worlds {
        for agent in query::methods(results, experiment, &world.task) {
            let of = |s: &&Summary| {
                s.key.experiment == experiment && s.key.task == world.task && s.key.method == agent
            };
            let members: Vec<&Summary> = results.summaries.iter().filter(of).collect();
            let Some(last) = members.last() else { continue };
            let mut row = line(results, world, last);
            if let Some(size) = last.key.parameter {
                rows.push(solved(world, &members));
                row.world = format!("{}, N = {size}", world.title);
            }
            rows.push(row);
        }
    }
    rows
}

fn line(results: &Results, world: &WorldInfo, summary: &Summary) -> SuiteRow {
    let of = |row: &&Row| row.key == summary.key;
    let mut scores: Vec<f64> = results.rows.iter().filter(of).map(|row| row.score).collect();
    scores.sort_by(f64::total_cmp);
    let median = quantile(&scores, 0.5);
    let worst = if world.more_is_better { scores.first() } else { scores.last() };
    let typical = if world.by_median { median } else { summary.mean };
    let reaches = |mark: f64| if world.more_is_better { typical >= mark } else { typical <= mark };
    SuiteRow {
        world: world.title.clone(),
        score: world.score.clone(),
        agent: summary.key.method.clone(),
        runs: summary.runs,
        mean: (summary.mean, summary.low, summary.high),
        median,
        worst: worst.copied().unwrap_or(f64::NAN),
        ceiling: world.ceiling,
        mark: world.mark.map(|mark| (mark, reaches(mark))),
    }
}

/// The share of runs that reached their goal, over all members of a family.
fn solved(world: &WorldInfo, members: &[&Summary]) -> SuiteRow {
    let share = |s: &&Summary| 1.0 - s.capped as f64 / f64::from(s.runs);
    let shares: Vec<f64> = members.iter().map(share).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let worst = shares.iter().copied().fold(1.0, f64::min);
    SuiteRow {
        world: world.title.clone(),
        score: "share of runs solved".to_owned(),
        agent: members[0].key.method.clone(),
        runs: members.iter().map(|summary| summary.runs).sum(),
        mean: (mean, mean, mean),
        median: f64::NAN,
        worst,
        ceiling: Some(1.0),
        mark: Some((1.0, mean >= 1.0)),
    }
}

/// A number as tables print it: enough digits to compare, no more.
pub fn short(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "–".to_owned(),
        size if size >= 1e6 => format!("{:.3} M", number / 1e6),
        size if size >= 1000.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.3}"),
    }
}

/// The lines as text in columns.
pub fn table(rows: &[SuiteRow]) -> String {
    let head = ["world", "agent", "mean", "95 % interval", "median", "worst", "mark", ""].map(str::to_owned);
    let mut lines = vec![head];
    let mut world = "";
    for row in rows {
        let (mean, low, high) = row.mean;
        let interval =
            if low == high { String::new() } else { format!("{} … {}", short(low), short(high)) };
        let (mark, reached) = match row.mark {
            Some((mark, reached)) => (short(mark), if reached { "reached" } else { "missed" }),
            None => (String::new(), ""),
        };
        let title = if row.world == world { String::new() } else { format!("{} ({})", row.world, row.score) };
        world = if row.score.starts_with("share") { "" } else { &row.world };
        lines.push([
            title,
            row.agent.to_string(),
            short(mean),
            interval,
            short(row.median),
            short(row.worst),
            mark,
            reached.to_owned(),
        ]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..8).map(width).collect();
    let cell = |(i, text): (usize, &String)| {
        let width = widths[i];
        if (2..7).contains(&i) { format!("{text:>width$}") } else { format!("{text:<width$}") }
    };
    let text: Vec<String> = lines
        .iter()
        .map(|line| line.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned())
        .collect();
    text.join("\n")
}
