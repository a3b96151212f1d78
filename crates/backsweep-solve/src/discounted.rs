//! Discounted values: a portfolio of methods, each of which ends with a proven interval.
//!
//! A method may compute values in any way it likes; the interval comes from how little one last sweep changes them, with all
//! rounding counted (`discounted/proof.rs`). So a wrong turn of a method costs time, never correctness.

mod backward;
mod components;
mod elimination;
mod in_place;
mod krylov;
mod method;
pub(crate) mod model;
mod order;
pub(crate) mod proof;
mod sweeps;

pub use method::{METHODS, Method};

use crate::{Direction, Limits, NO_CHOICE, Solution, Start};
use backsweep_io::mdp::Mdp;
use backward::Order;
use elimination::Envelope;
use model::Model;
use order::Renumbered;
use sweeps::{End, Goal, Reached};

/// The widest envelope, as root mean square, that elimination is chosen for.
const NARROW: f64 = 64.0;

/// Sweeps over all choices after which simultaneous sweeps count as slow: well-mixing models need ten to twenty.
const PATIENCE: f64 = 40.0;

/// Models with fewer states than this are swept before an order for them is found.
const FEW: usize = 4096;

/// Solves a model with a discount from 0 to below 1. `rewards` has one expected reward per choice.
///
/// Intervals are proven whenever this returns, also if `limits.stop` ended the work. Without a `method` the portfolio
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

/// As [`solve_discounted`], with the values as they were before the interval was put around them.
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
    Ok((solver.solution(&model, reached, limits.tolerance), start))
}

/// What a repair begins with.
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

/// Backs up all states `n_sweeps` times, each time from the values before: what plain value iteration does, on rows laid out
/// as `outward` has them. For measuring how fast a sweep is; it proves nothing.
///
/// # Errors
/// As [`solve_discounted`], and if `values` has not one value per state.
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
    let mut solver = Solver { explanation: Vec::new() };
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

struct Solver {
    explanation: Vec<String>,
}

impl Solver {
    fn explain(&mut self, line: impl Into<String>) {
        self.explanation.push(line.into());
    }

    /// The portfolio.
    fn choose(&mut self, model: &Model, goal: &Goal) -> Reached {
        if let Some(reached) = self.backward(model, goal) {
            return reached;
        }
        if let Some(reached) = self.narrow(model, goal) {
            return reached;
        }
        if let Some(reached) = self.outward(model, goal) {
            return reached;
        }
        let reached = self.mixing(model, goal);
        if reached.end != End::Slow {
            return reached;
        }
        let components = components::find(model);
        if components::largest_share(&components, model.n_states()) <= 0.5 {
            let reached = self.by_component(model, &components, goal);
            if reached.end != End::Slow {
                return reached;
            }
        }
        self.slow(model, reached.values, goal)
    }

    /// Sweeps until they turn out to be slow.
    fn mixing(&mut self, model: &Model, goal: &Goal) -> Reached {
        let patient = Goal { patience: PATIENCE, ..*goal };
        let n = model.n_states();
        if n < FEW && (0..n).any(|s| model.is_end(s)) {
            self.explain("in-place: few states, and some end");
            return self.in_place(model, vec![0.0; n], &patient);
        }
        self.explain("simultaneous: the graph has cycles, is wide, and shows no direction towards ends");
        sweeps::modified_policy_iteration(model, vec![0.0; n], &patient)
    }

    /// What is left where sweeps are slow.
    fn slow(&mut self, model: &Model, values: Vec<f64>, goal: &Goal) -> Reached {
        self.explain("krylov: sweeps contract slowly here");
        let reached = krylov::iterate(model, values, goal);
        if reached.end != End::Slow {
            return reached;
        }
        self.explain("in-place: krylov made no further progress");
        self.in_place(model, reached.values, goal)
    }

    fn backward(&mut self, model: &Model, goal: &Goal) -> Option<Reached> {
        for (order, name) in [(Order::Down, "last to first"), (Order::Up, "first to last")] {
            if let Some(pass) = backward::pass(model, order, goal.stop) {
                self.explain(format!("backward: no cycles; one pass over the states from {name}"));
                let shift = pass.shift(model);
                let end = if shift.width() <= goal.width { End::Converged } else { End::Rounding };
                return Some(Reached { values: pass.values, policy: pass.policy, shift, iterations: 1, end });
            }
        }
        None
    }

    fn narrow(&mut self, model: &Model, goal: &Goal) -> Option<Reached> {
        let n = model.n_states();
        // Elimination costs the squared width per state and evaluation, a sweep the arcs per state; sweeps at their worst
        // need a few times 1 / (1 - discount).
        let arcs_per_state = model.targets.len() as f64 / n.max(1) as f64;
        let widest = (arcs_per_state / (1.0 - model.discount)).sqrt().clamp(8.0, NARROW);
        if sampled_distance(model) <= widest {
            let envelope = Envelope::new(model);
            let width = envelope.width();
            if width <= widest {
                self.explain(format!(
                    "elimination: the envelope is {width:.1} states wide (limit {widest:.0})"
                ));
                return self.polish(
                    model,
                    elimination::policy_iteration(model, vec![0.0; n], &envelope, goal),
                    goal,
                );
            }
        }
        let order = order::breadth_first(model, widest)?;
        let renumbered = Renumbered::new(model, order);
        let copy = renumbered.model();
        let envelope = Envelope::new(&copy);
        let width = envelope.width();
        if width > widest {
            return None;
        }
        self.explain(format!(
            "elimination: renumbered breadth first, the envelope is {width:.1} states wide (limit {widest:.0})"
        ));
        let reached = elimination::policy_iteration(&copy, vec![0.0; n], &envelope, goal);
        self.polish(model, back(&renumbered, reached), goal)
    }

