//! The tables of the report: fitted exponents, the summary of every setting, and the times.

use crate::figures::text::escape;
use crate::growth::{SIZES, exponent};
use crate::method::Method;
use crate::number::number;
use crate::published::published_for;
use crate::result::{Results, SettingKey, Summary, Timing};
use crate::{query, suite};
use std::fmt::Write;

/// Table 1: the fitted exponents next to those the paper states.
pub fn exponents(page: &mut String, results: &Results) {
    let mut methods: Vec<Method> =
        SIZES.iter().flat_map(|(task, _)| query::methods(results, "table1", task)).collect();
    methods.sort_by_key(Method::rank);
    methods.dedup();
    if methods.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<h3>Table 1: how the cost of an update cycle grows</h3>\n<div class=\"wide\"><table>\n<tr><th scope=\"col\">method</th>"
    );
    for (_, label) in SIZES {
        let _ = write!(page, "<th scope=\"col\" class=\"number\">{}</th>", escape(label));
    }
    let _ = writeln!(page, "<th scope=\"col\">the paper</th></tr>");
    for method in methods {
        let _ = write!(page, "<tr><td>{}</td>", escape(&method.title()));
        for (task, _) in SIZES {
            let fitted = exponent(&query::times(results, "table1", task, &method));
            let cell =
                fitted.map_or("–".to_string(), |exponent| format!("n<sup>{}</sup>", number(exponent, 2)));
            let _ = write!(page, "<td class=\"number\">{cell}</td>");
        }
        let _ = writeln!(page, "<td>{}</td></tr>", stated(&method));
    }
    let _ = writeln!(
        page,
        "</table></div>\n<p class=\"soft-text\">Exponents are fitted over the upper half of the sizes. The paper's |S| stands for the number of successors; Pre is the number of predecessor pairs.</p>"
    );
}

