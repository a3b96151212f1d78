//! A policy taken away: rows in, decisions out.

use crate::error::{Error, Result};
use crate::learned::Learned;
use backsweep::Random;
use backsweep_log::{Counts, Spec, printable};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The first value in the file of a policy.
const FORMAT: &str = "backsweep policy 1";

/// The policy as JSON: how states are named, and the probability of each action in each state.
pub fn policy_json(counts: &Counts, learned: &Learned) -> Value {
    let (model, policy) = (&learned.fit.model, &learned.fit.supported);
    let mut states = Map::new();
    for row in &learned.states {
        let pairs = model.pairs_of(row.state as usize).filter(|&pair| policy.probabilities[pair] > 0.0);
        let name = |pair: usize| counts.actions[model.actions[pair] as usize].clone();
        let actions: Map<String, Value> =
            pairs.map(|pair| (name(pair), json!(policy.probabilities[pair]))).collect();
        let state = json!({"supported": row.supported, "value": row.value, "actions": actions});
        states.insert(counts.states[row.state as usize].clone(), state);
    }
    json!({"format": FORMAT, "how": counts.how, "finding": learned.conclusion.words(), "states": states})
}

/// A policy that answers for rows.
pub struct Decider {
    spec: Spec,
    states: BTreeMap<String, StateRule>,
}

struct StateRule {
    is_supported: bool,
    /// Actions with their probabilities.
    actions: Vec<(String, f64)>,
}

/// The policy's decision in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The name of the state.
    pub state: String,
    /// The action, drawn if several have a probability.
    pub action: String,
    /// The probability with which it was drawn.
    pub propensity: f64,
}

impl Decider {
    /// Reads what [`policy_json`] has written.
    ///
    /// # Errors
    /// If the text is not a policy.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: String| Error::Policy(problem);
        let file: Value =
            serde_json::from_str(text).map_err(|error| wrong(format!("is not JSON ({error})")))?;
        if file["format"] != FORMAT {
            return Err(wrong(format!("has the format {}; expected \"{FORMAT}\"", file["format"])));
        }
        let how: Option<BTreeMap<String, String>> = serde_json::from_value(file["how"].clone()).ok();
        let mut spec = Spec::default();
        spec.reuse(&how.ok_or_else(|| wrong("does not say how its states are named".to_owned()))?)
            .map_err(|error| wrong(error.to_string()))?;
        let mut states = BTreeMap::new();
        for (name, state) in file["states"].as_object().ok_or_else(|| wrong("has no states".to_owned()))? {
            let actions = state["actions"].as_object().into_iter().flatten();
            let actions: Option<Vec<(String, f64)>> =
                actions.map(|(action, p)| Some((action.clone(), p.as_f64()?))).collect();
            let sum = |actions: &Vec<(String, f64)>| actions.iter().map(|(_, p)| p).sum::<f64>();
            let is_whole = |actions: &Vec<(String, f64)>| {
                actions.iter().all(|(_, p)| *p > 0.0) && (sum(actions) - 1.0).abs() < 1e-6
            };
            let actions = actions.filter(is_whole);
            let problem = || wrong(format!("has no probabilities that add up to 1 for state '{name}'"));
            let is_supported = state["supported"].as_bool();
            let unsaid = || wrong(format!("does not say whether state '{name}' is supported"));
            let is_supported = is_supported.ok_or_else(unsaid)?;
            states.insert(name.clone(), StateRule { is_supported, actions: actions.ok_or_else(problem)? });
        }
        Ok(Self { spec, states })
    }

    /// The decision in a state.
    ///
    /// # Errors
    /// In a state that the log does not have, or in which no action was seen often enough.
    pub fn decide(&self, state: &str, random: &mut Random) -> Result<Decision> {
        let refused = |why: &'static str| Error::Undecided { state: state.to_owned(), why };
        let rule = self.states.get(state).ok_or_else(|| refused("the log has no decision in it"))?;
        if !rule.is_supported {
            return Err(refused("no action was seen there often enough"));
        }
        let (mut rest, last) = (random.unit(), rule.actions.len() - 1);
        for (i, (action, propensity)) in rule.actions.iter().enumerate() {
            rest -= propensity;
            if rest < 0.0 || i == last {
                let (action, propensity) = (action.clone(), *propensity);
                return Ok(Decision { state: state.to_owned(), action, propensity });
            }
        }
        Err(refused("it has no actions"))
    }

    /// The name of the state that a row is in.
    ///
    /// # Errors
    /// If a column of the state is missing or cannot be binned.
    pub fn state_of(&self, value: impl Fn(&str) -> Option<String>) -> Result<String> {
        self.spec.state_of(value).map_err(|error| Error::Policy(error.to_string()))
    }

    /// Answers for one row of JSON: the row itself with `state`, `action` and `propensity`; in a state without support `action`
    /// is null, and `refused` says why.
    ///
    /// # Errors
    /// If the row is not an object, or lacks a column of the state.
    pub fn answer(&self, row: &str, random: &mut Random) -> Result<Value> {
        let cells: BTreeMap<String, Box<RawValue>> = serde_json::from_str(row).map_err(|error| {
            Error::Policy(format!("cannot be asked for a row that is no JSON object ({error})"))
        })?;
        let text = |column: &str| {
            let raw = cells.get(column)?.get();
            let is_text = raw.starts_with('"');
            if is_text {
                serde_json::from_str(raw).ok()
            } else {
                Some(raw.to_owned()).filter(|raw| raw != "null")
            }
        };
        let state = self.state_of(text)?;
        let mut answer: Map<String, Value> = serde_json::from_str(row).unwrap_or_default();
        answer.insert("state".to_owned(), json!(state));
        match self.decide(&state, random) {
            Ok(Decision { action, propensity, .. }) => {
                answer.insert("action".to_owned(), json!(action));
                answer.insert("propensity".to_owned(), json!(propensity));
            }
            Err(error) => {
                answer.insert("action".to_owned(), Value::Null);
                answer.insert("refused".to_owned(), json!(printable(error.to_string())));
            }
        }
        Ok(Value::Object(answer))
    }
}
