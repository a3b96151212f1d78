//! The report: one HTML file that opens from disk and needs nothing else. A content security policy forbids the browser from
//! fetching anything; its one script only shows embedded data. All text is escaped.

mod decisions;
mod evidence;
mod tables;

use crate::conclusion::CAVEAT;
use crate::evaluation::{decimals, figure};
use crate::learned::Learned;
use crate::states::{RewardRange, refused};
use backsweep_log::Counts;
use serde_json::{Value, json};
use std::fmt::Write;

const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/what_if.js");

/// The number of states in the tables, and of those offered under "what if": the most visited ones.
const MAX_ROWS: usize = 100;
const MAX_WHAT_IF: usize = 2000;

/// Text that cannot be taken for markup.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The page. `how` has lines on how the log was read and the page was made.
pub fn html(counts: &Counts, learned: &Learned, how: &[(String, String)]) -> String {
    let mut page = String::new();
    head(&mut page, learned);
    let range = RewardRange::new(counts);
    decisions::decisions(&mut page, counts, learned, &range);
    tables::refused(&mut page, counts, learned, &refused(&learned.fit, &learned.settings), MAX_ROWS);
    what_if(&mut page, counts, learned, &range);
    tables::worth(&mut page, learned);
    evidence::estimates(&mut page, learned);
    evidence::uses(&mut page, how);
    evidence::cohorts(&mut page, learned);
    evidence::weights(&mut page, learned);
    evidence::positivity(&mut page, counts, learned, MAX_ROWS);
    tables::calibration(&mut page, learned);
    evidence::drift(&mut page, learned);
    tables::settings(&mut page, counts, learned, how);
    let _ = writeln!(
        page,
        "</main>\n<footer>Made by Backsweep {}; the same log and settings give the same page.</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    );
    page
}

fn head(page: &mut String, learned: &Learned) {
    let e = &learned.evaluation;
    let _ = writeln!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>A policy from a log</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>A policy from a log</h1>"
    );
    let class = learned.conclusion.finding.words().replace(' ', "-");
    let _ = writeln!(page, "<p class=\"finding {class}\">{}</p>", escape(&learned.conclusion.words()));
    let _ = writeln!(page, "<p class=\"headline\">{}</p>", escape(&learned.conclusion.headline));
    for reason in &learned.conclusion.reasons {
        let _ = writeln!(page, "<p>{}</p>", escape(reason));
    }
    let _ = writeln!(page, "<p class=\"caveat\">{}</p>", escape(CAVEAT));
    let has_number = learned.conclusion.finding.has_number();
    let gain = e.marginal.filter(|_| has_number).map(|found| ("gain per case", found.gain.to_string()));
    let cards = [
        (
            "logged return, held out",
            e.logged.map_or_else(|| "not known".to_owned(), |logged| logged.to_string()),
        ),
        ("effective held-out cases", format!("{} of {}", decimals(e.effective_cases, 1), e.n_cases[1])),
        ("visits with support", crate::conclusion::percent(e.supported)),
        ("decisions changed", crate::conclusion::percent(e.changed)),
    ];
    let _ = writeln!(page, "<ul class=\"cards\">");
    for (name, number) in gain.into_iter().chain(cards) {
        let _ = writeln!(page, "<li><b>{}</b><span>{}</span></li>", escape(&number), escape(name));
    }
    let _ = writeln!(
        page,
        "</ul>\n<nav><a href=\"#states\">Decisions</a> <a href=\"#refused\">Undecided</a> <a href=\"#what-if\">What if</a> \
         <a href=\"#worth\">Estimates</a> <a href=\"#weights\">Weights</a> <a href=\"#positivity\">Positivity</a> \
         <a href=\"#calibration\">Calibration</a> <a href=\"#drift\">Time</a> <a href=\"#how\">How</a></nav>\n</header>\n<main>"
    );
}

/// The data of the states with the most visits, and a form that shows one of them.
fn what_if(page: &mut String, counts: &Counts, learned: &Learned, range: &RewardRange) {
    let fit = &learned.fit;
    let mut rows: Vec<_> = learned.states.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.visits), row.state));
    let n_states = rows.len();
    rows.truncate(MAX_WHAT_IF);
    let visits = fit.supported.evaluated.visits(&fit.model, learned.settings.discount);
    let number = |x: f64| if x.is_finite() { json!(figure(x)) } else { Value::Null };
    let states: Vec<Value> = rows
        .iter()
        .map(|row| {
            let pair = |pair: usize| {
                let found = range.estimate(fit, learned.settings.discount, pair);
                let change = visits[row.state as usize] * (fit.q[pair] - row.value);
                json!([
                    counts.actions[fit.model.actions[pair] as usize],
                    fit.model.n[pair],
                    decimals(fit.logged.probabilities[pair] * 100.0, 1),
                    decimals(fit.supported.probabilities[pair] * 100.0, 1),
                    number(found.value),
                    number(found.low),
                    number(found.high),
                    number(change),
                ])
            };
            let pairs: Vec<Value> = fit.model.pairs_of(row.state as usize).map(pair).collect();
            json!([counts.states[row.state as usize], row.visits, figure(row.value), pairs])
        })
        .collect();
    let data = json!({"minimum": learned.settings.min_count, "states": states});
    // In a script only the sequence "</" could end the element; JSON has another way to write it.
    let data = data.to_string().replace('<', "\\u003c");
    let shown = if n_states > rows.len() {
        format!(" Available for the {} most visited of {n_states} states.", rows.len())
    } else {
        String::new()
    };
    let _ = writeln!(
        page,
        "<h2 id=\"what-if\">What if</h2>\n<p>If another action were taken in one state, and the policy followed everywhere else. \
         The last column is the change per case, in the fitted model, if the action were taken once per visit.{shown}</p>\n\
         <p><label>State <input id=\"ask\" list=\"names\" autocomplete=\"off\"></label><datalist id=\"names\"></datalist></p>\n\
         <div class=\"wide\" id=\"answer\" tabindex=\"0\"></div>\n<noscript><p>This part needs JavaScript; the rest of the page does not.</p></noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>"
    );
}
