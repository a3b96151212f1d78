//! The command `watch` by itself.

use backsweep_watch::command::{WatchArgs, run};
use clap::Parser;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    watch: WatchArgs,
}

fn main() -> std::process::ExitCode {
    match run(&Arguments::parse().watch) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::from(2)
        }
    }
}
