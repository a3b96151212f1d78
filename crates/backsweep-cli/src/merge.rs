//! `backsweep merge`: joins the parts of one experiment.

use crate::error::{Error, Result};
use crate::laboratory::present;
use backsweep_lab::store::{Store, expect_manifest};
use std::path::PathBuf;

/// Merge the results of --shard runs into one folder
///
/// The merged files are the same, byte for byte, as those of a run on one machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep run my.toml --shard 0/2 --out parts/0
  backsweep run my.toml --shard 1/2 --out parts/1
  backsweep merge parts/* --out out/my")]
pub struct MergeArguments {
    /// Folders that the shards wrote
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,

    /// Folder for the merged results
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,

    /// Print the summary as a JSON array
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn merge(arguments: &MergeArguments) -> Result<()> {
    let manifests: Vec<_> =
        arguments.folders.iter().map(|folder| expect_manifest(folder)).collect::<Result<_, _>>()?;
    let mut merged = Store::examine(&arguments.out, manifests[0].clone())?;
    for folder in &arguments.folders {
        merged.merge(folder)?;
    }
    let missing = merged.missing();
    if let Some(first) = missing.first() {
        return Err(Error::new(format!(
            "{} settings are missing from all folders (first: {first}); run the missing shards first",
            missing.len()
        )));
    }
    merged.lock()?;
    merged.finish()?;
    present(&merged, arguments.json, false, &[])
}
