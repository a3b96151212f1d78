//! `index.json`: the table of contents of an archive.

use crate::{Error, Result};
use serde_json::Value;

/// The type of the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberType {
    /// Doubles.
    Double,
    /// Fractions: numerator and denominator, in this many bytes together.
    Rational(usize),
    /// Whole numbers of this many bytes, with or without a sign.
    Whole(usize, bool),
}

/// The type of the items of an annotation that an MDP can hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    Bool,
    Number(NumberType),
}

/// Rewards or a label.
#[derive(Debug)]
pub struct Annotation {
    /// `rewards` or `aps`.
    pub group: &'static str,
    /// Its name in paths.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The items it is given for: `states`, `choices`, `branches`.
    pub parts: Vec<&'static str>,
    pub item: Item,
}

impl Annotation {
    /// The entry that has it for states, choices or branches.
    pub fn path(&self, part: &str) -> String {
        format!("annotations/{}/{}/{part}/values.bin", self.group, self.id)
    }
}

/// The parts of the index that an MDP needs.
#[derive(Debug)]
pub struct Index {
    pub n_states: usize,
    pub n_choices: usize,
    pub n_branches: usize,
    pub n_choice_actions: usize,
    pub n_initial: usize,
    pub chain: bool,
    /// `None` if branches carry no probabilities, because each choice has one.
    pub probabilities: Option<NumberType>,
    pub annotations: Vec<Annotation>,
}

const SYSTEM: &str = "transition-system";

/// A model in memory numbers states, choices and branches below this.
pub const MAX_IDS: u64 = u32::MAX as u64;

impl Index {
    /// Reads the index, and warns about what an MDP cannot hold. `most` is the largest number of choices or branches that
    /// the caller can number.
    pub fn new(json: &Value, most: u64, warnings: &mut Vec<String>) -> Result<Self> {
        let version = whole(json, "", "format-version")?;
        // `umbi` writes version 0 when it cannot find its own version.
        if version > 1 {
            return Err(at(
                "format-version",
                format!("found {version}; expected 1: upgrade backsweep to read later ones"),
            ));
        }
        let system = json.get(SYSTEM).ok_or_else(|| at(SYSTEM, "found nothing; expected an object"))?;
        let players = whole(system, SYSTEM, "#players")?;
        if players > 1 {
            return Err(refused("#players", players, "games are not supported"));
        }
        if whole(system, SYSTEM, "#observations")? > 0 {
            return Err(refused(
                "#observations",
                system["#observations"].clone(),
                "POMDPs are not supported",
            ));
        }
        if system.get("time").and_then(Value::as_str) != Some("discrete") {
            let found = system.get("time").cloned().unwrap_or_default();
            return Err(refused(
                "time",
                found,
                "continuous-time models are not supported; expected \"discrete\"",
            ));
        }
        let index = Self {
            n_states: size(system, "#states", MAX_IDS)?,
            n_choices: size(system, "#choices", most)?,
            n_branches: size(system, "#branches", most)?,
            n_choice_actions: size(system, "#choice-actions", MAX_IDS)?,
            n_initial: size(system, "#initial-states", MAX_IDS)?,
            chain: players == 0,
            probabilities: match system.get("branch-probability-type") {
                None | Some(Value::Null) => None,
                Some(kind) => Some(numbers(&format!("{SYSTEM}.branch-probability-type"), kind)?),
            },
            annotations: annotations(json, warnings)?,
        };
        if index.n_states == 0 {
            return Err(at(&format!("{SYSTEM}.#states"), "found 0; expected at least 1"));
        }
        if index.probabilities.is_none() && index.n_branches != index.n_choices {
            let problem = "found nothing; expected a type: choices with several branches need probabilities";
            return Err(at(&format!("{SYSTEM}.branch-probability-type"), problem));
        }
        if system.get("#branch-actions").and_then(Value::as_u64).unwrap_or(0) > 0 {
            warnings.push("the actions of branches were left out".to_owned());
        }
        if let Some(valuations) = json.get("valuations").and_then(Value::as_object)
            && !valuations.is_empty()
        {
            let of: Vec<&str> = valuations.keys().map(String::as_str).collect();
            warnings.push(format!("the valuations of {} were left out", of.join(" and ")));
        }
        if json.get("model-data").is_some_and(|data| !data.is_null()) {
            warnings.push("model-data (name, authors, …) was left out".to_owned());
        }
        Ok(index)
    }

