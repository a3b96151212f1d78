//! `backsweep completions` and `backsweep man`: completion scripts and manual pages, generated from the options.

use crate::error::{Error, Result};
use crate::output;
use std::path::PathBuf;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep completions bash >~/.local/share/bash-completion/completions/backsweep
  backsweep completions zsh >~/.zfunc/_backsweep
  backsweep completions fish >~/.config/fish/completions/backsweep.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: clap_complete::Shell,
}

/// Write the manual pages
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep man ~/.local/share/man/man1")]
pub struct ManArguments {
    /// The folder to write them into; it is created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs `completions`.
pub fn completions(arguments: &CompletionsArguments, mut command: clap::Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "backsweep", &mut script);
    output::result(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

/// Runs `man`.
pub fn man(arguments: &ManArguments, command: clap::Command) -> Result<()> {
    let folder = &arguments.folder;
    let failed = |error| Error::at(folder.display(), format_args!("cannot write the manual pages ({error})"));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    output::result(format_args!("wrote {}", folder.join("backsweep.1").display()));
    Ok(())
}
