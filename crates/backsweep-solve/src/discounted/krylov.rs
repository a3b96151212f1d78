//! Policy iteration whose evaluations are approximate: a Krylov method for chains that mix slowly.
//!
//! Each round corrects the values by what their residual d is worth under the current policy: (I - discount P) x = d, solved
//! to a hundredth by BiCGSTAB (van der Vorst 1992), two sweeps over the policy's rows per iteration. Where plain sweeps need
//! a few times 1 / (1 - discount), this needs about its square root or less. A correction that falls short is
//! discarded. The bound comes only from the sweep over all choices.

use super::elimination::down_and_up;
use super::model::FlatModel;
use super::proof::Shift;
use super::sweeps::{Goal, PolicyRows, Reached, SweepProgress, full_sweep, policy_sweep};
use backsweep_mdp::NO_CHOICE;

/// Initial iterations of BiCGSTAB per round; doubled whenever they were too few.
const ITERATIONS: usize = 200;

/// Policy iteration from `values`.
pub(crate) fn iterate(model: &FlatModel, mut values: Vec<f64>, goal: &Goal) -> Reached {
    let n = model.n_states();
    let mut next = vec![0.0; n];
    let mut policy = vec![NO_CHOICE; n];
    let mut rows = PolicyRows::default();
    let mut progress = SweepProgress::default();
    let mut iterations = 0;
    let mut allowance = ITERATIONS;
    let farthest = model.largest_value();
    let shiftable = !model.facts.has_terminal && model.facts.least_mass > 1.0 - 1e-9;
    loop {
        down_and_up(model, &mut values);
        iterations += 2;
        let change = full_sweep(model, &values, &mut next, &mut policy, goal.threads);
        iterations += 1;
        let shift = Shift::after_sweep(model, &next, change);
        if let Some(end) = progress.end(model, &next, change, shift, goal, iterations as f64) {
            return Reached { values: next, policy, shift, iterations, end };
        }
        rows.gather(model, &policy);
        rows.forget_rewards();
        // Where nothing ends, the slowest part of the residual is the same everywhere and has a closed form.
        let everywhere = if shiftable { change.least + (change.most - change.least) / 2.0 } else { 0.0 };
        let residual: Vec<f64> = next.iter().zip(&values).map(|(next, v)| next - v - everywhere).collect();
        let mut chain =
            PolicyChain { rows: &rows, discount: model.discount, threads: goal.threads, n_products: 0 };
        let worth = chain.solve(residual, allowance, goal.stop);
        iterations += chain.n_products;
        match worth {
            Some(worth) => {
                let everywhere = everywhere / (1.0 - model.discount);
                for (v, worth) in values.iter_mut().zip(&worth) {
                    *v = (*v + worth + everywhere).clamp(-farthest, farthest);
                }
            }
            None => {
                std::mem::swap(&mut values, &mut next);
                allowance = allowance.saturating_mul(2);
            }
        }
    }
}

/// I - discount P of a policy.
struct PolicyChain<'a> {
    rows: &'a PolicyRows,
    discount: f64,
    threads: usize,
    n_products: u64,
}

impl PolicyChain<'_> {
    fn product(&mut self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        policy_sweep(self.rows, self.discount, x, &mut y, self.threads);
        self.n_products += 1;
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x - *y);
        y
    }

    /// What `right` is worth, up to a hundredth; nothing if that takes more iterations than allowed.
    fn solve(&mut self, right: Vec<f64>, allowance: usize, stop: &dyn Fn() -> bool) -> Option<Vec<f64>> {
        let n = right.len();
        let start = largest(&right);
        let shadow = right.clone();
        let mut residual = right;
        let (mut x, mut direction) = (vec![0.0; n], residual.clone());
        let mut rho = dot(&shadow, &residual);
        for _ in 0..allowance {
            let along = self.product(&direction);
            let alpha = rho / dot(&shadow, &along);
            residual.iter_mut().zip(&along).for_each(|(r, a)| *r -= alpha * a);
            let turned = self.product(&residual);
            let omega = dot(&turned, &residual) / dot(&turned, &turned);
            for i in 0..n {
                x[i] += alpha * direction[i] + omega * residual[i];
                residual[i] -= omega * turned[i];
            }
            let left = largest(&residual);
            // A breakdown of the recurrence shows as a number that is not finite.
            if !(left.is_finite() && omega.is_finite()) || stop() {
                return None;
            }
            if left <= 0.01 * start {
                return Some(x);
            }
            let rho_before = std::mem::replace(&mut rho, dot(&shadow, &residual));
            let beta = rho / rho_before * (alpha / omega);
            if !beta.is_finite() {
                return None;
            }
            for i in 0..n {
                direction[i] = residual[i] + beta * (direction[i] - omega * along[i]);
            }
        }
        None
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest absolute entry; NaN if one is.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| if x.abs() > most || x.is_nan() { x.abs() } else { most })
}
