//! `backsweep reproduce`: every figure and table of the paper.

use crate::error::Result;
use crate::laboratory::{Options, carry_out};
use backsweep_lab::experiment::Experiment;
use std::path::Path;

/// Reproduce the paper: run its experiments, draw its figures and say which claims hold
///
/// Results go to out/reproduce (out/reproduce-quick with --quick): rows.csv, timing.csv, summary.csv, figures, report.html.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep reproduce --quick
  backsweep reproduce --only fig3/moore_atkeson/5 --verbose")]
pub struct ReproduceArguments {
    #[command(flatten)]
    options: Options,
}

/// Runs the command.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<()> {
    let changes = arguments.options.changes();
    let experiments = Experiment::all_built_in(&changes)?;
    let out = if changes.quick { "out/reproduce-quick" } else { "out/reproduce" };
    carry_out(&experiments, &arguments.options, Path::new(out))
}
