//! Policy iteration whose evaluations are approximate: a Krylov method for chains that mix slowly.
//!
//! Each round corrects the values by what their residual d is worth under the current policy: (I - discount P) x = d, solved
//! to a hundredth by BiCGSTAB (van der Vorst 1992), two sweeps over the policy's rows per iteration. Where plain sweeps need
//! a few times 1 / (1 - discount), this needs about its square root or less. A chain that leads one way along the numbers,
//! but for arcs to a few states, is preconditioned by sweeps in place. A correction that falls short is discarded. The bound
//! comes only from the sweep over all choices.

use super::elimination::down_and_up;
use super::model::FlatModel;
use super::proof::Shift;
use super::sweeps::{Goal, PolicyRows, Reached, SweepProgress, full_sweep, policy_sweep};
use backsweep_mdp::NO_CHOICE;

/// Initial iterations of BiCGSTAB per round; doubled whenever they were too few.
const ITERATIONS: usize = 200;

/// The part of a residual that a round leaves at least.
const CLOSE: f64 = 0.01;

/// A chain that leads one way along the numbers, but for arcs to a few states, is solved within as many iterations if it is
/// preconditioned. Where these are not enough, preconditioning costs more than it saves.
const PRECONDITIONED: usize = 6;

/// Policy iteration from `values`; if `directed`, only while preconditioning solves the chains.
pub(crate) fn iterate(model: &FlatModel, mut values: Vec<f64>, directed: bool, goal: &Goal) -> Reached {
    let n = model.n_states();
    let mut next = vec![0.0; n];
    let mut policy = vec![NO_CHOICE; n];
    let mut rows = PolicyRows::default();
    let mut progress = SweepProgress::default();
    let (mut iterations, mut spent) = (0, 0.0);
    let mut allowance = ITERATIONS;
    let mut one_way = true;
    let farthest = model.largest_value();
    let shiftable = !model.facts.has_terminal && model.facts.least_mass > 1.0 - 1e-9;
    loop {
        down_and_up(model, &mut values);
        iterations += 2;
        let change = full_sweep(model, &values, &mut next, &mut policy, goal.threads);
        iterations += 1;
        spent += 3.0;
        let shift = Shift::after_sweep(model, &next, change);
        let patience = if directed && !one_way { 0.0 } else { goal.patience };
        if let Some(end) = progress.end(model, &next, change, shift, &Goal { patience, ..*goal }, spent) {
            let rate = progress.rate();
            return Reached { values: next, policy, shift, iterations, spent, rate, end };
        }
        rows.gather(model, &policy);
        rows.forget_rewards();
        // A product reads the policy's rows, and its share of the vectors of an iteration about three times.
        let cost = (rows.n_arcs() + 3 * n) as f64 / model.targets.len().max(1) as f64;
        let left = ((goal.patience - spent) / (2.0 * cost)).max(1.0) as usize;
        // Where nothing ends, the slowest part of the residual is the same everywhere and has a closed form.
        let everywhere = if shiftable { change.least + (change.most - change.least) / 2.0 } else { 0.0 };
        let residual: Vec<f64> = next.iter().zip(&values).map(|(next, v)| next - v - everywhere).collect();
        let mut chain = PolicyChain::new(&rows, model.discount, goal.threads, one_way);
        // More than the goal needs would be lost on a policy that changes after all.
        let needed = 0.2 * goal.width * (1.0 - model.discount);
        let enough = needed.min(0.3 * largest(&residual)).max(CLOSE * largest(&residual));
        let allowed = if directed { 0 } else { allowance.min(left) };
        let worth = chain.solve(residual, enough, allowed, goal.stop);
        one_way &= chain.is_preconditioned();
        iterations += chain.n_products;
        spent += chain.n_products as f64 * cost;
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
    /// Per state, if products are preconditioned: 1 over what its self loop leaves.
    scale: Option<Vec<f64>>,
    /// Room for the first of two sweeps in place.
    there: Vec<f64>,
    n_products: u64,
}

impl<'a> PolicyChain<'a> {
    fn new(rows: &'a PolicyRows, discount: f64, threads: usize, preconditioned: bool) -> Self {
        let scale = || rows.self_loops().map(|stay| 1.0 / (1.0 - discount * stay)).collect();
        Self { rows, discount, threads, scale: preconditioned.then(scale), there: Vec::new(), n_products: 0 }
    }

    fn is_preconditioned(&self) -> bool {
        self.scale.is_some()
    }

    /// Solves the chain approximately, by a sweep in place in either order from values of 0: exactly, where arcs lead one way
    /// but for a few.
    fn precondition(&mut self, x: &[f64], solved: &mut [f64]) {
        let Some(scale) = &self.scale else { return solved.copy_from_slice(x) };
        self.n_products += 2;
        let n = x.len();
        self.there.clear();
        self.there.resize(n, 0.0);
        for state in 0..n {
            let value = self.rows.value(state, self.discount, &self.there);
            self.there[state] = (x[state] + value) * scale[state];
        }
        solved.fill(0.0);
        for state in (0..n).rev() {
            solved[state] = self.there[state] + self.rows.value(state, self.discount, solved) * scale[state];
        }
    }

    fn product(&mut self, x: &[f64], y: &mut [f64]) {
        policy_sweep(self.rows, self.discount, x, y, self.threads);
        self.n_products += 1;
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x - *y);
    }

    /// Returns the worth of `right`, up to a residual of `enough`; `None` if that takes more iterations than allowed.
    fn solve(
        &mut self,
        right: Vec<f64>,
        enough: f64,
        allowance: usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<f64>> {
        let (mut x, mut residual) = (vec![0.0; right.len()], right);
        if self.is_preconditioned() {
            if self.iterate(&mut x, &mut residual, enough, PRECONDITIONED, stop) {
                return Some(x);
            }
            self.scale = None;
            if !largest(&residual).is_finite() {
                return None;
            }
        }
        self.iterate(&mut x, &mut residual, enough, allowance, stop).then_some(x)
    }

    /// BiCGSTAB from `x`, whose residual is given. Returns whether the residual fell to `enough`.
    fn iterate(
        &mut self,
        x: &mut [f64],
        residual: &mut [f64],
        enough: f64,
        allowance: usize,
        stop: &dyn Fn() -> bool,
    ) -> bool {
        let shadow = residual.to_vec();
        let mut direction = residual.to_vec();
        let mut rho = dot(&shadow, residual);
        let n = x.len();
        let [mut ahead, mut along, mut corrected, mut turned] = [(); 4].map(|()| vec![0.0; n]);
        for _ in 0..allowance {
            self.precondition(&direction, &mut ahead);
            self.product(&ahead, &mut along);
            let alpha = rho / dot(&shadow, &along);
            residual.iter_mut().zip(&along).for_each(|(r, a)| *r -= alpha * a);
            self.precondition(residual, &mut corrected);
            self.product(&corrected, &mut turned);
            let omega = dot(&turned, residual) / dot(&turned, &turned).max(f64::MIN_POSITIVE);
            for i in 0..n {
                x[i] += alpha * ahead[i] + omega * corrected[i];
                residual[i] -= omega * turned[i];
            }
            let left = largest(residual);
            // A breakdown of the recurrence shows as a number that is not finite.
            if !(left.is_finite() && omega.is_finite()) || stop() {
                return false;
            }
            if left <= enough {
                return true;
            }
            let rho_before = std::mem::replace(&mut rho, dot(&shadow, residual));
            let beta = rho / rho_before * (alpha / omega);
            if !beta.is_finite() {
                return false;
            }
            for i in 0..n {
                direction[i] = residual[i] + beta * (direction[i] - omega * along[i]);
            }
        }
        false
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest absolute entry; NaN if one is.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| if x.abs() > most || x.is_nan() { x.abs() } else { most })
}
