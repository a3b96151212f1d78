//! Discounted values: a portfolio of methods, each of which ends with a proven interval.
//!
//! A method may compute values in any way it likes; the interval comes from how little one last sweep changes them, with all
//! rounding accounted for (`discounted/proof.rs`). A method that goes astray costs time, never correctness.

mod backward;
mod components;
mod elimination;
mod in_place;
mod krylov;
mod method;
pub(crate) mod model;
mod order;
mod portfolio;
pub(crate) mod proof;
mod sweeps;

pub use method::{METHODS, Method};

use crate::{Direction, Limits, NO_CHOICE, Solution, Start};
use backsweep_mdp::Mdp;
use model::Model;
use order::Renumbered;
use portfolio::{FEW, Solver};
use sweeps::{End, Goal, Reached};

/// Solves a model with a discount from 0 to below 1. `rewards` has one expected reward per choice.
///
/// Intervals are proven whenever this returns, even if `limits.stop` ended the work. Without a `method` the portfolio
/// chooses; `explanation` says what and why.
///
/// # Errors
/// If the model's arrays are inconsistent, a number is not finite or beyond 1e150, the discount or the tolerance is out of
/// range, or the model has cycles and `method` is [`Method::Backward`].
pub fn solve_discounted(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    method: Option<Method>,
    limits: &Limits,
) -> Result<Solution, String> {
    Ok(solve_with_start(mdp, rewards, discount, direction, method, limits)?.0)
}

/// As [`solve_discounted`], but also returns the values from before intervals were added.
pub(crate) fn solve_with_start(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    method: Option<Method>,
    limits: &Limits,
) -> Result<(Solution, Start), String> {
    let (model, solver, reached) = run(mdp, rewards, discount, direction, method, limits)?;
    let start = Start { values: reached.values.clone() };
    Ok((solution(solver, &model, reached, limits.tolerance), start))
}

/// What a repair starts from.
pub(crate) struct Solved {
    /// The values themselves, multiplied by -1 to minimize. The middle of an interval would not do: moving all values by the
    /// same amount breaks them where the model ends.
    pub values: Vec<f64>,
    pub policy: Vec<u32>,
    pub iterations: u64,
    pub explanation: Vec<String>,
}

/// Solves for a repair, whose bound is its own.
pub(crate) fn solve_values(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    limits: &Limits,
) -> Result<Solved, String> {
    let (_, solver, reached) = run(mdp, rewards, discount, direction, None, limits)?;
    Ok(Solved {
        values: reached.values,
        policy: reached.policy,
        iterations: reached.iterations,
        explanation: solver.explanation,
    })
}

/// Backs up all states `n_sweeps` times, each time from the previous values: plain value iteration, on rows laid out as for
/// `outward`. For measuring the speed of a sweep; it proves nothing.
///
/// # Errors
/// As [`solve_discounted`], and if `values` does not have one value per state.
pub fn sweep_values(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    values: &mut Vec<f64>,
    n_sweeps: usize,
) -> Result<(), String> {
    let model = Model::new(mdp, rewards, discount, direction)?;
    let n = model.n_states();
    if values.len() != n {
        return Err(format!("expected {n} values, one per state, found {}", values.len()));
    }
    let (mut next, mut policy) = (vec![0.0; n], vec![NO_CHOICE; n]);
    let filled = if n < FEW { None } else { Renumbered::filled(&model) };
    let model = filled.as_ref().map_or(model, Renumbered::model);
    for _ in 0..n_sweeps {
        sweeps::full_sweep(&model, values, &mut next, &mut policy, 1);
        std::mem::swap(values, &mut next);
    }
    Ok(())
}

/// Whether a tolerance can be reached at all.
pub(crate) fn check_tolerance(tolerance: f64) -> Result<(), String> {
    if tolerance > 0.0 && tolerance.is_finite() {
        return Ok(());
    }
    Err(format!("the tolerance is {tolerance}; expected a finite number above 0"))
}

fn run<'a>(
    mdp: &'a Mdp,
    rewards: &'a [f64],
    discount: f64,
    direction: Direction,
    method: Option<Method>,
    limits: &Limits,
) -> Result<(Model<'a>, Solver, Reached), String> {
    check_tolerance(limits.tolerance)?;
    let model = Model::new(mdp, rewards, discount, direction)?;
    let mut solver = Solver::default();
    let goal = Goal {
        width: 1.99 * limits.tolerance,
        stop: limits.stop,
        threads: limits.threads.max(1),
        patience: f64::INFINITY,
    };
    let reached = match method {
        None => solver.choose(&model, &goal),
        Some(method) => solver.forced(&model, method, &goal)?,
    };
    Ok((model, solver, reached))
}

/// Turns values that all methods maximized into a solution, with every interval rounded outward.
fn solution(mut solver: Solver, model: &Model, reached: Reached, tolerance: f64) -> Solution {
    let Reached { mut values, policy, shift, iterations, end } = reached;
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
            End::Stopped => format!("stopped before the goal: intervals are {width:e} wide"),
            End::Slow => format!("no further progress by this method: intervals are {width:e} wide"),
            _ => format!("rounding keeps intervals from getting narrower than {width:e}"),
        });
    }
    Solution { lower, upper, policy, converged, iterations, explanation: solver.explanation }
}
