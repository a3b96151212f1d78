//! A table of transitions: `state,action,next_state,probability,reward,terminated` in any order; `reward` and `terminated`
//! are optional. Names of states and actions are arbitrary.
//!
//! Rows of the same state, action and next state add up. A row that is `terminated` ends the episode: its reward counts, its
//! next state does not, and may be empty. A state that only occurs as a next state is terminal.

mod build;

use super::number;
use crate::formats::replace;
use crate::{Error, Mdp, ReadMdp, Result};
use build::{CsvModel, TransitionRow};
use csv::StringRecord;
use std::io::BufRead;
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
}

impl TransitionFields {
    fn new(path: &Path, header: &StringRecord) -> Result<Self> {
        let find = |names: &[&str]| {
            header.iter().position(|column| names.iter().any(|name| column.eq_ignore_ascii_case(name)))
        };
        let need = |names: &[&str]| {
            find(names).ok_or_else(|| {
                let found: Vec<&str> = header.iter().collect();
                let expected = "state,action,next_state,probability and optionally reward,terminated";
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
        })
    }
}

/// Writes a table. A table has one reward, and neither labels nor initial states.
pub fn write(path: &Path, mdp: &Mdp) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    if !mdp.labels.is_empty() || !mdp.initial.is_empty() {
        warnings.push("labels and initial states were left out: a table has no place for them".to_owned());
    }
    if mdp.rewards.len() > 1 {
        let rest: Vec<&str> = mdp.rewards[1..].iter().map(|rewards| rewards.name.as_str()).collect();
        warnings.push(format!("the rewards {} were left out: a table has one", rest.join(", ")));
    }
    let mut seen: Vec<bool> = mdp.choices.windows(2).map(|pair| pair[0] < pair[1]).collect();
    mdp.targets.iter().for_each(|&target| seen[target as usize] = true);
    let n_lost = seen.iter().filter(|seen| !**seen).count();
    if n_lost > 0 {
        warnings
            .push(format!("{n_lost} states were left out: they have no choices and nothing leads to them"));
    }
    replace(path, |output| {
        let mut table = csv::Writer::from_writer(output);
        table.write_record(["state", "action", "next_state", "probability", "reward", "terminated"])?;
        let rewards = mdp.rewards.first();
        for state in 0..mdp.n_states() {
            let name = mdp.state_name(state);
            for choice in mdp.choices_of(state) {
                let action = mdp.action_name(choice);
                // In a table, an empty name means no name.
                let action = if action.is_empty() {
                    format!("_{}", choice - mdp.choices[state] as usize)
                } else {
                    action
                };
                let value = |values: Option<&Vec<f64>>, i: usize| {
                    values.and_then(|v| v.get(i)).copied().unwrap_or(0.0)
                };
                let own =
                    value(rewards.map(|r| &r.states), state) + value(rewards.map(|r| &r.choices), choice);
                let mut left = 1.0;
                for arc in mdp.arcs_of(choice) {
                    let (p, reward) = (mdp.probabilities[arc], own + value(rewards.map(|r| &r.arcs), arc));
                    let next = mdp.state_name(mdp.targets[arc] as usize);
                    table.write_record([
                        &name,
                        &action,
                        &next,
                        &format!("{p:?}"),
                        &format!("{reward:?}"),
                        "false",
                    ])?;
                    left -= p;
                }
                if left > crate::SUM_SLACK {
                    table.write_record([
                        &name,
                        &action,
                        "",
                        &format!("{left:?}"),
                        &format!("{own:?}"),
                        "true",
                    ])?;
                }
            }
        }
        table.flush()
    })?;
    Ok(warnings)
}
