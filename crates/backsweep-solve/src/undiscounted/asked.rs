//! An objective as arrays: sets by state and rewards by choice. What a repair keeps and changes between two answers.

use super::kept::Kept;
use super::objective::{Task, Warm};
use super::view::View;
use super::{Objective, average, horizon, reach, total};
use crate::{Direction, Solution};

/// Which objective; see [`Objective`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Reach,
    ReachWithin(u64),
    Until,
    Total,
    Horizon { steps: u64, discount: f64 },
    Average,
}

impl Kind {
    /// Whether the objective is about rewards.
    pub fn has_rewards(self) -> bool {
        !matches!(self, Self::Reach | Self::ReachWithin(_))
    }
}

/// An objective of a checked model.
#[derive(Clone)]
pub(crate) struct Asked {
    pub kind: Kind,
    /// Whether each state is in the goal; empty if there is none.
    pub goal: Vec<bool>,
    /// Whether each state is to be avoided and not in the goal; empty if there is none.
    pub avoid: Vec<bool>,
    /// The reward of each choice, between bounds; empty if there are none.
    pub rewards: Vec<[f64; 2]>,
}

impl Asked {
    /// Checks labels and rewards.
    pub fn new(view: &View, objective: Objective) -> Result<Self, String> {
        let only = |kind| Self { kind, goal: Vec::new(), avoid: Vec::new(), rewards: Vec::new() };
        let reach = |kind, goal, avoid| -> Result<Self, String> {
            let goal = view.set(goal, "goal")?;
            let mut avoid = view.set(avoid, "set to avoid")?;
            avoid.iter_mut().zip(&goal).for_each(|(a, &g)| *a &= !g);
            Ok(Self { goal, avoid, ..only(kind) })
        };
        Ok(match objective {
            Objective::Reach { goal, avoid } => reach(Kind::Reach, goal, avoid)?,
            Objective::ReachWithin { goal, avoid, steps } => reach(Kind::ReachWithin(steps), goal, avoid)?,
            Objective::RewardUntil { reward, goal } => {
                let goal = view.set(goal, "goal")?;
                Self { goal, rewards: view.rewards(reward)?, ..only(Kind::Until) }
            }
            Objective::TotalReward { reward } => Self { rewards: view.rewards(reward)?, ..only(Kind::Total) },
            Objective::Horizon { reward, steps, discount } => {
                if !(0.0..=1.0).contains(&discount) {
                    return Err(format!("the discount is {discount}; expected a number from 0 to 1"));
                }
                Self { rewards: view.rewards(reward)?, ..only(Kind::Horizon { steps, discount }) }
            }
            Objective::Average { reward } => Self { rewards: view.rewards(reward)?, ..only(Kind::Average) },
        })
    }

    /// Solves the model, with the rewards of its choices. If `task` requests it, also returns what helps the next answer after
    /// a change, if there is anything.
    pub fn answer(
        &self,
        view: &View,
        rewards: &[[f64; 2]],
        direction: Direction,
        task: &Task,
    ) -> (Solution, Option<Kept>, Warm) {
        let Self { kind, goal, avoid, .. } = self;
        let draft = match *kind {
            Kind::Reach => reach::reach(view, goal, avoid, direction, task),
            Kind::ReachWithin(steps) => {
                let nothing = vec![[0.0; 2]; view.mdp.n_choices()];
                let worth = |s: usize| if goal[s] { Some(1.0) } else { avoid[s].then_some(0.0) };
                let mut draft = horizon::horizon(view, &nothing, &worth, steps, 1.0, direction, task);
                draft.lower.iter_mut().chain(&mut draft.upper).for_each(|x| *x = x.clamp(0.0, 1.0));
                draft
            }
            Kind::Until => total::until(view, goal, rewards, direction, task),
            Kind::Total => total::total(view, rewards, direction, task),
            Kind::Horizon { steps, discount } => {
                horizon::horizon(view, rewards, &|_| None, steps, discount, direction, task)
            }
            Kind::Average => average::average(view, rewards, direction, task),
        };
        let narrow = |(l, u): (&f64, &f64)| l == u || u - l <= 2.0 * task.tolerance;
        let converged = draft.lower.iter().zip(&draft.upper).all(narrow);
        let solution = Solution {
            lower: draft.lower,
            upper: draft.upper,
            policy: draft.policy,
            converged,
            iterations: draft.iterations,
            explanation: draft.explanation,
        };
        (solution, draft.kept, draft.warm)
    }
}
