//! The command line of Backsweep. Every command is one file; every error is one line and exit code 2.

mod bench;
mod convert;
mod count;
mod counts;
mod decide;
mod error;
mod explore;
mod interrupt;
mod laboratory;
mod learn;
mod loading;
mod logs;
mod merge;
mod output;
mod process;
mod progress;
mod reproduce;
mod run;
mod solve;
mod usage;
mod verify;

use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// Planning by prioritized sweeping with small backups: the paper's experiments and your own.
#[derive(Parser)]
#[command(name = "backsweep", version, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Reproduce(reproduce::ReproduceArguments),
    Run(run::RunArguments),
    Merge(merge::MergeArguments),
    Explore(explore::ExploreArguments),
    Watch(backsweep_watch::command::WatchArgs),
    Bench(bench::BenchArguments),
    Solve(solve::SolveArguments),
    Convert(convert::ConvertArguments),
    Verify(verify::VerifyArguments),
    Learn(learn::LearnArguments),
    Decide(decide::DecideArguments),
    Count(count::CountArguments),
    Counts(counts::CountsArguments),
}

/// Runs a command line, whose first argument is the program's name, and returns the exit code.
///
/// The Python package calls it too. Nothing in it ends the process, except a second Ctrl-C.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return usage::explain(&error),
    };
    let done = match &arguments.command {
        Command::Reproduce(arguments) => reproduce::reproduce(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Merge(arguments) => merge::merge(arguments),
        Command::Explore(arguments) => explore::explore(arguments),
        Command::Watch(arguments) => backsweep_watch::command::run(arguments).map_err(error::Error::from),
        Command::Bench(arguments) => bench::bench(arguments),
        Command::Solve(arguments) => solve::solve(arguments),
        Command::Convert(arguments) => convert::convert(arguments),
        Command::Verify(arguments) => verify::verify(arguments),
        Command::Learn(arguments) => learn::learn(arguments),
        Command::Decide(arguments) => decide::decide(arguments),
        Command::Count(arguments) => count::count(arguments),
        Command::Counts(arguments) => counts::counts(arguments),
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            output::note(format_args!("backsweep: {error}"));
            2
        }
    }
}
