//! One strongly connected component of a reduced problem, with what it reaches outside folded into constants.

use super::reduced::{Reduced, down, up};
use super::view::UNIT;
use crate::scc::Components;
use std::ops::Range;

/// A component as a problem of its own: states, choices and arcs numbered from 0.
#[derive(Default)]
pub(crate) struct Local {
    /// Where the choices of each state begin.
    choices: Vec<u32>,
    /// Where the arcs of each choice begin.
    arcs: Vec<u32>,
    /// The local state that each arc leads to.
    pub targets: Vec<u32>,
    /// The probability of each arc.
    pub probabilities: Vec<f64>,
    /// What each choice is worth beside its arcs: bounds.
    pub gain: Vec<[f64; 2]>,
    /// The probability with which each choice leaves the component.
    pub exit: Vec<f64>,
    /// The largest relative error of any of the choice's numbers: its arcs' and `exit`'s.
    pub error: Vec<f64>,
    /// The first choice's number in the reduced problem, per state.
    first: Vec<u32>,
    /// The relative error of the model's probabilities.
    pub slack: f64,
}

impl Local {
    /// Cuts a component out, in the memory of the one before. `rank` is each state's place within its component; `lower` and
    /// `upper` hold the bounds of all states that the component leads to.
    pub fn cut(
        &mut self,
        reduced: &Reduced,
        components: &Components,
        rank: &[u32],
        component: usize,
        [lower, upper]: [&[f64]; 2],
    ) {
        let local = self;
        local.choices.clear();
        local.arcs.clear();
        local.targets.clear();
        local.probabilities.clear();
        local.gain.clear();
        local.exit.clear();
        local.error.clear();
        local.first.clear();
        local.slack = reduced.slack;
        local.choices.push(0);
        local.arcs.push(0);
        let states = components.states_of(component);
        for &s in states {
            let range = reduced.choices_of(s as usize);
            local.first.push(range.start as u32);
            for c in range {
                let ([mut low, mut high], mut exit, mut terms) = (reduced.gain[c], reduced.exit[c], 2.0);
                let (mut size_low, mut size_high) = (low.abs(), high.abs());
                for a in reduced.arcs_of(c) {
                    let (target, p) = (reduced.targets[a] as usize, reduced.probabilities[a]);
                    if components.of[target] == component as u32 {
                        local.targets.push(rank[target]);
                        local.probabilities.push(p);
                        continue;
                    }
                    terms += 1.0;
                    exit += p;
                    low += p * lower[target];
                    high += p * upper[target];
                    size_low += p * lower[target].abs();
                    size_high += p * upper[target].abs();
                }
                if terms > 2.0 {
                    let error = (terms + 4.0) * UNIT + reduced.slack;
                    low = down(low - size_low * error);
                    high = up(high + size_high * error);
                }
                // Infinity minus infinity, where a bound is unknown: still unknown.
                local.gain.push([
                    if low.is_nan() { f64::NEG_INFINITY } else { low },
                    if high.is_nan() { f64::INFINITY } else { high },
                ]);
                local.exit.push(exit);
                local.error.push(reduced.exit_error[c] + reduced.slack + terms * UNIT);
                local.arcs.push(local.targets.len() as u32);
            }
            local.choices.push(local.gain.len() as u32);
        }
    }

    /// How many states there are.
    pub fn n(&self) -> usize {
        self.choices.len() - 1
    }

    /// The choices of a state.
    pub fn choices_of(&self, state: usize) -> Range<usize> {
        self.choices[state] as usize..self.choices[state + 1] as usize
    }

    /// The arcs of a choice.
    pub fn arcs_of(&self, choice: usize) -> Range<usize> {
        self.arcs[choice] as usize..self.arcs[choice + 1] as usize
    }

    /// The reduced problem's number of a choice, and back.
    pub fn reduced_choice(&self, state: usize, choice: u32) -> u32 {
        self.first[state] + (choice - self.choices[state])
    }

    /// The local number of a choice of the reduced problem.
    pub fn local_choice(&self, state: usize, reduced_choice: u32) -> u32 {
        self.choices[state] + (reduced_choice - self.first[state])
    }

    /// A choice's constant plus the mean of `x` over its arcs.
    pub fn backup(&self, choice: usize, constant: f64, x: &[f64]) -> f64 {
        let mut sum = constant;
        for a in self.arcs_of(choice) {
            sum += self.probabilities[a] * x[self.targets[a] as usize];
        }
        sum
    }

    /// The same as a bound from above (`sign` 1) or below (`sign` −1), for every model that the stored one stands for.
    pub fn backup_bound(&self, choice: usize, constant: f64, x: &[f64], sign: f64) -> f64 {
        let (mut sum, mut size, mut terms) = (constant, constant.abs(), 4.0);
        for a in self.arcs_of(choice) {
            let term = self.probabilities[a] * x[self.targets[a] as usize];
            sum += term;
            size += term.abs();
            terms += 1.0;
        }
        sum + sign * (size * (terms * UNIT * 1.01 + self.slack) + f64::MIN_POSITIVE)
    }
}
