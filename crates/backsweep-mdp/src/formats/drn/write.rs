//! Writes DRN as Storm reads it.

use super::NO_LABEL;
use crate::formats::replace;
use crate::{Error, INIT, Mdp, Result};
use std::io::{self, Write};
use std::path::Path;

/// Writes a model.
pub fn write(path: &Path, mdp: &Mdp) -> Result<Vec<String>> {
    let (whole, mut warnings) = mdp.completed();
    let whole = whole.merged();
    if !whole.state_names.is_empty() {
        warnings.push("the names of states were left out: DRN has no place for them".to_owned());
    }
    if let Some(label) =
        whole.labels.iter().find(|label| label.name.contains(['"', '\n', '\r']) || label.name.is_empty())
    {
        let problem =
            format!("the label '{}' is empty or has quotation marks; DRN cannot hold it", label.name);
        return Err(Error::new(path.display(), problem));
    }
    let spaced = |name: &String| name.contains(char::is_whitespace) || name.starts_with('[');
    if whole.action_names.iter().any(spaced) {
        warnings.push("spaces in the names of actions were replaced by _".to_owned());
    }
    let mut names = Vec::new();
    let mut rewards = Vec::new();
    for (i, structure) in whole.rewards.iter().enumerate() {
        let plain = !structure.name.is_empty() && !structure.name.contains(char::is_whitespace);
        let name = if plain { structure.name.clone() } else { format!("rew{i}") };
        if !plain {
            warnings.push(format!(
                "the rewards '{}' are called {name}: DRN needs names without spaces",
                structure.name
            ));
        }
        names.push(name);
        let choices = if structure.arcs.is_empty() {
            structure.choices.clone()
        } else {
            warnings.push(format!(
                "the rewards '{}' of transitions became their mean per choice",
                structure.name
            ));
            let mut only = (*whole).clone();
            only.rewards = vec![structure.clone()];
            only.rewards[0].states.clear();
            only.expected_rewards(None)?
        };
        rewards.push((structure.states.clone(), choices));
    }
    replace(path, |output| fill(&whole, &names, &rewards, output))?;
    Ok(warnings)
}

type StatesAndChoices = (Vec<f64>, Vec<f64>);

fn fill(mdp: &Mdp, names: &[String], rewards: &[StatesAndChoices], output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "// Written by Backsweep\n@type: {}", if mdp.chain { "DTMC" } else { "MDP" })?;
    writeln!(output, "@value_type: double\n@parameters\n\n@reward_models\n{}", names.join(" "))?;
    writeln!(output, "@nr_states\n{}\n@nr_choices\n{}\n@model", mdp.n_states(), mdp.n_choices())?;
    // A label at a time in ascending order of states: the next state of each.
    let mut next = vec![0; mdp.labels.len()];
    let mut initial = mdp.initial.iter().peekable();
    for state in 0..mdp.n_states() {
        write!(output, "state {state}")?;
        bracket(output, rewards.iter().map(|(states, _)| states.get(state)))?;
        if initial.next_if(|&&s| s as usize == state).is_some() {
            write!(output, " {INIT}")?;
        }
        for (label, at) in mdp.labels.iter().zip(&mut next) {
            if label.states.get(*at) == Some(&(state as u32)) {
                *at += 1;
                let quote = if label.name.contains(char::is_whitespace) { "\"" } else { "" };
                write!(output, " {quote}{}{quote}", label.name)?;
            }
        }
        writeln!(output)?;
        for (within, choice) in mdp.choices_of(state).enumerate() {
            match mdp.action_names.get(choice) {
                None => write!(output, "\taction {within}")?,
                Some(name) if name.is_empty() => write!(output, "\taction {NO_LABEL}")?,
                Some(name) => write!(output, "\taction {}", name.replace(char::is_whitespace, "_"))?,
            }
            bracket(output, rewards.iter().map(|(_, choices)| choices.get(choice)))?;
            writeln!(output)?;
            for arc in mdp.arcs_of(choice) {
                writeln!(output, "\t\t{} : {:?}", mdp.targets[arc], mdp.probabilities[arc])?;
            }
        }
    }
    Ok(())
}

fn bracket<'a>(
    output: &mut dyn Write,
    values: impl ExactSizeIterator<Item = Option<&'a f64>>,
) -> io::Result<()> {
    if values.len() == 0 {
        return Ok(());
    }
    for (i, value) in values.enumerate() {
        write!(output, "{}{:?}", if i == 0 { " [" } else { ", " }, value.unwrap_or(&0.0))?;
    }
    write!(output, "]")
}
