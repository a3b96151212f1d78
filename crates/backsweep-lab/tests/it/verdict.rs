//! Each claim can come out either way, and says nothing if nothing was measured.

use crate::made_up::complete;
use backsweep_lab::result::{Results, Row, Summary, Timing};
use backsweep_lab::verdict::{Finding, Verdict, any_decided, banner, brief, judge, verbose};

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

/// Sets the mean, and the score of every run if there are any.
fn set_mean(results: &mut Results, pattern: &str, mean: f64) {
    summaries(results, pattern).for_each(|summary| summary.mean = mean);
    results.rows.iter_mut().filter(|row| row.key.matches(pattern)).for_each(|row| row.score = mean);
}

/// Sets the largest score of any run.
fn high(results: &mut Results, pattern: &str, high: f64) {
    summaries(results, pattern).for_each(|summary| summary.high = high);
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
    for timing in timings(results, pattern) {
        (timing.low, timing.microseconds, timing.high) =
            (0.98 * microseconds, microseconds, 1.01 * microseconds);
    }
}

/// Makes the cost grow by one power more than it did.
fn steeper(results: &mut Results, pattern: &str) {
    for timing in timings(results, pattern) {
        let size = timing.key.parameter.unwrap();
        (timing.low, timing.microseconds, timing.high) =
            (timing.low * size, timing.microseconds * size, timing.high * size);
    }
}

/// Makes the cost independent of the size.
fn constant(results: &mut Results, pattern: &str) {
    set_time(results, pattern, 1.0);
}

/// Makes the number of backups of a cycle grow with the size.
fn more_backups(results: &mut Results, pattern: &str) {
    summaries(results, pattern).for_each(|summary| summary.mean *= summary.key.parameter.unwrap());
}

