//! Each claim can come out either way, and says nothing if nothing was measured.

use super::*;
use crate::figures::made_up::complete;
use crate::result::{Row, Summary, Timing};

fn finding(results: &Results, id: &str) -> Finding {
    let verdicts = judge(results);
    verdicts.iter().find(|verdict| verdict.id == id).unwrap_or_else(|| panic!("no claim {id}")).finding
}

fn summaries<'a>(results: &'a mut Results, pattern: &'a str) -> impl Iterator<Item = &'a mut Summary> {
    let found =
        results.summaries.iter_mut().filter(move |summary| summary.key.matches(pattern)).collect::<Vec<_>>();
    assert!(!found.is_empty(), "{pattern}");
    found.into_iter()
}

fn set_mean(results: &mut Results, pattern: &str, mean: f64) {
    summaries(results, pattern).for_each(|summary| summary.mean = mean);
}

fn set_error(results: &mut Results, pattern: &str, error: f64) {
    summaries(results, pattern).for_each(|summary| summary.standard_error = error);
}

fn timings<'a>(results: &'a mut Results, pattern: &'a str) -> impl Iterator<Item = &'a mut Timing> {
    let found =
        results.timings.iter_mut().filter(move |timing| timing.key.matches(pattern)).collect::<Vec<_>>();
    assert!(!found.is_empty(), "{pattern}");
    found.into_iter()
}

fn rows<'a>(results: &'a mut Results, pattern: &'a str) -> impl Iterator<Item = &'a mut Row> {
    let found = results.rows.iter_mut().filter(move |row| row.key.matches(pattern)).collect::<Vec<_>>();
    assert!(!found.is_empty(), "{pattern}");
    found.into_iter()
}

fn set_time(results: &mut Results, pattern: &str, microseconds: f64) {
    timings(results, pattern).for_each(|timing| timing.microseconds = microseconds);
}

/// Makes the cost grow by one power more than it did.
fn steeper(results: &mut Results, pattern: &str) {
    timings(results, pattern).for_each(|timing| timing.microseconds *= timing.key.parameter.unwrap());
}

/// Makes the number of backups of a cycle grow with the size.
fn more_backups(results: &mut Results, pattern: &str) {
    summaries(results, pattern).for_each(|summary| summary.mean *= summary.key.parameter.unwrap());
}

