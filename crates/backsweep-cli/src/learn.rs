//! `backsweep learn`: from a log to a policy you can defend.

use crate::error::{Error, Result};
use crate::logs::{self, LogArguments};
use crate::{interrupt, output};
use backsweep_learn::{Against, Cases, Estimate, LearnSettings, Learned, PolicyEvaluation, hold_out};
use backsweep_learn::{agent, conclusion, output as files};
use backsweep_log::{Case, CaseOrder, Cohorts, Counts, HoldOutTime, Input, Log, printable};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Learn a policy from logged decisions and estimate its value from held-out data
///
/// An action is considered only where it was seen at least --min-count times; a state without such an action keeps the logged
/// decisions. Its value is estimated on held-out cases. Writes report.html and policy.csv. docs/logs.md explains every
/// number.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep learn 'log/*.csv' --case stay --order t --state 'ward,sofa:0|5|10' --action dose --final outcome=survived:1,died:0 --discount 1 --out report
  backsweep learn 'log/*.csv' --case stay --state ward --action dose --dry-run
  backsweep learn permits.xes.gz --state 'prev(concept:name),case:amount:q4' --action org:resource --reward '-elapsed(days)' --ties file --unit days --out report
  backsweep learn --counts counts.csv --out report")]
pub struct LearnArguments {
    #[command(flatten)]
    log: LogArguments,

    /// LOG names files of counts, as 'backsweep count' writes them
    #[arg(long)]
    counts: bool,

    /// The factor by which a reward one step later counts, above 0 and at most 1
    #[arg(long, value_name = "NUMBER", default_value = "0.99")]
    discount: f64,

    /// Consider an action in a state only if it was logged there at least this often
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(i64).range(1..))]
    min_count: i64,

    /// Actions below the minimum keep their logged probability; only the rest is decided (Πb-SPIBB)
    #[arg(long)]
    keep_logged: bool,

    /// Plan as if an action seen n times paid κ/√n less
    #[arg(long, value_name = "κ", default_value = "0")]
    pessimism: f64,

    /// The share of cases held out to test the policy, rounded to a multiple of 1/16; or those that began last: 'last 20%'
    #[arg(long, value_name = "PERCENT", value_parser = held_out, default_value = "20%")]
    hold_out: HeldOutCases,

    /// Hold out the cases that began on this date or later
    #[arg(long, value_name = "DATE", value_parser = date, conflicts_with_all = ["hold_out", "hold_out_by"])]
    hold_out_after: Option<HoldOutTime>,

    /// Hold out whole groups of cases, by the value of this column, such as a hospital
    #[arg(long, value_name = "COLUMN")]
    hold_out_by: Option<String>,

    /// Also state the gain for each value of this column, such as a channel; its value in the first row of a case counts
    #[arg(long, value_name = "COLUMN", conflicts_with = "counts")]
    by: Option<String>,

    /// The unit of returns, for sentences in the report, such as days
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,

    /// The folder for report.html and policy.csv
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Replace the report and policy in the folder
    #[arg(long, requires = "out")]
    overwrite: bool,

    /// Also write an agent that can continue learning; 'backsweep solve' and Python's Agent.load read it
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Which cases are held out.
#[derive(Clone, Copy)]
enum HeldOutCases {
    Share(f64),
    Time(HoldOutTime),
}

fn held_out(text: &str) -> std::result::Result<HeldOutCases, String> {
    match HoldOutTime::parse(text) {
        Some(time @ HoldOutTime::Last(_)) => Ok(HeldOutCases::Time(time)),
        _ => logs::percent(text).map(HeldOutCases::Share),
    }
}

fn date(text: &str) -> std::result::Result<HoldOutTime, String> {
    let time = HoldOutTime::parse(text).filter(|time| matches!(time, HoldOutTime::After(_)));
    time.ok_or_else(|| "expected a date such as 2024-05-01 or 2024-05-01T13:45:00Z".to_owned())
}

/// The log as it was read: counts, held-out cases and settings.
struct LogInput {
    counts: Counts,
    cases: Vec<Case>,
    case_decimals: u8,
    case_order: Option<CaseOrder>,
    cohorts: Option<Cohorts>,
    how: Vec<(String, String)>,
}

