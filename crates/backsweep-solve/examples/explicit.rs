//! Answers questions about models in PRISM's explicit format, one per line of standard input, one JSON object per line.
//!
//! A question is `TOLERANCE max|min BASE KIND ARGUMENTS`, where BASE is the path of a model without its ending and KIND is
//! `reach LABEL [AVOID]`, `within STEPS LABEL [AVOID]`, `until REWARD LABEL`, `total REWARD`, `horizon REWARD STEPS` or
//! `average REWARD`. REWARD names a file `BASE.REWARD.crew` of lines `state choice reward`, or is `1`: one per step.
//! `scripts/test-storm` compares the answers with Storm's.

use backsweep_mdp::{Direction, Objective, Question, Rewards, read};
use backsweep_solve::{Limits, solve};
use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = answer(&words).map_err(|e| format!("{line}: {e}"))?;
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

fn answer(words: &[&str]) -> Result<String, Box<dyn Error>> {
    let [tolerance, direction, base, kind, rest @ ..] = words else {
        return Err("expected TOLERANCE max|min BASE KIND ARGUMENTS".into());
    };
    let direction = if *direction == "max" { Direction::Maximize } else { Direction::Minimize };
    let mut mdp = read(format!("{base}.tra"), None, &|_| {})?.mdp;
    // One reward per step, under the name that questions use.
    mdp.rewards.push(Rewards {
        name: "1".to_owned(),
        choices: vec![1.0; mdp.n_choices()],
        ..Rewards::default()
    });
    let argument = |i: usize| rest.get(i).copied().ok_or(format!("{kind} needs {} arguments", i + 1));
    let label = |i: usize| argument(i).map(str::to_owned);
    let avoid = |i: usize| rest.get(i).map(|name| (*name).to_owned());
    let objective = match *kind {
        "reach" => Objective::Reach { goal: label(0)?, avoid: avoid(1), steps: None },
        "within" => Objective::Reach { goal: label(1)?, avoid: avoid(2), steps: Some(argument(0)?.parse()?) },
        "until" => Objective::Total { reward: Some(label(0)?), until: Some(label(1)?) },
        "total" => Objective::Total { reward: Some(label(0)?), until: None },
        "horizon" => {
            Objective::Horizon { reward: Some(label(0)?), steps: argument(1)?.parse()?, discount: 1.0 }
        }
        "average" => Objective::Average { reward: Some(label(0)?) },
        other => return Err(format!("unknown kind {other}").into()),
    };
    let start = Instant::now();
    let limits = Limits { tolerance: tolerance.parse()?, ..Limits::default() };
    let solution = solve(&mdp, &Question { objective, direction }, None, &limits)?;
    let seconds = start.elapsed().as_secs_f64();
    let numbers = |x: &[f64]| {
        let texts: Vec<String> =
            x.iter().map(|v| if v.is_finite() { format!("{v:e}") } else { format!("\"{v}\"") }).collect();
        texts.join(",")
    };
    Ok(format!(
        "{{\"converged\":{},\"seconds\":{seconds:.6},\"iterations\":{},\"states\":{},\"lower\":[{}],\"upper\":[{}],\
         \"policy\":{:?},\"explanation\":{:?}}}",
        solution.converged,
        solution.iterations,
        mdp.n_states(),
        numbers(&solution.lower),
        numbers(&solution.upper),
        solution.policy,
        solution.explanation,
    ))
}