type Contradiction = (&'static str, fn(&mut Results));

/// For every claim, results that contradict it.
const CONTRADICTIONS: &[Contradiction] = &[
    ("similar-to-tuned-td-1", |r| set_mean(r, "fig1/circle1/small_backup", 0.5)),
    ("similar-to-tuned-td-2", |r| set_mean(r, "fig1/circle2/small_backup", 0.2)),
    ("best-step-size-differs", |r| set_mean(r, "fig1/circle1/td_constant/0.9", 0.01)),
    ("wrong-step-size-costs", |r| set_mean(r, "fig1/circle1/td_constant", 0.3)),
    ("decay-0-is-step-size-1", |r| summaries(r, "fig1/circle1/td_decaying/0").for_each(|s| s.mean += 1e-15)),
    ("step-size-0-gives-1", |r| set_mean(r, "fig1/circle2/td_constant/0", 1.0 - 1e-15)),
    ("standard-error-1", |r| set_error(r, "fig1/circle1/td_constant/0.5", 0.03)),
    ("standard-error-2", |r| set_error(r, "fig1/circle2/small_backup", 0.002)),
    ("shape-1", |r| summaries(r, "fig1/circle1/td_constant").for_each(|s| s.mean = 1.0 / s.mean)),
    ("shape-2", |r| summaries(r, "fig1/circle2/td_decaying").for_each(|s| s.mean = 1.0 / s.mean)),
    ("band-1", |r| rows(r, "fig1_band/circle1/td_constant").for_each(|row| row.score += 2.0)),
    ("band-2", |r| rows(r, "fig1_band/circle2/td_decaying").for_each(|row| row.score = 0.0)),
    ("one-cycle-small-backups", |r| set_mean(r, "fig3/small_backups/1", -53.0)),
    ("one-cycle-reversed-full-backups", |r| set_mean(r, "fig3/reversed_full_backups/1", -53.0)),
    ("classical-methods-do-not", |r| set_mean(r, "fig3/moore_atkeson/1", -52.0)),
    ("substantial-improvement", |r| set_mean(r, "fig3/small_backups/1", -60.5)),
    ("peng-williams-worse", |r| set_mean(r, "fig3/peng_williams/10", -50.0)),
    ("more-cycles-15", |r| set_mean(r, "fig3/small_backups/10", -52.6)),
    ("more-cycles-4-at-0.6", |r| set_mean(r, "four_60/moore_atkeson/5", -63.0)),
    ("more-cycles-4-at-0.8", |r| set_mean(r, "four_80/wiering_schmidhuber/3", -64.0)),
    ("standard-error-of-scores", |r| set_error(r, "fig3/value_iteration", 0.3)),
    ("standard-error-of-peng-williams", |r| set_error(r, "fig3/peng_williams/1", 2.0)),
    ("best-m", |r| set_mean(r, "choice_of_m/2", -50.5)),
    ("value-iteration-by-other-means", |r| summaries(r, "check").for_each(|s| s.high = 0.3)),
    ("complexity-small-backups", |r| more_backups(r, "table1/states/small_backups")),
    ("complexity-moore-atkeson", |r| steeper(r, "table1/successors/moore_atkeson")),
    ("complexity-peng-williams", |r| steeper(r, "table1/actions/peng_williams")),
    ("successors-cost-nothing", |r| steeper(r, "table1/successors/small_backups")),
    ("cycles-cost-the-same", |r| set_time(r, "table1/maze/moore_atkeson", 3.0)),
    ("small-backups-cheapest", |r| set_time(r, "table1/maze/moore_atkeson", 0.1)),
    ("value-iteration-400-times-1e-3", |r| set_time(r, "table1/maze/value_iteration/0.001", 100.0)),
    ("value-iteration-400-times-1e-6", |r| set_time(r, "table1/maze/value_iteration/0.000001", 100.0)),
    ("step-as-cheap-as-td", |r| set_time(r, "table1/circle/small_backup", 0.05)),
    ("level-15-reversed-full-backups", |r| set_mean(r, "fig3/reversed_full_backups/5", -52.5)),
    ("level-15-moore-atkeson", |r| set_mean(r, "fig3/moore_atkeson/1", -61.1)),
    ("level-15-peng-williams", |r| set_mean(r, "fig3/peng_williams/1", -64.0)),
    ("level-15-wiering-schmidhuber", |r| set_mean(r, "fig3/wiering_schmidhuber/3", -53.0)),
    ("level-15-value-iteration", |r| set_mean(r, "fig3/value_iteration", -51.4)),
    ("level-15-r-max", |r| set_mean(r, "fig3/r_max", -54.2)),
    ("level-4-reversed-full-backups", |r| set_mean(r, "four_60/reversed_full_backups/1", -62.2)),
    ("level-4-moore-atkeson", |r| set_mean(r, "four_60/moore_atkeson/3", -61.0)),
    ("level-4-peng-williams", |r| set_mean(r, "four_60/peng_williams/5", -58.0)),
    ("level-4-wiering-schmidhuber", |r| set_mean(r, "four_60/wiering_schmidhuber/1", -62.0)),
    ("level-4-value-iteration", |r| set_mean(r, "four_60/value_iteration", -60.6)),
    ("level-4-r-max", |r| set_mean(r, "four_60/r_max", -62.0)),
    ("level-4-as-written", |r| set_mean(r, "four_80/reversed_full_backups", -50.0)),
];

#[test]
fn every_claim_holds_where_the_numbers_say_so() {
    for verdict in judge(&complete()) {
        assert_eq!(verdict.finding, Finding::Holds, "{}: {}", verdict.id, verdict.numbers);
        assert!(!verdict.numbers.is_empty());
    }
}

#[test]
fn every_claim_fails_where_the_numbers_contradict_it() {
    let mut contradicted: Vec<&str> = Vec::new();
    for (id, contradict) in CONTRADICTIONS {
        let mut results = complete();
        contradict(&mut results);
        assert_eq!(finding(&results, id), Finding::DoesNotHold, "{id}");
        contradicted.push(id);
    }
    let all: Vec<String> = judge(&complete()).into_iter().map(|verdict| verdict.id).collect();
    assert_eq!(all, contradicted, "every claim, once, in its order");
}

#[test]
fn nothing_measured_decides_nothing() {
    for verdict in judge(&Results::default()) {
        assert_eq!(verdict.finding, Finding::NotMeasured, "{}", verdict.id);
        assert!(!verdict.numbers.is_empty(), "{} does not say what is missing", verdict.id);
    }
}

#[test]
fn one_missing_experiment_leaves_the_other_claims_alone() {
    for experiment in ["fig1", "fig1_band", "fig3", "fig3_icml", "choice_of_m", "table1", "check"] {
        let mut results = complete();
        results.summaries.retain(|summary| summary.key.experiment != experiment);
        results.timings.retain(|timing| timing.key.experiment != experiment);
        results.rows.retain(|row| row.key.experiment != experiment);
        let [holds, fails, open] = count(&judge(&results));
        assert_eq!(fails, 0, "{experiment}");
        assert!(holds > 0 && open > 0, "{experiment}");
    }
}

#[test]
fn one_run_has_no_noise_to_judge_by() {
    let mut results = complete();
    results.summaries.iter_mut().for_each(|summary| summary.runs = 1);
    results.rows.retain(|row| row.run == 0);
    results.timings.clear();
    let judged: Vec<Verdict> =
        judge(&results).into_iter().filter(|v| v.finding != Finding::NotMeasured).collect();
    let ids: Vec<&str> = judged.iter().map(|verdict| verdict.id.as_str()).collect();
    assert_eq!(ids, ["value-iteration-by-other-means"], "only a largest difference needs no noise");
}

#[test]
fn noise_excuses_a_small_difference_and_not_a_large_one() {
    let mut results = complete();
    set_mean(&mut results, "fig3/small_backups/1", -52.8);
    set_error(&mut results, "fig3/small_backups/1", 0.5);
    assert_eq!(finding(&results, "one-cycle-small-backups"), Finding::Holds);
    set_error(&mut results, "fig3/small_backups/1", 0.01);
    assert_eq!(finding(&results, "one-cycle-small-backups"), Finding::DoesNotHold);
    // A claim of a difference must exceed the noise; where noise hides it, nothing is decided.
    let mut results = complete();
    set_error(&mut results, "fig3/peng_williams/10", 2.0);
    assert_eq!(finding(&results, "peng-williams-worse"), Finding::NotMeasured);
    // The same difference with the same standard error weighs less after few runs.
    let mut results = complete();
    set_mean(&mut results, "fig3/moore_atkeson/3", -52.95);
    assert_eq!(finding(&results, "level-15-moore-atkeson"), Finding::DoesNotHold);
    summaries(&mut results, "fig3/moore_atkeson").for_each(|summary| summary.runs = 6);
    assert_eq!(finding(&results, "level-15-moore-atkeson"), Finding::Holds);
    // Fewer runs have larger errors; they are compared as if there were 100.
    let mut results = complete();
    for summary in summaries(&mut results, "fig1/circle1") {
        summary.runs = 25;
        summary.standard_error = 0.03;
    }
    assert_eq!(finding(&results, "standard-error-1"), Finding::Holds);
}

#[test]
fn no_text_contains_a_number_that_is_not_finite() {
    let mut results = complete();
    for (index, summary) in results.summaries.iter_mut().enumerate() {
        match index % 3 {
            0 => summary.mean = f64::NAN,
            1 => summary.standard_error = f64::INFINITY,
            _ => {}
        }
    }
    results.timings.iter_mut().step_by(2).for_each(|timing| timing.microseconds = f64::NAN);
    for verdict in judge(&results) {
        assert!(!verdict.numbers.contains("NaN") && !verdict.numbers.contains("inf"), "{}", verdict.numbers);
    }
}

#[test]
fn the_verdict_is_wrapped_to_the_width_with_the_finding_first_and_the_numbers_below() {
    let verdicts = judge(&complete());
    for width in [60, 80, 120, 200] {
        let text = terminal(&verdicts, Style { width, color: false });
        assert!(!text.contains('\u{1b}'));
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width, "{longest} > {width}");
        assert_eq!(text.lines().filter(|line| line.starts_with("holds ")).count(), verdicts.len());
        for verdict in &verdicts {
            let first = verdict.numbers.split_whitespace().next().unwrap();
            let start = text.find(&format!("holds          {}: ", verdict.id)).unwrap();
            let lines = text[start..].lines().skip(1).take_while(|line| line.starts_with(' '));
            assert!(lines.into_iter().any(|line| line.trim_start().starts_with(first)), "{}", verdict.id);
        }
    }
    assert!(terminal(&verdicts, Style { width: 100, color: true }).contains('\u{1b}'));
    let text = terminal(&verdicts, Style::PLAIN);
    assert!(text.ends_with("46 claims: 46 hold, 0 do not hold, 0 not measured\n"), "{text}");
}
