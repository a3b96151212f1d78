//! The command `backsweep`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(backsweep_cli::run(std::env::args_os()))
}
