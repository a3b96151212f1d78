//! `backsweep count`: turns a log of decisions into counts that add up. `learn` reads logs with the same settings.

use crate::error::{Error, Result};
use crate::{interrupt, output, progress};
use backsweep_log::decimal::Decimal;
use backsweep_log::{Column, Counts, EndRule, Input, Log, Observer, Outcome, Report, Spec, counts_file};
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Count a log of decisions: how often each state and action led to which state, and with what reward
///
/// A row of a log is one step of a case: case, order, state, action and reward. Columns that you do not name are guessed from
/// their usual names, and the guess is printed. Counts are whole numbers and add up: see `backsweep counts` and docs/COUNTS.md.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    log: LogArguments,

    /// The file of counts to write: .csv, or .parquet in a build with that feature
    #[arg(long, value_name = "FILE", required_unless_present = "dry_run")]
    out: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// How a log is read.
#[derive(clap::Args)]
pub struct LogArguments {
    /// Files or patterns such as 'log/*.csv.gz', or - for standard input: CSV, TSV, lines of JSON (each may be compressed by gzip or zstd), Parquet
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<String>,

    /// The column that identifies the case
    #[arg(long, value_name = "COLUMN")]
    case: Option<String>,

    /// The column that orders the rows of a case, numbers or dates; without it, rows are taken in file order
    #[arg(long, value_name = "COLUMN")]
    order: Option<String>,

    /// The columns that make up the state. Numbers are cut at edges (sofa:0|5|10), into quantiles (age:q4), or into zero and quantiles of
    /// the rest (dose:0q4)
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = column)]
    state: Vec<Column>,

    /// The columns that make up the action, cut like those of the state
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = column)]
    action: Vec<Column>,

    /// The column of rewards: the result of the action in the same row
    #[arg(long, value_name = "COLUMN")]
    reward: Option<String>,

    /// The reward at the end of a case, by a column of its last row: outcome=survived:1,died:0
    #[arg(long = "final", value_name = "COLUMN=VALUE:REWARD,…", value_parser = outcome)]
    outcome: Option<Outcome>,

    /// The columns that make up the next state, if a row is a whole transition
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    next_state: Vec<String>,

    /// The column that says whether a row ended its case; cases without such a row were cut. By default the last row of a
    /// case ends it
    #[arg(long, value_name = "COLUMN[=VALUE]", conflicts_with = "cut")]
    ended_by: Option<String>,

    /// No case ended: the log stops in the middle of all of them
    #[arg(long)]
    cut: bool,

    /// The column that says whether a case was cut, for instance by a time limit
    #[arg(long, value_name = "COLUMN")]
    truncated: Option<String>,

    /// Rewards must be multiples of this
    #[arg(long, value_name = "NUMBER", value_parser = decimal)]
    reward_unit: Option<Decimal>,

    /// Round rewards to multiples of --reward-unit
    #[arg(long, requires = "reward_unit")]
    round_rewards: bool,

    /// The name to use for an empty value of a state or action; without it, such a row is bad
    #[arg(long, value_name = "NAME")]
    missing: Option<String>,

    /// Skip bad rows, and their whole cases, if they are at most this share of the log, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "0%")]
    skip_bad: f64,

    /// Accept CSV files whose last line has no line break
    #[arg(long)]
    unterminated: bool,

    /// Take the edges of bins, and any settings not given, from a file of counts
    #[arg(long, value_name = "COUNTS")]
    bins_from: Option<String>,

    /// Show how the log is read and its first steps, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Threads [default: one per core]; results do not depend on it
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    threads: usize,
}

/// How many steps `--dry-run` shows.
const N_SHOWN: usize = 10;

impl LogArguments {
    /// The settings and the files. What was guessed is printed on standard error.
    pub fn open(&self) -> Result<(Spec, Vec<Input>)> {
        let inputs = Input::expand(&self.logs).map_err(log_error)?;
        let mut spec = self.spec()?;
        let columns = backsweep_log::columns(&inputs[0]).map_err(log_error)?;
        for guess in spec.fill_in(&columns).map_err(log_error)? {
            output::note(format_args!("backsweep: {guess}"));
        }
        Ok((spec, inputs))
    }

    /// The files or patterns as they were given.
    pub fn patterns(&self) -> &[String] {
        &self.logs
    }

    /// Whether to show the log only.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    fn spec(&self) -> Result<Spec> {
        let end = match (&self.ended_by, self.cut) {
            (Some(column), _) => EndRule::parse(column),
            (None, true) => EndRule::Cut,
            (None, false) => EndRule::LastRow,
        };
        let mut spec = Spec {
            case: self.case.clone(),
            order: self.order.clone(),
            state: self.state.clone(),
            action: self.action.clone(),
            next: self.next_state.clone(),
            reward: self.reward.clone(),
            end,
            truncated: self.truncated.clone(),
            outcome: self.outcome.clone(),
            reward_unit: self.reward_unit,
            round_rewards: self.round_rewards,
            missing: self.missing.clone(),
            skip_bad: self.skip_bad,
            unterminated: self.unterminated,
            threads: self.threads,
        };
        if let Some(file) = &self.bins_from {
            let known = counts_file::load(&Input::File(file.into()), self.reward_unit).map_err(log_error)?;
            spec.reuse(&known.how).map_err(log_error)?;
        }
        Ok(spec)
    }
}