    /// The number of states, choices or branches.
    pub fn n(&self, part: &str) -> usize {
        match part {
            "states" => self.n_states,
            "choices" => self.n_choices,
            _ => self.n_branches,
        }
    }
}

fn annotations(json: &Value, warnings: &mut Vec<String>) -> Result<Vec<Annotation>> {
    let mut kept = Vec::new();
    let groups = json.get("annotations").and_then(Value::as_object).into_iter().flatten();
    for (group, by_name) in groups {
        for (id, about) in by_name.as_object().into_iter().flatten() {
            let place = format!("annotations.{group}.{id}");
            let name = about.get("alias").and_then(Value::as_str).unwrap_or(id).to_owned();
            let parts = parts(&place, about)?;
            let kind = about.get("type").unwrap_or(&Value::Null);
            let is_bool = kind.get("type").and_then(Value::as_str) == Some("bool");
            let found = match group.as_str() {
                "aps" if is_bool && parts == ["states"] => Some(("aps", Item::Bool)),
                "rewards" if about.get("probability-type").is_none() && !is_bool => {
                    Some(("rewards", Item::Number(numbers(&format!("{place}.type"), kind)?)))
                }
                _ => None,
            };
            match found {
                Some((group, item)) => kept.push(Annotation { group, id: id.clone(), name, parts, item }),
                None => warnings
                    .push(format!("annotation {group}/{id} was left out: not a label of states or a reward")),
            }
        }
    }
    Ok(kept)
}

fn parts(place: &str, about: &Value) -> Result<Vec<&'static str>> {
    const PARTS: [&str; 3] = ["states", "choices", "branches"];
    let listed = about.get("applies-to").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let part = |value: &Value| {
        PARTS.into_iter().find(|part| value.as_str() == Some(part)).ok_or_else(|| {
            at(&format!("{place}.applies-to"), format!("found {value}; expected states, choices or branches"))
        })
    };
    listed.iter().map(part).collect()
}

fn numbers(place: &str, kind: &Value) -> Result<NumberType> {
    let name = kind.get("type").and_then(Value::as_str).unwrap_or_default();
    let bits = kind.get("size").and_then(Value::as_u64);
    let bytes = |least: u64, default: u64| match bits.unwrap_or(default) {
        bits if bits % least == 0 && bits > 0 && bits <= 1 << 16 => Ok((bits / 8) as usize),
        bits => {
            Err(at(place, format!("found {name} of {bits} bits; expected a multiple of {least} up to 65536")))
        }
    };
    match name {
        "double" if bits.unwrap_or(64) == 64 => Ok(NumberType::Double),
        "rational" => Ok(NumberType::Rational(bytes(16, 128)?)),
        "int" | "uint" if bits.unwrap_or(64) <= 64 => Ok(NumberType::Whole(bytes(8, 64)?, name == "int")),
        _ if name.ends_with("-interval") => {
            Err(at(place, format!("found {name}; intervals are not supported")))
        }
        _ => Err(at(place, format!("found {kind}; expected double, rational, int or uint"))),
    }
}

fn at(place: &str, problem: impl Into<String>) -> Error {
    Error::new(format!("index.json: {place}"), problem)
}

fn refused(field: &str, found: impl std::fmt::Display, why: &str) -> Error {
    at(&format!("{SYSTEM}.{field}"), format!("found {found}; {why}"))
}

fn whole(object: &Value, within: &str, field: &str) -> Result<u64> {
    let found = object.get(field).unwrap_or(&Value::Null);
    found.as_u64().ok_or_else(|| {
        let dot = if within.is_empty() { "" } else { "." };
        at(&format!("{within}{dot}{field}"), format!("found {found}; expected a whole number"))
    })
}

fn size(system: &Value, field: &str, most: u64) -> Result<usize> {
    let n = whole(system, SYSTEM, field)?;
    if n < most {
        return Ok(n as usize);
    }
    Err(at(&format!("{SYSTEM}.{field}"), format!("found {n}; expected fewer than {most}")))
}
