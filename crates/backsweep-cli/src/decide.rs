//! `backsweep decide`: answers of a learned policy for rows.

use crate::error::{Error, Result};
use crate::output;
use backsweep::Random;
use backsweep_learn::Decider;
use std::io::{BufRead, Write};
use std::path::PathBuf;

/// Decide with a learned policy, for one state or for rows of JSON from standard input
///
/// Each answer is the row with 'state', 'action' and 'propensity', the probability with which the action was drawn, as one line of
/// JSON. In a state without support 'action' is null and 'refused' says why.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep decide report --state ward=A,sofa=7
  backsweep decide report --log answers.jsonl <rows.jsonl")]
pub struct DecideArguments {
    /// The policy.json that 'backsweep learn --out FOLDER' wrote, or the folder
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// The state, by its columns (ward=A,sofa=7) or by its name (A|5..10); without it, rows are read from standard input
    #[arg(long, value_name = "COLUMN=VALUE,…")]
    state: Option<String>,

    /// The seed of the draws where several actions have a probability [default: a fresh one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Append every answer to this file; 'backsweep learn --propensity propensity' reads it
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Runs the command.
pub fn decide(arguments: &DecideArguments) -> Result<()> {
    let path = if arguments.policy.is_dir() {
        arguments.policy.join("policy.json")
    } else {
        arguments.policy.clone()
    };
    let text = std::fs::read_to_string(&path).map_err(|error| Error::unread(&path, error))?;
    let decider = Decider::parse(&text).map_err(|error| Error::at(path.display(), error))?;
    let mut random = Random::from_seed(arguments.seed.unwrap_or_else(fresh_seed));
    let mut log = None;
    if let Some(path) = &arguments.log {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        log = Some((path, file.map_err(|error| Error::unwritten(path, error))?));
    }
    let mut say = |answer: &serde_json::Value| {
        output::result(answer);
        match &mut log {
            Some((path, file)) => writeln!(file, "{answer}").map_err(|error| Error::unwritten(path, error)),
            None => Ok(()),
        }
    };
    let Some(state) = &arguments.state else {
        for (i, line) in std::io::stdin().lock().lines().enumerate() {
            let line =
                line.map_err(|error| Error::new(format!("standard input: cannot read it ({error})")))?;
            if !line.trim().is_empty() {
                let answer = decider.answer(&line, &mut random);
                say(&answer.map_err(|error| Error::new(format!("standard input:{}: {error}", i + 1)))?)?;
            }
        }
        return Ok(());
    };
    let state = if state.contains('=') {
        let cells: Vec<(&str, &str)> = state.split(',').filter_map(|cell| cell.split_once('=')).collect();
        let value = |column: &str| {
            cells.iter().find(|(name, _)| *name == column).map(|(_, value)| (*value).to_owned())
        };
        decider.state_of(value)?
    } else {
        state.clone()
    };
    let decision = decider.decide(&state, &mut random)?;
    say(
        &serde_json::json!({"state": decision.state, "action": decision.action, "propensity": decision.propensity}),
    )
}

/// Draws differ from call to call unless a seed is given.
fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64) ^ u64::from(std::process::id()) << 40
}
