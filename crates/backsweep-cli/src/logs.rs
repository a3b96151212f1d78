//! Shared by `count`, `counts` and `learn`: reading a log, and showing its errors.

use crate::error::{Error, Result};
use crate::{interrupt, output, progress, sql};
use backsweep_log::decimal::Decimal;
use backsweep_log::{
    BinnedColumn, Condition, Counts, EndRule, FinalRewards, Folds, Input, Log, ReadObserver, ReadReport,
    Spec, SpecField, Wording, printable,
};
use indicatif::ProgressBar;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options for reading a log.
#[derive(clap::Args)]
pub struct LogArguments {
    /// Files or patterns such as 'log/*.csv.gz', or - for standard input: CSV, TSV, lines of JSON, XES (each may be compressed with gzip or zstd), Parquet
    #[arg(value_name = "LOG", required_unless_present = "sql")]
    logs: Vec<String>,

    /// Read the rows of this query in place of files; needs --db
    #[arg(long, value_name = "SELECT", requires = "db", conflicts_with = "logs")]
    sql: Option<String>,

    /// The database of --sql: a file of DuckDB (read by duckdb or Python's duckdb) or postgres://… (read by psql)
    #[arg(long, value_name = "DATABASE", requires = "sql")]
    db: Option<String>,

    /// Read only rows that meet this condition, such as 'channel = Internet' or 'amount >= 500'; may be given several times
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    conditions: Vec<Condition>,

    /// The column that identifies the case
    #[arg(long, value_name = "COLUMN")]
    case: Option<String>,

    /// The column that orders the rows of a case, numbers or dates; without it, rows are taken in file order
    #[arg(long, value_name = "COLUMN")]
    order: Option<String>,

    /// Rows are in file order: guess no column that orders them
    #[arg(long, conflicts_with = "order")]
    file_order: bool,

    /// The treatment of rows of a case that have the same order
    #[arg(long, value_enum, default_value_t = Ties::Refuse)]
    ties: Ties,

    /// The columns that make up the state. Numbers are cut at edges (sofa:0|5|10), into quantiles (age:q4), or into zero and quantiles of
    /// the rest (dose:0q4). 'prev(activity)' is the value in the previous row, 'elapsed(hours)' the time since the case began
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = column)]
    state: Vec<BinnedColumn>,

    /// The columns that make up the action, cut like those of the state
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = column)]
    action: Vec<BinnedColumn>,

    /// The column of rewards: the result of the action in the same row; '-cost' for costs. 'elapsed(hours)' is the time until the next row
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    reward: Option<String>,

    /// The reward at the end of a case, by a column of its last row: outcome=survived:1,died:0
    #[arg(long = "final", value_name = "COLUMN=VALUE:REWARD,…", value_parser = final_rewards)]
    final_rewards: Option<FinalRewards>,

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

    /// The column with the probability with which the logged action was taken; 'learn' uses it in place of the shares in the log
    #[arg(long, value_name = "COLUMN")]
    propensity: Option<String>,

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

    /// Refuse a log with any warning
    #[arg(long)]
    strict: bool,

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

/// Rows of a case with the same order.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Ties {
    /// They make the log bad: it is unknown which came first
    Refuse,
    /// They are in file order
    File,
}

/// The number of steps that `--dry-run` shows.
const SHOWN_STEPS: usize = 10;

impl LogArguments {
    /// The settings and the files. What was guessed is printed on standard error.
    pub fn open(&self) -> Result<(Spec, Vec<Input>)> {
        let inputs = match (&self.sql, &self.db) {
            (Some(query), Some(database)) => vec![sql::rows(query, database)?],
            _ => Input::expand(&self.logs).map_err(log_error)?,
        };
        let mut spec = self.spec()?;
        let columns = backsweep_log::columns(&inputs[0]).map_err(log_error)?;
        for guess in spec.fill_in(&columns).map_err(log_error)? {
            output::note(format_args!("backsweep: {}", guess.message(flags)));
        }
        Ok((spec, inputs))
    }

    /// The files or patterns as they were given.
    pub fn patterns(&self) -> &[String] {
        &self.logs
    }

    /// True if the log is only shown.
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
            file_order: self.file_order,
            ties_by_file: self.ties == Ties::File,
            conditions: self.conditions.clone(),
            state: self.state.clone(),
            action: self.action.clone(),
            next: self.next_state.clone(),
            reward: self.reward.clone(),
            end,
            truncated: self.truncated.clone(),
            final_rewards: self.final_rewards.clone(),
            reward_unit: self.reward_unit,
            round_rewards: self.round_rewards,
            propensity: self.propensity.clone(),
            missing: self.missing.clone(),
            skip_bad: self.skip_bad,
            strict: self.strict,
            unterminated: self.unterminated,
            threads: self.threads,
            ..Spec::default()
        };
        if let Some(file) = &self.bins_from {
            let known = Counts::load(&Input::File(file.into()), self.reward_unit).map_err(log_error)?;
            spec.reuse(&known.how).map_err(log_error)?;
        }
        Ok(spec)
    }
}