/// Reads a log, with a progress bar that shows rows per second; Ctrl-C stops it.
pub fn read(spec: &Spec, inputs: &[Input], keep: backsweep_log::Folds) -> Result<Log> {
    let progress = Progress::new();
    let log = backsweep_log::read(spec, inputs, keep, &progress);
    progress.bar.finish_and_clear();
    let log = log.map_err(log_error)?;
    print_notes(&log.report);
    Ok(log)
}

/// Prints what the user should know about a log on standard error.
fn print_notes(report: &Report) {
    let note = |n: u64, text: &str| {
        if n > 0 {
            output::note(format_args!("backsweep: note: {n} {text}"));
        }
    };
    report
        .bad_examples
        .iter()
        .for_each(|example| output::note(format_args!("backsweep: skipped: {example}")));
    note(report.bad_rows, "bad rows were skipped");
    note(report.dropped_cases, "cases were skipped because they have a bad row");
    note(report.empty_cases, "cases were cut after one row and contain no step");
    note(report.breaks, "rows lead to a different state than the next row of their case");
}

struct Progress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Progress {
    fn new() -> Self {
        Self { bar: progress::bar(1), stop: interrupt::on_ctrl_c() }
    }
}

impl Observer for Progress {
    fn progress(&self, done: u64, total: u64, rows: u64) -> bool {
        if !self.bar.is_hidden() {
            self.bar.set_length(total.max(1));
            self.bar.set_position(done);
            let rate = rows as f64 / self.bar.elapsed().as_secs_f64().max(1e-3) / 1e6;
            self.bar.set_message(format!("{rows} rows, {rate:.1} million per second"));
        }
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Runs the command.
pub fn count(arguments: &Arguments) -> Result<()> {
    let (spec, inputs) = arguments.log.open()?;
    let Some(out) = arguments.out.as_ref().filter(|_| !arguments.log.is_dry_run()) else {
        return show_reading(&spec, &inputs);
    };
    let log = read(&spec, &inputs, 0)?;
    counts_file::save(out, &log.counts).map_err(log_error)?;
    if arguments.json {
        output::result(summary_json(&log));
        return Ok(());
    }
    let Log { counts, report, .. } = &log;
    output::result(format_args!(
        "{}: {} rows, {} ended and {} cut cases; {}",
        out.display(),
        report.rows,
        report.ended,
        report.cut,
        size(counts)
    ));
    Ok(())
}

/// The size of counts, in words.
pub fn size(counts: &Counts) -> String {
    let Counts { states, actions, rows, .. } = counts;
    let (n_steps, unit) = (counts.n_steps(), counts.reward_unit());
    let (states, actions, rows) = (states.len(), actions.len(), rows.len());
    format!("{n_steps} steps, {states} states, {actions} actions, {rows} counts, reward unit {unit}")
}

fn summary_json(log: &Log) -> serde_json::Value {
    let Log { counts, report, .. } = log;
    serde_json::json!({
        "rows": report.rows, "bad_rows": report.bad_rows, "dropped_cases": report.dropped_cases, "ended": report.ended, "cut": report.cut,
        "empty_cases": report.empty_cases, "breaks": report.breaks, "steps": counts.n_steps(), "states": counts.states.len(),
        "actions": counts.actions.len(), "counts": counts.rows.len(), "reward_unit": counts.reward_unit(), "how": counts.how,
    })
}

/// Shows how a log is read.
pub fn show_reading(spec: &Spec, inputs: &[Input]) -> Result<()> {
    let preview = backsweep_log::preview(spec, inputs, N_SHOWN).map_err(log_error)?;
    for (key, value) in preview.how {
        output::result(format_args!("{key}: {value}"));
    }
    output::result("first steps:");
    preview.steps.iter().for_each(|step| output::result(format_args!("  {step}")));
    preview.problems.iter().for_each(|problem| output::note(format_args!("backsweep: bad row: {problem}")));
    Ok(())
}

/// Turns an error of a log into an error of the command.
pub fn log_error(error: backsweep_log::Error) -> Error {
    Error::new(error.to_string())
}

fn column(text: &str) -> std::result::Result<Column, String> {
    Column::parse(text).map_err(|error| error.to_string())
}

fn outcome(text: &str) -> std::result::Result<Outcome, String> {
    Outcome::parse(text).map_err(|error| error.to_string())
}

/// A number above 0.
pub fn decimal(text: &str) -> std::result::Result<Decimal, String> {
    let number = Decimal::parse(text.as_bytes()).ok().filter(|number| number.mantissa > 0);
    number.ok_or_else(|| "expected a number above 0 such as 0.01".to_owned())
}

/// A share given in percent.
pub fn percent(text: &str) -> std::result::Result<f64, String> {
    let number: Option<f64> = text.trim_end_matches('%').trim_end().parse().ok();
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a percentage such as 1%".to_owned())
}
