//! Which method a model is solved by: the shape of its graph decides, and how fast the first sweeps contract.

use super::backward::{self, Pass, TopologicalOrder};
use super::elimination::{self, Envelope};
use super::iteration::{Iteration, Reading};
use super::method::DiscountedMethod;
use super::model::FlatModel;
use super::order::{self, Renumbered};
use super::race::Race;
use super::sweeps::{Goal, Reached, SweepEnd};
use super::{components, in_place, krylov};
use crate::{Error, Result};

/// The widest envelope, as root mean square, for which elimination is chosen.
const NARROW: f64 = 64.0;

/// After the work of this many sweeps over all choices, strongly connected components are looked for.
const PATIENCE: f64 = 60.0;

/// Sweeps outward need about half as much work on mazes; where they need more, the order does not suit the model.
const OUTWARD_PATIENCE: f64 = 40.0;

/// With fewer windows than this, sweeps outward gain little over sweeps in place (maze of 120 x 120: 9 windows, a tenth).
const FEWEST_WINDOWS: usize = 8;

/// Models with fewer states than this are swept before an order for them is found.
pub(super) const MAX_STATES_SWEPT_FIRST: usize = 4096;

/// The portfolio, and the explanation of its choices so far.
#[derive(Default)]
pub(super) struct Portfolio<'a> {
    pub explanation: Vec<String>,
    /// Values to start from, if some may be close, and whether Krylov's method reached them.
    pub again: Option<(&'a [f64], bool)>,
    /// True if Krylov's method brought the result.
    pub by_krylov: bool,
}

impl Portfolio<'_> {
    pub fn explain(&mut self, line: impl Into<String>) {
        self.explanation.push(line.into());
    }

    /// The values to start from.
    fn values(&self, n_states: usize) -> Vec<f64> {
        self.again.map_or_else(|| vec![0.0; n_states], |(values, _)| values.to_vec())
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
        race.krylov_first = self.again.is_some_and(|(_, by_krylov)| by_krylov);
        race.run(model, PATIENCE, goal, &mut |line| self.explain(line));
        if !race.is_over() {
            let components = components::find(model);
            if components::largest_share(&components, n) <= 0.5 {
                let reached = self.by_component(model, &components, goal);
                if reached.end != SweepEnd::Slow {
                    return reached;
                }
            }
        }
        self.finish(race, model, goal)
    }

    /// Attempts in turn to the end.
    fn finish(&mut self, mut race: Race, model: &FlatModel, goal: &Goal) -> Reached {
        race.run(model, f64::INFINITY, goal, &mut |line| self.explain(line));
        self.by_krylov = race.by_krylov;
        race.finish()
    }

    /// Attempts in turn from `values` to the end.
    fn attempts(&mut self, model: &FlatModel, values: Vec<f64>, goal: &Goal) -> Reached {
        self.finish(Race::new(model, values), model, goal)
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
        if has_hub(model, widest) {
            return None;
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
            Some(self.attempts(model, reached.values, goal))
        } else {
            Some(reached)
        }
    }

    fn outward(&mut self, model: &FlatModel, goal: &Goal) -> Option<Reached> {
        let n = model.n_states();
        // Values that are close need no order.
        if n < MAX_STATES_SWEPT_FIRST || self.again.is_some() {
            return None;
        }
        let order = order::outward(model)?;
        let window = window(order::mean_distance(model, &order));
        if window * FEWEST_WINDOWS > n {
            return None;
        }
        let renumbered = Renumbered::for_sweeps(model, order);
        self.explain(format!(
            "outward: values flow from the ends through {} windows of {window} states, swept in place",
            n.div_ceil(window)
        ));
        let patient = Goal { patience: OUTWARD_PATIENCE, ..*goal };
        let reached = outward(&renumbered, window, &patient);
        drop(renumbered);
        Some(match reached.end {
            SweepEnd::Slow => self.attempts(model, reached.values, goal),
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
            inner.attempts(part, vec![0.0; part.n_states()], goal)
        })
    }

    /// Sweeps from values that the caller has.
    pub fn start_at(&mut self, model: &FlatModel, values: &[f64], goal: &Goal) -> Reached {
        self.explain("simultaneous: from the given values");
        // The true values lie within this, so nothing is lost, and no sum overflows.
        let most = model.largest_value();
        let values = values.iter().map(|value| value.clamp(-most, most)).collect();
        let patient = Goal { patience: PATIENCE, ..*goal };
        let reached = by_sweeps(model, values, Reading::Simultaneous, &patient);
        if reached.end == SweepEnd::Slow { self.attempts(model, reached.values, goal) } else { reached }
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
                    None if (goal.stop)() => by_sweeps(model, vec![0.0; n], Reading::Simultaneous, goal),
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
                let window = window(order::mean_distance(model, &order));
                outward(&Renumbered::for_sweeps(model, order), window, goal)
            }
            DiscountedMethod::Simultaneous => by_sweeps(model, vec![0.0; n], Reading::Simultaneous, goal),
            DiscountedMethod::Krylov => krylov::iterate(model, vec![0.0; n], false, goal),
            DiscountedMethod::InPlace => by_sweeps(model, vec![0.0; n], Reading::InPlace, goal),
            DiscountedMethod::Components => {
                let found = components::find(model);
                let reached = self.by_component(model, &found, goal);
                match reached.end {
                    SweepEnd::Slow => self.attempts(model, reached.values, goal),
                    _ => reached,
                }
            }
        })
    }
}

fn by_sweeps(model: &FlatModel, values: Vec<f64>, reading: Reading, goal: &Goal) -> Reached {
    Iteration::new(model, values, reading).run(model, goal)
}

/// The mean distance between the numbers of a state and its farthest successor, by a sample.
fn sampled_distance(model: &FlatModel) -> f64 {
    let (mut distance, mut n_states) = (0_u64, 0_u64);
    let mut farthest: Option<(usize, u32)> = None;
    for (state, arc) in model.sampled_arcs() {
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

/// Returns whether so many arcs lead to one state, by a sample, that every envelope is wider than this.
fn has_hub(model: &FlatModel, width: f64) -> bool {
    let sample = model.sampled_arcs().step_by(8);
    let mut targets: Vec<u32> = sample.map(|(_, arc)| model.targets[arc]).collect();
    targets.sort_unstable();
    let most = targets.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0);
    // A state that many arcs lead to has an envelope of their number, wherever it is placed.
    let n_arcs = most as f64 * model.targets.len() as f64 / targets.len().max(1) as f64;
    most > 8 && 0.5 * n_arcs > width * (model.n_states() as f64).sqrt()
}

/// Windows hold eight times the mean distance of an arc: deep enough for paths that go back and forth, small enough for a
/// cache.
fn window(mean_distance: f64) -> usize {
    (8.0 * mean_distance) as usize + 32
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
