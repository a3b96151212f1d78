//! A table of transitions: `state,action,next_state,probability,reward,terminated,label` in any order; the last three are
//! optional. Names of states and actions are arbitrary.
//!
//! Rows of the same state, action and next state add up. A row that is `terminated` ends the episode: its reward counts, its
//! next state does not, and may be empty. A state that only occurs as a next state is terminal. A label belongs to the row's
//! state (several are separated by `|`, and `init` is the initial states); a row with only a state and a label labels it.

mod build;

use super::number;
use crate::formats::replace;
use crate::{Error, INIT, Mdp, ReadMdp, Result};
use build::{CsvModel, TransitionRow};
use csv::StringRecord;
use std::io::{self, BufRead};
use std::path::Path;

/// Reads a table.
pub fn read(path: &Path, input: impl BufRead) -> Result<ReadMdp> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::Headers).buffer_capacity(1 << 16).from_reader(input);
    let columns = TransitionFields::new(path, reader.headers().map_err(|error| refused(path, &error))?)?;
    let mut table = CsvModel::default();
    let mut record = StringRecord::new();
    let mut n_zero = 0u64;
    while reader.read_record(&mut record).map_err(|error| refused(path, &error))? {
        let at = |column: usize, problem: String| {
            let line = record.position().map_or(0, csv::Position::line);
            let place: usize = record.iter().take(column).map(|field| field.chars().count() + 1).sum();
            Error::new(format!("{}:{line}:{}", path.display(), place + 1), problem)
        };
        let found = |column: usize, expected: &str| {
            let text = record[column].trim();
            at(
                column,
                format!("found {}; expected {expected}", if text.is_empty() { "nothing" } else { text }),
            )
        };
        for label in columns.label.map_or("", |column| &record[column]).split('|').map(str::trim) {
            if !label.is_empty() {
                table.label(record[columns.state].trim(), label);
            }
        }
        let rest = [columns.action, columns.next_state, columns.probability];
        if columns.label.is_some_and(|column| !record[column].trim().is_empty())
            && rest.iter().all(|&column| record[column].trim().is_empty())
            && !record[columns.state].trim().is_empty()
        {
            continue;
        }
        let probability = number::parse(record[columns.probability].trim())
            .filter(|p| (0.0..=1.0 + crate::SUM_SLACK).contains(p))
            .ok_or_else(|| found(columns.probability, "a probability from 0 to 1"))?;
        let reward = match columns.reward {
            None => 0.0,
            Some(column) => number::parse(record[column].trim()).ok_or_else(|| found(column, "a reward"))?,
        };
        let terminated = match columns.terminated.map(|column| (column, record[column].trim())) {
            None | Some((_, "0" | "")) => false,
            Some((_, "1")) => true,
            Some((_, text)) if text.eq_ignore_ascii_case("true") => true,
            Some((_, text)) if text.eq_ignore_ascii_case("false") => false,
            Some((column, _)) => return Err(found(column, "true, false, 1 or 0")),
        };
        for column in [columns.state, columns.action] {
            if record[column].trim().is_empty() {
                return Err(found(column, "a name"));
            }
        }
        if record[columns.next_state].trim().is_empty() && !terminated {
            return Err(found(columns.next_state, "a name: the row is not terminated"));
        }
        n_zero += u64::from(probability == 0.0);
        let row = TransitionRow {
            state: record[columns.state].trim(),
            action: record[columns.action].trim(),
            next: (!terminated).then(|| record[columns.next_state].trim()),
            probability,
            reward,
        };
        table.add(&row).map_err(|problem| at(0, problem))?;
    }
    let mut mdp = table.build().map_err(|error| error.within(path.display()))?;
    if columns.reward.is_none() {
        mdp.rewards.clear();
    }
    let zero = format!("{n_zero} rows of probability 0 were left out");
    Ok(ReadMdp { mdp, warnings: if n_zero > 0 { vec![zero] } else { Vec::new() } })
}

fn refused(path: &Path, error: &csv::Error) -> Error {
    let line = error.position().map_or(1, csv::Position::line);
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("found {len} fields; expected {expected_len} as in the first line")
        }
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
        _ => error.to_string(),
    };
    Error::new(format!("{}:{line}:1", path.display()), problem)
}

/// Where the columns are.
struct TransitionFields {
    state: usize,
    action: usize,
    next_state: usize,
    probability: usize,
    reward: Option<usize>,
    terminated: Option<usize>,
    label: Option<usize>,
}

