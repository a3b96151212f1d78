//! Questions about a model, by names of labels and rewards.

use std::fmt;

/// The choice between the largest and the smallest values that a policy attains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The best policy has the largest value.
    #[default]
    Maximize,
    /// The best policy has the smallest value.
    Minimize,
}

impl Direction {
    /// 1 to maximize, -1 to minimize: what values are multiplied by, so that every solver maximizes.
    pub fn sign(self) -> f64 {
        match self {
            Self::Maximize => 1.0,
            Self::Minimize => -1.0,
        }
    }
}

/// The value to compute. `None` as the name of rewards means the model's only ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// The expected sum of rewards, each worth `discount` times as much as the one before.
    Discounted {
        /// The name of the rewards.
        reward: Option<String>,
        /// From 0 to below 1.
        discount: f64,
    },
    /// The probability of reaching a label.
    Reach {
        /// The label to reach.
        goal: String,
        /// The label of states that must not be passed through on the way.
        avoid: Option<String>,
        /// The number of steps allowed; `None` for any number.
        steps: Option<u64>,
    },
    /// The expected total reward until a label is reached or, without one, until the episode ends.
    Total {
        /// The name of the rewards.
        reward: Option<String>,
        /// The label.
        until: Option<String>,
    },
    /// The expected total reward of a number of steps.
    Horizon {
        /// The name of the rewards.
        reward: Option<String>,
        /// The number of steps.
        steps: u64,
        /// From 0 to 1.
        discount: f64,
    },
    /// The expected reward per step in the long run.
    Average {
        /// The name of the rewards.
        reward: Option<String>,
    },
}

/// An objective and its direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The objective.
    pub objective: Objective,
    /// Of the best policy or of the worst.
    pub direction: Direction,
}

impl Objective {
    /// The largest values of this objective.
    pub fn maximize(self) -> Question {
        Question { objective: self, direction: Direction::Maximize }
    }

    /// The smallest values of this objective.
    pub fn minimize(self) -> Question {
        Question { objective: self, direction: Direction::Minimize }
    }

    /// The name of the rewards that it is about, if it names any.
    pub fn reward(&self) -> Option<&str> {
        match self {
            Self::Discounted { reward, .. }
            | Self::Total { reward, .. }
            | Self::Horizon { reward, .. }
            | Self::Average { reward } => reward.as_deref(),
            Self::Reach { .. } => None,
        }
    }

    /// The discount, if values are discounted forever.
    pub fn discount(&self) -> Option<f64> {
        match self {
            Self::Discounted { discount, .. } => Some(*discount),
            _ => None,
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let extreme = if self.direction == Direction::Maximize { "largest" } else { "smallest" };
        write!(f, "{extreme} {}", self.objective)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let named = |reward: &Option<String>| match reward.as_deref() {
            None | Some("") => "reward".to_owned(),
            Some(name) => format!("reward '{name}'"),
        };
        let count = |steps: u64| format!("{steps} step{}", if steps == 1 { "" } else { "s" });
        match self {
            Self::Discounted { reward, discount } => {
                write!(f, "discounted {}, discount {discount}", named(reward))
            }
            Self::Reach { goal, avoid, steps } => {
                write!(f, "probability of reaching '{goal}'")?;
                avoid.as_ref().map_or(Ok(()), |avoid| write!(f, " without passing through '{avoid}'"))?;
                steps.map_or(Ok(()), |steps| write!(f, " within {}", count(steps)))
            }
            Self::Total { reward, until: Some(until) } => {
                write!(f, "expected total {} until '{until}'", named(reward))
            }
            Self::Total { reward, until: None } => {
                write!(f, "expected total {} until the episode ends", named(reward))
            }
            Self::Horizon { reward, steps, discount } => {
                write!(f, "expected total {} of {}", named(reward), count(*steps))?;
                if *discount < 1.0 { write!(f, ", discount {discount}") } else { Ok(()) }
            }
            Self::Average { reward } => write!(f, "long-run average {} per step", named(reward)),
        }
    }
}
