//! Gauss–Seidel value iteration in one component, with bounds guessed from time to time and proven or dropped.
//!
//! For components too large or too entangled to eliminate. Values are swept until a sweep changes little; then a weight is
//! sought that falls on every choice that is nearly best, values are lifted by `gap * weight` and lowered likewise for the
//! policy, and both are checked as in [`super::proof`]. If the bounds are too wide, sweeping goes on to a smaller change.

use super::local::Local;
use super::proof::{Bounds, falls, is_lower, is_upper};
use super::reduced::{down, up};

/// One sweep, last state first (models are usually numbered from their start). Returns the largest change. A policy keeps its
/// choice unless another is strictly better, so that it stays proper.
fn sweep(
    local: &Local,
    constant: impl Fn(usize) -> f64,
    counted: impl Fn(usize) -> bool,
    x: &mut [f64],
    mut policy: Option<&mut [u32]>,
) -> f64 {
    let mut change = 0.0_f64;
    for s in (0..local.n()).rev() {
        let mut best = f64::NEG_INFINITY;
        let mut chosen = u32::MAX;
        let incumbent = policy.as_ref().map_or(u32::MAX, |p| p[s]);
        for c in local.choices_of(s).filter(|&c| counted(c)) {
            let (mut sum, mut out) = (constant(c), local.exit[c]);
            for a in local.arcs_of(c) {
                let (target, p) = (local.targets[a] as usize, local.probabilities[a]);
                if target != s {
                    sum += p * x[target];
                    out += p;
                }
            }
            // A choice that only leads back to its state is no way out.
            if out > 0.0 {
                // A row without a loop sums to 1 up to rounding, which is not divided out.
                let value =
                    if local.arcs_of(c).any(|a| local.targets[a] as usize == s) { sum / out } else { sum };
                if value > best || (value == best && c as u32 == incumbent) {
                    best = value;
                    chosen = c as u32;
                }
            }
        }
        if chosen == u32::MAX {
            continue;
        }
        change = change.max((best - x[s]).abs());
        x[s] = best;
        if let Some(policy) = policy.as_deref_mut() {
            policy[s] = chosen;
        }
    }
    change
}

/// What sweeping is allowed and told.
pub(crate) struct Sweeping<'a> {
    /// The local problem.
    pub local: &'a Local,
    /// How wide the bounds may be.
    pub width: f64,
    /// Sweeps left; counted down.
    pub sweeps: u64,
    /// Ends the work.
    pub stop: &'a dyn Fn() -> bool,
}

