//! One pass that solves a model without cycles: every state after its successors.
//!
//! Self loops are allowed: a choice that returns with probability p is worth (r + rest) / (1 - discount p). Each value is
//! its own backup up to rounding, so one pass is enough: the residual is the rounding itself. It reads every arc once and
//! aborts at the first arc to a state not yet known; on models with cycles, trying costs next to nothing.

use super::model::FlatModel;
use super::proof::{self, Shift};
use backsweep_mdp::NO_CHOICE;

/// Values and policy of a model without cycles other than self loops.
pub(crate) struct Pass {
    pub values: Vec<f64>,
    pub policy: Vec<u32>,
}

impl Pass {
    /// Bounds on the true values. The four extra roundings of the division are those of the numerator, of the denominator
    /// (two, relative to 1) and of the quotient.
    pub fn shift(&self, model: &FlatModel) -> Shift {
        let rounding = 2.0 * model.rounding(proof::largest(&self.values));
        Shift::from_residual(model, -rounding, rounding)
    }
}

/// The orders in which a pass is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TopologicalOrder<'a> {
    /// From the last state to the first.
    Down,
    /// From the first state to the last.
    Up,
    /// The states in this order, successors first.
    Given(&'a [u32]),
}

/// Solves the model in one pass, or gives up at the first state with a successor that comes later.
pub(crate) fn pass(model: &FlatModel, order: TopologicalOrder, stop: &dyn Fn() -> bool) -> Option<Pass> {
    let n = model.n_states();
    // An unknown value is NaN and makes every sum that uses it NaN: no test per arc.
    let mut pass = Pass { values: vec![f64::NAN; n], policy: vec![NO_CHOICE; n] };
    for i in 0..n {
        let state = match order {
            TopologicalOrder::Down => n - 1 - i,
            TopologicalOrder::Up => i,
            TopologicalOrder::Given(order) => order[i] as usize,
        };
        let (value, choice) = match backup(model, state, &pass.values) {
            Some(best) => best,
            None => backup_with_loops(model, state, &pass.values)?,
        };
        pass.values[state] = value;
        pass.policy[state] = choice;
        if i % 4096 == 4095 && stop() {
            return None;
        }
    }
    Some(pass)
}

/// The best choice, or nothing if a successor is unknown.
#[inline(always)]
fn backup(model: &FlatModel, state: usize, values: &[f64]) -> Option<(f64, u32)> {
    let choices = model.choices_of(state);
    if choices.is_empty() {
        return Some((0.0, NO_CHOICE));
    }
    let (mut best, mut unknown) = ((f64::NEG_INFINITY, NO_CHOICE), false);
    for choice in choices {
        let value = model.choice_value(choice, values);
        unknown |= value.is_nan();
        if value > best.0 {
            best = (value, choice as u32);
        }
    }
    (!unknown).then_some(best)
}

/// The same where choices may return to their own state; nothing if another successor is unknown.
#[cold]
pub(crate) fn backup_with_loops(model: &FlatModel, state: usize, values: &[f64]) -> Option<(f64, u32)> {
    let mut best = (f64::NEG_INFINITY, NO_CHOICE);
    if model.choices_of(state).is_empty() {
        return Some((0.0, NO_CHOICE));
    }
    for choice in model.choices_of(state) {
        let (mut stay, mut rest) = (0.0, 0.0);
        for arc in model.arcs_of(choice) {
            let (target, p) = (model.targets[arc] as usize, model.probabilities[arc]);
            if target == state {
                stay += p;
            } else {
                rest += p * values[target];
            }
        }
        if rest.is_nan() {
            return None;
        }
        let numerator = model.sign * model.rewards[choice] + model.discount * rest;
        let value = numerator / (1.0 - model.discount * stay);
        if value > best.0 {
            best = (value, choice as u32);
        }
    }
    Some(best)
}
