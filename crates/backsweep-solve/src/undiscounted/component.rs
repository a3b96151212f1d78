//! One strongly connected component of a reduced problem, with what it reaches outside folded into constants and self-loops
//! removed.
//!
//! A choice that returns to its own state with probability p is worth the rest of the row divided by 1 − p, which is the sum
//! of the rest. Nothing is subtracted, and fewer steps mean less rounding for [`super::proof`] to cover.

use super::reduced::{ReducedMdp, down, up};
use super::row_shape::RowShape;
use super::view::UNIT;
use crate::scc::Components;

/// A component as a separate problem: states, choices and arcs numbered from 0.
#[derive(Default)]
pub(crate) struct Component {
    /// States, choices and arcs.
    pub shape: RowShape,
    /// The local state that each arc leads to; never the arc's own.
    pub targets: Vec<u32>,
    /// The probability of each arc.
    pub probabilities: Vec<f64>,
    /// Bounds on what each choice is worth besides its arcs.
    pub gain: Vec<[f64; 2]>,
    /// The probability with which each choice leaves the component.
    pub exit: Vec<f64>,
    /// The largest relative error of any of the choice's numbers: its arcs' and `exit`'s.
    pub error: Vec<f64>,
    /// The largest relative error of an arc's probability.
    arc_error: Vec<f64>,
    /// The choice's number in the reduced problem.
    origin: Vec<u32>,
}

impl Component {
    /// Extracts a component, reusing the memory of the previous one. `rank` is each state's place within its component;
    /// `lower` and `upper` hold the bounds of all states that the component leads to.
    pub fn cut(
        &mut self,
        reduced: &ReducedMdp,
        components: &Components,
        rank: &[u32],
        component: usize,
        bounds: [&[f64]; 2],
    ) {
        self.shape.clear();
        self.targets.clear();
        self.probabilities.clear();
        self.gain.clear();
        self.exit.clear();
        self.error.clear();
        self.arc_error.clear();
        self.origin.clear();
        for &s in components.states_of(component) {
            for c in reduced.shape.choices_of(s as usize) {
                self.add(reduced, components, rank, s as usize, c, bounds);
            }
            self.shape.end_state();
        }
    }

    /// Adds a choice, unless it only stays in its state: no policy that ends needs that.
    fn add(
        &mut self,
        reduced: &ReducedMdp,
        components: &Components,
        rank: &[u32],
        state: usize,
        c: usize,
        [lower, upper]: [&[f64]; 2],
    ) {
        let ([mut low, mut high], mut exit, mut terms) = (reduced.gain[c], reduced.exit[c], 2.0);
        let (mut size_low, mut size_high) = (low.abs(), high.abs());
        let (mut looped, mut inside) = (false, 0.0);
        let first = self.targets.len();
        for a in reduced.shape.arcs_of(c) {
            let (target, p) = (reduced.targets[a] as usize, reduced.probabilities[a]);
            if target == state {
                looped = true;
            } else if components.of[target] == components.of[state] {
                self.targets.push(rank[target]);
                self.probabilities.push(p);
                inside += p;
            } else {
                terms += 1.0;
                exit += p;
                low += p * lower[target];
                high += p * upper[target];
                size_low += p * lower[target].abs();
                size_high += p * upper[target].abs();
            }
        }
        if terms > 2.0 {
            let error = (terms + 4.0) * UNIT + reduced.slack;
            low = down(low - size_low * error);
            high = up(high + size_high * error);
        }
        let mut arc_error = reduced.slack;
        let mut error = reduced.exit_error[c] + reduced.slack + terms * UNIT;
        if looped {
            let rest = exit + inside;
            if rest <= 0.0 {
                return;
            }
            // The sum of the rest: relative errors of positive numbers do not grow by adding, but for rounding.
            let n_terms = terms + (self.targets.len() - first) as f64;
            let off =
                reduced.slack + (n_terms + 4.0) * UNIT + reduced.exit_error[c] * (reduced.exit[c] / rest);
            arc_error += off;
            error += off;
            self.probabilities[first..].iter_mut().for_each(|p| *p /= rest);
            exit /= rest;
            let scale = |x: f64, sign: f64| {
                if x == 0.0 { x } else { x / rest + sign * (x / rest).abs() * 1.01 * off }
            };
            low = down(scale(low, -1.0));
            high = up(scale(high, 1.0));
        }
        self.gain.push([lower_bound(low), upper_bound(high)]);
        self.exit.push(exit);
        self.error.push(error);
        self.arc_error.push(arc_error);
        self.origin.push(c as u32);
        self.shape.end_choice(self.targets.len());
    }

    /// The reduced problem's number of a choice.
    pub fn reduced_choice(&self, choice: u32) -> u32 {
        self.origin[choice as usize]
    }

    /// The local number of a choice of the reduced problem; the state's first if it was left out.
    pub fn local_choice(&self, state: usize, reduced_choice: u32) -> u32 {
        let range = self.shape.choices_of(state);
        let found = self.origin[range.clone()].iter().position(|&c| c == reduced_choice);
        (range.start + found.unwrap_or(0)) as u32
    }

    /// A choice's constant plus the mean of `x` over its arcs.
    pub fn backup(&self, choice: usize, constant: f64, x: &[f64]) -> f64 {
        let mut sum = constant;
        for a in self.shape.arcs_of(choice) {
            sum += self.probabilities[a] * x[self.targets[a] as usize];
        }
        sum
    }

    /// The same as a bound from above (`sign` 1) or below (`sign` −1), for every model that the stored one stands for.
    pub fn backup_bound(&self, choice: usize, constant: f64, x: &[f64], sign: f64) -> f64 {
        let (mut sum, mut size, mut terms) = (constant, constant.abs(), 4.0);
        for a in self.shape.arcs_of(choice) {
            let term = self.probabilities[a] * x[self.targets[a] as usize];
            sum += term;
            size += term.abs();
            terms += 1.0;
        }
        // Zeros are exact.
        if size == 0.0 {
            return sum;
        }
        sum + sign * (size * (terms * UNIT * 1.01 + self.arc_error[choice]) + f64::MIN_POSITIVE)
    }
}

/// A lower bound that is safe for arithmetic: a number closer to 0 than any value of interest is rounded outward, so that
/// products stay in range, and infinity minus infinity (a bound that is unknown) stays unknown.
fn lower_bound(x: f64) -> f64 {
    match x {
        x if x.is_nan() => f64::NEG_INFINITY,
        x if x > 0.0 && x < SMALLEST => 0.0,
        x if x < 0.0 && x > -SMALLEST => -SMALLEST,
        x => x,
    }
}

/// The counterpart from above.
fn upper_bound(x: f64) -> f64 {
    -lower_bound(-x)
}

/// No value of interest is closer to 0.
const SMALLEST: f64 = 1e-200;
