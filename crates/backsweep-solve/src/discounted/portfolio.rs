//! Which method a model is solved by: the shape of its graph decides, and how fast the first sweeps contract.

use super::backward::{self, Pass, TopologicalOrder};
use super::elimination::{self, Envelope};
use super::method::DiscountedMethod;
use super::model::FlatModel;
use super::order::{self, Renumbered};
use super::race::{Race, Runner};
use super::sweeps::{Goal, Reached, SweepEnd};
use super::{components, in_place};
use crate::{Error, Result};

/// The widest envelope, as root mean square, for which elimination is chosen.
const NARROW: f64 = 64.0;

/// After the work of this many sweeps over all choices, strongly connected components are looked for.
const PATIENCE: f64 = 60.0;

/// Sweeps outward need about half as much work on mazes; where they need more, the order does not suit the model.
const OUTWARD_PATIENCE: f64 = 40.0;

/// With fewer windows than this, sweeps outward gain little over sweeps in place (maze of 120 x 120: 9 windows, a tenth).
const FEWEST_WINDOWS: usize = 12;

/// Models with fewer states than this are swept before an order for them is found.
pub(super) const MAX_STATES_SWEPT_FIRST: usize = 4096;

/// The portfolio, and the explanation of its choices so far.
#[derive(Default)]
pub(super) struct Portfolio {
    pub explanation: Vec<String>,
    /// Values to start from, if some may be close.
    pub start: Option<Vec<f64>>,
}

impl Portfolio {
    pub fn explain(&mut self, line: impl Into<String>) {
        self.explanation.push(line.into());
    }

    /// The values to start from.
    fn values(&self, n_states: usize) -> Vec<f64> {
        self.start.clone().unwrap_or_else(|| vec![0.0; n_states])
    }

    /// Chooses a method by the shape of the model or, where that does not decide, by attempts.
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
        let n = model.n_states();
        let mut race = Race::new(model, self.values(n));
        self.rounds(&mut race, model, PATIENCE, goal);
        if race.is_over() {
            return race.finish();
        }
        let components = components::find(model);
        if components::largest_share(&components, n) <= 0.5 {
            let reached = self.by_component(model, &components, goal);
            if reached.end != SweepEnd::Slow {
                return reached;
            }
        }
        self.rounds(&mut race, model, f64::INFINITY, goal);
        race.finish()
    }

    /// Attempts in rounds, until `pause` sweeps were spent.
    fn rounds(&mut self, race: &mut Race, model: &FlatModel, pause: f64, goal: &Goal) {
        race.run(model, pause, goal, &mut |line| self.explain(line));
    }

    /// Attempts in rounds from `values` to the end.
    fn rounds_from(&mut self, model: &FlatModel, values: Vec<f64>, goal: &Goal) -> Reached {
        let mut race = Race::new(model, values);
        self.rounds(&mut race, model, f64::INFINITY, goal);
        race.finish()
    }

    fn backward(&mut self, model: &FlatModel, goal: &Goal) -> Option<Reached> {
        for (order, name) in
            [(TopologicalOrder::Down, "last to first"), (TopologicalOrder::Up, "first to last")]
        {
            if let Some(pass) = backward::pass(model, order, goal.stop) {
                self.explain(format!("backward: no cycles; one pass over the states from {name}"));
                let shift = pass.shift(model);
                let end = if shift.width() <= goal.width { SweepEnd::Converged } else { SweepEnd::Rounding };
                let Pass { values, policy } = pass;
                return Some(Reached { values, policy, shift, iterations: 1, spent: 1.0, rate: 0.0, end });
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
                    elimination::policy_iteration(model, self.values(n), &envelope, goal),
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
            Some(self.rounds_from(model, reached.values, goal))
        } else {
            Some(reached)
        }
    }

    fn outward(&mut self, model: &FlatModel, goal: &Goal) -> Option<Reached> {
        let n = model.n_states();
        // Values that are close need no order.
        if n < MAX_STATES_SWEPT_FIRST || self.start.is_some() {
            return None;
        }
        let renumbered = Renumbered::for_sweeps(model, order::outward(model)?);
        let window = window(&renumbered);
        if window * FEWEST_WINDOWS > n {
            return None;
        }
        self.explain(format!(
            "outward: values flow from the ends through {} windows of {window} states, swept in place",
            n.div_ceil(window)
        ));
        let patient = Goal { patience: OUTWARD_PATIENCE, ..*goal };
        let reached = outward(&renumbered, window, &patient);
        drop(renumbered);
        Some(match reached.end {
            SweepEnd::Slow => self.rounds_from(model, reached.values, goal),
            _ => reached,
        })
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
            inner.rounds_from(part, vec![0.0; part.n_states()], goal)
        })
    }

    /// Sweeps from values that the caller has.
    pub fn start_at(&mut self, model: &FlatModel, values: &[f64], goal: &Goal) -> Reached {
        self.explain("simultaneous: from the given values");
        // The true values lie within this, so nothing is lost, and no sum overflows.
        let most = model.largest_value();
        let values = values.iter().map(|value| value.clamp(-most, most)).collect();
        let patient = Goal { patience: PATIENCE, ..*goal };
        let reached = Runner::Simultaneous.run(model, values, &patient);
        if reached.end == SweepEnd::Slow { self.rounds_from(model, reached.values, goal) } else { reached }
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
                    None if (goal.stop)() => Runner::Simultaneous.run(model, vec![0.0; n], goal),
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
            DiscountedMethod::Simultaneous => Runner::Simultaneous.run(model, vec![0.0; n], goal),
            DiscountedMethod::Krylov => Runner::Krylov.run(model, vec![0.0; n], goal),
            DiscountedMethod::InPlace => Runner::InPlace.run(model, vec![0.0; n], goal),
            DiscountedMethod::Components => {
                let found = components::find(model);
                let reached = self.by_component(model, &found, goal);
                match reached.end {
                    SweepEnd::Slow => self.rounds_from(model, reached.values, goal),
                    _ => reached,
                }
            }
        })
    }
}

/// Some of the arcs, each with its state: about a hundred states with about as many arcs each.
pub(super) fn sampled_arcs<'m>(model: &'m FlatModel) -> impl Iterator<Item = (usize, usize)> + 'm {
    let n = model.n_states();
    (0..n).step_by((n / 128).max(1)).flat_map(move |state| {
        let arcs = model.arcs_of_state(state);
        let step = (arcs.len() / 128).max(1);
        arcs.step_by(step).map(move |arc| (state, arc))
    })
}

/// The mean distance between the numbers of a state and its farthest successor, by a sample.
fn sampled_distance(model: &FlatModel) -> f64 {
    let (mut distance, mut n_states) = (0_u64, 0_u64);
    let mut farthest: Option<(usize, u32)> = None;
    for (state, arc) in sampled_arcs(model) {
        let away = model.targets[arc].abs_diff(state as u32);
        match &mut farthest {
            Some((last, most)) if *last == state => *most = (*most).max(away),
            other => {
                distance += u64::from(other.map_or(0, |(_, most)| most));
                n_states += 1;
                *other = Some((state, away));
            }
        }
    }
    (distance + farthest.map_or(0, |(_, most)| u64::from(most))) as f64 / n_states.max(1) as f64
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
