//! The exploration and forgetting of an agent of a scene, in the form exchanged between page, address and server: a name, and a
//! number if there is one, as in `bayes_bonus:0.2`.

use crate::error::{Error, Result};
use backsweep::explore::{Explore, Forgetting};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;

/// The way an agent explores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StrategyChoice {
    /// As in the paper: a random action with probability ε, and optimism until a pair was tried M times, in the values that
    /// it acts and recommends by.
    #[default]
    Paper,
    /// Another strategy. ε and the optimism of those that have one are the scene's.
    Other(Explore),
}

/// The strategies on the page: name, title, the constant that can be chosen and its symbol (empty if there is none), its
/// default, and the other constant.
const STRATEGIES: [(&str, &str, &str, &str, f64, f64); 7] = [
    ("epsilon_greedy", "only ε-greedy", "", "", 0.0, 0.0),
    ("optimism", "only optimism M", "", "", 0.0, 1.0),
    ("count_bonus", "count bonus", "beta", "β", 0.1, 0.0),
    ("variance_bonus", "variance bonus", "c", "c", 1.0, 1.0),
    ("bayes_bonus", "Bayesian bonus", "beta", "β", 0.2, 0.0),
    ("achievable_bonus", "achievable bonus", "beta", "β", 1.0, 2.0),
    ("posterior_sampling", "posterior sampling", "prior", "prior", 1.0, 1.0),
];

/// The title of a way to explore, and the symbol and value of its constant if it has one to choose.
pub fn described(explore: &Explore) -> (&'static str, Option<(&'static str, f64)>) {
    let way = STRATEGIES.iter().find(|way| way.0 == explore.name());
    way.map_or(("", None), |&(_, title, chosen, symbol, ..)| {
        let number = explore.constants().into_iter().find(|(constant, _)| *constant == chosen);
        (title, number.map(|(_, number)| (symbol, number)))
    })
}

/// The way an agent forgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ForgettingChoice(pub Forgetting);

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

impl FromStr for StrategyChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, number) = parts(text)?;
        if name == "paper" && number.is_none() {
            return Ok(Self::Paper);
        }
        let way = STRATEGIES.iter().find(|way| way.0 == name && (number.is_none() || !way.2.is_empty()));
        let explore = way.and_then(|&(_, _, chosen, _, usual, other)| {
            let constant = |name| if name == chosen { number.unwrap_or(usual) } else { other };
            Explore::named(name, |name| Ok::<_, Error>(constant(name))).ok().flatten()
        });
        explore.map(Self::Other).ok_or_else(|| {
            Error::new(format!(
                "explore is '{}'; expected paper or one of {}, with a number if it has one, as in bayes_bonus:0.2",
                text.escape_debug(),
                Explore::NAMES.join(", ")
            ))
        })
    }
}

impl FromStr for ForgettingChoice {
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

impl fmt::Display for StrategyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Other(explore) = self else { return f.write_str("paper") };
        f.write_str(explore.name())?;
        described(explore).1.map_or(Ok(()), |(_, number)| write!(f, ":{number}"))
    }
}

impl fmt::Display for ForgettingChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Forgetting::Never => f.write_str("never"),
            Forgetting::PerVisit(factor) => write!(f, "per_visit:{factor}"),
            Forgetting::HalfLife(steps) => write!(f, "half_life:{steps}"),
            Forgetting::Window(n) => write!(f, "window:{n}"),
        }
    }
}

macro_rules! string_serde {
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
string_serde!(StrategyChoice);
string_serde!(ForgettingChoice);

/// The available choices, for the page.
pub fn all() -> Value {
    let ways = STRATEGIES.map(|(name, title, _, symbol, usual, _)| json!({ "name": name, "title": title, "symbol": symbol, "usual": usual }));
    let forgetting = FORGETTING.map(|(name, title, symbol, usual)| json!({ "name": name, "title": title, "symbol": symbol, "usual": usual }));
    json!({ "explore": ways, "forget": forgetting })
}