impl Sweeping<'_> {
    /// Bounds around `x`, which is improved in place, and the policy whose value the lower one bounds. Both hold whenever this
    /// returns; infinite where nothing was proven.
    pub fn run(&mut self, x: &mut [f64], policy: &mut Vec<u32>) -> Bounds {
        let n = self.local.n();
        let mut bounds = Bounds { lower: vec![f64::NEG_INFINITY; n], upper: vec![f64::INFINITY; n] };
        let share = self.sweeps / 2;
        self.sweeps -= share;
        self.side(x, 1, &mut bounds, policy);
        self.sweeps += share;
        self.side(x, 0, &mut bounds, policy);
        bounds
    }

    /// Whether to go on; asks `stop` and counts a sweep.
    fn spend(&mut self) -> bool {
        self.sweeps = self.sweeps.saturating_sub(1);
        self.sweeps > 0 && !(self.stop)()
    }

    /// Sweeps until the bound of one side (1: upper, 0: lower) is proven to be narrow enough, or sweeps run out.
    fn side(&mut self, x: &mut [f64], side: usize, bounds: &mut Bounds, policy: &mut Vec<u32>) {
        let local = self.local;
        let n = local.n();
        let mut greedy = policy.clone();
        let mut weight = vec![0.0; n];
        let mut goal = f64::INFINITY;
        let mut near = f64::INFINITY;
        loop {
            let mut change;
            loop {
                change = sweep(local, |c| local.gain[c][side], |_| true, x, Some(&mut greedy));
                if !self.spend() || change <= goal || change == 0.0 {
                    break;
                }
                if goal == f64::INFINITY {
                    goal = change / 64.0;
                }
            }
            let scale = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let out_of_time = self.sweeps == 0 || (self.stop)();
            near = near.min(scale * 0.01);
            let width = self.prove(x, side, near, &greedy, &mut weight, bounds);
            if width.is_some_and(|w| w <= self.width / 2.0) {
                if side == 0 {
                    *policy = greedy;
                }
                return;
            }
            if side == 0 && width.is_some() {
                *policy = greedy.clone();
            }
            let floor = scale * 1e-17;
            if out_of_time || change == 0.0 || goal <= floor {
                return;
            }
            match width {
                // The width is in proportion to the change: aim for what is needed.
                Some(w) => goal = (goal / 8.0).min(change * self.width / (4.0 * w)),
                None => {
                    goal /= 8.0;
                    near /= 64.0;
                }
            }
            goal = goal.max(floor);
        }
    }

    /// Tries to prove a bound around `x`; returns its largest distance from `x`. `near`: how much worse than the best a
    /// choice may be and still be counted by the weight.
    fn prove(
        &mut self,
        x: &[f64],
        side: usize,
        near: f64,
        greedy: &[u32],
        weight: &mut [f64],
        bounds: &mut Bounds,
    ) -> Option<f64> {
        let local = self.local;
        let n = local.n();
        let mut counted = vec![false; local.gain.len()];
        let mut gap = 0.0_f64;
        for s in 0..n {
            if side == 0 {
                let c = greedy[s] as usize;
                counted[c] = true;
                gap = gap.max(x[s] - local.backup_bound(c, local.gain[c][0], x, -1.0));
                continue;
            }
            for c in local.choices_of(s) {
                let excess = local.backup_bound(c, local.gain[c][1], x, 1.0) - x[s];
                counted[c] = excess > -near;
                gap = gap.max(excess);
            }
        }
        // Twice, because the weight falls by 1/2 only; and a little, because the lifted values are rounded too.
        gap *= 2.01;
        let falling = |w: &[f64]| {
            (0..n).all(|s| local.choices_of(s).filter(|&c| counted[c]).all(|c| falls(local, s, c, w)))
        };
        let limit = 64 + (self.sweeps / 4).min(100_000);
        let mut tried = 0;
        while !falling(weight) {
            for _ in 0..8 {
                sweep(local, |_| 1.0, |c| counted[c], weight, None);
                tried += 1;
                self.spend();
            }
            // After the end of time a few more sweeps are granted, so that the bounds reached so far can be told.
            if tried > limit || (tried > 64 && (self.stop)()) {
                return None;
            }
        }
        let largest = weight.iter().fold(0.0_f64, |m, w| m.max(*w));
        // The values lifted are larger than those the gap was measured on, and so is their rounding.
        for _ in 0..6 {
            let candidate: Vec<f64> = if side == 1 {
                (0..n).map(|s| up(x[s] + up(gap * weight[s]))).collect()
            } else {
                (0..n).map(|s| down(x[s] - up(gap * weight[s]))).collect()
            };
            let proven =
                if side == 1 { is_upper(local, &candidate) } else { is_lower(local, greedy, &candidate) };
            if proven {
                let (bound, pick): (_, fn(f64, f64) -> f64) =
                    if side == 1 { (&mut bounds.upper, f64::min) } else { (&mut bounds.lower, f64::max) };
                // The lower bound belongs to one policy, so it is replaced, not combined.
                bound
                    .iter_mut()
                    .zip(candidate)
                    .for_each(|(b, c)| *b = if side == 1 { pick(*b, c) } else { c });
                return Some(gap * largest);
            }
            gap = gap * 2.0 + f64::MIN_POSITIVE;
        }
        None
    }
}
