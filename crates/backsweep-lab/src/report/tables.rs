//! The tables of the report: fitted exponents, the summary of every setting, and the times.

use crate::figures::text::escape;
use crate::growth::{SIZES, exponent};
use crate::method::Method;
use crate::number::number;
use crate::published::published_for;
use crate::result::{Results, SettingKey, Summary, Timing};
use crate::{query, suite};
use std::fmt::Write;

/// A table that is being written. The heads of columns of numbers begin with `#`.
struct HtmlTable<'a> {
    page: &'a mut String,
    heads: &'a [&'a str],
}

impl<'a> HtmlTable<'a> {
    fn open(page: &'a mut String, heads: &'a [&'a str]) -> Self {
        let _ = write!(page, "<div class=\"wide\"><table>\n<tr>");
        for head in heads {
            let (class, head) = match head.strip_prefix('#') {
                Some(head) => (" class=\"number\"", head),
                None => ("", *head),
            };
            let _ = write!(page, "<th scope=\"col\"{class}>{}</th>", escape(head));
        }
        let _ = writeln!(page, "</tr>");
        Self { page, heads }
    }

    /// A heading across all columns.
    fn part(&mut self, title: &str) {
        let (columns, title) = (self.heads.len(), escape(title));
        let _ = writeln!(
            self.page,
            "<tr class=\"part\"><th colspan=\"{columns}\" scope=\"colgroup\">{title}</th></tr>"
        );
    }

    /// A row; its cells are HTML.
    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let _ = write!(self.page, "<tr>");
        for (head, cell) in self.heads.iter().zip(cells) {
            let class = if head.starts_with('#') { " class=\"number\"" } else { "" };
            let _ = write!(self.page, "<td{class}>{cell}</td>");
        }
        let _ = writeln!(self.page, "</tr>");
    }
}

/// Table 1: the fitted exponents next to those the paper states.
pub fn exponents(page: &mut String, results: &Results) {
    let mut methods: Vec<Method> =
        SIZES.iter().flat_map(|(task, _)| query::methods(results, "table1", task)).collect();
    methods.sort_by_key(Method::rank);
    methods.dedup();
    if methods.is_empty() {
        return;
    }
    let _ = writeln!(page, "<h3>Table 1: how the cost of an update cycle grows</h3>");
    let sizes = SIZES.map(|(_, label)| format!("#{label}"));
    let heads: Vec<&str> =
        ["method"].into_iter().chain(sizes.iter().map(String::as_str)).chain(["the paper"]).collect();
    let mut table = HtmlTable::open(page, &heads);
    for method in methods {
        let fitted = SIZES.map(|(task, _)| {
            let exponent = exponent(&query::times(results, "table1", task, &method));
            exponent.map_or("–".to_owned(), |exponent| format!("n<sup>{}</sup>", number(exponent, 2)))
        });
        let stated = stated(&method).to_owned();
        table.row([escape(&method.title())].into_iter().chain(fitted).chain([stated]));
    }
    let _ = writeln!(
        page,
        "</table></div>\n<p class=\"soft-text\">Exponents are fitted over the upper half of the sizes. The paper's |S| stands for the number of successors; Pre is the number of predecessor pairs.</p>"
    );
}

/// Suites of worlds: every agent in every world, with targets.
pub fn suites(page: &mut String, results: &Results) {
    let heads =
        ["agent", "#runs", "#mean", "#95 % interval", "#median", "#worst run", "#ceiling", "#mark", ""];
    for info in results.experiments.iter().filter(|info| !info.worlds.is_empty()) {
        let _ = writeln!(page, "<h3>{}</h3>", escape(&info.title));
        let mut table = HtmlTable::open(page, &heads);
        let mut part = String::new();
        for row in suite::rows(results, &info.name) {
            let title = format!("{} ({})", row.world, row.score);
            if title != part {
                table.part(&title);
                part = title;
            }
            let perhaps = |number: Option<f64>| number.map_or(String::new(), suite::short);
            let (mean, low, high) = row.mean;
            table.row([
                escape(&row.agent.title()),
                row.runs.to_string(),
                suite::short(mean),
                format!("{} to {}", suite::short(low), suite::short(high)),
                suite::short(row.median),
                suite::short(row.worst),
                perhaps(row.ceiling),
                perhaps(row.mark.map(|(mark, _)| mark)),
                row.mark.map_or("", |(_, reached)| if reached { "reached" } else { "missed" }).to_owned(),
            ]);
        }
        let _ = writeln!(page, "</table></div>");
    }
}

