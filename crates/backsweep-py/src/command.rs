//! The command `backsweep`, which comes with the package.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs a command line, whose first argument is the program's name, and returns the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| backsweep_cli::run(arguments))
}
