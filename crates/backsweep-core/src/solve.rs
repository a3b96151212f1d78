//! Values of a known model with a guarantee, updated from the previous values after a change.

use crate::undiscounted::{is_optimum, unbounded_state};
use crate::{Audit, Budget, Error, Model, Planner, Result, State, audit, plan};

/// The result of [`solve`]. The values are those of the planner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// No value is further from the optimum than this. `None` only if the discount is 1 and some policy never ends (or takes
    /// very long to), where no such bound is available.
    pub error_bound: Option<f64>,
    /// Whether the bound is within the requested tolerance. Without a bound: whether the values solve the equations to that
    /// tolerance and are the optimum among their solutions.
    pub converged: bool,
    /// The number of update cycles.
    pub cycles: u64,
    /// The audit at the end.
    pub audit: Audit,
}

/// Plans until every value is proven to be within `tolerance` of the optimum. The planner keeps its values: after a change
/// of the model ([`Model::set_outcomes`], [`Planner::refresh`]) the next call starts from them and only processes what
/// changed. Its settings are not changed.
///
/// With discount 1, values are defined if every policy ends, or if rewards have one sign and values start at 0 (optimism
/// value 0): they are then approached from the right side, and refused if they are unbounded. The right side is certain only
/// for a planner that has not planned before: values left from before a change can be another solution of the equations, and
/// are then reported as not converged.
///
/// ```
/// use backsweep_core::{Action, Model, Next, Outcome, Planner, PlannerKind, Settings, State, solve};
/// let mut model = Model::with_states([1, 1])?;
/// let sure = |reward, next| [Outcome { probability: 1.0, reward, next }];
/// model.set_outcomes(State(0), Action(0), &sure(0.0, Next::Continue(State(1))))?;
/// model.set_outcomes(State(1), Action(0), &sure(10.0, Next::Terminated))?;
/// let mut planner = PlannerKind::default().build(Settings { discount: 0.9, ..Settings::default() })?;
/// let solution = solve(&mut *planner, &model, 1e-9)?;
/// assert!(solution.error_bound.unwrap() <= 1e-9 && (planner.values().value(State(0)) - 9.0).abs() <= 1e-9);
/// // The reward changes, and two cycles are enough to update the answer.
/// let pair = model.set_outcomes(State(1), Action(0), &sure(20.0, Next::Terminated))?;
/// planner.refresh(&model, pair);
/// assert!(solve(&mut *planner, &model, 1e-9)?.cycles <= 2);
/// # Ok::<(), backsweep_core::Error>(())
/// ```
///
/// # Errors
/// If the tolerance is not above 0, or the discount is 1 and the values are not defined or have no bound.
pub fn solve(planner: &mut dyn Planner, model: &Model, tolerance: f64) -> Result<Solution> {
    match solve_unless(planner, model, tolerance, &mut || false)? {
        Some(solution) => Ok(solution),
        None => unreachable!("nothing said stop"),
    }
}

/// Cycles between two checks whether to stop, for planners with a queue; others check after every sweep.
const STRIDE: u64 = 64;

