//! Printing that survives a closed pipe: `backsweep run … | head` must neither panic nor stop an experiment.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};

/// Prints results on standard output. When the reader has gone there is nobody to tell, so the rest is left out; any other
/// failure is reported once.
pub fn result(text: impl Display) {
    if let Err(error) = writeln!(stdout(), "{text}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        note(format_args!("backsweep: standard output: cannot write it ({error})"));
    }
}

/// Prints a remark on standard error, if anybody listens.
pub fn note(text: impl Display) {
    let _ = writeln!(stderr(), "{text}");
}
