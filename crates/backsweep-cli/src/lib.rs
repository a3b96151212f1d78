//! The command line of Backsweep. Every command is one file; every error is one line and exit code 2.

mod bench;
mod completions;
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
mod sql;
mod usage;
mod verify;

use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

/// Plan, learn and solve tabular Markov decision processes.
#[derive(Parser)]
#[command(
    name = "backsweep",
    version,
    max_term_width = 110,
    after_help = "Learn and plan: watch, explore.
Known models:   solve, verify, convert.
Logs:           learn, decide, count, counts.
Experiments:    reproduce, run, merge, bench.

Examples:
  backsweep watch --open
  backsweep solve model.umb --reach goal
  backsweep learn 'log/*.csv' --case id --state ward --action dose --out report
  backsweep reproduce --quick"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Watch(backsweep_watch::command::WatchArgs),
    Explore(explore::ExploreArguments),
    Solve(solve::SolveArguments),
    Verify(verify::VerifyArguments),
    Convert(convert::ConvertArguments),
    Learn(learn::LearnArguments),
    Decide(decide::DecideArguments),
    Count(count::CountArguments),
    Counts(counts::CountsArguments),
    Reproduce(reproduce::ReproduceArguments),
    Run(run::RunArguments),
    Merge(merge::MergeArguments),
    Bench(bench::BenchArguments),
    Completions(completions::CompletionsArguments),
    Man(completions::ManArguments),
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
        Command::Completions(arguments) => completions::completions(arguments, Arguments::command()),
        Command::Man(arguments) => completions::man(arguments, Arguments::command()),
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            output::note(format_args!("backsweep: {error}"));
            2
        }
    }
}
