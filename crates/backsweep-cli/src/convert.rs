//! `backsweep convert`: a model from one format to another.

use crate::error::Result;
use crate::{loading, output};
use backsweep_mdp::{Compression, Format, write};
use std::path::PathBuf;

/// Convert a model from one format to another
///
/// The extension decides the format: .umb (Storm, PRISM, Modest), .drn (Storm), .tra with .lab, .srew, .trew and .sta next
/// to it (PRISM), .csv (state,action,next_state,probability,reward,terminated); .backsweep (a saved learner) can only be
/// read.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep convert model.umb model.drn
  backsweep convert table.txt model.umb --format csv")]
pub struct ConvertArguments {
    /// The model to read
    #[arg(value_name = "FROM")]
    input: PathBuf,

    /// The file to write
    #[arg(value_name = "TO")]
    output: PathBuf,

    /// The format of FROM, if its extension does not say: umb, drn, tra, csv or backsweep
    #[arg(long, alias = "from", value_name = "FORMAT", value_parser = loading::format)]
    format: Option<Format>,

    /// The format of TO, if its extension does not say: umb, drn, tra or csv
    #[arg(long, value_name = "FORMAT", value_parser = loading::format)]
    to: Option<Format>,

    /// Do not compress a .umb file: larger, but faster to read and write
    #[arg(long)]
    uncompressed: bool,
}

/// Runs the command.
pub fn convert(arguments: &ConvertArguments) -> Result<()> {
    let mdp = loading::load(&arguments.input, arguments.format)?;
    let compression = if arguments.uncompressed { Compression::None } else { Compression::Gzip };
    for warning in write(&arguments.output, &mdp, arguments.to, compression)? {
        loading::warn(&arguments.output, &warning);
    }
    let (path, states) = (arguments.output.display(), mdp.n_states());
    output::result(format_args!(
        "{path}: {states} states, {} choices, {} arcs",
        mdp.n_choices(),
        mdp.n_arcs()
    ));
    Ok(())
}
