//! `backsweep explore`: agents in worlds where exploration is measured.

use crate::error::Result;
use crate::laboratory::{Options, carry_out};
use backsweep_lab::experiment::Experiment;
use std::path::PathBuf;

/// Benchmark exploration: run agents on a suite of environments
///
/// Worlds are RiverSwim, SixArms, Chain, DoubleLoop, slippery grids, Dearden's maze, DeepSea, FrozenLake, Taxi, CliffWalking and two
/// mazes that change (docs/exploring.md). Results go to out/explore: rows.csv, timing.csv, summary.csv, figures, report.html.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep explore --quick
  backsweep explore --world chain --agent default
  backsweep explore my.toml")]
pub struct ExploreArguments {
    /// An experiment file with [[worlds]] and [[agents]], instead of the built-in suite
    #[arg(conflicts_with = "suite")]
    file: Option<PathBuf>,

    /// The built-in suite: explore, explore-settings (the default beside seven settings) or explore-tuning (where it is chosen)
    #[arg(long, value_name = "NAME", default_value = "explore")]
    suite: String,

    /// Run only this world, such as chain or deep_sea_20; may be given several times
    #[arg(long = "world", value_name = "NAME")]
    worlds: Vec<String>,

    /// Run only this agent, such as default; may be given several times
    #[arg(long = "agent", value_name = "NAME")]
    agents: Vec<String>,

    #[command(flatten)]
    options: Options,
}

/// Runs the command.
pub fn explore(arguments: &ExploreArguments) -> Result<()> {
    let ExploreArguments { file, suite, worlds, agents, options } = arguments;
    let experiment = Experiment::explore(suite, file.as_deref(), &options.changes(), worlds, agents)?;
    // A part of the suite is a different experiment, so it gets its own folder.
    let parts = [&[experiment.info.name.clone()][..], worlds, agents].concat();
    let mut folder = parts.join("-");
    folder.truncate(100);
    if options.quick {
        folder += "-quick";
    }
    carry_out(&[experiment], options, &PathBuf::from("out").join(folder))
}
