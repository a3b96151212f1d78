//! The part of the report for statisticians: all estimates in one figure, cohorts, weights, positivity, drift.

use super::escape;
use super::tables::{more, table};
use crate::evaluation::{Estimate, decimals, figure};
use crate::learned::Learned;
use backsweep_log::Counts;
use std::fmt::Write;

/// All estimates with their intervals, in one figure; the band is the logged policy.
pub(super) fn estimates(page: &mut String, learned: &Learned) {
    let e = &learned.evaluation;
    let against = |name, found: Option<crate::evaluation::Against>| found.map(|found| (name, found.policy));
    let rows: Vec<(&str, Estimate)> = [
        e.logged.map(|found| ("logged, held out", found)),
        Some(("policy, training model", e.training)),
        against("policy, held-out model", e.held_out),
        against("policy, importance sampling", e.importance),
        against("policy, doubly robust", e.doubly_robust),
        against("policy, doubly robust by visits", e.marginal),
    ]
    .into_iter()
    .flatten()
    .collect();
    let finite = |x: &f64| x.is_finite();
    let ends = rows.iter().flat_map(|(_, found)| [found.value, found.low, found.high]).filter(finite);
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    if low > high {
        return;
    }
    let (low, high) = if high > low { (low, high) } else { (low - 0.5, high + 0.5) };
    let at = |x: f64| 230.0 + 440.0 * (x - low) / (high - low);
    let height = 26 * rows.len() + 30;
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 700 {height}\" width=\"700\" role=\"img\" aria-label=\"All estimates with 95 % intervals\">"
    );
    if let Some(logged) = e.logged.filter(|logged| logged.low.is_finite() && logged.high.is_finite()) {
        let (from, to) = (at(logged.low), at(logged.high));
        let _ = writeln!(
            page,
            "<rect class=\"band\" x=\"{from:.1}\" y=\"0\" width=\"{:.1}\" height=\"{}\"/>",
            (to - from).max(1.0),
            height - 30
        );
    }
    for (i, (name, found)) in rows.iter().enumerate() {
        let y = 26 * i + 14;
        let _ = writeln!(page, "<text x=\"220\" y=\"{}\" text-anchor=\"end\">{name}</text>", y + 4);
        if found.low.is_finite() && found.high.is_finite() {
            let (from, to) = (at(found.low), at(found.high));
            let _ =
                writeln!(page, "<line class=\"bar\" x1=\"{from:.1}\" y1=\"{y}\" x2=\"{to:.1}\" y2=\"{y}\"/>");
        }
        let class = if found.low.is_finite() { "point" } else { "point open" };
        let _ =
            writeln!(page, "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y}\" r=\"4\"/>", at(found.value));
    }
    let _ = writeln!(
        page,
        "<line class=\"axis\" x1=\"230\" y1=\"{0}\" x2=\"670\" y2=\"{0}\"/><text x=\"230\" y=\"{1}\">{2}</text>\
         <text x=\"670\" y=\"{1}\" text-anchor=\"end\">{3}</text>\n</svg>",
        height - 28,
        height - 10,
        figure(low),
        figure(high)
    );
}

/// The gain of each cohort.
pub(super) fn cohorts(page: &mut String, learned: &Learned) {
    let cohorts = &learned.evaluation.cohorts;
    if cohorts.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "<h2 id=\"cohorts\">Gain by cohort</h2>\n<p>The gain in the held-out cases of each cohort. Each interval holds by itself: of {} \
         intervals about {} miss the truth by chance. A cohort in which decisions lead to something else than in the others belongs into \
         the state.</p>",
        cohorts.len(),
        decimals(0.05 * cohorts.len() as f64, 1)
    );
    let name = |name: &str| if name.is_empty() { "(empty)".to_owned() } else { name.to_owned() };
    let rows = cohorts
        .iter()
        .take(100)
        .map(|found| vec![name(&found.name), found.n.to_string(), found.gain.to_string()]);
    table(page, 1, &["cohort", "held-out cases", "gain [95 %]"], rows);
    more(page, cohorts.len(), 100, "the summary as JSON has all");
}

/// The upper ends of the bars of the histogram of weights.
const WEIGHTS: [f64; 8] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, f64::INFINITY];

