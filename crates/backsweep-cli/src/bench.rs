//! `backsweep bench`: the speed of the update cycle against a plain reference and a floor; with `--solve`, of the solver.

mod solving;

use crate::error::Result;
use crate::loading;
use backsweep_mdp::Format;
use std::io::stdout;
use std::path::PathBuf;

/// Benchmark the planners (or, with --solve, the solver)
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep bench --repeat 5
  backsweep bench --deadline 100us
  backsweep bench --solve --cases maze500,garnet100k")]
pub struct BenchArguments {
    #[command(flatten)]
    options: backsweep_bench::BenchOptions,

    /// Measure how fast known models are solved and repaired instead: CPU seconds on one thread, at tolerance 1e-4
    #[arg(long, conflicts_with_all = ["planner", "queue", "side", "observations", "scattered", "cycles", "afterwards",
        "threshold", "seed", "repeat", "no_reference", "no_rmse", "deadline", "hub", "calls"])]
    solve: bool,

    /// With --solve: run only these cases, such as maze500,garnet100k,walls
    #[arg(long, value_name = "CASES", value_delimiter = ',', requires = "solve", conflicts_with = "model")]
    cases: Vec<String>,

    /// With --solve: also run the two models of 10 million states and 100 million arcs (3 GB, minutes)
    #[arg(long, requires = "solve")]
    large: bool,

    /// With --solve: solve every model this many times; the fastest counts
    #[arg(long, value_name = "N", requires = "solve", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,

    /// With --solve: measure this model instead, with --discount
    #[arg(long, value_name = "FILE", requires_all = ["solve", "discount"])]
    model: Option<PathBuf>,

    /// The discount of --model, from 0 to below 1
    #[arg(long, value_name = "DISCOUNT", requires = "model")]
    discount: Option<f64>,

    /// With --model: the rewards are costs to minimize
    #[arg(long, requires = "model")]
    minimize: bool,

    /// The format of --model, if its extension does not say: umb, drn, tra, csv or backsweep
    #[arg(long, value_name = "FORMAT", requires = "model", value_parser = loading::format)]
    format: Option<Format>,
}

/// Runs the command.
pub fn bench(arguments: &BenchArguments) -> Result<()> {
    if arguments.solve {
        return solving::run(arguments);
    }
    Ok(backsweep_bench::run(&arguments.options, &mut stdout().lock())?)
}
