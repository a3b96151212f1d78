//! The report: one HTML file that opens from disk and needs nothing else. Pictures and styles are inside, there are no
//! scripts, and a content security policy forbids the browser from fetching anything. All text is escaped.

mod tables;

use crate::figures::Figure;
use crate::figures::text::escape;
use crate::result::Results;
use crate::verdict::{ClaimList, Finding, Verdict, any_decided, banner, count, counts};
use std::fmt::Write;

const STYLE: &str = include_str!("report/style.css");

/// The page. `facts` are lines on how it was made, such as the date, the machine, time and the command.
pub fn html(
    results: &Results,
    figures: &[Figure],
    verdicts: &[Verdict],
    facts: &[(String, String)],
) -> String {
    // A user's own experiment says nothing about the paper, so a list of undecided claims would only be in the way.
    let judged = any_decided(verdicts);
    let title = title(results, judged);
    let mut page = String::new();
    head(&mut page, &title, judged);
    if judged {
        summary(&mut page, results, verdicts);
    }
    about(&mut page, results, facts, judged);
    pictures(&mut page, figures);
    if judged {
        verdict_tables(&mut page, verdicts);
    }
    let _ = writeln!(page, "<h2 id=\"tables\">Tables</h2>");
    tables::exponents(&mut page, results);
    tables::suites(&mut page, results);
    tables::summaries(&mut page, results);
    tables::timings(&mut page, results);
    settings(&mut page, results);
    let _ = writeln!(
        page,
        "</main>\n<footer>Made by Backsweep {} from its result files.</footer>\n</body>\n</html>",
        escape(&results.version)
    );
    page
}

fn title(results: &Results, judged: bool) -> String {
    match results.experiments.as_slice() {
        _ if judged && banner(results).is_some() => {
            "Prioritized sweeping with small backups: a quick look".to_string()
        }
        _ if judged => "Prioritized sweeping with small backups: the experiments reproduced".to_string(),
        [only] if !only.title.is_empty() => only.title.clone(),
        _ => "Backsweep: results".to_string(),
    }
}

fn head(page: &mut String, title: &str, judged: bool) {
    let title = escape(title);
    let verdict = if judged { " <a href=\"#verdict\">Verdict</a>" } else { "" };
    let _ = writeln!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <nav><a href=\"#about\">How it was made</a> <a href=\"#figures\">Figures</a>{verdict} \
         <a href=\"#tables\">Tables</a> <a href=\"#settings\">Settings</a></nav>\n</header>\n<main>"
    );
}

/// The experiments, the number of runs and the findings.
fn summary(page: &mut String, results: &Results, verdicts: &[Verdict]) {
    if let Some(banner) = banner(results) {
        let _ = writeln!(
            page,
            "<p class=\"banner\"><strong>A quick look, not a reproduction.</strong> {} Do not quote it; \
             <code>backsweep reproduce</code> makes the full report.</p>",
            escape(&banner)
        );
    }
    let runs: Vec<String> = results
        .experiments
        .iter()
        .filter(|info| info.runs > 1)
        .map(|info| format!("{} ({} runs per point)", escape(&info.title), info.runs))
        .collect();
    let _ = writeln!(
        page,
        "<p class=\"abstract\">This report repeats the experiments of van Seijen &amp; Sutton, <cite>Planning by Prioritized \
         Sweeping with Small Backups</cite> (2013), and of its conference version, with seed {}, and lays the published numbers \
         over the results: {}; and the cost of an update cycle. The published circle is not known; the one drawn in Figure 1 \
         was chosen because its curves come close to the published ones, so its claims are judged on random circles too.</p>",
        results.seed,
        runs.join(", ")
    );
    let _ = writeln!(page, "<ul class=\"counts\">");
    for list in ClaimList::ALL {
        let of = count(verdicts, list).iter().sum::<usize>();
        let counts = escape(&counts(verdicts, list));
        let _ = writeln!(
            page,
            "<li><strong>{} {}</strong> {counts}</li>",
            of,
            escape(&list.title().to_lowercase())
        );
    }
    let _ = writeln!(page, "</ul>");
    let failed: Vec<String> = verdicts
        .iter()
        .filter(|verdict| verdict.finding == Finding::DoesNotHold)
        .map(|v| format!("<li><a href=\"#claim-{}\">{}</a></li>", escape(v.id), escape(&v.claim)))
        .collect();
    if !failed.is_empty() {
        let _ =
            writeln!(page, "<p>What does not hold, explained below:</p>\n<ul>\n{}\n</ul>", failed.join("\n"));
    }
}