/// Reads a log and keeps all cases.
pub fn read_cases(spec: &Spec, inputs: &[Input]) -> Result<Log> {
    read_with(|progress| backsweep_log::read(spec, inputs, Folds::MAX, progress))
}

/// Reads a log, with a progress bar that shows rows per second; Ctrl-C stops it.
pub fn read(spec: &Spec, inputs: &[Input], keep: Folds) -> Result<Log> {
    read_with(|progress| match keep {
        0 => backsweep_log::read(spec, inputs, 0, progress),
        _ => backsweep_log::read_all_if_small(spec, inputs, keep, progress),
    })
}

fn read_with(read: impl FnOnce(&LogProgress) -> backsweep_log::Result<Log>) -> Result<Log> {
    let progress = LogProgress::new();
    let log = read(&progress);
    progress.bar.finish_and_clear();
    let log = log.map_err(log_error)?;
    print_notes(&log.report);
    Ok(log)
}

/// The messages of the library, with the flags of this command.
pub fn texts(words: &[Wording]) -> Vec<String> {
    words.iter().map(|words| words.message(flags)).collect()
}

/// Prints what the user should know about a log on standard error.
fn print_notes(report: &ReadReport) {
    let note = |n: u64, text: &str| {
        if n > 0 {
            output::note(format_args!("backsweep: note: {n} {text}"));
        }
    };
    for warning in texts(&report.warnings) {
        output::note(format_args!("backsweep: warning: {warning}"));
    }
    for example in &report.bad_examples {
        output::note(format_args!("backsweep: skipped: {}", example.message(flags)));
    }
    note(report.left_out, "rows do not meet the conditions and were left out");
    note(report.bad_rows, "bad rows were skipped");
    note(report.dropped_cases, "cases were skipped because they have a bad row");
    note(report.empty_cases, "cases were cut after one row and contain no step");
    note(report.breaks, "rows lead to a different state than the next row of their case");
}

struct LogProgress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl LogProgress {
    fn new() -> Self {
        Self { bar: progress::bar(1), stop: interrupt::on_ctrl_c() }
    }
}

impl ReadObserver for LogProgress {
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

/// The counts of some files together; `unit` for those that do not name theirs.
pub fn read_counts(patterns: &[String], unit: Option<Decimal>) -> Result<(Counts, Vec<Input>)> {
    let inputs = Input::expand(patterns).map_err(log_error)?;
    let mut sum = Counts::default();
    for input in &inputs {
        let more = Counts::load(input, unit).map_err(log_error)?;
        sum = sum.merge(&more).map_err(|error| Error::new(format!("{input}: {}", error.message(flags))))?;
    }
    Ok((sum, inputs))
}

/// The size of counts, in words.
pub fn size(counts: &Counts) -> String {
    let Counts { states, actions, rows, .. } = counts;
    let (n_steps, unit) = (counts.n_steps(), counts.reward_unit());
    let (states, actions, rows) = (states.len(), actions.len(), rows.len());
    format!("{n_steps} steps, {states} states, {actions} actions, {rows} counts, reward unit {unit}")
}

/// Shows how a log is read.
pub fn show_reading(spec: &Spec, inputs: &[Input]) -> Result<()> {
    let preview = backsweep_log::preview(spec, inputs, SHOWN_STEPS).map_err(log_error)?;
    for (key, value) in preview.how {
        output::result(format_args!("{key}: {}", printable(value)));
    }
    output::result("first steps:");
    preview.steps.iter().for_each(|step| output::result(format_args!("  {step}")));
    for warning in texts(&preview.warnings) {
        output::note(format_args!("backsweep: warning about the first {} rows: {warning}", preview.n_rows));
    }
    for problem in &preview.problems {
        output::note(format_args!("backsweep: bad row: {}", problem.message(flags)));
    }
    Ok(())
}

/// Turns an error of a log into an error of the command, which names its flags.
pub fn log_error(error: backsweep_log::Error) -> Error {
    Error::new(error.message(flags))
}

/// The flags of this command, for messages of the library.
fn flags(field: SpecField) -> Option<String> {
    Some(match field {
        SpecField::EndColumn => "--ended-by".to_owned(),
        SpecField::EndValue => "--ended-by column=value".to_owned(),
        SpecField::Cut => "--cut".to_owned(),
        SpecField::FinalRewards => "--final".to_owned(),
        SpecField::Missing => "--missing NAME".to_owned(),
        SpecField::SkipPercent(percent) => format!("--skip-bad {percent}%"),
        SpecField::RoundToCents => "--reward-unit 0.01 --round-rewards".to_owned(),
        SpecField::Reuse => "--bins-from".to_owned(),
        SpecField::Ties => "--ties file".to_owned(),
        SpecField::Conditions => "--where".to_owned(),
        _ => format!("--{}", field.name().replace('_', "-")),
    })
}

fn column(text: &str) -> std::result::Result<BinnedColumn, String> {
    BinnedColumn::parse(text).map_err(|error| error.message(flags))
}

fn condition(text: &str) -> std::result::Result<Condition, String> {
    Condition::parse(text).map_err(|error| error.message(flags))
}

fn final_rewards(text: &str) -> std::result::Result<FinalRewards, String> {
    FinalRewards::parse(text).map_err(|error| error.message(flags))
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
