//! Tables of the report, and the figure of its calibration.

use super::escape;
use crate::conclusion::percent;
use crate::evaluation::{Calibration, Estimate, decimals, figure};
use crate::learned::Learned;
use crate::states::Refused;
use backsweep_log::Counts;
use std::fmt::Write;

/// A table of text; columns from `first_number` on are aligned as numbers.
pub(super) fn table(
    page: &mut String,
    first_number: usize,
    heads: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) {
    let class = |i: usize| if i >= first_number { " class=\"number\"" } else { "" };
    let _ = write!(page, "<div class=\"wide\" tabindex=\"0\"><table>\n<tr>");
    for (i, head) in heads.iter().enumerate() {
        let _ = write!(page, "<th scope=\"col\"{}>{}</th>", class(i), escape(head));
    }
    let _ = writeln!(page, "</tr>");
    for row in rows {
        let _ = write!(page, "<tr>");
        for (i, cell) in row.iter().enumerate() {
            let _ = write!(page, "<td{}>{}</td>", class(i), escape(cell));
        }
        let _ = writeln!(page, "</tr>");
    }
    let _ = writeln!(page, "</table></div>");
}

/// All estimates of what the policy is worth.
pub(super) fn worth(page: &mut String, learned: &Learned) {
    let e = &learned.evaluation;
    let _ = writeln!(
        page,
        "<h2 id=\"worth\">What it is worth</h2>\n<p>Return per case, with 95 % intervals over whole cases. The gain is against what was \
         logged in the same cases.</p>"
    );
    let mut rows = vec![
        row("logged policy, model of training cases", Some(&e.logged_training), None, ""),
        row("logged policy, held out", e.logged.as_ref(), None, "what happened; the yardstick"),
        row(
            "policy, model of training cases",
            Some(&e.training),
            None,
            "too good: it was optimised on this model",
        ),
    ];
    let covered = format!("{} of its decisions were seen in held-out cases", percent(e.covered));
    let named = [
        ("policy, model of held-out cases", e.held_out, covered),
        (
            "policy, weighted importance sampling",
            e.importance,
            format!("the weights amount to {} cases", decimals(e.effective_cases, 1)),
        ),
        (
            "policy, doubly robust",
            e.doubly_robust,
            "corrected by what happened to whole cases; too narrow if cases are long".to_owned(),
        ),
        (
            "policy, doubly robust by visits",
            e.marginal,
            "corrected step by step: what the finding rests on".to_owned(),
        ),
    ];
    for (name, found, note) in named {
        let note = if found.is_some() { note } else { "needs held-out cases in full".to_owned() };
        rows.push(row(name, found.as_ref().map(|f| &f.policy), found.as_ref().map(|f| &f.gain), &note));
    }
    table(page, 9, &["estimate", "value [95 %]", "gain [95 %]", "note"], rows);
    if let Some(dependence) = e.history {
        let _ = writeln!(
            page,
            "<p>The previous step correlates with what is done in a state, or with what follows, by {}, {} standard errors beyond chance; in states \
             that hold all that matters it would not.</p>",
            decimals(dependence.correlation, 3),
            decimals(dependence.errors, 1)
        );
    }
}

fn row(name: &str, value: Option<&Estimate>, gain: Option<&Estimate>, note: &str) -> Vec<String> {
    let text = |found: Option<&Estimate>| found.map_or_else(|| "—".to_owned(), Estimate::to_string);
    vec![name.to_owned(), text(value), text(gain), note.to_owned()]
}

/// A note that a table shows the first rows only.
pub(super) fn more(page: &mut String, n: usize, most: usize, rest: &str) {
    if n > most {
        let _ = writeln!(page, "<p class=\"soft-text\">The first {most} of {n}; {rest}.</p>");
    }
}

/// Where the policy does not decide.
pub(super) fn refused(
    page: &mut String,
    counts: &Counts,
    learned: &Learned,
    refused: &[Refused],
    most: usize,
) {
    let (fit, minimum) = (&learned.fit, learned.settings.min_count);
    let mut without: Vec<_> = learned.states.iter().filter(|row| !row.supported).collect();
    without.sort_by_key(|row| (std::cmp::Reverse(row.visits), row.state));
    let visits: i64 = without.iter().map(|row| row.visits).sum();
    let _ = writeln!(
        page,
        "<h2 id=\"refused\">Where it does not decide</h2>\n<p>{} of {} states, with {} of the visits, have no action that was seen {minimum} times: \
         there the policy is what was logged.</p>",
        without.len(),
        learned.states.len(),
        percent(visits as f64 / fit.model.n_steps() as f64)
    );
    let action = |pair: usize| counts.actions[fit.model.actions[pair] as usize].clone();
    if !without.is_empty() {
        let rows = without.iter().take(most).map(|row| {
            vec![
                counts.states[row.state as usize].clone(),
                action(row.logged),
                row.visits.to_string(),
                fit.model.n[row.logged].to_string(),
            ]
        });
        table(page, 2, &["state", "most often logged", "visits", "its count"], rows);
        more(page, without.len(), most, "policy.csv has all states");
    }
    let _ = writeln!(
        page,
        "<p>{} actions look better than the policy's but were seen fewer than {minimum} times; rare actions often look good by \
         chance.</p>",
        refused.len()
    );
    if !refused.is_empty() {
        let rows = refused.iter().take(most).map(|refused| {
            vec![
                counts.states[refused.state as usize].clone(),
                action(refused.pair),
                fit.model.n[refused.pair].to_string(),
                figure(refused.promise),
            ]
        });
        table(page, 2, &["state", "action", "count", "looks better by"], rows);
        more(page, refused.len(), most, "raise the number of cases to decide about more");
    }
}

