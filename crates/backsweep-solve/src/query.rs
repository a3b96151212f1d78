//! The entry point to all solvers: a question by names of labels and rewards, as the command line and Python pose it.

use crate::discounted::solve_with_start;
use crate::{
    Direction, Limits, METHODS, Method, Objective, Solution, Start, UndiscountedMethod, solve_undiscounted_by,
};
use backsweep_mdp::{Mdp, Rewards};
use std::fmt;

/// A question about a model. `None` as the name of rewards means the model's only ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
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
        /// How many steps.
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

impl Query {
    /// Answers the question. Without a method, the portfolio chooses.
    ///
    /// # Errors
    /// If a label, the rewards or the method does not exist (the message lists those that do), or a number is out of range.
    pub fn solve(
        &self,
        mdp: &Mdp,
        direction: Direction,
        method: Option<&str>,
        limits: &Limits,
    ) -> Result<Solution, String> {
        Ok(self.solve_for_repair(mdp, direction, method, limits)?.0)
    }

    /// As [`solve`](Self::solve), and also returns what [`Repair::resume`](crate::Repair::resume) needs after a change;
    /// `None` for questions without a discount, which are for [`Repair::ask`](crate::Repair::ask).
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn solve_for_repair(
        &self,
        mdp: &Mdp,
        direction: Direction,
        method: Option<&str>,
        limits: &Limits,
    ) -> Result<(Solution, Option<Start>), String> {
        if let Self::Discounted { reward, discount } = self {
            let method = method.map(str::parse::<Method>).transpose()?;
            let rewards = rewards(mdp, reward)?;
            let (solution, start) = discounted(mdp, rewards, *discount, direction, method, limits)?;
            return Ok((solution, Some(start)));
        }
        let objective = self.objective(mdp)?;
        let method = method.map_or(Ok(UndiscountedMethod::Automatic), undiscounted_method)?;
        Ok((solve_undiscounted_by(method, mdp, objective, direction, limits)?, None))
    }

    /// The question by states and rewards of the model; a discounted one has no such form.
    pub(crate) fn objective<'m>(&self, mdp: &'m Mdp) -> Result<Objective<'m>, String> {
        Ok(match self {
            Self::Discounted { discount, .. } => {
                return Err(format!("the discount is {discount}; expected a question without one"));
            }
            Self::Reach { goal, avoid, steps } => {
                let goal = label(mdp, goal)?;
                let avoid = avoid.as_ref().map_or(Ok(&[][..]), |avoid| label(mdp, avoid))?;
                match steps {
                    None => Objective::Reach { goal, avoid },
                    Some(steps) => Objective::ReachWithin { goal, avoid, steps: *steps },
                }
            }
            Self::Total { reward, until: Some(until) } => {
                Objective::RewardUntil { reward: rewards(mdp, reward)?, goal: label(mdp, until)? }
            }
            Self::Total { reward, until: None } => Objective::TotalReward { reward: rewards(mdp, reward)? },
            Self::Horizon { reward, steps, discount } => {
                Objective::Horizon { reward: rewards(mdp, reward)?, steps: *steps, discount: *discount }
            }
            Self::Average { reward } => Objective::Average { reward: rewards(mdp, reward)? },
        })
    }

    /// The question in words.
    pub fn describe(&self, direction: Direction) -> String {
        let extreme = if direction == Direction::Maximize { "largest" } else { "smallest" };
        format!("{extreme} {self}")
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let named = |reward: &Option<String>| match reward.as_deref() {
            None | Some("") => "reward".to_owned(),
            Some(name) => format!("reward '{name}'"),
        };
        match self {
            Self::Discounted { reward, discount } => {
                write!(f, "discounted {}, discount {discount}", named(reward))
            }
            Self::Reach { goal, avoid, steps } => {
                write!(f, "probability of reaching '{goal}'")?;
                avoid.as_ref().map_or(Ok(()), |avoid| write!(f, " without passing through '{avoid}'"))?;
                steps.map_or(Ok(()), |steps| write!(f, " within {steps} steps"))
            }
            Self::Total { reward, until: Some(until) } => {
                write!(f, "expected total {} until '{until}'", named(reward))
            }
            Self::Total { reward, until: None } => {
                write!(f, "expected total {} until the episode ends", named(reward))
            }
            Self::Horizon { reward, steps, discount } => {
                write!(f, "expected total {} of {steps} steps", named(reward))?;
                if *discount < 1.0 { write!(f, ", discount {discount}") } else { Ok(()) }
            }
            Self::Average { reward } => write!(f, "long-run average {} per step", named(reward)),
        }
    }
}