    /// Policy iteration that stopped short is continued by sweeps.
    fn polish(&mut self, model: &Model, reached: Reached, goal: &Goal) -> Option<Reached> {
        if reached.end == End::Slow {
            Some(self.in_place(model, reached.values, goal))
        } else {
            Some(reached)
        }
    }

    fn outward(&mut self, model: &Model, goal: &Goal) -> Option<Reached> {
        let n = model.n_states();
        if n < FEW {
            return None;
        }
        let renumbered = Renumbered::for_sweeps(model, order::outward(model)?);
        let window = window(&renumbered);
        if window * 4 > n {
            return None;
        }
        self.explain(format!(
            "outward: values flow from the ends through {} windows of {window} states, swept in place",
            n.div_ceil(window)
        ));
        let patient = Goal { patience: 5.0 * PATIENCE, ..*goal };
        let reached = outward(&renumbered, window, &patient);
        drop(renumbered);
        Some(if reached.end == End::Slow { self.slow(model, reached.values, goal) } else { reached })
    }

    fn in_place(&mut self, model: &Model, values: Vec<f64>, goal: &Goal) -> Reached {
        in_place::iterate(model, values, model.n_states().max(1), goal)
    }

    fn by_component(&mut self, model: &Model, found: &crate::scc::Components, goal: &Goal) -> Reached {
        if found.len() == model.n_states()
            && let Some(reached) = components::pass(model, found, goal)
        {
            self.explain("components: no cycles; one pass in their order");
            return reached;
        }
        let share = 100.0 * components::largest_share(found, model.n_states());
        self.explain(format!(
            "components: {} in order, the largest with {share:.0} % of the states",
            found.len()
        ));
        components::iterate(model, found, goal, &mut |part, goal| {
            let mut inner = Solver { explanation: Vec::new() };
            if let Some(reached) = inner.narrow(part, goal) {
                return reached;
            }
            let reached = inner.mixing(part, goal);
            if reached.end == End::Slow { inner.slow(part, reached.values, goal) } else { reached }
        })
    }

    fn forced(&mut self, model: &Model, method: Method, goal: &Goal) -> Result<Reached, String> {
        let n = model.n_states();
        self.explain(format!("{method}: chosen by the caller"));
        Ok(match method {
            Method::Backward => {
                if let Some(reached) = self.backward(model, goal) {
                    return Ok(reached);
                }
                let found = components::find(model);
                match components::pass(model, &found, goal) {
                    Some(reached) => reached,
                    None if (goal.stop)() => sweeps::modified_policy_iteration(model, vec![0.0; n], goal),
                    None => {
                        return Err("the method backward needs a model without cycles other than self loops, and this one \
                                    has others; choose another method or none"
                            .to_owned());
                    }
                }
            }
            Method::Elimination => {
                elimination::policy_iteration(model, vec![0.0; n], &Envelope::new(model), goal)
            }
            Method::Outward => {
                let order = order::outward(model).unwrap_or_else(|| (0..n as u32).collect());
                let renumbered = Renumbered::for_sweeps(model, order);
                outward(&renumbered, window(&renumbered), goal)
            }
            Method::Simultaneous => sweeps::modified_policy_iteration(model, vec![0.0; n], goal),
            Method::Krylov => krylov::iterate(model, vec![0.0; n], goal),
            Method::InPlace => self.in_place(model, vec![0.0; n], goal),
            Method::Components => {
                let found = components::find(model);
                let reached = self.by_component(model, &found, goal);
                if reached.end == End::Slow { self.in_place(model, reached.values, goal) } else { reached }
            }
        })
    }

    /// Turns values that all methods maximized into a solution, with every interval rounded outward.
    fn solution(mut self, model: &Model, reached: Reached, tolerance: f64) -> Solution {
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
            self.explain(match end {
                End::Stopped => format!("stopped before the goal: intervals are {width:e} wide"),
                End::Slow => format!("no further progress by this method: intervals are {width:e} wide"),
                _ => format!("rounding keeps intervals from getting narrower than {width:e}"),
            });
        }
        Solution { lower, upper, policy, converged, iterations, explanation: self.explanation }
    }
}

/// The mean distance between the numbers of a state and its successors, of about a thousand states.
fn sampled_distance(model: &Model) -> f64 {
    let (mut distance, mut n_arcs) = (0_u64, 0_u64);
    for state in (0..model.n_states()).step_by((model.n_states() / 1000).max(1)) {
        for &target in &model.targets[model.arcs_of_state(state)] {
            distance += u64::from(target.abs_diff(state as u32));
            n_arcs += 1;
        }
    }
    distance as f64 / n_arcs.max(1) as f64
}

/// Windows hold eight times the mean distance of an arc: deep enough for the way back and forth, small enough for a cache.
fn window(renumbered: &Renumbered) -> usize {
    (8.0 * renumbered.mean_distance) as usize + 32
}

fn outward(renumbered: &Renumbered, window: usize, goal: &Goal) -> Reached {
    let copy = renumbered.model();
    let window = window.min(copy.n_states().max(1));
    back(renumbered, in_place::iterate(&copy, in_place::values_from_below(&copy), window, goal))
}

fn back(renumbered: &Renumbered, reached: Reached) -> Reached {
    let (values, policy) = renumbered.back(&reached.values, &reached.policy);
    Reached { values, policy, ..reached }
}
