//! Values without discount: reachability, total reward, a number of steps, the long run.
//!
//! Graph analysis decides what does not depend on numbers (probability 0 and 1, infinite values) exactly. The rest is
//! solved one strongly connected component at a time, successors first, by policy iteration with an elimination that never
//! subtracts, or by sweeps; every bound is proven by a final check with all rounding accounted for. `docs/SOLVING.md` has
//! the arguments.

mod asked;
mod attempt;
mod average;
mod elimination;
mod gain;
mod graph;
mod horizon;
mod howard;
mod kept;
mod level;
mod local;
mod mec;
mod objective;
mod proof;
mod reach;
mod reduced;
mod shape;
mod solver;
mod sweeps;
mod total;
mod view;

use crate::discounted::check_tolerance;
use crate::{Direction, Limits, Solution};
pub(crate) use asked::{Asked, Kind};
use backsweep_mdp::{Mdp, Rewards};
pub(crate) use kept::{Kept, NewRow};
pub(crate) use objective::{Task, Warm};
pub(crate) use reduced::Row;
pub(crate) use view::{UNIT, View, ends_and_slack, missing_mass};

/// What to compute without discount (or, for a number of steps, with one).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective<'a> {
    /// The probability of reaching a state of `goal` without passing through one of `avoid`. A state in both counts as
    /// reached. A run that ends elsewhere has not reached the goal.
    Reach {
        /// The states to reach.
        goal: &'a [u32],
        /// The states to avoid; may be empty.
        avoid: &'a [u32],
    },
    /// The probability of reaching a state of `goal` within a number of steps, without passing through one of `avoid`.
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
        /// The states at which the total ends.
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

/// Solves a model without discount. Intervals are proven whenever this returns, even if `limits.stop` ended the work.
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

/// The same by a given method. Graph analysis, a number of steps and the gain of end components have only one.
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
    check_tolerance(limits.tolerance)?;
    let view = View::new(mdp)?;
    let task =
        Task { tolerance: limits.tolerance, stop: &|| (limits.stop)(), method, warm: None, keep: false };
    let asked = Asked::new(&view, objective)?;
    Ok(asked.answer(&view, &asked.rewards, direction, &task).0)
}
