//! The measurements alone, without the rest of the command line.

use backsweep_bench::{BenchOptions, run};
use clap::Parser;

#[derive(Parser)]
#[command(name = "backsweep-bench", about = "Measures the update cycle")]
struct Arguments {
    #[command(flatten)]
    options: BenchOptions,
}

fn main() -> std::process::ExitCode {
    match run(&Arguments::parse().options, &mut std::io::stdout()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::from(2)
        }
    }
}