type Contradiction = (&'static str, fn(&mut Results));

/// For every claim, results that contradict it.
const CONTRADICTIONS: &[Contradiction] = &[
    ("theorems-prediction", |r| high(r, "theory/prediction", 1e-6)),
    ("theorems-control", |r| high(r, "theory/control/reversed_full_backups", 1e-6)),
    ("small-backups-make-a-full-backup", |r| high(r, "theory/full_backup", 1e-6)),
    ("memory-of-the-model", |r| high(r, "theory/memory", 3.0)),
    ("maximum-once-in-a-while", |r| set_mean(r, "fig3/small_backups/1", -52.3)),
    ("similar-to-tuned-td-1", |r| set_mean(r, "fig1/circle1/small_backup", 0.5)),
    ("similar-to-tuned-td-2", |r| set_mean(r, "fig1/circle2/small_backup", 0.2)),
    ("similar-on-random-circles-1", |r| set_mean(r, "fig1_band/circle1/small_backup", 0.5)),
    ("similar-on-random-circles-2", |r| set_mean(r, "fig1_band/circle2/small_backup", 0.2)),
    ("best-step-size-differs", |r| set_mean(r, "fig1/circle1/td_constant/0.9", 0.01)),
    ("best-step-size-is-1-in-task-2", |r| set_mean(r, "fig1/circle2/td_constant/0.8", 0.01)),
    ("wrong-step-size-costs", |r| set_mean(r, "fig1/circle1/td_constant", 0.3)),
    ("decay-0-is-step-size-1", |r| set_mean(r, "fig1/circle1/td_decaying/0", 0.5)),
    ("step-size-0-gives-1", |r| set_mean(r, "fig1/circle2/td_constant/0", 1.0 - 1e-15)),
    ("standard-error-1", |r| set_error(r, "fig1/circle1/td_constant/0.5", 0.03)),
    ("standard-error-2", |r| set_error(r, "fig1/circle2/small_backup", 0.002)),
    ("one-cycle-small-backups", |r| set_mean(r, "fig3/small_backups/1", -53.0)),
    ("one-cycle-reversed-full-backups", |r| set_mean(r, "fig3/reversed_full_backups/1", -53.0)),
    ("classical-methods-do-not", |r| set_mean(r, "fig3/moore_atkeson/1", -52.0)),
    ("substantial-improvement", |r| set_mean(r, "fig3/small_backups/1", -60.5)),
    ("reversed-ahead-15", |r| set_mean(r, "fig3/wiering_schmidhuber/1", -52.0)),
    ("reversed-ahead-4", |r| set_mean(r, "four_60/moore_atkeson/1", -61.6)),
    ("ten-times-the-computation", |r| set_mean(r, "fig3/moore_atkeson/10", -51.5)),
    ("peng-williams-worse", |r| set_mean(r, "fig3/peng_williams/10", -50.0)),
    ("standard-error-of-scores", |r| set_error(r, "fig3/value_iteration", 0.3)),
    ("standard-error-of-peng-williams", |r| set_error(r, "fig3/peng_williams/1", 2.0)),
    ("best-m", |r| set_mean(r, "choice_of_m/2", -50.5)),
    ("more-backups-where-more-random", |r| set_mean(r, "table1/maze_four/small_backups", 30.0)),
    ("complexity-small-backups", |r| more_backups(r, "table1/states/small_backups")),
    // A cycle whose cost does not grow is not the classical one.
    ("complexity-moore-atkeson", |r| constant(r, "table1/successors/moore_atkeson")),
    ("complexity-peng-williams", |r| steeper(r, "table1/actions/peng_williams")),
    ("successors-cost-nothing", |r| steeper(r, "table1/successors/small_backups")),
    ("cycles-cost-the-same", |r| set_time(r, "table1/maze/moore_atkeson", 3.0)),
    ("small-backups-cheapest", |r| set_time(r, "table1/maze/moore_atkeson", 0.1)),
    ("value-iteration-more-than-400-times", |r| set_time(r, "table1/maze/value_iteration", 60.0)),
    ("value-iteration-up-to-400-times", |_| ()),
    ("step-as-cheap-as-td", |r| steeper(r, "table1/step_states/small_backup")),
    ("level-15-reversed-full-backups", |r| set_mean(r, "fig3/reversed_full_backups/5", -53.0)),
    ("level-15-moore-atkeson", |r| set_mean(r, "fig3/moore_atkeson/1", -61.0)),
    ("level-15-peng-williams", |r| set_mean(r, "fig3/peng_williams/1", -64.0)),
    ("level-15-wiering-schmidhuber", |r| set_mean(r, "fig3/wiering_schmidhuber/3", -53.3)),
    ("level-15-value-iteration", |r| set_mean(r, "fig3/value_iteration", -51.0)),
    ("level-15-r-max", |r| set_mean(r, "fig3/r_max", -54.1)),
    ("level-4-reversed-full-backups", |r| set_mean(r, "four_60/reversed_full_backups/1", -62.6)),
    ("level-4-moore-atkeson", |r| set_mean(r, "four_60/moore_atkeson/3", -61.0)),
    ("level-4-peng-williams", |r| set_mean(r, "four_60/peng_williams/5", -58.0)),
    ("level-4-wiering-schmidhuber", |r| set_mean(r, "four_60/wiering_schmidhuber/1", -62.0)),
    ("level-4-value-iteration", |r| set_mean(r, "four_60/value_iteration", -60.9)),
    ("level-4-r-max", |r| set_mean(r, "four_60/r_max", -62.0)),
    ("level-4-as-written", |r| set_mean(r, "four_80/reversed_full_backups", -50.0)),
    ("shape-1", |r| summaries(r, "fig1/circle1/td_constant").for_each(|s| s.mean = 1.0 / s.mean)),
    ("shape-2", |r| summaries(r, "fig1/circle2/td_decaying").for_each(|s| s.mean = 1.0 / s.mean)),
    ("band-1", |r| rows(r, "fig1_band/circle1/td_constant").for_each(|row| row.score += 2.0)),
    ("band-2", |r| rows(r, "fig1_band/circle2/td_decaying").for_each(|row| row.score = 0.0)),
    ("more-cycles-15", |r| set_mean(r, "fig3/small_backups/10", -52.6)),
    ("more-cycles-4-at-0.6", |r| set_mean(r, "four_60/moore_atkeson/5", -63.0)),
    ("more-cycles-4-at-0.8", |r| set_mean(r, "four_80/wiering_schmidhuber/3", -64.0)),
    ("m-of-r-max-15", |r| set_mean(r, "r_max/fifteen/11", -53.0)),
    ("m-of-r-max-4", |r| set_mean(r, "r_max/four_60/7", -53.0)),
    ("value-iteration-by-other-means", |r| high(r, "check", 0.3)),
];

/// Claims that cannot hold beside the others: the two versions of the paper contradict each other.
const CONTRADICTED: &str = "value-iteration-up-to-400-times";

#[test]
fn every_claim_holds_where_the_numbers_say_so() {
    for verdict in judge(&complete()) {
        let expected = if verdict.id == CONTRADICTED { Finding::DoesNotHold } else { Finding::Holds };
        assert_eq!(verdict.finding, expected, "{}: {}", verdict.id, verdict.numbers);
        assert!(!verdict.numbers.is_empty());
        assert!(!verdict.claim.contains("{}"), "{}", verdict.claim);
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
    let all: Vec<&str> = judge(&complete()).into_iter().map(|verdict| verdict.id).collect();
    assert_eq!(all, contradicted, "every claim, once, in its order");
}

#[test]
fn nothing_measured_decides_nothing() {
    for verdict in judge(&Results::default()) {
        assert_eq!(verdict.finding, Finding::Undecided, "{}", verdict.id);
        assert!(!verdict.numbers.is_empty(), "{} does not say what is missing", verdict.id);
    }
}

#[test]
fn one_missing_experiment_leaves_the_other_claims_alone() {
    for experiment in
        ["fig1", "fig1_band", "fig3", "fig3_icml", "choice_of_m", "r_max", "table1", "check", "theory"]
    {
        let mut results = complete();
        results.summaries.retain(|summary| summary.key.experiment != experiment);
        results.timings.retain(|timing| timing.key.experiment != experiment);
        results.rows.retain(|row| row.key.experiment != experiment);
        let verdicts = judge(&results);
        assert!(
            verdicts.iter().all(|v| v.finding != Finding::DoesNotHold || v.id == CONTRADICTED),
            "{experiment}"
        );
        assert!(
            any_decided(&verdicts) && verdicts.iter().any(|v| v.finding == Finding::Undecided),
            "{experiment}"
        );
    }
}

#[test]
fn one_run_has_no_noise_to_judge_by() {
    let mut results = complete();
    results.summaries.iter_mut().for_each(|summary| summary.runs = 1);
    results.rows.retain(|row| row.run == 0);
    results.timings.clear();
    let judged: Vec<Verdict> =
        judge(&results).into_iter().filter(|v| v.finding != Finding::Undecided).collect();
    let ids: Vec<&str> = judged.iter().map(|verdict| verdict.id).collect();
    let exact = [
        "theorems-prediction",
        "theorems-control",
        "small-backups-make-a-full-backup",
        "memory-of-the-model",
        "more-backups-where-more-random",
        "value-iteration-by-other-means",
    ];
    assert_eq!(ids, exact, "only what has no noise");
}

#[test]
fn a_claim_of_equality_with_too_wide_an_interval_is_undecided() {
    let mut results = complete();
    for id in ["one-cycle-small-backups", "level-15-moore-atkeson", "more-cycles-15"] {
        assert_eq!(finding(&results, id), Finding::Holds);
    }
    set_error(&mut results, "fig3/fifteen", 0.5);
    for id in ["one-cycle-small-backups", "level-15-moore-atkeson", "more-cycles-15"] {
        assert_eq!(finding(&results, id), Finding::Undecided, "{id}");
    }
}

#[test]
fn a_moore_and_atkeson_of_constant_time_does_not_pass_table_1() {
    for task in ["successors", "actions", "predecessors"] {
        let mut results = complete();
        constant(&mut results, &format!("table1/{task}/moore_atkeson"));
        assert_eq!(finding(&results, "complexity-moore-atkeson"), Finding::DoesNotHold, "{task}");
    }
}

#[test]
fn times_whose_ranges_overlap_decide_nothing() {
    let mut results = complete();
    set_time(&mut results, "table1/maze/moore_atkeson", 0.4);
    assert_eq!(finding(&results, "small-backups-cheapest"), Finding::Holds, "ranges are apart");
    timings(&mut results, "table1/maze/moore_atkeson").for_each(|timing| timing.low = 0.29);
    let verdicts = judge(&results);
    let verdict = verdicts.iter().find(|verdict| verdict.id == "small-backups-cheapest").unwrap();
    assert_eq!(verdict.finding, Finding::Undecided);
    assert!(verdict.numbers.ends_with("Open: the ranges of the times overlap"), "{}", verdict.numbers);
}

#[test]
fn runs_that_share_their_random_numbers_are_compared_run_by_run() {
    // Both errors are uncertain by 20 %, but their ratio is not.
    let mut results = complete();
    rows(&mut results, "fig1/circle1").for_each(|row| row.score *= 1.0 + 0.05 * f64::from(row.run));
    assert_eq!(finding(&results, "similar-to-tuned-td-1"), Finding::Holds);
    rows(&mut results, "fig1/circle1/small_backup")
        .for_each(|row| row.score *= 0.2 + 0.4 * f64::from(row.run));
    assert_eq!(finding(&results, "similar-to-tuned-td-1"), Finding::Undecided);
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
fn the_verdict_is_wrapped_and_its_brief_form_fits_a_screen() {
    let verdicts = judge(&complete());
    let text = verbose(&verdicts);
    for text in [&text, &brief(&verdicts)] {
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= 80, "{longest}");
    }
    for verdict in &verdicts {
        let first = format!("  {:<15}{}: ", verdict.finding.words(), verdict.id);
        assert_eq!(text.matches(&first).count(), 1, "{first}");
    }
    let text = brief(&verdicts);
    assert!(text.contains("Published numbers: 13 hold, 0 do not hold, 0 undecided\n"), "{text}");
    // Whatever the findings, less than forty lines.
    for finding in [Finding::DoesNotHold, Finding::Undecided] {
        let all: Vec<Verdict> =
            verdicts.iter().map(|verdict| Verdict { finding, ..verdict.clone() }).collect();
        assert!(brief(&all).lines().count() < 30);
    }
}

#[test]
fn few_runs_are_announced() {
    let mut results = complete();
    assert_eq!(banner(&results), None);
    results.experiments.iter_mut().for_each(|info| info.runs = 8);
    assert_eq!(
        banner(&results).unwrap(),
        "8 runs, where the paper has 100: only large differences can be decided."
    );
}
