//! Which method a model is solved by: the shape of its graph decides, and how fast the first sweeps contract.

use super::backward::{self, TopologicalOrder};
use super::elimination::{self, Envelope};
use super::method::DiscountedMethod;
use super::model::FlatModel;
use super::order::{self, Renumbered};
use super::sweeps::{self, Goal, Reached, SweepEnd};
use super::{components, in_place, krylov};
use crate::{Error, Result};

/// The widest envelope, as root mean square, for which elimination is chosen.
const NARROW: f64 = 64.0;

/// Sweeps over all choices after which simultaneous sweeps count as slow: well-mixing models need ten to twenty.
const PATIENCE: f64 = 40.0;

/// Models with fewer states than this are swept before an order for them is found.
pub(super) const MAX_STATES_SWEPT_FIRST: usize = 4096;

/// The portfolio, and the explanation of its choices so far.
#[derive(Default)]
pub(super) struct Portfolio {
    pub explanation: Vec<String>,
}

impl Portfolio {
    pub fn explain(&mut self, line: impl Into<String>) {
        self.explanation.push(line.into());
    }

    /// Chooses a method, and another one where it turns out to be slow.
    pub fn choose(&mut self, model: &FlatModel, goal: &Goal) -> Reached {
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
        if reached.end != SweepEnd::Slow {
            return reached;
        }
        let components = components::find(model);
        if components::largest_share(&components, model.n_states()) <= 0.5 {
            let reached = self.by_component(model, &components, goal);
            if reached.end != SweepEnd::Slow {
                return reached;
            }
        }
        self.slow(model, reached.values, goal)
    }

    /// Sweeps until they prove to be slow.
    fn mixing(&mut self, model: &FlatModel, goal: &Goal) -> Reached {
        let patient = Goal { patience: PATIENCE, ..*goal };
        let n = model.n_states();
        if n < MAX_STATES_SWEPT_FIRST && (0..n).any(|s| model.is_end(s)) {
            self.explain("in-place: few states, and some end");
            return self.in_place(model, vec![0.0; n], &patient);
        }
        self.explain("simultaneous: the graph has cycles, is wide, and shows no direction towards ends");
        sweeps::modified_policy_iteration(model, vec![0.0; n], &patient)
    }

    /// The methods that remain where sweeps are slow.
    fn slow(&mut self, model: &FlatModel, values: Vec<f64>, goal: &Goal) -> Reached {
        self.explain("krylov: sweeps contract slowly here");
        let reached = krylov::iterate(model, values, goal);
        if reached.end != SweepEnd::Slow {
            return reached;
        }
        self.explain("in-place: krylov made no further progress");
        self.in_place(model, reached.values, goal)
    }

    fn backward(&mut self, model: &FlatModel, goal: &Goal) -> Option<Reached> {
        for (order, name) in
            [(TopologicalOrder::Down, "last to first"), (TopologicalOrder::Up, "first to last")]
        {
            if let Some(pass) = backward::pass(model, order, goal.stop) {
                self.explain(format!("backward: no cycles; one pass over the states from {name}"));
                let shift = pass.shift(model);
                let end = if shift.width() <= goal.width { SweepEnd::Converged } else { SweepEnd::Rounding };
                return Some(Reached { values: pass.values, policy: pass.policy, shift, iterations: 1, end });
            }
        }
        None
    }

