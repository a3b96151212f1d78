//! `backsweep run`: one experiment, built in or your own.

use crate::error::{Error, Result};
use crate::laboratory::{Options, carry_out};
use backsweep_lab::experiment::{BUILT_IN, Changes, Experiment};
use std::path::{Path, PathBuf};

/// Run one experiment: a file of your own, or a built-in one by its name
///
/// Without an experiment, --list prints all built-in settings, and --only runs the built-in ones with that name. Results go to
/// out/NAME.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep run my.toml
  backsweep run fig3 --quick
  backsweep run --list")]
pub struct RunArguments {
    /// An experiment file (my.toml), or the name of a built-in experiment (fig3)
    experiment: Option<String>,

    #[command(flatten)]
    options: Options,
}

/// Runs the command.
pub fn run(arguments: &RunArguments) -> Result<()> {
    let experiments = experiments(arguments)?;
    let named = if let [only] = &experiments[..] { &only.info.name } else { "run" };
    let out = PathBuf::from("out").join(named);
    carry_out(&experiments, &arguments.options, &out)
}

fn experiments(arguments: &RunArguments) -> Result<Vec<Experiment>> {
    let options = &arguments.options;
    let changes = options.changes();
    let built_in = |name: &str| BUILT_IN.iter().any(|(known, _)| *known == name);
    match (&arguments.experiment, &options.only) {
        (Some(name), _) if built_in(name) => Ok(vec![Experiment::built_in(name, &changes)?]),
        (Some(path), _) if Path::new(path).is_file() || path.ends_with(".toml") => {
            Ok(vec![Experiment::read(Path::new(path), &changes)?])
        }
        (Some(name), _) => {
            let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            Err(Error::new(format!(
                "{name}: neither a file nor a built-in experiment; expected a file such as my.toml, or one of: {}",
                known.join(", ")
            )))
        }
        (None, Some(pattern)) => built_in_with(pattern, &changes),
        (None, None) if options.list => Ok(Experiment::all_built_in(&changes)?),
        (None, None) => Err(Error::new(
            "no experiment given; expected a file such as my.toml, a built-in name such as fig3, or --list",
        )),
    }
}

/// The built-in experiments that have settings of this name.
fn built_in_with(pattern: &str, changes: &Changes) -> Result<Vec<Experiment>> {
    let mut experiments = Experiment::all_built_in(changes)?;
    experiments.retain(|experiment| experiment.settings.iter().any(|setting| setting.key.matches(pattern)));
    if experiments.is_empty() {
        return Err(Error::new(format!(
            "no built-in setting matches '{pattern}'; 'backsweep run --list' prints them"
        )));
    }
    Ok(experiments)
}
