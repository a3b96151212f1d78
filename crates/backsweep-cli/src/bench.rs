//! `backsweep bench`: the speed of the update cycle, beside a plain reference and a floor.

use backsweep_lab::{Error, Result};
use std::io::stdout;

/// Measure the speed of the update cycle, beside a plain reference and a floor
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    options: backsweep_bench::BenchOptions,
}

/// Carries out the command.
pub fn bench(arguments: &Arguments) -> Result<()> {
    backsweep_bench::run(&arguments.options, &mut stdout().lock()).map_err(Error::new)
}
