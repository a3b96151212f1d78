//! `backsweep count`: turns a log of decisions into counts that add up.

use crate::error::Result;
use crate::logs::{self, LogArguments, log_error, size};
use crate::output;
use backsweep_log::Log;
use std::path::PathBuf;

/// Count the transitions and rewards in a log of decisions
///
/// A row of a log is one step of a case: case, order, state, action and reward. Columns that you do not name are guessed from
/// their usual names, and the guess is printed. Counts are whole numbers and add up: see 'backsweep counts' and docs/counts.md.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep count 'log/*.csv.gz' --case stay --order t --state ward,sofa:5 --action dose --out counts.csv
  backsweep count log.csv --dry-run")]
pub struct CountArguments {
    #[command(flatten)]
    log: LogArguments,

    /// The file of counts to write: .csv, or .parquet in a build with that feature
    #[arg(long, value_name = "FILE", required_unless_present = "dry_run")]
    out: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn count(arguments: &CountArguments) -> Result<()> {
    let (spec, inputs) = arguments.log.open()?;
    let Some(out) = arguments.out.as_ref().filter(|_| !arguments.log.is_dry_run()) else {
        return logs::show_reading(&spec, &inputs);
    };
    let log = logs::read(&spec, &inputs, 0)?;
    log.counts.save(out).map_err(log_error)?;
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

fn summary_json(log: &Log) -> serde_json::Value {
    let Log { counts, report, .. } = log;
    serde_json::json!({
        "rows": report.rows, "bad_rows": report.bad_rows, "dropped_cases": report.dropped_cases, "ended": report.ended, "cut": report.cut,
        "empty_cases": report.empty_cases, "breaks": report.breaks, "warnings": logs::texts(&report.warnings), "steps": counts.n_steps(), "states": counts.states.len(),
        "actions": counts.actions.len(), "counts": counts.rows.len(), "reward_unit": counts.reward_unit(), "how": counts.how,
    })
}
