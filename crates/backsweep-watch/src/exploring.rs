//! How an agent of a scene explores and forgets, in the form exchanged between page, address and server: a name, and a
//! number if there is one, as in `bayes_bonus:0.2`.

use crate::scene::Scene;
use crate::world::World;
use backsweep::{Agent, Environment, EpsilonGreedy, Model, Optimism, PlannerKind, State};
use backsweep_explore::{Exploration, Explore, Forgetting};
use backsweep_lab::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;

/// How an agent explores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Explorer {
    /// As in the paper: a random action with probability ε, and optimism until a pair was tried M times, in the values that
    /// it acts and recommends by.
    #[default]
    Paper,
    /// One of the core's ways. ε and the optimism of those that have one are the scene's.
    Core(Explore),
}

/// The core's ways on the page: name, title, the constant that can be chosen and its symbol (empty if there is none), its
/// default, and the other constant.
const WAYS: [(&str, &str, &str, &str, f64, f64); 7] = [
    ("epsilon_greedy", "only ε-greedy", "", "", 0.0, 0.0),
    ("optimism", "only optimism M", "", "", 0.0, 1.0),
    ("count_bonus", "count bonus", "beta", "β", 0.1, 0.0),
    ("variance_bonus", "variance bonus", "c", "c", 1.0, 1.0),
    ("bayes_bonus", "Bayesian bonus", "beta", "β", 0.2, 0.0),
    ("surprise_bonus", "surprise bonus", "beta", "β", 1.0, 0.02),
    ("posterior_sampling", "posterior sampling", "prior", "prior", 1.0, 1.0),
];

/// The title of a way to explore, and the symbol and value of its constant if it has one to choose.
fn described(explore: &Explore) -> (&'static str, Option<(&'static str, f64)>) {
    let way = WAYS.iter().find(|way| way.0 == explore.name());
    way.map_or(("", None), |&(_, title, chosen, symbol, ..)| {
        let number = explore.constants().into_iter().find(|(constant, _)| *constant == chosen);
        (title, number.map(|(_, number)| (symbol, number)))
    })
}

/// How an agent forgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Forget(pub Forgetting);

/// The ways to forget: name, title, the meaning of the number, and its default.
const FORGETTING: [(&str, &str, &str, f64); 3] = [
    ("half_life", "half-life", "steps", 2000.0),
    ("window", "window", "observations", 5000.0),
    ("per_visit", "fade per visit", "factor", 0.9),
];

/// The name and the number of a text such as `bayes_bonus:0.2`.
fn parts(text: &str) -> Result<(&str, Option<f64>)> {
    match text.split_once(':') {
        None => Ok((text, None)),
        Some((name, number)) => {
            let parsed: Option<f64> = number.parse().ok().filter(|number: &f64| number.is_finite());
            let problem = || {
                Error::new(format!(
                    "{name}: '{}' is not a number; expected one, as in {name}:1",
                    number.escape_debug()
                ))
            };
            Ok((name, Some(parsed.ok_or_else(problem)?)))
        }
    }
}

impl FromStr for Explorer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, number) = parts(text)?;
        if name == "paper" && number.is_none() {
            return Ok(Self::Paper);
        }
        let way = WAYS.iter().find(|way| way.0 == name && (number.is_none() || !way.2.is_empty()));
        let explore = way.and_then(|&(_, _, chosen, _, usual, other)| {
            let constant = |name| if name == chosen { number.unwrap_or(usual) } else { other };
            Explore::named(name, |name| Ok::<_, Error>(constant(name))).ok().flatten()
        });
        explore.map(Self::Core).ok_or_else(|| {
            Error::new(format!(
                "explore is '{}'; expected paper or one of {}, with a number if it has one, as in bayes_bonus:0.2",
                text.escape_debug(),
                Explore::NAMES.join(", ")
            ))
        })
    }
}

impl FromStr for Forget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, number) = parts(text)?;
        let number = number.or_else(|| FORGETTING.iter().find(|(known, ..)| *known == name).map(|way| way.3));
        match (name, number) {
            ("never", None) => Ok(Self(Forgetting::Never)),
            ("half_life", Some(steps)) => Ok(Self(Forgetting::HalfLife(steps))),
            ("per_visit", Some(factor)) => Ok(Self(Forgetting::PerVisit(factor))),
            ("window", Some(n)) if (1.0..=1e9).contains(&n) && n.fract() == 0.0 => {
                Ok(Self(Forgetting::Window(n as u32)))
            }
            ("window", Some(n)) => Err(Error::new(format!(
                "window is {n}; expected a whole number of observations from 1 to 1e9"
            ))),
            _ => Err(Error::new(format!(
                "forget is '{}'; expected never, half_life:STEPS, window:OBSERVATIONS or per_visit:FACTOR",
                text.escape_debug()
            ))),
        }
    }
}

impl fmt::Display for Explorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Core(explore) = self else { return f.write_str("paper") };
        f.write_str(explore.name())?;
        described(explore).1.map_or(Ok(()), |(_, number)| write!(f, ":{number}"))
    }
}

impl fmt::Display for Forget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Forgetting::Never => f.write_str("never"),
            Forgetting::PerVisit(factor) => write!(f, "per_visit:{factor}"),
            Forgetting::HalfLife(steps) => write!(f, "half_life:{steps}"),
            Forgetting::Window(n) => write!(f, "window:{n}"),
        }
    }
}