/// Every setting of every experiment, in collapsible sections; short tables are open.
pub fn summaries(page: &mut String, results: &Results) {
    for experiment in query::experiments(results) {
        let of: Vec<&Summary> = results.summaries.iter().filter(|s| s.key.experiment == experiment).collect();
        let name = query::info(results, &experiment).map(|info| info.title.clone()).unwrap_or_default();
        let open = if of.len() <= 80 { " open" } else { "" };
        // A column that would be empty is omitted.
        let place = if of.iter().any(|s| s.key.cycles.is_some()) { "#cycles" } else { "#parameter" };
        let both = place == "#cycles" && of.iter().any(|s| s.key.parameter.is_some());
        let with_published = of.iter().any(|summary| published_for(&summary.key).is_some());
        let mut heads = vec!["method", place];
        heads.extend(both.then_some("#parameter"));
        heads.extend(["#runs", "#mean", "#standard error", "#95 % interval", "#interquartile mean"]);
        heads.extend(["#standard deviation over runs", "#episodes truncated"]);
        heads.extend(with_published.then_some("#published"));
        let (title, settings) = (format!("{} ({}", escape(&name), escape(&experiment)), of.len());
        let _ = writeln!(page, "<details{open}><summary>{title}, {settings} settings)</summary>");
        let mut table = HtmlTable::open(page, &heads);
        for task in query::tasks(results, &experiment) {
            table.part(&query::task_title(results, &experiment, &task));
            for summary in of.iter().filter(|summary| summary.key.task == task) {
                table.row(summary_cells(summary, both));
            }
        }
        let _ = writeln!(page, "</table></div></details>");
    }
}

/// Every measured time.
pub fn timings(page: &mut String, results: &Results) {
    if results.timings.is_empty() {
        return;
    }
    let n = results.timings.len();
    let _ = writeln!(page, "<details><summary>Measured times ({n} settings)</summary>");
    let heads = ["experiment", "task", "method", "#cycles", "#parameter", "unit", "#time (µs)"];
    let heads = [&heads[..], &["#range (µs)", "#samples"]].concat();
    let mut table = HtmlTable::open(page, &heads);
    for Timing { key, unit, microseconds, low, high, samples } in &results.timings {
        let [cycles, parameter] = place_texts(key);
        table.row([
            escape(query::info(results, &key.experiment).map_or(&key.experiment, |info| &info.title)),
            escape(&query::task_title(results, &key.experiment, &key.task)),
            escape(&key.method.title()),
            cycles,
            parameter,
            unit.name().to_owned(),
            finite(*microseconds, 4),
            format!("{} to {}", finite(*low, 4), finite(*high, 4)),
            samples.to_string(),
        ]);
    }
    let _ = writeln!(page, "</table></div></details>");
}

/// The cells of a setting; the published number comes last, and is left out where there is no column for it.
fn summary_cells(summary: &Summary, both: bool) -> Vec<String> {
    let key = &summary.key;
    // Errors on the circle are a hundred times smaller than errors of returns.
    let digits = if summary.mean.abs() < 2.0 { 4 } else { 2 };
    let text = |value: f64| finite(value, digits);
    let [cycles, parameter] = place_texts(key);
    let mut cells = vec![escape(&key.method.title())];
    cells.extend(if both { vec![cycles, parameter] } else { vec![cycles + &parameter] });
    let interval = format!("{} to {}", text(summary.low), text(summary.high));
    cells.extend([summary.runs.to_string(), text(summary.mean), text(summary.standard_error), interval]);
    cells.extend([text(summary.iqm), text(summary.deviation), summary.capped.to_string()]);
    cells.push(published_for(key).map_or(String::new(), text));
    cells
}

/// The cycles and the parameter of a setting, empty if it has none.
fn place_texts(key: &SettingKey) -> [String; 2] {
    [key.cycles.map(|cycles| cycles.to_string()), key.parameter.map(|parameter| parameter.to_string())]
        .map(Option::unwrap_or_default)
}

fn finite(value: f64, digits: usize) -> String {
    if value.is_finite() { number(value, digits) } else { "–".to_string() }
}

/// The cost of an update cycle in the paper's Table 1.
fn stated(method: &Method) -> &'static str {
    match method.name() {
        "small_backups" => "O(|A|) + O(Pre)",
        "moore_atkeson" => "O(|S||A| + |A|) + O(Pre)",
        "peng_williams" => "O(|S| + |A|) + O(Pre)",
        "reversed_full_backups" => "O(Pre) (conference version)",
        "value_iteration" => "one sweep, for comparison",
        _ => "–",
    }
}