/// Suites of worlds: every agent in every world, with targets.
pub fn suites(page: &mut String, results: &Results) {
    for info in results.experiments.iter().filter(|info| !info.worlds.is_empty()) {
        let _ = writeln!(
            page,
            "<h3>{}</h3>\n<div class=\"wide\"><table>\n<tr><th scope=\"col\">agent</th><th scope=\"col\" class=\"number\">runs</th>\
             <th scope=\"col\" class=\"number\">mean</th><th scope=\"col\" class=\"number\">95 % interval</th>\
             <th scope=\"col\" class=\"number\">median</th><th scope=\"col\" class=\"number\">worst run</th>\
             <th scope=\"col\" class=\"number\">ceiling</th><th scope=\"col\" class=\"number\">mark</th><th scope=\"col\"></th></tr>",
            escape(&info.title)
        );
        let mut part = String::new();
        for row in suite::rows(results, &info.name) {
            let title = format!("{} ({})", row.world, row.score);
            if title != part {
                let _ = writeln!(
                    page,
                    "<tr class=\"part\"><th colspan=\"9\" scope=\"colgroup\">{}</th></tr>",
                    escape(&title)
                );
                part = title;
            }
            let perhaps = |number: Option<f64>| number.map_or(String::new(), suite::short);
            let (mean, low, high) = row.mean;
            let reached = row.mark.map_or("", |(_, reached)| if reached { "reached" } else { "missed" });
            let numbers = [
                row.runs.to_string(),
                suite::short(mean),
                format!("{} to {}", suite::short(low), suite::short(high)),
                suite::short(row.median),
                suite::short(row.worst),
                perhaps(row.ceiling),
                perhaps(row.mark.map(|(mark, _)| mark)),
            ];
            let _ = write!(page, "<tr><td>{}</td>", escape(&row.agent.title()));
            for number in numbers {
                let _ = write!(page, "<td class=\"number\">{number}</td>");
            }
            let _ = writeln!(page, "<td>{reached}</td></tr>");
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
        let place = if of.iter().any(|s| s.key.cycles.is_some()) { "cycles" } else { "parameter" };
        let both = place == "cycles" && of.iter().any(|s| s.key.parameter.is_some());
        let with_published = of.iter().any(|summary| published_for(&summary.key).is_some());
        let mut heads = vec![place];
        heads.extend(both.then_some("parameter"));
        heads.extend(["runs", "mean", "standard error", "95 % interval", "interquartile mean"]);
        heads.extend(["standard deviation over runs", "episodes truncated"]);
        heads.extend(with_published.then_some("published"));
        let columns = heads.len() + 1;
        let (experiment, name) = (escape(&experiment), escape(&name));
        let settings = of.len();
        let _ = write!(
            page,
            "<details{open}><summary>{name} ({experiment}, {settings} settings)</summary>\n<div class=\"wide\"><table>\n<tr><th scope=\"col\">method</th>"
        );
        for head in heads {
            let _ = write!(page, "<th scope=\"col\" class=\"number\">{head}</th>");
        }
        let _ = writeln!(page, "</tr>");
        for task in query::tasks(results, &of[0].key.experiment) {
            let title = escape(&query::task_title(results, &of[0].key.experiment, &task));
            let _ = writeln!(
                page,
                "<tr class=\"part\"><th colspan=\"{columns}\" scope=\"colgroup\">{title}</th></tr>"
            );
            for summary in of.iter().filter(|summary| summary.key.task == task) {
                summary_row(page, summary, both, with_published);
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
    let _ = writeln!(
        page,
        "<details><summary>Measured times ({} settings)</summary>\n<div class=\"wide\"><table>\n<tr><th scope=\"col\">experiment</th>\
         <th scope=\"col\">task</th><th scope=\"col\">method</th><th scope=\"col\" class=\"number\">cycles</th>\
         <th scope=\"col\" class=\"number\">parameter</th><th scope=\"col\">unit</th><th scope=\"col\" class=\"number\">time (µs)</th>\
         <th scope=\"col\" class=\"number\">range (µs)</th><th scope=\"col\" class=\"number\">samples</th></tr>",
        results.timings.len()
    );
    for timing in &results.timings {
        let Timing { key, unit, microseconds, low, high, samples } = timing;
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td>{}<td>{}</td><td class=\"number\">{}</td><td class=\"number\">{} to {}</td><td class=\"number\">{samples}</td></tr>",
            escape(query::info(results, &key.experiment).map_or(&key.experiment, |info| &info.title)),
            escape(&query::task_title(results, &key.experiment, &key.task)),
            escape(&key.method.title()),
            place_cells(key),
            unit.name(),
            finite(*microseconds, 4),
            finite(*low, 4),
            finite(*high, 4),
        );
    }
    let _ = writeln!(page, "</table></div></details>");
}

fn summary_row(page: &mut String, summary: &Summary, both: bool, with_published: bool) {
    let key = &summary.key;
    // Errors on the circle are a hundred times smaller than errors of returns.
    let digits = if summary.mean.abs() < 2.0 { 4 } else { 2 };
    let text = |value: f64| finite(value, digits);
    let cycles = key.cycles.map(|cycles| cycles.to_string());
    let parameter = key.parameter.map(|parameter| parameter.to_string());
    let mut cells = if both {
        vec![cycles.unwrap_or_default(), parameter.unwrap_or_default()]
    } else {
        vec![cycles.or(parameter).unwrap_or_default()]
    };
    let interval = format!("{} to {}", text(summary.low), text(summary.high));
    cells.extend([summary.runs.to_string(), text(summary.mean), text(summary.standard_error), interval]);
    cells.extend([text(summary.iqm), text(summary.deviation), summary.capped.to_string()]);
    if with_published {
        cells.push(published_for(key).map_or(String::new(), text));
    }
    let _ = write!(page, "<tr><td>{}</td>", escape(&key.method.title()));
    for cell in cells {
        let _ = write!(page, "<td class=\"number\">{cell}</td>");
    }
    let _ = writeln!(page, "</tr>");
}

/// The cells of cycles and parameter.
fn place_cells(key: &SettingKey) -> String {
    let cycles = key.cycles.map(|cycles| cycles.to_string()).unwrap_or_default();
    let parameter = key.parameter.map(|parameter| parameter.to_string()).unwrap_or_default();
    format!("<td class=\"number\">{cycles}</td><td class=\"number\">{parameter}</td>")
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