    fn narrow(&mut self, model: &FlatModel, goal: &Goal) -> Option<Reached> {
        let n = model.n_states();
        // Elimination costs the squared width per state and evaluation, a sweep the arcs per state; at worst, a few
        // times 1 / (1 - discount) sweeps are needed.
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

    /// Sweeps continue policy iteration that stopped short.
    fn polish(&mut self, model: &FlatModel, reached: Reached, goal: &Goal) -> Option<Reached> {
        if reached.end == SweepEnd::Slow {
            Some(self.in_place(model, reached.values, goal))
        } else {
            Some(reached)
        }
    }

    fn outward(&mut self, model: &FlatModel, goal: &Goal) -> Option<Reached> {
        let n = model.n_states();
        if n < MAX_STATES_SWEPT_FIRST {
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
        Some(if reached.end == SweepEnd::Slow { self.slow(model, reached.values, goal) } else { reached })
    }

    fn in_place(&mut self, model: &FlatModel, values: Vec<f64>, goal: &Goal) -> Reached {
        in_place::iterate(model, values, model.n_states().max(1), goal)
    }

    fn by_component(&mut self, model: &FlatModel, found: &crate::scc::Components, goal: &Goal) -> Reached {
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
            let mut inner = Portfolio::default();
            if let Some(reached) = inner.narrow(part, goal) {
                return reached;
            }
            let reached = inner.mixing(part, goal);
            if reached.end == SweepEnd::Slow { inner.slow(part, reached.values, goal) } else { reached }
        })
    }

    /// Sweeps from values that the caller has.
    pub fn start_at(&mut self, model: &FlatModel, values: &[f64], goal: &Goal) -> Reached {
        self.explain("simultaneous: from the given values");
        // The true values lie within this, so nothing is lost, and no sum overflows.
        let most = model.largest_value();
        let values = values.iter().map(|value| value.clamp(-most, most)).collect();
        let patient = Goal { patience: PATIENCE, ..*goal };
        let reached = sweeps::modified_policy_iteration(model, values, &patient);
        if reached.end == SweepEnd::Slow { self.slow(model, reached.values, goal) } else { reached }
    }

    /// The method that the caller wants.
    pub fn forced(&mut self, model: &FlatModel, method: DiscountedMethod, goal: &Goal) -> Result<Reached> {
        let n = model.n_states();
        self.explain(format!("{method}: chosen by the caller"));
        Ok(match method {
            DiscountedMethod::Backward => {
                if let Some(reached) = self.backward(model, goal) {
                    return Ok(reached);
                }
                let found = components::find(model);
                match components::pass(model, &found, goal) {
                    Some(reached) => reached,
                    None if (goal.stop)() => sweeps::modified_policy_iteration(model, vec![0.0; n], goal),
                    None => {
                        return Err(Error::Cycles);
                    }
                }
            }
            DiscountedMethod::Elimination => {
                elimination::policy_iteration(model, vec![0.0; n], &Envelope::new(model), goal)
            }
            DiscountedMethod::Outward => {
                let order = order::outward(model).unwrap_or_else(|| (0..n as u32).collect());
                let renumbered = Renumbered::for_sweeps(model, order);
                outward(&renumbered, window(&renumbered), goal)
            }
            DiscountedMethod::Simultaneous => sweeps::modified_policy_iteration(model, vec![0.0; n], goal),
            DiscountedMethod::Krylov => krylov::iterate(model, vec![0.0; n], goal),
            DiscountedMethod::InPlace => self.in_place(model, vec![0.0; n], goal),
            DiscountedMethod::Components => {
                let found = components::find(model);
                let reached = self.by_component(model, &found, goal);
                if reached.end == SweepEnd::Slow {
                    self.in_place(model, reached.values, goal)
                } else {
                    reached
                }
            }
        })
    }
}

/// The mean distance between the numbers of a state and its successors, of about a thousand states.
fn sampled_distance(model: &FlatModel) -> f64 {
    let (mut distance, mut n_arcs) = (0_u64, 0_u64);
    for state in (0..model.n_states()).step_by((model.n_states() / 1000).max(1)) {
        for &target in &model.targets[model.arcs_of_state(state)] {
            distance += u64::from(target.abs_diff(state as u32));
            n_arcs += 1;
        }
    }
    distance as f64 / n_arcs.max(1) as f64
}

/// Windows hold eight times the mean distance of an arc: deep enough for paths that go back and forth, small enough for a
/// cache.
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
