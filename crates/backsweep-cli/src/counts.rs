//! `backsweep counts`: merges, subtracts and shows files of counts.

use crate::error::Result;
use crate::logs::{decimal, log_error, read_counts, size};
use crate::output;
use backsweep_log::decimal::Decimal;
use backsweep_log::{Counts, Input, printable};
use std::path::PathBuf;

/// Merge, subtract or show files of counts
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep counts merge jan.csv feb.csv --out year.csv
  backsweep counts subtract year.csv case-17.csv --out year-without-17.csv
  backsweep counts show year.csv")]
pub struct CountsArguments {
    #[command(subcommand)]
    command: CountsCommand,

    /// The reward that a reward_sum of 1 stands for, in files that do not say so
    #[arg(long, value_name = "NUMBER", value_parser = decimal, global = true)]
    reward_unit: Option<Decimal>,
}

#[derive(clap::Subcommand)]
enum CountsCommand {
    /// Merge the counts of several logs, bit for bit as if they had been one log
    #[command(after_help = "Examples:
  backsweep counts merge jan.csv feb.csv --out year.csv")]
    Merge {
        /// Files of counts, or patterns
        #[arg(value_name = "COUNTS", required = true)]
        files: Vec<String>,
        /// The file to write, .csv or .parquet
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Subtract the counts of a part, such as a case to erase, bit for bit as if it had never been counted
    #[command(after_help = "Examples:
  backsweep counts subtract year.csv case-17.csv --out year-without-17.csv")]
    Subtract {
        /// The counts to subtract from
        #[arg(value_name = "COUNTS")]
        whole: String,
        /// The counts to subtract, or patterns
        #[arg(value_name = "PART", required = true)]
        parts: Vec<String>,
        /// The file to write, .csv or .parquet
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Show the contents of each file of counts
    #[command(after_help = "Examples:
  backsweep counts show year.csv --rows 20")]
    Show {
        /// Files of counts, or patterns
        #[arg(value_name = "COUNTS", required = true)]
        files: Vec<String>,
        /// The number of rows to print
        #[arg(long, value_name = "N", default_value_t = 10)]
        rows: usize,
    },
}

/// Runs the command.
pub fn counts(arguments: &CountsArguments) -> Result<()> {
    let load = |input: &Input| Counts::load(input, arguments.reward_unit).map_err(log_error);
    match &arguments.command {
        CountsCommand::Merge { files, out } => save(out, &read_counts(files, arguments.reward_unit)?.0),
        CountsCommand::Subtract { whole, parts, out } => {
            let whole = Input::expand(std::slice::from_ref(whole)).map_err(log_error)?;
            let mut rest = load(&whole[0])?;
            for input in Input::expand(parts).map_err(log_error)? {
                rest = rest.subtract(&load(&input)?).map_err(log_error)?;
            }
            save(out, &rest)
        }
        CountsCommand::Show { files, rows } => {
            for input in Input::expand(files).map_err(log_error)? {
                show(&input, &load(&input)?, *rows);
            }
            Ok(())
        }
    }
}

fn save(out: &std::path::Path, counts: &Counts) -> Result<()> {
    counts.save(out).map_err(log_error)?;
    output::result(format_args!("{}: {}", out.display(), size(counts)));
    Ok(())
}

fn show(input: &Input, counts: &Counts, n_rows: usize) {
    output::result(printable(format!("{input}: {}", size(counts))));
    for (key, value) in &counts.how {
        output::result(printable(format!("{key}: {value}")));
    }
    let state = |id: u32| counts.states[id as usize].as_str();
    for row in counts.rows.iter().take(n_rows) {
        let (action, next) = (&counts.actions[row.action as usize], row.next.map_or("end", state));
        let (state, mean) = (state(row.state), counts.reward(row.reward_sum) / row.n as f64);
        let (n, fold) = (row.n, row.fold);
        output::result(printable(format!(
            "{state} · {action} → {next}: {n} in fold {fold}, mean reward {mean}"
        )));
    }
    if counts.rows.len() > n_rows {
        output::result(format_args!("… and {} more", counts.rows.len() - n_rows));
    }
}
