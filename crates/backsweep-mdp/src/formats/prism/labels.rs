//! `.lab`, the labels, and `.sta`, the states.

use super::super::text::{TextLine, TextLines};
use crate::{Label, Mdp, Result};

/// Reads `0="init" 1="goal"` and lines `state: label …`; or Storm's `#DECLARATION`, names, `#END` and lines `state name …`.
pub fn read(mut lines: TextLines, mdp: &mut Mdp) -> Result<()> {
    let mut labels: Vec<(String, Label)> = Vec::new();
    let Some(first) = lines.read()? else { return Err(lines.ended("labels such as 0=\"init\"")) };
    let storm = first.text == "#DECLARATION";
    if storm {
        loop {
            let Some(line) = lines.read()? else { return Err(lines.ended("#END")) };
            if line.text == "#END" {
                break;
            }
            labels.extend(line.text.split_whitespace().map(|name| (name.to_owned(), label(name))));
        }
    } else {
        declare(&first, &mut labels)?;
    }
    let n_states = mdp.n_states();
    while let Some(line) = lines.read_data()? {
        let (state, mut rest) = line.text.split_once([':', ' ']).unwrap_or((line.text, ""));
        let known = state.trim().parse().ok().filter(|state: &u32| (*state as usize) < n_states);
        let state =
            known.ok_or_else(|| line.unexpected(state, &format!("a state from 0 to {}", n_states - 1)))?;
        loop {
            rest = rest.trim_start();
            let (id, after) = rest.split_at(rest.find([' ', '\t']).unwrap_or(rest.len()));
            if id.is_empty() {
                break;
            }
            let found = labels.iter_mut().find(|(known, _)| known == id);
            found
                .ok_or_else(|| line.unexpected(id, "a label that the first line declares"))?
                .1
                .states
                .push(state);
            rest = after;
        }
    }
    labels.into_iter().for_each(|(_, label)| mdp.add_label(label));
    Ok(())
}

fn label(name: &str) -> Label {
    Label { name: name.to_owned(), states: Vec::new() }
}

/// Reads `0="init" 1="goal"`. Names may have spaces.
fn declare(line: &TextLine, labels: &mut Vec<(String, Label)>) -> Result<()> {
    let mut rest = line.text.trim();
    while !rest.is_empty() {
        let parts = rest
            .split_once("=\"")
            .and_then(|(id, rest)| rest.split_once('"').map(|(name, after)| (id, name, after)));
        let (id, name, after) = parts.ok_or_else(|| line.unexpected(rest, "labels such as 0=\"init\""))?;
        labels.push((id.trim().to_owned(), label(name)));
        rest = after.trim_start();
    }
    Ok(())
}

/// Reads `(x,y)` and lines `state:(1,2)`; the name of a state is what follows the colon.
pub fn read_states(mut lines: TextLines, n_states: usize) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let expected = "the variables, such as (x,y)";
    let Some(_) = lines.read_data()? else { return Err(lines.ended(expected)) };
    while let Some(line) = lines.read_data()? {
        let (state, name) = line.text.split_once(':').unwrap_or((line.text, ""));
        if state.trim().parse() != Ok(names.len()) || names.len() >= n_states {
            return Err(line.unexpected(state, &format!("state {} of {n_states}, and a colon", names.len())));
        }
        names.push(name.trim().to_owned());
    }
    if names.len() != n_states {
        return Err(lines.ended(&format!("{n_states} states, found {}", names.len())));
    }
    Ok(names)
}
