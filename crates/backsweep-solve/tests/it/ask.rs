//! Questions by states and rewards instead of names: these are attached to a copy of the model under names of their own.

use backsweep_mdp::{Direction, Label, Mdp, Objective, Question, Rewards};
use backsweep_solve::{DiscountedMethod, Limits, Repair, Repaired, Result, Solution, Start, solve};

/// An objective without discount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About<'a> {
    Reach { goal: &'a [u32], avoid: &'a [u32] },
    ReachWithin { goal: &'a [u32], avoid: &'a [u32], steps: u64 },
    RewardUntil { reward: &'a Rewards, goal: &'a [u32] },
    TotalReward { reward: &'a Rewards },
    Horizon { reward: &'a Rewards, steps: u64, discount: f64 },
    Average { reward: &'a Rewards },
}

impl About<'_> {
    /// The model with this objective's labels and rewards, and the objective by their names.
    pub fn named(self, mdp: &Mdp) -> (Mdp, Objective) {
        let mut mdp = mdp.clone();
        let label = |name: &str, states: &[u32]| Label { name: name.to_owned(), states: states.to_vec() };
        let (goal, avoid) = match self {
            Self::Reach { goal, avoid } | Self::ReachWithin { goal, avoid, .. } => (goal, avoid),
            Self::RewardUntil { goal, .. } => (goal, &[][..]),
            _ => (&[][..], &[][..]),
        };
        mdp.labels = vec![label("goal", goal), label("avoid", avoid)];
        if let Self::RewardUntil { reward, .. }
        | Self::TotalReward { reward }
        | Self::Horizon { reward, .. }
        | Self::Average { reward } = self
        {
            mdp.rewards = vec![reward.clone()];
        }
        let (goal, avoid) = ("goal".to_owned(), Some("avoid".to_owned()));
        let objective = match self {
            Self::Reach { .. } => Objective::Reach { goal, avoid, steps: None },
            Self::ReachWithin { steps, .. } => Objective::Reach { goal, avoid, steps: Some(steps) },
            Self::RewardUntil { .. } => Objective::Total { reward: None, until: Some(goal) },
            Self::TotalReward { .. } => Objective::Total { reward: None, until: None },
            Self::Horizon { steps, discount, .. } => Objective::Horizon { reward: None, steps, discount },
            Self::Average { .. } => Objective::Average { reward: None },
        };
        (mdp, objective)
    }
}

/// Solves without discount.
pub fn solve_undiscounted(
    mdp: &Mdp,
    about: About,
    direction: Direction,
    limits: &Limits,
) -> Result<Solution> {
    solve_undiscounted_by(None, mdp, about, direction, limits)
}

/// The same by a method.
pub fn solve_undiscounted_by(
    method: Option<&str>,
    mdp: &Mdp,
    about: About,
    direction: Direction,
    limits: &Limits,
) -> Result<Solution> {
    let (mdp, objective) = about.named(mdp);
    solve(&mdp, &Question { objective, direction }, method, limits)
}

/// The model with these rewards of choices.
pub fn with_rewards(mdp: &Mdp, rewards: &[f64]) -> Mdp {
    let mut mdp = mdp.clone();
    mdp.rewards = vec![Rewards { choices: rewards.to_vec(), ..Rewards::default() }];
    mdp
}

/// The discounted question about the only rewards.
pub fn discounted(discount: f64, direction: Direction) -> Question {
    Question { objective: Objective::Discounted { reward: None, discount }, direction }
}

/// Solves with discount.
pub fn solve_discounted(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    method: Option<DiscountedMethod>,
    limits: &Limits,
) -> Result<Solution> {
    let method = method.map(DiscountedMethod::name);
    solve(&with_rewards(mdp, rewards), &discounted(discount, direction), method, limits)
}

/// A repair of discounted values.
pub fn repair(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    limits: &Limits,
) -> Result<Repair> {
    Repair::new(&with_rewards(mdp, rewards), &self::discounted(discount, direction), limits)
}

/// A repair that continues.
pub fn resume(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    start: Start,
    limits: &Limits,
) -> Result<(Repair, Repaired)> {
    Repair::resume(&with_rewards(mdp, rewards), &self::discounted(discount, direction), start, limits)
}
