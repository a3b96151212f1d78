//! Values without discount: reachability, total reward, a number of steps, the long run.
//!
//! Graph analysis decides what does not depend on numbers (probability 0 and 1, infinite values) exactly. What is left is
//! solved one strongly connected component after another, successors first, by policy iteration with an elimination that
//! never subtracts, or by sweeps; every bound is proven by a last look with all rounding counted. `docs/SOLVING.md` has the
//! arguments.

mod average;
mod elimination;
mod gain;
mod graph;
mod horizon;
mod howard;
mod local;
mod mec;
mod objective;
mod proof;
mod reach;
mod reduced;
mod solver;
mod sweeps;
mod total;
mod view;

use crate::{Direction, Limits, Solution};
use backsweep_io::mdp::{Mdp, Rewards};
use objective::Task;
use view::View;

/// What to compute without discount (or, for a number of steps, with one).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective<'a> {
    /// The probability to reach a state of `goal` without passing one of `avoid`. A state in both counts as reached. A run
    /// that ends elsewhere has not reached the goal.
    Reach {
        /// The states to reach.
        goal: &'a [u32],
        /// The states to avoid; may be empty.
        avoid: &'a [u32],
    },
    /// The probability to reach a state of `goal` within a number of steps, without passing one of `avoid`.
    ReachWithin {
        /// The states to reach.
        goal: &'a [u32],
        /// The states to avoid; may be empty.
        avoid: &'a [u32],
        /// How many steps.
        steps: u64,
    },
    /// The expected total reward until a state of `goal`; infinite where the goal is missed with positive probability (under
    /// some policy for the largest value, under every policy for the smallest), as Storm and PRISM define it.
    RewardUntil {
        /// The rewards.
        reward: &'a Rewards,
        /// Where collecting ends.
        goal: &'a [u32],
    },
    /// The expected total reward until the episode ends, if ever.
    TotalReward {
        /// The rewards.
        reward: &'a Rewards,
    },
    /// The expected total reward of a number of steps. The policy is that of the first step.
    Horizon {
        /// The rewards.
        reward: &'a Rewards,
        /// How many steps.
        steps: u64,
        /// What a step's reward is worth relative to the one before, from 0 to 1.
        discount: f64,
    },
    /// The expected reward per step in the long run; 0 per step after the end of an episode.
    Average {
        /// The rewards.
        reward: &'a Rewards,
    },
}

/// How strongly connected components of several states are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Elimination for small components, sweeps for others; elimination again where sweeps take too long.
    #[default]
    Automatic,
    /// Policy iteration, each policy evaluated by elimination without subtractions, however long it takes.
    Elimination,
    /// Gauss–Seidel sweeps with bounds guessed and proven from time to time.
    Sweeps,
}

/// Solves a model without discount. Intervals are proven whenever this returns, also if `limits.stop` ended the work.
///
/// # Errors
/// If the model's arrays are inconsistent, a number is not finite, a label names a state that does not exist, or the tolerance
/// or discount is out of range.
pub fn solve_undiscounted(
    mdp: &Mdp,
    objective: Objective,
    direction: Direction,
    limits: &Limits,
) -> Result<Solution, String> {
    solve_undiscounted_by(Method::Automatic, mdp, objective, direction, limits)
}

/// The same by a given method. Graph analysis, a number of steps and the gain of end components know only one.
///
/// # Errors
/// As [`solve_undiscounted`].
pub fn solve_undiscounted_by(
    method: Method,
    mdp: &Mdp,
    objective: Objective,
    direction: Direction,
    limits: &Limits,
) -> Result<Solution, String> {
    let task = &Task { tolerance: limits.tolerance, stop: &|| (limits.stop)(), method };
    if !(limits.tolerance > 0.0 && limits.tolerance.is_finite()) {
        return Err(format!("the tolerance is {}; expected a finite number above 0", limits.tolerance));
    }
    let view = View::new(mdp)?;
    let goal_and_avoid = |goal, avoid| -> Result<_, String> {
        let goal = view.set(goal, "goal")?;
        let mut avoid = view.set(avoid, "set to avoid")?;
        avoid.iter_mut().zip(&goal).for_each(|(a, &g)| *a &= !g);
        Ok((goal, avoid))
    };
    let draft = match objective {
        Objective::Reach { goal, avoid } => {
            let (goal, avoid) = goal_and_avoid(goal, avoid)?;
            reach::reach(&view, &goal, &avoid, direction, task)
        }
        Objective::ReachWithin { goal, avoid, steps } => {
            let (goal, avoid) = goal_and_avoid(goal, avoid)?;
            let nothing = vec![[0.0; 2]; mdp.n_choices()];
            let worth = |s: usize| if goal[s] { Some(1.0) } else { avoid[s].then_some(0.0) };
            let mut draft = horizon::horizon(&view, &nothing, &worth, steps, 1.0, direction, task);
            draft.lower.iter_mut().chain(&mut draft.upper).for_each(|x| *x = x.clamp(0.0, 1.0));
            draft
        }
        Objective::RewardUntil { reward, goal } => {
            let goal = view.set(goal, "goal")?;
            total::until(&view, &goal, &view.rewards(reward)?, direction, task)
        }
        Objective::TotalReward { reward } => total::total(&view, &view.rewards(reward)?, direction, task),
        Objective::Horizon { reward, steps, discount } => {
            if !(0.0..=1.0).contains(&discount) {
                return Err(format!("the discount is {discount}; expected a number from 0 to 1"));
            }
            horizon::horizon(&view, &view.rewards(reward)?, &|_| None, steps, discount, direction, task)
        }
        Objective::Average { reward } => average::average(&view, &view.rewards(reward)?, direction, task),
    };
    let narrow = |(l, u): (&f64, &f64)| l == u || u - l <= 2.0 * limits.tolerance;
    let converged = draft.lower.iter().zip(&draft.upper).all(narrow);
    Ok(Solution {
        lower: draft.lower,
        upper: draft.upper,
        policy: draft.policy,
        converged,
        iterations: draft.iterations,
        explanation: draft.explanation,
    })
}
