//! `backsweep verify`: an independent check of a result.

use crate::error::{Error, Result};
use crate::{loading, output};
use backsweep_mdp::Format;
use backsweep_verify::{ResultFile, Verification, verify as check};
use std::path::PathBuf;

/// Check a result of 'solve' against its model: bounds, tolerance and policy
///
/// Shares no code with the solver and accounts for every rounding error. Prints 'proven' if every claim is true; fails with
/// exit code 2 if a claim is wrong or, with a different message, if a claim could be neither proven nor refuted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep solve model.umb --reach goal --json --out result.json
  backsweep verify model.umb result.json")]
pub struct VerifyArguments {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The result, as 'backsweep solve --json' prints it
    #[arg(value_name = "RESULT")]
    result: PathBuf,

    /// The format of MODEL, if its extension does not say: umb, drn, tra, csv or backsweep
    #[arg(long, alias = "from", value_name = "FORMAT", value_parser = loading::format)]
    format: Option<Format>,
}

/// Runs the command.
pub fn verify(arguments: &VerifyArguments) -> Result<()> {
    let path = arguments.result.display();
    let text = std::fs::read_to_string(&arguments.result);
    let text = text.map_err(|error| Error::unread(&arguments.result, error))?;
    let result = ResultFile::from_json(&text).map_err(|problem| Error::new(format!("{path}:{problem}")))?;
    let mut mdp = loading::load(&arguments.model, arguments.format)?;
    mdp.add_steps(result.objective.reward());
    let report = check(&mdp, &result);
    match report.verdict {
        Verification::Proven => {
            let states = mdp.n_states();
            let policy = if result.converged { " and the policy" } else { "" };
            output::result(format_args!("{path}: proven: the bounds of {states} states{policy}"));
            Ok(())
        }
        Verification::Wrong(problem) => Err(Error::new(format!("{path}: wrong: {problem}"))),
        Verification::NotProven(problem) => Err(Error::new(format!("{path}: not proven: {problem}"))),
    }
}
