//! `.srew`, `.trew` and `.crew`: rewards of states, transitions and choices. What is not listed is 0.

use super::super::text::{TextLine, TextLines};
use super::rewards_of;
use crate::{Error, Mdp, Result};
use std::ffi::OsStr;
use std::path::Path;

/// Reads one file. A comment `# Reward structure "NAME"` gives the name; otherwise the file's name does.
pub fn read(name: &str, mut lines: TextLines, path: &Path, mdp: &mut Mdp) -> Result<()> {
    let mut name = name.to_owned();
    let kind = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let n = match kind {
        "srew" => mdp.n_states(),
        "crew" => mdp.n_choices(),
        _ => mdp.n_arcs(),
    };
    let mut values = vec![0.0; n];
    let mut first = true;
    while let Some(line) = lines.read()? {
        if let Some(comment) = line.text.strip_prefix('#') {
            let quoted =
                comment.trim().strip_prefix("Reward structure \"").and_then(|rest| rest.strip_suffix('"'));
            name = quoted.map_or(name, str::to_owned);
            continue;
        }
        if line.text.is_empty() {
            continue;
        }
        let header = first && is_header(&line, kind, mdp);
        first = false;
        if !header {
            entry(&line, kind, mdp, &mut values)?;
        }
    }
    let uniform = (kind == "trew").then(|| per_choice(mdp, &values)).flatten();
    let rewards = rewards_of(mdp, &name);
    let slot = match (kind, &uniform) {
        ("srew", _) => &mut rewards.states,
        ("crew", _) | (_, Some(_)) => &mut rewards.choices,
        _ => &mut rewards.arcs,
    };
    if !slot.is_empty() {
        return Err(Error::new(path.display(), format!("the rewards '{name}' are given twice")));
    }
    *slot = uniform.unwrap_or(values);
    Ok(())
}

/// Returns whether the first line has counts and no reward: PRISM writes it, Storm does not.
fn is_header(line: &TextLine, kind: &str, mdp: &Mdp) -> bool {
    let words: Vec<Option<usize>> = line.text.split_whitespace().map(|word| word.parse().ok()).collect();
    match (kind, &words[..]) {
        ("srew", [Some(states), Some(_)]) => *states == mdp.n_states(),
        ("trew", [Some(states), Some(_)]) => mdp.chain && *states == mdp.n_states(),
        ("trew" | "crew", [Some(states), Some(choices), Some(_)]) => {
            !mdp.chain && *states == mdp.n_states() && *choices == mdp.n_choices()
        }
        _ => false,
    }
}

fn entry(line: &TextLine, kind: &str, mdp: &Mdp, values: &mut [f64]) -> Result<()> {
    let mut words = line.words();
    let state = words.index("a state", mdp.n_states())? as usize;
    if kind == "srew" {
        values[state] = words.number("a reward")?;
        return words.end();
    }
    let choices = mdp.choices_of(state);
    let within =
        if mdp.chain && kind == "trew" { 0 } else { words.index("a choice of the state", choices.len())? };
    let choice = choices.start + within as usize;
    if choices.is_empty() {
        return Err(
            line.error(line.text, format!("found a reward of state {state}, which has no transitions"))
        );
    }
    if kind == "crew" {
        values[choice] = words.number("a reward")?;
        return words.end();
    }
    let target = words.index("a state", mdp.n_states())?;
    let reward = words.number("a reward")?;
    let mut found = false;
    for arc in mdp.arcs_of(choice).filter(|&arc| mdp.targets[arc] == target) {
        values[arc] = reward;
        found = true;
    }
    if !found && reward != 0.0 {
        let problem = format!(
            "found a reward for state {state}, choice {within}, target {target}; there is no such transition"
        );
        return Err(line.error(line.text.trim_start(), problem));
    }
    words.end()
}

/// One reward per choice, if the transitions of each choice have the same and none ends the episode.
fn per_choice(mdp: &Mdp, values: &[f64]) -> Option<Vec<f64>> {
    let uniform = |choice: usize| {
        let rewards = &values[mdp.arcs_of(choice)];
        let first = rewards.first().copied().unwrap_or(0.0);
        (rewards.iter().all(|reward| *reward == first) && (first == 0.0 || !mdp.can_end(choice)))
            .then_some(first)
    };
    (0..mdp.n_choices()).map(uniform).collect()
}
