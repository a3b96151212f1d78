//! The part of the report for those who decide: every changed decision, the states that contribute most first.

use super::tables::{more, table};
use crate::conclusion::percent;
use crate::evaluation::figure;
use crate::learned::Learned;
use crate::states::{MIN_MOVED, RewardRange, StateComparison};
use backsweep_log::Counts;
use std::fmt::Write;

/// At most this many states are shown; `changes.csv` has all.
const MAX_ROWS: usize = 2000;
/// Shares below this are not worth a line.
const MIN_SHARE: f64 = 0.0005;

/// The actions of a state with their shares, the largest first.
fn shares(counts: &Counts, learned: &Learned, row: &StateComparison, probabilities: &[f64]) -> String {
    let model = &learned.fit.model;
    let pairs = model.pairs_of(row.state as usize).filter(|&pair| probabilities[pair] >= MIN_SHARE);
    let mut pairs: Vec<usize> = pairs.collect();
    pairs.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]).then(a.cmp(&b)));
    let share = |&pair: &usize| {
        let action = &counts.actions[model.actions[pair] as usize];
        format!("{action} {:.0}\u{a0}%", 100.0 * probabilities[pair])
    };
    pairs.iter().map(share).collect::<Vec<_>>().join(", ")
}

/// Every state in which the policy decides differently.
pub(super) fn decisions(page: &mut String, counts: &Counts, learned: &Learned, range: &RewardRange) {
    let fit = &learned.fit;
    let unit = learned.settings.unit.as_ref().map_or_else(String::new, |unit| format!(", {unit}"));
    let changed: Vec<&StateComparison> = learned.states.iter().filter(|row| row.moved > MIN_MOVED).collect();
    let _ = writeln!(
        page,
        "<h2 id=\"states\">Where it decides differently</h2>\n<p>Every state in which the policy moves decisions, by its contribution to the \
         gain per case in the fitted model. Contributions add up to the gain in that model. Intervals come from the count and the spread of \
         what followed the action.</p>"
    );
    if changed.is_empty() {
        let _ = writeln!(page, "<p class=\"soft-text\">Nowhere: the policy is what was logged.</p>");
        return;
    }
    let total: f64 = changed.iter().map(|row| row.contribution).sum();
    let rows = changed.iter().take(MAX_ROWS).map(|row| {
        vec![
            counts.states[row.state as usize].clone(),
            shares(counts, learned, row, &fit.logged.probabilities),
            shares(counts, learned, row, &fit.supported.probabilities),
            figure(row.contribution),
            percent(if total > 0.0 { row.contribution / total } else { 0.0 }),
            row.visits.to_string(),
            percent(row.moved),
            fit.model.n[row.proposed].to_string(),
            range.estimate(fit, learned.settings.discount, row.proposed).to_string(),
        ]
    });
    let contribution = format!("contributes per case{unit}");
    let heads = [
        "state",
        "as logged",
        "policy",
        &contribution,
        "of the gain",
        "visits",
        "decisions moved",
        "proposed count",
        "proposed value [95 %]",
    ];
    table(page, 3, &heads, rows);
    more(page, changed.len(), MAX_ROWS, "changes.csv has all changes");
}
