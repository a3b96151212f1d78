//! Discounted values: a portfolio of methods, each of which ends with a proven interval.
//!
//! A method may compute values in any way it likes; the interval comes from how little one last sweep changes them, with all
//! rounding accounted for (`discounted/proof.rs`). A method that goes astray costs time, never correctness.

mod backward;
mod components;
mod elimination;
mod in_place;
mod iteration;
mod krylov;
mod method;
pub(crate) mod model;
mod order;
mod portfolio;
pub(crate) mod proof;
mod race;
pub(crate) mod sweeps;

pub use method::{DISCOUNTED_METHODS, DiscountedMethod};

use crate::{Limits, Result, Solution, Start};
use backsweep_mdp::{Direction, Mdp};
use model::FlatModel;
use portfolio::Portfolio;
use sweeps::{Goal, Reached, SweepEnd};

/// The way to solve.
#[derive(Clone, Copy)]
pub(crate) enum How<'a> {
    /// By the method that the portfolio chooses.
    Choose,
    /// The same from values that may be close, after a solve of a similar model. They have the sign by which every method
    /// maximizes, and change the time, never the proof.
    Again(&'a [f64], Effort),
    /// By this method.
    Method(DiscountedMethod),
    /// By sweeps from these finite values, with the sign by which every method maximizes.
    From(&'a [f64]),
}

/// The effort of a solve.
#[derive(Clone, Copy, Default)]
pub(crate) struct Effort {
    /// The work, in sweeps over all choices.
    pub sweeps: f64,
    /// True if Krylov's method brought the result.
    pub by_krylov: bool,
    /// No returned value differs from its backup by more than this.
    pub residual: f64,
}

/// Solves a model with a discount from 0 to below 1. `rewards` has one expected reward per choice. Also returns the values
/// from before intervals were added, and the effort.
///
/// Intervals are proven whenever this returns, even if `limits.stop` ended the work. `explanation` says what was done and why.
pub(crate) fn solve(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    how: How,
    limits: &Limits,
) -> Result<(Solution, Start, Effort)> {
    limits.check()?;
    let model = FlatModel::new(mdp, rewards, discount, direction, limits.threads)?;
    let again = if let How::Again(values, before) = how { Some((values, before.by_krylov)) } else { None };
    let mut solver = Portfolio { again, ..Portfolio::default() };
    let goal = Goal {
        width: 1.99 * limits.tolerance,
        stop: limits.stop,
        threads: limits.threads.max(1),
        patience: f64::INFINITY,
    };
    let reached = match how {
        How::Choose | How::Again(..) => solver.choose(&model, &goal),
        How::Method(method) => solver.forced(&model, method, &goal)?,
        How::From(values) => solver.start_at(&model, values, &goal),
    };
    let mut start = Start { values: reached.values.clone() };
    let mut middle = 0.0;
    if !model.facts.has_terminal && model.facts.least_mass > 1.0 - 1e-9 {
        // Nothing ends, so all values may be moved alike, and what a sweep still changes everywhere is gone.
        middle = reached.shift.down + reached.shift.width() / 2.0;
        start.values.iter_mut().for_each(|value| *value += middle);
    }
    let residual = reached.shift.residual(&model, middle) + model.rounding(proof::largest(&start.values));
    let effort = Effort { sweeps: reached.spent, by_krylov: solver.by_krylov, residual };
    Ok((solution(solver, &model, reached, limits.tolerance), start, effort))
}

/// Turns values that all methods maximized into a solution, with every interval rounded outward.
fn solution(mut solver: Portfolio, model: &FlatModel, reached: Reached, tolerance: f64) -> Solution {
    let Reached { mut values, policy, shift, iterations, end, .. } = reached;
    let farthest = model.largest_value();
    // Adding the shift rounds once, by at most half a unit in the last place of the sum.
    let rounding = f64::EPSILON * (proof::largest(&values) + proof::largest(&[shift.down, shift.up]));
    let (down, up) = (shift.down - rounding, shift.up + rounding);
    if model.sign < 0.0 {
        values.iter_mut().for_each(|v| *v = -*v);
    }
    let (down, up) = if model.sign > 0.0 { (down, up) } else { (-up, -down) };
    let mut upper: Vec<f64> = values.iter().map(|v| (v + up).clamp(-farthest, farthest)).collect();
    let mut lower = values;
    lower.iter_mut().for_each(|v| *v = (*v + down).clamp(-farthest, farthest));
    if model.facts.has_terminal {
        for state in (0..lower.len()).filter(|&s| model.choices_of(s).is_empty()) {
            (lower[state], upper[state]) = (0.0, 0.0);
        }
    }
    let converged = lower.iter().zip(&upper).all(|(l, u)| u - l <= 2.0 * tolerance);
    if !converged {
        let width = proof::largest(&[shift.width()]);
        solver.explain(match end {
            SweepEnd::Stopped => format!("stopped before the goal: intervals are {width:e} wide"),
            SweepEnd::Slow => format!("no further progress by this method: intervals are {width:e} wide"),
            _ => format!("rounding keeps intervals from getting narrower than {width:e}"),
        });
    }
    Solution { lower, upper, policy, converged, iterations, explanation: solver.explanation }
}