impl TransitionFields {
    fn new(path: &Path, header: &StringRecord) -> Result<Self> {
        let find = |names: &[&str]| {
            header.iter().position(|column| names.iter().any(|name| column.eq_ignore_ascii_case(name)))
        };
        let need = |names: &[&str]| {
            find(names).ok_or_else(|| {
                let found: Vec<&str> = header.iter().collect();
                let expected = "state,action,next_state,probability and optionally reward,terminated,label";
                let problem =
                    format!("found no column '{}' in '{}'; expected {expected}", names[0], found.join(","));
                Error::new(format!("{}:1:1", path.display()), problem)
            })
        };
        Ok(Self {
            state: need(&["state"])?,
            action: need(&["action"])?,
            next_state: need(&["next_state"])?,
            probability: need(&["probability", "prob"])?,
            reward: find(&["reward"]),
            terminated: find(&["terminated"]),
            label: find(&["label", "labels"]),
        })
    }
}

/// Writes a table, which has one reward.
pub fn write(path: &Path, mdp: &Mdp) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    let mut labels =
        vec![String::new(); if mdp.labels.is_empty() && mdp.initial.is_empty() { 0 } else { mdp.n_states() }];
    if mdp.labels.iter().any(|label| label.name.contains('|') || label.name.trim() != label.name) {
        warnings.push("labels with | or outer spaces will be read as others".to_owned());
    }
    let named = mdp.labels.iter().map(|label| (label.name.as_str(), &label.states));
    for (name, states) in std::iter::once((INIT, &mdp.initial)).chain(named) {
        for &state in states {
            let all = &mut labels[state as usize];
            all.push_str(if all.is_empty() { "" } else { "|" });
            all.push_str(name);
        }
    }
    if mdp.rewards.len() > 1 {
        let rest: Vec<&str> = mdp.rewards[1..].iter().map(|rewards| rewards.name.as_str()).collect();
        warnings.push(format!("the rewards {} were left out: a table has one", rest.join(", ")));
    }
    let mut seen: Vec<bool> = mdp.choices.windows(2).map(|pair| pair[0] < pair[1]).collect();
    mdp.targets.iter().for_each(|&target| seen[target as usize] = true);
    labels.iter().zip(&mut seen).for_each(|(labels, seen)| *seen |= !labels.is_empty());
    let n_lost = seen.iter().filter(|seen| !**seen).count();
    if n_lost > 0 {
        warnings
            .push(format!("{n_lost} states were left out: they have no choices and nothing leads to them"));
    }
    let mut columns = vec!["state", "action", "next_state", "probability", "reward", "terminated"];
    columns.extend((!labels.is_empty()).then_some("label"));
    replace(path, |output| {
        let mut table = csv::Writer::from_writer(output);
        table.write_record(&columns)?;
        let rewards = mdp.rewards.first();
        for state in 0..mdp.n_states() {
            let name = mdp.state_name(state);
            // Labels are in the first row of their state, which may have no other.
            let mut label = labels.get(state).cloned();
            let mut row = |cells: [&str; 5]| {
                table.write_record(
                    std::iter::once(name.as_str()).chain(cells).chain(label.as_mut().map(|label| &**label)),
                )?;
                label.iter_mut().for_each(String::clear);
                io::Result::Ok(())
            };
            if mdp.choices_of(state).is_empty() && labels.get(state).is_some_and(|label| !label.is_empty()) {
                row([""; 5])?;
            }
            for choice in mdp.choices_of(state) {
                let action = mdp.action_name(choice);
                let value = |values: Option<&Vec<f64>>, i: usize| {
                    values.and_then(|v| v.get(i)).copied().unwrap_or(0.0)
                };
                let own =
                    value(rewards.map(|r| &r.states), state) + value(rewards.map(|r| &r.choices), choice);
                let mut left = 1.0;
                for arc in mdp.arcs_of(choice) {
                    let (p, reward) = (mdp.probabilities[arc], own + value(rewards.map(|r| &r.arcs), arc));
                    let next = mdp.state_name(mdp.targets[arc] as usize);
                    row([&action, &next, &format!("{p:?}"), &format!("{reward:?}"), "false"])?;
                    left -= p;
                }
                if left > crate::SUM_SLACK {
                    row([&action, "", &format!("{left:?}"), &format!("{own:?}"), "true"])?;
                }
            }
        }
        table.flush()
    })?;
    Ok(warnings)
}