/// As [`solve`], but ends when `stop` returns true: the answer is then `None`, the planner keeps what was reached, and the
/// next call continues from there. The numbers do not depend on how often it is called.
///
/// # Errors
/// As for [`solve`].
pub fn solve_unless(
    planner: &mut dyn Planner,
    model: &Model,
    tolerance: f64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Solution>> {
    let is_tolerance = tolerance > 0.0 && tolerance.is_finite();
    Error::ensure(is_tolerance, "tolerance", tolerance, "a finite number above 0")?;
    let settings = planner.settings();
    planner.grow(model);
    let solved = solve_at_lower_thresholds(planner, model, tolerance, stop);
    if planner.settings().threshold > settings.threshold {
        // States that the higher threshold kept off the queue have to be found.
        planner.set_threshold(model, settings.threshold)?;
    }
    if planner.settings() != settings {
        planner.restore_settings(model, &settings)?;
    }
    solved
}

fn solve_at_lower_thresholds(
    planner: &mut dyn Planner,
    model: &Model,
    tolerance: f64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Solution>> {
    let discount = planner.settings().discount;
    let (mut longest, mut always_ends) = (None, false);
    if discount == 1.0 {
        match model.endless_state() {
            None => match expected_steps_bound(model, stop) {
                Err(Stopped) => return Ok(None),
                Ok(steps) => (longest, always_ends) = (steps, true),
            },
            Some(state) => check_one_sign(planner, model, state)?,
        }
    }
    let mut threshold = tolerance * (1.0 - discount).max(1e-3) / 2.0;
    let mut cycles = 0;
    // Each round continues to a quarter of the last priority; beyond the limit set by rounding, more rounds change nothing.
    for round in 0.. {
        planner.set_threshold(model, threshold)?;
        loop {
            let max_cycles = if planner.queue_length() == 0 { 1 } else { STRIDE };
            let planned = plan(planner, model, Budget::Until { tolerance: 0.0, max_cycles });
            cycles += planned.cycles;
            if planned.converged || planned.stalled {
                break;
            }
            if stop() {
                return Ok(None);
            }
        }
        let audit = audit(model, planner);
        let error_bound =
            audit.error_bound.or(longest.map(|steps| (audit.residual + audit.rounding) * steps));
        let converged = match error_bound {
            Some(bound) => bound <= tolerance,
            // Every policy ends, but after so many steps that no bound was found: a small residual proves nothing.
            None if always_ends => false,
            None => audit.residual <= tolerance && is_optimum(model, planner.values(), tolerance),
        };
        if converged || round == 8 {
            return Ok(Some(Solution { error_bound, converged, cycles, audit }));
        }
        threshold /= 4.0;
    }
    unreachable!("the loop returns in its ninth round")
}

/// The caller's `stop` returned true.
struct Stopped;

/// A factor by which the Bellman residual bounds the error without discount, in a model where every policy ends: twice an
/// upper bound on the expected number of steps to the end under the worst policy.
///
/// With T such that T ≥ ½ + max P T everywhere, no policy takes more than 2T steps on average; sweeps of T ← 1 + max P T
/// from 0 reach such a T as soon as they change it by no more than ½. `None` if that takes too many sweeps.
fn expected_steps_bound(
    model: &Model,
    stop: &mut dyn FnMut() -> bool,
) -> std::result::Result<Option<f64>, Stopped> {
    const MOST_WORK: usize = 1_000_000_000;
    let mut steps = vec![0.0f64; model.n_states()];
    for _ in 0..1000 + MOST_WORK / (1 + model.n_pairs() + model.n_arcs()) {
        let longer: Vec<f64> = model
            .states()
            .map(|state| {
                let pairs = model.pairs(state).filter(|&pair| model.weight(pair) > 0.0);
                let on =
                    |pair| model.successors(pair).map(|s| s.weight * steps[s.state.index()]).sum::<f64>();
                pairs.map(|pair| 1.0 + on(pair) / model.weight(pair)).fold(0.0, f64::max)
            })
            .collect();
        let largest_change =
            longer.iter().zip(&steps).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        if largest_change <= 0.5 {
            return Ok(Some(2.0 * steps.iter().copied().fold(1.0, f64::max)));
        }
        if stop() {
            return Err(Stopped);
        }
        steps = longer;
    }
    Ok(None)
}

fn check_one_sign(planner: &dyn Planner, model: &Model, state: State) -> Result<()> {
    let rewards = || model.states().flat_map(|state| model.pairs(state)).map(|pair| model.mean_reward(pair));
    let one_sign = rewards().all(|r| r >= 0.0) || rewards().all(|r| r <= 0.0);
    if !one_sign || planner.settings().optimism.value != 0.0 {
        return Err(Error::Undiscounted { state });
    }
    unbounded_state(model, planner.values()).map_or(Ok(()), |state| Err(Error::Unbounded { state }))
}
