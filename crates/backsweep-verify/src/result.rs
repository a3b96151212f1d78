//! `result.json`: an answer and what it claims.

use backsweep_mdp::{Direction, Objective};
use serde::{Deserialize, Serialize};

/// A result as stored in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultFile {
    /// The model that it is for: [`fingerprint`](crate::fingerprint()).
    pub model: String,
    /// The objective that was computed.
    #[serde(with = "objective")]
    pub objective: Objective,
    /// Largest or smallest values.
    #[serde(with = "StoredDirection")]
    pub direction: Direction,
    /// Every value is within this of the middle of its bounds, if `converged`.
    pub tolerance: f64,
    /// A value is also good enough if it is within this times its size of the middle of its bounds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub relative: f64,
    /// True if the tolerance was reached.
    pub converged: bool,
    /// The value of each state is at least this; infinite ones are `"inf"` or `"-inf"`.
    #[serde(with = "infinite")]
    pub lower: Vec<f64>,
    /// The value of each state is at most this.
    #[serde(with = "infinite")]
    pub upper: Vec<f64>,
    /// The choice that the policy takes in each state, by its number in the whole model; `null` where nothing is chosen.
    pub policy: Vec<Option<u32>>,
    /// The name of each state, for people and programs; empty if states have only numbers. The check does not use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// The method, in words.
    #[serde(default)]
    pub method: String,
    /// Sweeps over all or part of the states.
    #[serde(default)]
    pub iterations: u64,
    /// The time it took.
    #[serde(default)]
    pub seconds: f64,
    /// The peak memory of the process, in bytes, if known.
    #[serde(default)]
    pub peak_memory: Option<u64>,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A text is not that of a result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{line}:{column}: {problem}; expected a result of 'backsweep solve --json'")]
pub struct ParseError {
    /// The line, from 1 on.
    pub line: usize,
    /// The column, from 1 on.
    pub column: usize,
    /// The value found.
    pub problem: String,
}

impl ResultFile {
    /// Reads a result.
    ///
    /// # Errors
    /// If the text is not that of a result; says in which line and column.
    pub fn from_json(text: &str) -> Result<Self, ParseError> {
        serde_json::from_str(text).map_err(|error| {
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
            ParseError { line: error.line(), column: error.column(), problem }
        })
    }

    /// The accepted distance of a value from the middle of its bounds.
    pub fn allowed(&self, state: usize) -> f64 {
        let size = self.lower[state].abs().min(self.upper[state].abs());
        if size.is_finite() { self.tolerance.max(self.relative * size) } else { self.tolerance }
    }

    /// The result as text.
    ///
    /// # Errors
    /// If a number cannot be written; this cannot happen for results that pass [`verify`](crate::verify).
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// The objective as it is stored: with and without steps, and with and without a label, are of different kinds.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum StoredObjective {
    Discounted { discount: f64, reward: Option<String> },
    Reach { goal: String, avoid: Option<String> },
    Total { reward: Option<String>, until: String },
    Within { goal: String, avoid: Option<String>, steps: u64 },
    Episode { reward: Option<String> },
    Horizon { reward: Option<String>, steps: u64, discount: f64 },
    Average { reward: Option<String> },
}

mod objective {
    use super::{Objective, StoredObjective as Stored};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(objective: &Objective, serializer: S) -> Result<S::Ok, S::Error> {
        match objective.clone() {
            Objective::Discounted { reward, discount } => Stored::Discounted { discount, reward },
            Objective::Reach { goal, avoid, steps: None } => Stored::Reach { goal, avoid },
            Objective::Reach { goal, avoid, steps: Some(steps) } => Stored::Within { goal, avoid, steps },
            Objective::Total { reward, until: Some(until) } => Stored::Total { reward, until },
            Objective::Total { reward, until: None } => Stored::Episode { reward },
            Objective::Horizon { reward, steps, discount } => Stored::Horizon { reward, steps, discount },
            Objective::Average { reward } => Stored::Average { reward },
        }
        .serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Objective, D::Error> {
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Discounted { discount, reward } => Objective::Discounted { reward, discount },
            Stored::Reach { goal, avoid } => Objective::Reach { goal, avoid, steps: None },
            Stored::Within { goal, avoid, steps } => Objective::Reach { goal, avoid, steps: Some(steps) },
            Stored::Total { reward, until } => Objective::Total { reward, until: Some(until) },
            Stored::Episode { reward } => Objective::Total { reward, until: None },
            Stored::Horizon { reward, steps, discount } => Objective::Horizon { reward, steps, discount },
            Stored::Average { reward } => Objective::Average { reward },
        })
    }
}

/// A direction as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Direction", rename_all = "lowercase")]
enum StoredDirection {
    Maximize,
    Minimize,
}

/// Numbers, of which infinite ones are text.
mod infinite {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Stored<'a> {
        Finite(f64),
        Text(std::borrow::Cow<'a, str>),
    }

    /// A number by itself, so that an error has its place in the list.
    #[derive(Deserialize)]
    #[serde(try_from = "Stored")]
    struct Number(f64);

    impl TryFrom<Stored<'_>> for Number {
        type Error = String;

        fn try_from(stored: Stored) -> Result<Self, String> {
            match stored {
                Stored::Finite(value) => Ok(Self(value)),
                Stored::Text(text) if text == "inf" => Ok(Self(f64::INFINITY)),
                Stored::Text(text) if text == "-inf" => Ok(Self(f64::NEG_INFINITY)),
                Stored::Text(text) => {
                    Err(format!("found \"{text}\"; expected a number, \"inf\" or \"-inf\""))
                }
            }
        }
    }

    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|&value| match value {
            f64::INFINITY => Stored::Text("inf".into()),
            f64::NEG_INFINITY => Stored::Text("-inf".into()),
            value => Stored::Finite(value),
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Number>::deserialize(deserializer)?.into_iter().map(|number| number.0).collect())
    }
}