/// The origin of the report, and its citation.
fn about(page: &mut String, results: &Results, facts: &[(String, String)], judged: bool) {
    let _ = writeln!(page, "<h2 id=\"about\">How it was made</h2>\n<table class=\"facts\">");
    let own = [("Backsweep", results.version.clone()), ("seed", results.seed.to_string())];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    let mut cite = Vec::new();
    if judged {
        cite.push((
            "the paper".to_owned(),
            "H. van Seijen and R. S. Sutton (2013): Planning by Prioritized Sweeping with Small Backups. Conference version: \
             Efficient Planning in MDPs by Small Backups, ICML 2013."
                .to_owned(),
        ));
        let date = facts
            .iter()
            .find(|(name, _)| name == "date")
            .map_or(String::new(), |(_, date)| format!(", {date}"));
        let kind = if banner(results).is_some() {
            "not to be cited: a quick look"
        } else {
            "report of backsweep reproduce"
        };
        cite.push((
            "this report".to_owned(),
            format!("Backsweep {}, {kind}, seed {}{date}.", results.version, results.seed),
        ));
    }
    for (name, value) in own.chain(facts.iter().cloned()).chain(cite) {
        let _ =
            writeln!(page, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(&name), escape(&value));
    }
    let _ = writeln!(page, "</table>");
}

fn verdict_tables(page: &mut String, verdicts: &[Verdict]) {
    let _ = writeln!(
        page,
        "<h2 id=\"verdict\">Verdict</h2>\n<p>A claim holds if the whole 95 % interval of every comparison lies inside the limit \
         that the claim names, does not hold if one lies outside, and is undecided otherwise. ± is one standard error; runs \
         that share their random numbers are compared run by run.</p>"
    );
    for list in ClaimList::ALL {
        let (title, counts) = (escape(list.title()), escape(&counts(verdicts, list)));
        let _ = writeln!(
            page,
            "<h3>{title}: {counts}</h3>\n<table class=\"verdict\">\n\
             <tr><th scope=\"col\">finding</th><th scope=\"col\">claim</th><th scope=\"col\">numbers</th></tr>"
        );
        for verdict in verdicts.iter().filter(|verdict| verdict.list == list) {
            let class = verdict.finding.words().replace(' ', "-");
            let [id, claim, place, numbers, explanation] =
                [verdict.id, &verdict.claim, verdict.place, &verdict.numbers, verdict.explanation]
                    .map(escape);
            let why = if explanation.is_empty() {
                String::new()
            } else {
                format!("<p class=\"why\">{explanation}</p>")
            };
            let _ = writeln!(
                page,
                "<tr id=\"claim-{id}\"><td><span class=\"badge {class}\">{}</span></td><td>{claim} <span \
                 class=\"place\">({place})</span></td><td class=\"figures\">{numbers}{why}</td></tr>",
                verdict.finding.words(),
            );
        }
        let _ = writeln!(page, "</table>");
    }
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
        let _ = writeln!(
            page,
            "<figure>\n<div class=\"wide\">{svg}</div><figcaption>{caption}{files}</figcaption>\n</figure>"
        );
    }
}

fn settings(page: &mut String, results: &Results) {
    let _ = writeln!(page, "<h2 id=\"settings\">Settings</h2>");
    for experiment in &results.experiments {
        let (name, title, runs) = (escape(&experiment.name), escape(&experiment.title), experiment.runs);
        let runs = if runs == 1 { "1 run".to_string() } else { format!("{runs} runs") };
        // Line breaks must survive, so the text is escaped line by line.
        let text: Vec<String> = experiment.text.lines().map(escape).collect();
        let text = text.join("\n");
        let _ = writeln!(
            page,
            "<details><summary>{title} ({name}), {runs} per setting</summary>\n<pre>{text}</pre>\n</details>"
        );
    }
}
