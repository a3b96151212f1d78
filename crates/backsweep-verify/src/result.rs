//! `result.json`: an answer and what it claims.

use serde::{Deserialize, Serialize};

/// Whether values are the largest or the smallest that a policy attains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The best policy has the largest value.
    Maximize,
    /// The best policy has the smallest value.
    Minimize,
}

/// What was computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Objective {
    /// The expected sum of rewards, each worth `discount` as much as the one before.
    Discounted {
        /// From 0 to below 1.
        discount: f64,
        /// The name of the rewards; `None` for the only ones.
        reward: Option<String>,
    },
    /// The probability of reaching a label.
    Reach {
        /// The label of the states to reach.
        goal: String,
        /// The label of states that must not be passed through on the way.
        avoid: Option<String>,
    },
    /// The expected sum of rewards until a label is reached.
    Total {
        /// The name of the rewards; `None` for the only ones.
        reward: Option<String>,
        /// The label.
        until: String,
    },
    /// The probability of reaching a label within a number of steps.
    Within {
        /// The label of the states to reach.
        goal: String,
        /// The label of states that must not be passed through on the way.
        avoid: Option<String>,
        /// How many steps.
        steps: u64,
    },
    /// The expected sum of rewards until the episode ends.
    Episode {
        /// The name of the rewards; `None` for the only ones.
        reward: Option<String>,
    },
    /// The expected sum of rewards of a number of steps.
    Horizon {
        /// The name of the rewards; `None` for the only ones.
        reward: Option<String>,
        /// How many steps.
        steps: u64,
        /// From 0 to 1.
        discount: f64,
    },
    /// The expected reward per step in the long run.
    Average {
        /// The name of the rewards; `None` for the only ones.
        reward: Option<String>,
    },
}

impl Objective {
    /// The name of the rewards that it is about, if it names any.
    pub fn reward(&self) -> Option<&str> {
        match self {
            Self::Discounted { reward, .. }
            | Self::Total { reward, .. }
            | Self::Episode { reward }
            | Self::Horizon { reward, .. }
            | Self::Average { reward } => reward.as_deref(),
            Self::Reach { .. } | Self::Within { .. } => None,
        }
    }
}

/// A result as stored in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultFile {
    /// The model that it is for: [`fingerprint`](crate::fingerprint()).
    pub model: String,
    /// What was computed.
    pub objective: Objective,
    /// Largest or smallest values.
    pub direction: Direction,
    /// Every value is within this of the middle of its bounds, if `converged`.
    pub tolerance: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// The value of each state is at least this; infinite ones are `"inf"` or `"-inf"`.
    #[serde(with = "infinite")]
    pub lower: Vec<f64>,
    /// The value of each state is at most this.
    #[serde(with = "infinite")]
    pub upper: Vec<f64>,
    /// The choice that the policy takes in each state, by its number in the whole model; `null` where nothing is chosen.
    pub policy: Vec<Option<u32>>,
    /// How it was computed, in words.
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

impl ResultFile {
    /// Reads a result.
    ///
    /// # Errors
    /// If the text is not that of a result; says in which line and column.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default();
            format!("{line}:{column}: {problem}; expected a result of 'backsweep solve --json'")
        })
    }

    /// The result as text.
    ///
    /// # Errors
    /// If a number cannot be written; this cannot happen for results that pass [`verify`](crate::verify).
    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }
}

/// Numbers, of which infinite ones are text.
mod infinite {
    use serde::de::{Error, SeqAccess, Visitor};
    use serde::ser::SerializeSeq;
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Text(String),
    }

    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(values.len()))?;
        for value in values {
            match *value {
                f64::INFINITY => list.serialize_element("inf")?,
                f64::NEG_INFINITY => list.serialize_element("-inf")?,
                value => list.serialize_element(&value)?,
            }
        }
        list.end()
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Vec<f64>;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a list of numbers, \"inf\" and \"-inf\"")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<f64>, A::Error> {
                let mut values = Vec::new();
                while let Some(number) = list.next_element()? {
                    values.push(match number {
                        Number::Finite(value) => value,
                        Number::Text(text) if text == "inf" => f64::INFINITY,
                        Number::Text(text) if text == "-inf" => f64::NEG_INFINITY,
                        Number::Text(text) => {
                            return Err(A::Error::custom(format!(
                                "found \"{text}\"; expected a number, \"inf\" or \"-inf\""
                            )));
                        }
                    });
                }
                Ok(values)
            }
        }
        deserializer.deserialize_seq(Numbers)
    }
}
