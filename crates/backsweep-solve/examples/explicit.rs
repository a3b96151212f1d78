//! Answers questions about models in PRISM's explicit format, one per line of standard input, one JSON object per line.
//!
//! A question is `TOLERANCE max|min BASE KIND ARGUMENTS`, where BASE is the path of a model without its ending and KIND is
//! `reach LABEL [AVOID]`, `within STEPS LABEL [AVOID]`, `until REWARD LABEL`, `total REWARD`, `horizon REWARD STEPS` or
//! `average REWARD`. REWARD names a file `BASE.REWARD.crew` of lines `state choice reward`, or is `1`: one per step.
//! `scripts/test-storm` compares the answers with Storm's.

use backsweep_mdp::{Label, Mdp, Rewards};
use backsweep_solve::{Direction, Limits, Objective, solve_undiscounted};
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
    let (mdp, last) = read_model(base)?;
    let argument = |i: usize| rest.get(i).copied().ok_or(format!("{kind} needs {} arguments", i + 1));
    let label = |name: &str| -> Result<&[u32], String> {
        let found = mdp.labels.iter().find(|l| l.name == name);
        Ok(&found.ok_or(format!("there is no label {name}"))?.states)
    };
    let avoid = |i: usize| rest.get(i).map_or(Ok(&[][..]), |name| label(name));
    let reward = match *kind {
        "until" | "total" | "horizon" | "average" => read_reward(&mdp, base, argument(0)?)?,
        _ => Rewards::default(),
    };
    let objective = match *kind {
        "reach" => Objective::Reach { goal: label(argument(0)?)?, avoid: avoid(1)? },
        "within" => Objective::ReachWithin {
            steps: argument(0)?.parse()?,
            goal: label(argument(1)?)?,
            avoid: avoid(2)?,
        },
        "until" => Objective::RewardUntil { reward: &reward, goal: label(argument(1)?)? },
        "total" => Objective::TotalReward { reward: &reward },
        "horizon" => Objective::Horizon { reward: &reward, steps: argument(1)?.parse()?, discount: 1.0 },
        "average" => Objective::Average { reward: &reward },
        other => return Err(format!("unknown kind {other}").into()),
    };
    let start = Instant::now();
    let limits = Limits { tolerance: tolerance.parse()?, stop: &|| false, threads: 1 };
    let solution = solve_undiscounted(&mdp, objective, direction, &limits)?;
    let seconds = start.elapsed().as_secs_f64();
    let numbers = |x: &[f64]| {
        let texts: Vec<String> =
            x.iter().map(|v| if v.is_finite() { format!("{v:e}") } else { format!("\"{v}\"") }).collect();
        texts.join(",")
    };
    Ok(format!(
        "{{\"converged\":{},\"seconds\":{seconds:.6},\"iterations\":{},\"states\":{last},\"lower\":[{}],\"upper\":[{}],\
         \"policy\":{:?},\"explanation\":{:?}}}",
        solution.converged,
        solution.iterations,
        numbers(&solution.lower),
        numbers(&solution.upper),
        solution.policy,
        solution.explanation,
    ))
}

/// Reads `BASE.tra` and `BASE.lab`; also returns the number of states.
fn read_model(base: &str) -> Result<(Mdp, usize), Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("{base}.tra"))?;
    let mut lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    let n: usize = lines.next().and_then(|l| l.split_whitespace().next()).ok_or("empty model")?.parse()?;
    let mut mdp = Mdp { choices: vec![0], arcs: vec![], ..Mdp::default() };
    let mut before = None;
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [state, choice, target, p, ..] = words[..] else {
            return Err(format!("expected four numbers, found {line}").into());
        };
        let at = (state.parse::<usize>()?, choice.parse::<usize>()?);
        if before != Some(at) {
            while mdp.choices.len() <= at.0 {
                mdp.choices.push(mdp.arcs.len() as u32);
            }
            mdp.arcs.push(mdp.targets.len() as u32);
            before = Some(at);
        }
        mdp.targets.push(target.parse()?);
        mdp.probabilities.push(p.parse()?);
    }
    while mdp.choices.len() <= n {
        mdp.choices.push(mdp.arcs.len() as u32);
    }
    mdp.arcs.push(mdp.targets.len() as u32);
    let text = std::fs::read_to_string(format!("{base}.lab"))?;
    let mut lines = text.lines();
    // The header is NUMBER="NAME" over and over; names contain spaces and parentheses but no quotes.
    for part in lines.next().unwrap_or("").split('"').skip(1).step_by(2) {
        mdp.labels.push(Label { name: part.to_string(), states: Vec::new() });
    }
    for line in lines {
        if let Some((state, labels)) = line.split_once(':') {
            for l in labels.split_whitespace() {
                mdp.labels.get_mut(l.parse::<usize>()?).ok_or("unknown label")?.states.push(state.parse()?);
            }
        }
    }
    Ok((mdp, n))
}

fn read_reward(mdp: &Mdp, base: &str, name: &str) -> Result<Rewards, Box<dyn Error>> {
    let mut reward =
        Rewards { name: name.to_string(), choices: vec![0.0; mdp.n_choices()], ..Rewards::default() };
    if name == "1" {
        reward.choices.fill(1.0);
        return Ok(reward);
    }
    for line in
        std::fs::read_to_string(format!("{base}.{name}.crew"))?.lines().filter(|l| !l.starts_with('#'))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [state, choice, value] = words[..] {
            let c = mdp.choices[state.parse::<usize>()?] as usize + choice.parse::<usize>()?;
            reward.choices[c] = value.parse()?;
        }
    }
    Ok(reward)
}
