//! Errors in the command line itself, in one line like all others.

use clap::error::ErrorKind;

/// Prints help and version as they are, and any error in one line.
pub fn explain(error: &clap::Error) -> u8 {
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asked_for || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // If help cannot be printed (to a closed pipe, say), nobody is reading.
        let _ = error.print();
        return if asked_for { 0 } else { 2 };
    }
    let text = error.render().to_string();
    let first_part: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let tip = text.lines().map(str::trim).find_map(|line| line.strip_prefix("tip: a similar "));
    let line = first_part.join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let line = tip.map_or(line.to_owned(), |tip| format!("{line}; a similar {tip}"));
    crate::output::note(format_args!("backsweep: {line}; see --help for what is expected"));
    2
}