/// The rewards of this name.
pub(crate) fn rewards<'m>(mdp: &'m Mdp, name: &Option<String>) -> Result<&'m Rewards, String> {
    if let (Some(name), [only]) = (name, &mdp.rewards[..])
        && only.name.is_empty()
        && !name.is_empty()
    {
        return Err(format!(
            "no rewards are called '{name}'; the model's only rewards have no name, so omit the name"
        ));
    }
    mdp.rewards(name.as_deref()).map_err(|error| error.to_string())
}

fn label<'m>(mdp: &'m Mdp, name: &str) -> Result<&'m [u32], String> {
    mdp.label(name).map_err(|error| error.to_string())
}

fn undiscounted_method(name: &str) -> Result<UndiscountedMethod, String> {
    match name {
        "elimination" => Ok(UndiscountedMethod::Elimination),
        "sweeps" => Ok(UndiscountedMethod::Sweeps),
        _ => {
            let only = if METHODS.iter().any(|method| method.name() == name) {
                " (that one needs a discount)"
            } else {
                ""
            };
            Err(format!(
                "unknown method {name:?}{only}; expected elimination or sweeps, or none for an automatic choice"
            ))
        }
    }
}

/// Discounted values. The solver takes one reward per choice as exact; where that is itself a rounded sum, intervals are
/// widened by the largest effect of the rounding over a whole run.
fn discounted(
    mdp: &Mdp,
    rewards: &Rewards,
    discount: f64,
    direction: Direction,
    method: Option<Method>,
    limits: &Limits,
) -> Result<(Solution, Start), String> {
    let expected = mdp.expected_rewards(Some(rewards.name.as_str())).map_err(|error| error.to_string())?;
    let (mut solution, start) = solve_with_start(mdp, &expected, discount, direction, method, limits)?;
    let rounding = reward_rounding(mdp, rewards, discount);
    if rounding > 0.0 {
        for state in (0..mdp.n_states()).filter(|&state| !mdp.choices_of(state).is_empty()) {
            solution.lower[state] = (solution.lower[state] - rounding).next_down();
            solution.upper[state] = (solution.upper[state] + rounding).next_up();
        }
        let narrow = |(l, u): (&f64, &f64)| u - l <= 2.0 * limits.tolerance;
        let converged = solution.lower.iter().zip(&solution.upper).all(narrow);
        if solution.converged && !converged {
            solution
                .explanation
                .push("rewards of arcs are rounded by more than the tolerance allows".to_owned());
        }
        solution.converged &= converged;
    }
    Ok((solution, start))
}

/// How far rounded sums in [`Mdp::expected_rewards`] can move a discounted value; 0 if no sum was rounded.
pub fn reward_rounding(mdp: &Mdp, rewards: &Rewards, discount: f64) -> f64 {
    reward_error(mdp, rewards) / (1.0 - discount).next_down() * (1.0 + 4.0 * f64::EPSILON)
}

/// How far an expected reward may be from the exact sum; 0 if no sum was rounded.
pub fn reward_error(mdp: &Mdp, rewards: &Rewards) -> f64 {
    let value = |values: &[f64], i: usize| values.get(i).map_or(0.0, |value| value.abs());
    let mut most: f64 = 0.0;
    if rewards.arcs.is_empty() && (rewards.states.is_empty() || rewards.choices.is_empty()) {
        return most;
    }
    for state in 0..mdp.n_states() {
        let of_state = value(&rewards.states, state);
        for choice in mdp.choices_of(state) {
            let own = value(&rewards.choices, choice);
            let arcs = mdp.arcs_of(choice);
            let on_arcs: f64 =
                arcs.clone().map(|arc| mdp.probabilities[arc] * value(&rewards.arcs, arc)).sum();
            if u32::from(of_state > 0.0) + u32::from(own > 0.0) + 2 * u32::from(on_arcs > 0.0) > 1 {
                // Each term is rounded at most once per addition and once for its product, and each probability may
                // itself be a rounded fraction.
                let n_roundings = arcs.len() as f64 + 4.0;
                most = most.max(n_roundings * f64::EPSILON * (of_state + own + on_arcs) + f64::MIN_POSITIVE);
            }
        }
    }
    most
}