/// Runs the command.
pub fn learn(arguments: &LearnArguments) -> Result<()> {
    let by_time = match (arguments.hold_out_after, arguments.hold_out) {
        (Some(time), _) | (None, HeldOutCases::Time(time)) => Some(time),
        (None, HeldOutCases::Share(_)) => None,
    };
    if by_time.is_some() && (arguments.counts || arguments.hold_out_by.is_some()) {
        return Err(Error::new("cases can be held out by time only from a log, and not by groups as well"));
    }
    let settings = LearnSettings {
        discount: arguments.discount,
        min_count: arguments.min_count,
        keep_logged: arguments.keep_logged,
        pessimism: arguments.pessimism,
        unit: arguments.unit.clone(),
        hold_out: match arguments.hold_out {
            HeldOutCases::Share(share) if by_time.is_none() => hold_out(share)?,
            _ => 1 << HoldOutTime::FOLD,
        },
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..LearnSettings::default()
    };
    settings.check()?;
    // Check that the result can be written before spending hours on reading.
    if let Some(folder) = &arguments.out {
        files::check_folder(folder, arguments.overwrite).map_err(learn_error)?;
    }
    let found = if arguments.counts {
        let (counts, inputs) = logs::read_counts(arguments.log.patterns(), None)?;
        let how = vec![("files".to_owned(), Input::list(&inputs))];
        LogInput { counts, cases: Vec::new(), case_decimals: 0, case_order: None, cohorts: None, how }
    } else {
        let (mut spec, inputs) = arguments.log.open()?;
        spec.fold_by.clone_from(&arguments.hold_out_by);
        spec.cohort.clone_from(&arguments.by);
        if arguments.log.is_dry_run() {
            return logs::show_reading(&spec, &inputs);
        }
        let log = match by_time {
            None => logs::read(&spec, &inputs, settings.hold_out)?,
            Some(time) => {
                let mut log = logs::read_cases(&spec, &inputs)?;
                log.hold_out_by_time(time).map_err(logs::log_error)?;
                log
            }
        };
        let how = log.report.describe(&inputs, logs::texts(&log.report.warnings));
        let Log { counts, cases, case_decimals, case_order, cohorts, .. } = log;
        let cohorts = arguments.by.is_some().then_some(cohorts);
        LogInput { counts, cases, case_decimals, case_order, cohorts, how }
    };
    let interrupted = interrupt::on_ctrl_c();
    let stop = || interrupted.load(Ordering::Relaxed);
    let order = found.case_order.as_ref().map_or(&[][..], |order| &order.places);
    let cohorts = found.cohorts.as_ref();
    let cases = Cases { cases: &found.cases, decimals: found.case_decimals, order, cohorts };
    let learned = backsweep_learn::learn(&found.counts, cases, &settings, &stop)?;
    if let Some(path) = &arguments.agent {
        let learner = agent::learner(&found.counts, &learned)?;
        learner.save(path)?;
    }
    let written = match &arguments.out {
        None => Vec::new(),
        Some(folder) => files::write_folder(folder, arguments.overwrite, &found.counts, &learned, &found.how)
            .map_err(learn_error)?,
    };
    if arguments.json {
        output::result(files::summary(&learned));
        return Ok(());
    }
    print(&learned, &found.counts);
    for path in written.iter().chain(&arguments.agent) {
        output::result(format_args!("wrote {}", path.display()));
    }
    Ok(())
}

/// Adds the flag that allows what the library refuses.
fn learn_error(error: backsweep_learn::Error) -> Error {
    let is_occupied = matches!(error, backsweep_learn::Error::Exists { .. });
    let remedy = if is_occupied { ", or add --overwrite to replace it" } else { "" };
    Error::new(format!("{error}{remedy}"))
}

fn print(learned: &Learned, counts: &Counts) {
    let e = &learned.evaluation;
    let [n_cases, n_held_out] = e.n_cases;
    output::result(format_args!(
        "{n_cases} cases to learn from, {n_held_out} held out ({} of 16 folds); {} states, {} actions\n",
        learned.settings.hold_out.count_ones(),
        counts.states.len(),
        counts.actions.len()
    ));
    numbers(e);
    let supported = learned.states.iter().filter(|row| row.supported).count();
    output::result(format_args!(
        "\nsupported: {:.1} % of visits, {supported} of {} states; {:.1} % of logged decisions would change",
        100.0 * e.supported,
        learned.states.len(),
        100.0 * e.changed
    ));
    for found in &e.cohorts {
        let name = if found.name.is_empty() { "(empty)" } else { &found.name };
        output::result(printable(format!("gain in {name}: {} ({} held-out cases)", found.gain, found.n)));
    }
    output::result(format_args!("\nFinding: {}.", learned.conclusion.words()));
    output::result(printable(learned.conclusion.headline.clone()));
    learned.conclusion.reasons.iter().for_each(output::result);
    output::result(conclusion::CAVEAT);
}

fn numbers(e: &PolicyEvaluation) {
    let line = |name: &str, value: Option<Estimate>, gain: Option<Estimate>| {
        let text = |found: Option<Estimate>| {
            found.map_or_else(|| "unavailable".to_owned(), |found| found.to_string())
        };
        let gain = gain.map_or_else(String::new, |gain| format!("  gain {gain}"));
        output::result(format_args!("{name:<42} {}{gain}", text(value)));
    };
    let of = |found: Option<Against>| (found.map(|found| found.policy), found.map(|found| found.gain));
    line("logged policy, held out", e.logged, None);
    line("policy, model of training cases", Some(e.training), None);
    let named = [
        ("policy, model of held-out cases", e.held_out),
        ("policy, weighted importance sampling", e.importance),
        ("policy, doubly robust", e.doubly_robust),
        ("policy, doubly robust by visits", e.marginal),
    ];
    for (name, found) in named {
        let (policy, gain) = of(found);
        line(name, policy, gain);
    }
    if e.importance.is_some() {
        output::result(format_args!(
            "{:<42} {:.1} of {}",
            "effective held-out cases", e.effective_cases, e.n_cases[1]
        ));
    }
}
