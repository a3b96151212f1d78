//! A scene: everything that determines what is shown. The same scene always shows the same course of learning.

use crate::choices::{ForgettingChoice, StrategyChoice};
use crate::error::{Error, Result};
use backsweep::explore::Optimism;
use backsweep::{PlannerKind, Settings};
use backsweep_worlds::Law;
use backsweep_worlds::grid_world::GridWorld;
use serde::{Deserialize, Serialize};

/// Seeds stay below this, so that a page can hold them exactly.
const MAX_SEED: u64 = 1 << 53;
const MAX_CYCLES: u64 = 10_000;
const MAX_VISITS: u32 = 1_000_000;
const MAX_SPEED: f64 = 1e6;

/// The resource that the two agents of a race get equally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RaceResource {
    /// Each takes a step when the other does.
    #[default]
    Steps,
    /// The one whose planner has added up fewer terms is next.
    Work,
    /// The one that has used less computing time is next. Only this one depends on the machine.
    Time,
}

impl std::str::FromStr for RaceResource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "steps" => Ok(Self::Steps),
            "work" => Ok(Self::Work),
            "time" => Ok(Self::Time),
            _ => Err(Error::new(format!("'{}'; expected steps, work or time", text.escape_debug()))),
        }
    }
}

/// The settings of a scene, as exchanged between page and server and kept in the page's address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// The planner.
    #[serde(with = "planner_name")]
    pub planner: PlannerKind,
    /// The planner of a second agent that learns alongside the first from the same random numbers.
    #[serde(with = "rival_name")]
    pub rival: Option<PlannerKind>,
    /// The resource that the two agents of a race get equally.
    #[serde(default)]
    pub race: RaceResource,
    /// The way the first agent explores.
    #[serde(default)]
    pub explore: StrategyChoice,
    /// The way the first agent forgets.
    #[serde(default)]
    pub forget: ForgettingChoice,
    /// The way the second agent explores; `None` is as the first.
    #[serde(default)]
    pub rival_explore: Option<StrategyChoice>,
    /// The way the second agent forgets; `None` is as the first.
    #[serde(default)]
    pub rival_forget: Option<ForgettingChoice>,
    /// Update cycles after every step.
    pub cycles: u64,
    /// The probability of a random action.
    pub epsilon: f64,
    /// M: the number of visits from which a pair's model is trusted.
    pub min_visits: u32,
    /// The discount, below 1: walls may block every path to the goal, and values must stay finite.
    pub discount: f64,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The outcome law: `fifteen` or `four`.
    pub law: String,
    /// The probability of the intended neighbor, in the law `four`.
    pub intended: f64,
    /// A world of the exploration suite by its name, in place of a maze with an outcome law.
    #[serde(default)]
    pub world: Option<String>,
    /// The maze as text; for a world of the suite, the world as painted, or nothing.
    pub maze: String,
    /// Steps per second; `None` is as fast as possible.
    pub speed: Option<f64>,
}

impl Default for Scene {
    /// The paper's maze and settings.
    fn default() -> Self {
        Self {
            planner: PlannerKind::default(),
            rival: None,
            race: RaceResource::Steps,
            explore: StrategyChoice::Paper,
            forget: ForgettingChoice::default(),
            rival_explore: None,
            rival_forget: None,
            cycles: 1,
            epsilon: 0.05,
            min_visits: 4,
            discount: 0.99,
            seed: 1,
            law: "fifteen".into(),
            intended: 0.8,
            world: None,
            maze: backsweep_worlds::PAPER_MAZE.into(),
            speed: Some(600.0),
        }
    }
}

fn range<T: PartialOrd + std::fmt::Display>(name: &str, found: T, low: T, high: T) -> Result<()> {
    if found >= low && found <= high {
        return Ok(());
    }
    Err(Error::new(format!("{name} is {found}; expected {low} to {high}")))
}

impl Scene {
    /// This scene if everything in it but the maze is in its range. The maze is checked where it is built.
    ///
    /// # Errors
    /// One line that names the setting, what was found and what is expected.
    pub fn check(self) -> Result<Self> {
        range("cycles", self.cycles, 0, MAX_CYCLES)?;
        range("epsilon", self.epsilon, 0.0, 1.0)?;
        range("min_visits", self.min_visits, 1, MAX_VISITS)?;
        range("discount", self.discount, 0.0, 0.9999)?;
        range("seed", self.seed, 0, MAX_SEED - 1)?;
        // In any law: another may be chosen later.
        Law::Four { intended: self.intended }.check()?;
        self.outcome_law()?;
        if let Some(speed) = self.speed {
            range("speed", speed, 0.1, MAX_SPEED)?;
        }
        Ok(self)
    }

    /// This scene with some settings changed, by name.
    ///
    /// # Errors
    /// If there is no such setting or it cannot have that value.
    pub fn with(&self, settings: &serde_json::Map<String, serde_json::Value>) -> Result<Self> {
        let invalid = |error: serde_json::Error| Error::new(format!("invalid setting: {error}"));
        let mut all = serde_json::to_value(self).map_err(invalid)?;
        for (name, value) in settings {
            all[name] = value.clone();
        }
        serde_json::from_value(all).map_err(invalid)
    }

    /// The outcome law.
    ///
    /// # Errors
    /// If there is no such law, or its probability is out of range.
    pub fn outcome_law(&self) -> Result<Law> {
        match self.law.as_str() {
            "fifteen" => Ok(Law::Fifteen),
            "four" => Ok(Law::Four { intended: self.intended }.check()?),
            found => {
                Err(Error::new(format!("law is '{}'; expected 'fifteen' or 'four'", found.escape_debug())))
            }
        }
    }

    /// The world of the scene.
    ///
    /// # Errors
    /// If the maze is not valid or too large, the law is out of range, or no world has the scene's name.
    pub fn grid_world(&self) -> Result<GridWorld> {
        Ok(match &self.world {
            Some(name) => GridWorld::of_suite(name, self.seed, &self.maze)?,
            None => GridWorld::of_maze(&self.maze, self.outcome_law()?)?,
        })
    }

    /// The settings of the planners.
    pub fn settings(&self) -> Settings {
        let optimism = Optimism { value: 0.0, min_visits: self.min_visits };
        Settings { discount: self.discount, optimism, ..Settings::default() }
    }

    /// Returns whether another scene has the same world, as it was when nothing had been painted.
    pub fn has_same_world(&self, other: &Self) -> bool {
        let place = |scene: &Self| match &scene.world {
            // The seed decides the random parts of such a world.
            Some(name) => (Some(name.clone()), scene.seed, String::new(), 0.0),
            None => (None, 0, scene.law.clone(), scene.intended),
        };
        place(self) == place(other)
    }
}

/// A planner is exchanged by name.
mod planner_name {
    use backsweep::PlannerKind;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(planner: &PlannerKind, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(planner)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PlannerKind, D::Error> {
        backsweep_baselines::named(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// And so does the rival, if there is one.
mod rival_name {
    use backsweep::PlannerKind;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(rival: &Option<PlannerKind>, to: S) -> Result<S::Ok, S::Error> {
        rival.map(PlannerKind::name).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PlannerKind>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        name.map(|name| backsweep_baselines::named(&name).map_err(D::Error::custom)).transpose()
    }
}
