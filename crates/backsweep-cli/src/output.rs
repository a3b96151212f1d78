//! Printing that survives a closed pipe: `backsweep run … | head` must neither panic nor stop an experiment.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};

/// Prints results on standard output. When the reader has closed the pipe, the rest is dropped; any other failure
/// is reported.
pub fn result(text: impl Display) {
    if let Err(error) = writeln!(stdout(), "{text}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        note(format_args!("backsweep: cannot write to standard output ({error})"));
    }
}

/// Prints a remark on standard error, if anybody reads it.
pub fn note(text: impl Display) {
    let _ = writeln!(stderr(), "{text}");
}