/// The distribution of the weights of held-out cases.
pub(super) fn weights(page: &mut String, learned: &Learned) {
    let weights = &learned.evaluation.weights;
    let _ = writeln!(
        page,
        "<h2 id=\"weights\">Weights of held-out cases</h2>\n<p>The share of the policy's visits that each held-out case stands for; 1 on average \
         if held-out cases go where the policy would. A few cases with large weights carry the estimate alone.</p>"
    );
    let (Some(largest), n) = (weights.last(), weights.len()) else {
        let _ = writeln!(page, "<p class=\"soft-text\">Needs held-out cases in full.</p>");
        return;
    };
    let mut places: Vec<usize> =
        WEIGHTS.iter().map(|&end| weights.partition_point(|&weight| weight <= end)).collect();
    places.insert(0, 0);
    let bars: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let most = bars.iter().copied().max().unwrap_or(1).max(1);
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 560 190\" width=\"560\" role=\"img\" aria-label=\"Distribution of weights\">"
    );
    for (i, &n) in bars.iter().enumerate() {
        let (x, height) = (20 + 66 * i, 130.0 * n as f64 / most as f64);
        let from = if i == 0 { 0.0 } else { WEIGHTS[i - 1] };
        let label = match WEIGHTS[i] {
            end if end.is_finite() => format!("to {end}"),
            _ => format!("above {from}"),
        };
        let _ = writeln!(
            page,
            "<rect class=\"column\" x=\"{x}\" y=\"{:.1}\" width=\"56\" height=\"{height:.1}\"/><text x=\"{1}\" y=\"{2:.1}\" \
             text-anchor=\"middle\">{n}</text><text x=\"{1}\" y=\"172\" text-anchor=\"middle\">{label}</text>",
            155.0 - height,
            x + 28,
            150.0 - height
        );
    }
    let sum: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    let _ = writeln!(
        page,
        "</svg>\n<p>Mean {}, largest {}; {} of {n} equally weighted cases would be as informative.</p>",
        figure(sum / n as f64),
        figure(*largest),
        decimals(if squares > 0.0 { sum * sum / squares } else { 0.0 }, 1)
    );
}

/// The actions that the policy takes although they were rarely logged.
pub(super) fn positivity(page: &mut String, counts: &Counts, learned: &Learned, most: usize) {
    let fit = &learned.fit;
    let visits = fit.supported.evaluated.visits(&fit.model, learned.settings.discount);
    let mut taken: Vec<(usize, usize)> = (0..fit.model.n_states())
        .flat_map(|state| fit.model.pairs_of(state).map(move |pair| (state, pair)))
        .filter(|&(state, pair)| {
            visits[state] > 0.0 && fit.supported.probabilities[pair] > fit.logged.probabilities[pair]
        })
        .collect();
    let ratio = |pair: usize| fit.supported.probabilities[pair] / fit.logged.probabilities[pair];
    taken.sort_by(|a, b| ratio(b.1).total_cmp(&ratio(a.1)).then(a.1.cmp(&b.1)));
    let _ = writeln!(
        page,
        "<h2 id=\"positivity\">Positivity by state</h2>\n<p>The actions that the policy takes more often than they were logged, the rarest \
         first. Where an action was rarely logged, few cases tell what follows it.</p>"
    );
    let n = taken.len();
    let rows = taken.into_iter().take(most).map(|(state, pair)| {
        vec![
            counts.states[state].clone(),
            counts.actions[fit.model.actions[pair] as usize].clone(),
            decimals(fit.logged.probabilities[pair], 3),
            decimals(fit.supported.probabilities[pair], 3),
            decimals(ratio(pair), 1),
            fit.model.n[pair].to_string(),
            figure(visits[state]),
        ]
    });
    let heads =
        ["state", "action", "logged probability", "policy's", "ratio", "count", "policy's visits per case"];
    table(page, 2, &heads, rows);
    more(page, n, most, "changes.csv has all changes");
}

/// The gain per period of time.
pub(super) fn drift(page: &mut String, learned: &Learned) {
    let _ = writeln!(
        page,
        "<h2 id=\"drift\">Gain over time</h2>\n<p>The gain of the cases that began in each third of the time, training cases included.</p>"
    );
    let Some(drift) = &learned.evaluation.drift else {
        let _ = writeln!(
            page,
            "<p class=\"soft-text\">Not checked: too few cases, or their order in time is unknown.</p>"
        );
        return;
    };
    let names = ["first third", "second third", "last third"];
    let rows = drift.periods.iter().zip(names).map(|(gain, name)| vec![name.to_owned(), gain.to_string()]);
    table(page, 1, &["period", "gain [95 %]"], rows);
    let _ = writeln!(
        page,
        "<p>One period differs from the others by at most {} standard errors.</p>",
        decimals(drift.errors, 1)
    );
}

/// The earlier uses of the held-out cases.
pub(super) fn uses(page: &mut String, how: &[(String, String)]) {
    let uses = how.iter().find(|(name, _)| name == crate::hold_out_uses::NAME);
    let none = "No other policy is known here that was tested on these held-out cases.";
    let _ = writeln!(page, "<p>{}</p>", escape(uses.map_or(none, |(_, uses)| uses)));
}
