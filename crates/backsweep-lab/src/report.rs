//! The report: one HTML file that opens from disk and needs nothing else. Pictures and styles are inside, there are no
//! scripts, and a content security policy forbids the browser from fetching anything. All text is escaped.

mod tables;
#[cfg(test)]
mod tests;

use crate::figures::Figure;
use crate::figures::text::escape;
use crate::result::Results;
use crate::verdict::{Verdict, any_decided, count};
use std::fmt::Write;

const STYLE: &str = include_str!("report/style.css");

/// The page. `facts` are extra lines on how it was made, such as peak memory, time and the command.
pub fn html(
    results: &Results,
    figures: &[Figure],
    verdicts: &[Verdict],
    facts: &[(String, String)],
) -> String {
    // A user's own experiment says nothing about the paper, so a list of claims not measured would only be in the way.
    let judged = any_decided(verdicts);
    let title = title(results, judged);
    let mut page = String::new();
    head(&mut page, &title, results, judged, verdicts);
    if judged {
        verdict_table(&mut page, verdicts);
    }
    pictures(&mut page, figures);
    let _ = writeln!(page, "<h2 id=\"tables\">Tables</h2>");
    tables::exponents(&mut page, results);
    tables::suites(&mut page, results);
    tables::summaries(&mut page, results);
    tables::timings(&mut page, results);
    settings(&mut page, results, facts);
    let _ = writeln!(
        page,
        "</main>\n<footer>Made by Backsweep {} from its result files; the same files give the same page.</footer>\n</body>\n</html>",
        escape(&results.version)
    );
    page
}

fn title(results: &Results, judged: bool) -> String {
    match results.experiments.as_slice() {
        _ if judged => {
            "Planning by Prioritized Sweeping with Small Backups: the experiments reproduced".to_string()
        }
        [only] if !only.title.is_empty() => only.title.clone(),
        _ => "Backsweep: results".to_string(),
    }
}

fn head(page: &mut String, title: &str, results: &Results, judged: bool, verdicts: &[Verdict]) {
    let title = escape(title);
    let (version, seed) = (escape(&results.version), results.seed);
    let _ = writeln!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>"
    );
    if judged {
        let _ = writeln!(
            page,
            "<p class=\"lead\">Every figure and table of van Seijen &amp; Sutton (2013), measured again and overlaid with the \
             published numbers. Backsweep {version}, seed {seed}.</p>"
        );
        let [holds, fails, open] = count(verdicts);
        let _ = writeln!(
            page,
            "<ul class=\"counts\"><li class=\"holds\">{holds} claims hold</li>\
             <li class=\"does-not-hold\">{fails} do not hold</li><li class=\"not-measured\">{open} not measured</li></ul>"
        );
    } else {
        let _ = writeln!(page, "<p class=\"lead\">Backsweep {version}, seed {seed}.</p>");
    }
    let verdict = if judged { "<a href=\"#verdict\">Verdict</a> " } else { "" };
    let _ = writeln!(
        page,
        "<nav>{verdict}<a href=\"#figures\">Figures</a> <a href=\"#tables\">Tables</a> <a href=\"#settings\">Settings</a></nav>\n</header>\n<main>"
    );
}

fn verdict_table(page: &mut String, verdicts: &[Verdict]) {
    let _ = writeln!(
        page,
        "<h2 id=\"verdict\">Verdict</h2>\n<p>Noise is taken into account: a claim that two things are equal fails only where they \
         differ by more than standard errors explain; a claim that they differ holds only where the difference exceeds the noise, \
         and counts as not measured where noise hides it. ± is one standard error.</p>\n<div class=\"wide\"><table>\n\
         <tr><th scope=\"col\">verdict</th><th scope=\"col\">claim</th><th scope=\"col\">numbers</th></tr>"
    );
    let mut part = "";
    for verdict in verdicts {
        if verdict.part != part {
            part = verdict.part;
            let _ = writeln!(
                page,
                "<tr class=\"part\"><th colspan=\"3\" scope=\"colgroup\">{}</th></tr>",
                escape(part)
            );
        }
        let class = verdict.finding.words().replace(' ', "-");
        let _ = writeln!(
            page,
            "<tr id=\"claim-{}\"><td><span class=\"badge {class}\">{}</span></td><td>{} <span class=\"place\">({})</span></td><td class=\"figures\">{}</td></tr>",
            escape(&verdict.id),
            verdict.finding.words(),
            escape(verdict.claim),
            escape(verdict.place),
            escape(&verdict.numbers)
        );
    }
    let _ = writeln!(page, "</table></div>");
}

fn pictures(page: &mut String, figures: &[Figure]) {
    let _ = writeln!(page, "<h2 id=\"figures\">Figures</h2>");
    if figures.is_empty() {
        let _ = writeln!(page, "<p class=\"soft-text\">Nothing was measured that could be drawn.</p>");
    }
    for figure in figures {
        let names =
            figure.files.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let names = names.map(|name| escape(&name)).collect::<Vec<_>>().join(", ");
        let files = if names.is_empty() { String::new() } else { format!(" Files: {names}.") };
        let (svg, caption) = (&figure.svg, escape(&figure.caption));
        let _ = writeln!(page, "<figure>\n{svg}<figcaption>{caption}{files}</figcaption>\n</figure>");
    }
}

fn settings(page: &mut String, results: &Results, facts: &[(String, String)]) {
    let _ = writeln!(page, "<h2 id=\"settings\">Settings</h2>\n<div class=\"wide\"><table>");
    let own =
        [("Backsweep".to_string(), results.version.clone()), ("seed".to_string(), results.seed.to_string())];
    for (name, value) in own.iter().chain(facts) {
        let _ = writeln!(page, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(value));
    }
    let _ = writeln!(page, "</table></div>");
    for experiment in &results.experiments {
        let (name, title, runs) = (escape(&experiment.name), escape(&experiment.title), experiment.runs);
        let runs = if runs == 1 { "1 run".to_string() } else { format!("{runs} runs") };
        // Line breaks must survive, so the text is escaped line by line.
        let text: Vec<String> = experiment.text.lines().map(escape).collect();
        let text = text.join("\n");
        let _ = writeln!(
            page,
            "<details><summary>{name}: {title}, {runs} per setting</summary>\n<pre>{text}</pre>\n</details>"
        );
    }
}