/// Predictions against what followed.
pub(super) fn calibration(page: &mut String, learned: &Learned) {
    let _ = writeln!(
        page,
        "<h2 id=\"calibration\">Held-out calibration</h2>\n<p>One decision per held-out case, grouped by what the training model predicts \
         for the logged policy. Points on the line are right.</p>"
    );
    let groups = &learned.evaluation.calibration;
    if groups.is_empty() {
        let _ = writeln!(page, "<p class=\"soft-text\">Needs held-out cases in full.</p>");
        return;
    }
    picture(page, groups);
    let rows = groups
        .iter()
        .map(|group| vec![group.n.to_string(), figure(group.predicted), group.observed.to_string()]);
    table(page, 0, &["cases", "predicted", "observed [95 %]"], rows);
}

fn picture(page: &mut String, groups: &[Calibration]) {
    let all = groups.iter().flat_map(|group| [group.predicted, group.observed.low, group.observed.high]);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let (low, high) = if high > low { (low, high) } else { (low - 0.5, high + 0.5) };
    let at = |x: f64| 20.0 + 320.0 * (x - low) / (high - low);
    let up = |y: f64| 360.0 - at(y);
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 420 400\" width=\"420\" role=\"img\" aria-label=\"Predicted against observed return\">\n\
         <line class=\"axis\" x1=\"20\" y1=\"340\" x2=\"340\" y2=\"20\" stroke-dasharray=\"4 4\"/>\n\
         <line class=\"axis\" x1=\"20\" y1=\"340\" x2=\"340\" y2=\"340\"/><line class=\"axis\" x1=\"20\" y1=\"340\" x2=\"20\" y2=\"20\"/>\n\
         <text x=\"20\" y=\"358\">{0}</text><text x=\"340\" y=\"358\" text-anchor=\"end\">{1}</text>\n\
         <text x=\"180\" y=\"376\" text-anchor=\"middle\">predicted</text><text x=\"26\" y=\"30\">observed</text>",
        figure(low),
        figure(high)
    );
    for group in groups {
        let x = at(group.predicted);
        let _ = writeln!(
            page,
            "<line class=\"bar\" x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\"/><circle class=\"point\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"4\"/>",
            up(group.observed.low),
            up(group.observed.high),
            up(group.observed.value)
        );
    }
    let _ = writeln!(page, "</svg>");
}

/// The settings of reading and learning.
pub(super) fn settings(page: &mut String, counts: &Counts, learned: &Learned, how: &[(String, String)]) {
    let (settings, e) = (&learned.settings, &learned.evaluation);
    let folds = settings.hold_out.count_ones();
    let pair = |name: &str, value: String| (name.to_owned(), value);
    let mut lines = vec![
        pair(
            "cases",
            format!("{} to learn from, {} held out ({folds} of 16 folds)", e.n_cases[0], e.n_cases[1]),
        ),
        pair("steps", format!("{} to learn from, {} held out", e.n_steps[0], e.n_steps[1])),
        pair("states and actions", format!("{} and {}", counts.states.len(), counts.actions.len())),
        pair("discount", settings.discount.to_string()),
        pair("minimum count", settings.min_count.to_string()),
        pair(
            "below the minimum",
            if settings.keep_logged { "keeps its logged probability" } else { "not considered" }.to_owned(),
        ),
        pair("pessimism", settings.pessimism.to_string()),
        pair(
            "solved",
            format!(
                "no policy with this support is better in the fitted model by more than {:.1e}",
                learned.fit.supported.bound
            ),
        ),
    ];
    lines.extend(counts.how.iter().map(|(name, value)| (name.clone(), value.clone())));
    lines.extend(how.iter().cloned());
    let _ = writeln!(
        page,
        "<h2 id=\"how\">How the log was read</h2>\n<div class=\"wide\" tabindex=\"0\"><table>"
    );
    for (name, value) in lines {
        let _ =
            writeln!(page, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(&name), escape(&value));
    }
    let _ = writeln!(page, "</table></div>");
}
