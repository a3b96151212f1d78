//! The format of experiment files: everything they may contain.

use crate::cost::CostTable;
use crate::method::Method;
use crate::theory::TheoryTable;
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Unexpected, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// An experiment file. `prediction`, `circles`, `predictors`, `cost` and `theory` are for the built-in experiments alone.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub name: String,
    pub title: Option<String>,
    pub runs: u32,
    pub quick_runs: Option<u32>,
    #[serde(default = "default_seed")]
    pub seed: u64,
    #[serde(default)]
    pub learning: Learning,
    #[serde(default)]
    pub mazes: Vec<MazeTable>,
    #[serde(default)]
    pub methods: Vec<MethodTable>,
    pub prediction: Option<PredictionTable>,
    #[serde(default)]
    pub circles: Vec<CircleTable>,
    #[serde(default)]
    pub predictors: Vec<PredictorTable>,
    pub cost: Option<CostTable>,
    pub theory: Option<TheoryTable>,
    #[serde(default)]
    pub worlds: Vec<WorldTable>,
    #[serde(default)]
    pub agents: Vec<AgentTable>,
}

fn default_seed() -> u64 {
    1
}

/// `[learning]`: what all methods share.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields, default)]
pub struct Learning {
    pub episodes: u32,
    pub discount: f64,
    pub epsilon: f64,
    pub optimism: f64,
    pub threshold: f64,
    pub queue: String,
    /// The step limit of an episode.
    pub max_steps: u64,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            episodes: 200,
            discount: 0.99,
            epsilon: 0.05,
            optimism: 0.0,
            threshold: 1e-5,
            queue: "exact".into(),
            // No episode of the paper's experiments comes near it; without a limit, an agent that has no reason to end
            // its episode (every step gives a reward) would never finish its run.
            max_steps: 1_000_000,
        }
    }
}

/// `[[mazes]]`: a task.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct MazeTable {
    pub name: String,
    pub title: Option<String>,
    /// `paper`, or a file next to the experiment file.
    pub maze: String,
    /// `fifteen` or `four`.
    pub law: String,
    pub intended: Option<f64>,
    #[serde(default = "default_step_reward")]
    pub step_reward: f64,
    /// M.
    #[serde(default = "default_min_visits")]
    pub min_visits: u32,
}

fn default_step_reward() -> f64 {
    -1.0
}

fn default_min_visits() -> u32 {
    1
}

/// `[[methods]]`: a planner and how it is used.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct MethodTable {
    pub name: Option<String>,
    pub planner: String,
    pub cycles: Option<OneOrMany>,
    /// Plan until no priority is above this.
    pub until: Option<f64>,
    /// M instead of the task's; several values are points of a curve.
    pub min_visits: Option<OneOrMany>,
    /// R-max: the model of a pair is frozen at the `min_visits`-th visit.
    #[serde(default)]
    pub freeze: bool,
    pub epsilon: Option<f64>,
    pub threshold: Option<f64>,
    pub max_steps: Option<u64>,
    /// Score the largest difference from plain sweeps instead of the return.
    #[serde(default)]
    pub compare_with_sweeps: bool,
}

/// A number or a list of numbers.
#[derive(Debug, Clone)]
pub enum OneOrMany {
    One(u32),
    Many(Vec<u32>),
}

impl OneOrMany {
    /// The numbers.
    pub fn list(&self) -> &[u32] {
        match self {
            Self::One(number) => std::slice::from_ref(number),
            Self::Many(numbers) => numbers,
        }
    }
}

// Written by hand, because a derived error would not say what was found.
impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FileNumbers;

        impl<'de> Visitor<'de> for FileNumbers {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from 0 to {}, or a list of such numbers in brackets", u32::MAX)
            }

            fn visit_i64<E: de::Error>(self, found: i64) -> Result<OneOrMany, E> {
                let number = u32::try_from(found);
                number.map(OneOrMany::One).map_err(|_| E::invalid_value(Unexpected::Signed(found), &self))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMany, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element()? {
                    numbers.push(number);
                }
                Ok(OneOrMany::Many(numbers))
            }
        }

        deserializer.deserialize_any(FileNumbers)
    }
}

/// `[prediction]`: what all predictors share.
#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct PredictionTable {
    pub steps: u32,
    pub discount: f64,
}

/// `[[circles]]`: a task.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct CircleTable {
    pub name: String,
    pub title: String,
    /// 1 or 2.
    pub task: u32,
    pub instance: Instance,
}

/// The instance of a circle.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Instance {
    /// The one of the built-in experiment.
    Fixed,
    /// A new one each run.
    Random,
}

/// `[[predictors]]`: a method of prediction.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct PredictorTable {
    /// `td_constant`, `td_decaying` or `small_backup`.
    pub method: Method,
    /// The number of step sizes or decay rates, evenly from 0 to 1.
    pub points: Option<u32>,
}

/// `[[worlds]]`: a world of the suite, or a family of them.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct WorldTable {
    pub name: String,
    pub title: Option<String>,
    /// The members of a family: points of a curve.
    pub sizes: Option<OneOrMany>,
    /// The score to reach; in a family, by its last member.
    pub mark: Option<f64>,
    /// Scores of others, by name.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
}

impl WorldTable {
    /// A world with default settings.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), title: None, sizes: None, mark: None, published: BTreeMap::new() }
    }
}

/// `[[agents]]`: how an agent explores. Several tables may have the same name if their worlds differ.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct AgentTable {
    pub name: Option<String>,
    pub explore: Option<String>,
    /// The worlds it runs in; all by default.
    pub worlds: Option<Vec<String>>,
    pub epsilon: Option<f64>,
    pub value: Option<f64>,
    pub min_visits: Option<u32>,
    pub beta: Option<f64>,
    pub c: Option<f64>,
    pub d: Option<f64>,
    pub posterior_worlds: Option<u32>,
    pub prior: Option<f64>,
    /// The value of an untried pair, as a fraction of the range of values.
    pub start: Option<f64>,
    pub age_bonus: Option<f64>,
    pub per_visit: Option<f64>,
    pub half_life: Option<f64>,
    pub window: Option<u32>,
    /// Update cycles per step.
    pub cycles: Option<u32>,
    pub planner: Option<String>,
}

impl AgentTable {
    /// The way it explores: `default`, or the name of a way to explore.
    pub fn explore(&self) -> &str {
        self.explore.as_deref().unwrap_or("default")
    }

    /// Its name: its own, or how it explores.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.explore())
    }
}