macro_rules! travels_as_text {
    ($name:ty) => {
        impl TryFrom<String> for $name {
            type Error = Error;
            fn try_from(text: String) -> Result<Self> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(one: $name) -> Self {
                one.to_string()
            }
        }
    };
}
travels_as_text!(Explorer);
travels_as_text!(Forget);

/// The available choices, for the page.
pub fn all() -> Value {
    let ways = WAYS.map(|(name, title, _, symbol, usual, _)| json!({ "name": name, "title": title, "symbol": symbol, "usual": usual }));
    let forgetting = FORGETTING.map(|(name, title, symbol, usual)| json!({ "name": name, "title": title, "symbol": symbol, "usual": usual }));
    json!({ "explore": ways, "forget": forgetting })
}

/// What one agent of a scene does: its planner, and how it explores and forgets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Racer {
    /// The planner.
    pub planner: PlannerKind,
    /// How it explores.
    pub explore: Explorer,
    /// How it forgets.
    pub forget: Forget,
}

impl Racer {
    /// How it explores and forgets, for a reader.
    pub fn exploration(&self, scene: &Scene) -> String {
        let mut text = match self.explore {
            Explorer::Paper => format!("ε {}, M {}", scene.epsilon, scene.min_visits),
            Explorer::Core(Explore::EpsilonGreedy { .. }) => format!("ε {}", scene.epsilon),
            Explorer::Core(Explore::Optimism(_)) => format!("optimism, M {}", scene.min_visits),
            Explorer::Core(explore) => match described(&explore) {
                (title, Some((symbol, number))) => format!("{title}, {symbol} {number}"),
                (title, None) => title.to_owned(),
            },
        };
        match self.forget.0 {
            Forgetting::Never => {}
            Forgetting::PerVisit(factor) => text += &format!(", fades by {factor} per visit"),
            Forgetting::HalfLife(steps) => text += &format!(", half-life {steps}"),
            Forgetting::Window(n) => text += &format!(", window {n}"),
        }
        text
    }

    /// Whether the agent is the paper's, which can change ε, γ or M while it runs.
    pub fn is_paper(&self) -> bool {
        self.explore == Explorer::Paper
    }

    /// The probability of a random action.
    pub fn epsilon(&self, scene: &Scene) -> f64 {
        match self.explore {
            Explorer::Paper | Explorer::Core(Explore::EpsilonGreedy { .. }) => scene.epsilon,
            Explorer::Core(_) => 0.0,
        }
    }

    /// An agent that has seen nothing.
    ///
    /// # Errors
    /// If a number is out of range, or settings are incompatible.
    pub fn build(&self, scene: &Scene, world: &World) -> Result<Agent> {
        let states = (0..world.n_states() as u32).map(|state| world.n_actions(State(state)));
        let model = Model::with_states(states)?;
        let settings = world.optimistic(scene.settings());
        let Explorer::Core(explore) = self.explore else {
            if self.forget.0 != Forgetting::Never {
                return Err(Error::new(
                    "the paper's agent forgets nothing; expected another exploration, such as only ε-greedy, or forgetting: never",
                ));
            }
            let policy = EpsilonGreedy::new(scene.epsilon)?;
            return Ok(Agent::from_parts(model, self.planner.build(settings)?, policy));
        };
        let explore = match explore {
            Explore::EpsilonGreedy { .. } => Explore::EpsilonGreedy { epsilon: scene.epsilon },
            Explore::Optimism(_) => Explore::Optimism(settings.optimism),
            other => other,
        };
        let exploration = Exploration {
            explore,
            reward_range: Some(world.rules().reward_range()),
            forgetting: self.forget.0,
            seed: scene.seed,
            ..Exploration::default()
        };
        let plain = backsweep::Settings { optimism: Optimism::default(), ..settings };
        Ok(backsweep_explore::exploring(model, self.planner, plain, exploration)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_survives_the_journey() {
        let texts = [
            "paper",
            "epsilon_greedy",
            "optimism",
            "count_bonus:0.5",
            "bayes_bonus:0.2",
            "posterior_sampling:1",
        ];
        for text in texts {
            assert_eq!(text.parse::<Explorer>().unwrap().to_string(), text);
        }
        for text in ["never", "half_life:2000", "window:5", "per_visit:0.9"] {
            assert_eq!(text.parse::<Forget>().unwrap().to_string(), text);
        }
        for wrong in
            ["", "paper:1", "optimism:3", "bayes_bonus:", "bayes_bonus:NaN", "count_bonus:inf", "greedy"]
        {
            assert!(wrong.parse::<Explorer>().is_err(), "{wrong}");
        }
        for wrong in ["", "never:1", "window:0", "window:2.5", "window:NaN", "half_life:x"] {
            assert!(wrong.parse::<Forget>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_choice_learns_in_a_maze_and_in_a_world_of_the_suite() {
        for world in [None, Some("deep_sea_10".to_owned()), Some("cliff_walking".to_owned())] {
            let maze = if world.is_some() { String::new() } else { "S..\n.#.\n..G\n".into() };
            let scene = Scene { maze, world, min_visits: 1, ..Scene::default() };
            let world = World::new(&scene).unwrap();
            for name in Explore::NAMES {
                let racer = Racer { explore: name.parse().unwrap(), ..scene.racers().next().unwrap() };
                let agent = racer.build(&scene, &world).unwrap();
                assert_eq!(agent.model().n_states(), world.n_states(), "{name}");
                assert_eq!(backsweep_explore::exploration(&agent).unwrap().explore.name(), name);
            }
        }
    }
}
