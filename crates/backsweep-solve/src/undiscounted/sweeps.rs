//! Gauss–Seidel value iteration in one component, with bounds guessed from time to time and proven or dropped.
//!
//! For components too large or too entangled to eliminate. Values are swept until a sweep changes little; then a weight is
//! sought that falls on every choice that is nearly best, values are lifted by `gap * weight` and lowered likewise for the
//! policy, and both are checked as in [`super::proof`]. If the bounds are too wide, sweeping continues to a smaller change.

use super::component::Component;
use super::proof::{Bounds, falls, is_lower, is_upper};
use super::reduced::{down, up};

/// Sweeps that follow the policy before each that compares choices.
const FOLLOWED: u64 = 4;

/// The arcs that sweeps may read after the end, so that what was reached can be reported: about a tenth of a second.
const GRANTED_WORK: u64 = 10_000_000;

/// One sweep, last state first (models are usually numbered from their start). Returns the largest change. A policy keeps its
/// choice unless another is strictly better, so that it stays proper.
fn sweep(
    local: &Component,
    constant: impl Fn(usize) -> f64,
    counted: impl Fn(usize) -> bool,
    x: &mut [f64],
    mut policy: Option<&mut [u32]>,
) -> f64 {
    let mut change = 0.0_f64;
    for s in (0..local.shape.n()).rev() {
        let mut best = f64::NEG_INFINITY;
        let mut chosen = u32::MAX;
        let incumbent = policy.as_ref().map_or(u32::MAX, |p| p[s]);
        for c in local.shape.choices_of(s).filter(|&c| counted(c)) {
            let value = local.backup(c, constant(c), x);
            if value > best || (value == best && c as u32 == incumbent) {
                best = value;
                chosen = c as u32;
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

/// A sweep that follows a policy: no comparison of choices, so several times cheaper.
fn follow(local: &Component, constant: impl Fn(usize) -> f64, policy: &[u32], x: &mut [f64]) {
    for s in (0..local.shape.n()).rev() {
        let c = policy[s] as usize;
        x[s] = local.backup(c, constant(c), x);
    }
}

/// The parameters of sweeping.
pub(crate) struct Sweeper<'a> {
    /// The local problem.
    pub local: &'a Component,
    /// The accepted width of the bounds.
    pub width: f64,
    /// Sweeps remaining; counted down.
    pub sweeps: u64,
    /// True if the initial values are close, and a better guide than the initial policy.
    pub warm: bool,
    /// Weights for the lower and the upper side that may carry the proof; improved until they do.
    pub weights: &'a mut [Vec<f64>; 2],
    /// Ends the work.
    pub stop: &'a dyn Fn() -> bool,
}

/// One of the two sides: constants from below or from above, and the values that they lead to.
struct Side {
    /// 0: lower, 1: upper.
    side: usize,
    x: Vec<f64>,
    greedy: Vec<u32>,
    weight: Vec<f64>,
    /// Sweeps that the next search for a weight may take.
    patience: u64,
}

impl Sweeper<'_> {
    /// Bounds around `x`, which is improved in place, and the policy whose value the lower one bounds. Both hold whenever this
    /// returns; infinite where nothing was proven.
    pub fn run(&mut self, x: &mut [f64], policy: &mut Vec<u32>) -> Bounds {
        let local = self.local;
        let n = local.shape.n();
        let mut bounds = Bounds { lower: vec![f64::NEG_INFINITY; n], upper: vec![f64::INFINITY; n] };
        let heaviest = self.weights.iter().flatten().fold(0.0, |m, &w| f64::max(m, w));
        let mut side = |side: usize| {
            let weight = std::mem::take(&mut self.weights[side]);
            Side { side, x: x.to_vec(), greedy: policy.clone(), weight, patience: 64 }
        };
        let mut sides = [side(0), side(1)];
        let (mut goal, mut near, mut first) = (f64::INFINITY, f64::INFINITY, true);
        if heaviest > 0.0 {
            // Both sides are moved by twice the change times the weight.
            goal = self.width / (6.0 * heaviest);
        }
        loop {
            let mut change = 0.0;
            let mut scale = 0.0;
            for i in 0..2 {
                if first && self.warm {
                    let Side { side, x, greedy, .. } = &mut sides[i];
                    sweep(local, |c| local.gain[c][*side], |_| true, x, Some(greedy));
                }
                (change, scale) = self.settle(&mut sides[i], &mut goal);
                if first {
                    // The other side is close.
                    first = false;
                    (sides[1].x, sides[1].greedy) = (sides[0].x.clone(), sides[0].greedy.clone());
                }
            }
            near = near.min(scale * 0.01);
            let out_of_time = self.out_of_time();
            let [low, high] = &mut sides;
            if let Some(upper) = self.prove(high, near) {
                bounds.upper.iter_mut().zip(upper).for_each(|(b, u)| *b = b.min(u));
            }
            if let Some(lower) = self.prove(low, near) {
                // Replaced, not combined: it belongs to one policy.
                bounds.lower = lower;
                policy.clone_from(&low.greedy);
            }
            let width = widest(&bounds.lower, &bounds.upper);
            let floor = scale * 1e-16;
            if width <= self.width || out_of_time || change <= floor {
                x.copy_from_slice(&low.x);
                *self.weights = sides.map(|side| side.weight);
                return bounds;
            }
            // The width is proportional to the change: aim for what is needed, if that is known.
            goal = goal.min(change) / 8.0;
            if width.is_finite() {
                goal = goal.min(change * self.width / (4.0 * width));
            } else {
                near /= 64.0;
            }
            goal = goal.max(floor);
        }
    }

    /// Returns whether no sweeps remain.
    fn out_of_time(&self) -> bool {
        self.sweeps == 0 || (self.stop)()
    }

    /// Sweeps until a sweep changes at most `goal`, which is set if it is infinite. Returns the last change and the largest
    /// value.
    fn settle(&mut self, side: &mut Side, goal: &mut f64) -> (f64, f64) {
        let local = self.local;
        let is_large = local.shape.n() > 1 << 14;
        loop {
            let constant = |c: usize| local.gain[c][side.side];
            for _ in 0..FOLLOWED {
                if is_large && (self.stop)() {
                    break;
                }
                follow(local, constant, &side.greedy, &mut side.x);
            }
            let change = sweep(local, constant, |_| true, &mut side.x, Some(&mut side.greedy));
            self.sweeps = self.sweeps.saturating_sub(1 + FOLLOWED);
            let scale = side.x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            if *goal == f64::INFINITY {
                *goal = change / 64.0;
            }
            // Below this, only rounding moves.
            if change <= goal.max(scale * 1e-16) || self.out_of_time() {
                return (change, scale);
            }
        }
    }

    /// Tries to prove a bound around the values of a side. `near`: how much worse than the best a choice may be and still be
    /// counted by the weight.
    fn prove(&mut self, side: &mut Side, near: f64) -> Option<Vec<f64>> {
        let local = self.local;
        let n = local.shape.n();
        let Side { side, x, greedy, weight, patience } = side;
        let upper = *side == 1;
        let mut counted = vec![false; local.gain.len()];
        let mut gap = 0.0_f64;
        for s in 0..n {
            if !upper {
                let c = greedy[s] as usize;
                counted[c] = true;
                gap = gap.max(x[s] - local.backup_bound(c, local.gain[c][0], x, -1.0));
                continue;
            }
            for c in local.shape.choices_of(s) {
                let excess = local.backup_bound(c, local.gain[c][1], x, 1.0) - x[s];
                counted[c] = excess > -near;
                gap = gap.max(excess);
            }
        }
        // Twice, because the weight falls by 1/2 only; and a little, because the lifted values are rounded too.
        gap *= 2.01;
        let falling = |w: &[f64]| {
            (0..n).all(|s| local.shape.choices_of(s).filter(|&c| counted[c]).all(|c| falls(local, s, c, w)))
        };
        let mut tried = 0;
        let granted = (GRANTED_WORK / (local.shape.arcs_of(local.gain.len() - 1).end as u64 + 1)).min(64);
        while !falling(weight) {
            // A few extra sweeps are granted at the end, so that what was reached can be reported.
            if tried >= *patience || (tried >= granted && self.out_of_time()) {
                *patience *= 2;
                return None;
            }
            for _ in 0..8 {
                sweep(local, |_| 1.0, |c| counted[c], weight, None);
            }
            tried += 8;
            self.sweeps = self.sweeps.saturating_sub(8);
        }
        // The values lifted are larger than those the gap was measured on, and so is their rounding.
        for _ in 0..6 {
            let candidate: Vec<f64> = if upper {
                (0..n).map(|s| up(x[s] + up(gap * weight[s]))).collect()
            } else {
                (0..n).map(|s| down(x[s] - up(gap * weight[s]))).collect()
            };
            if if upper { is_upper(local, &candidate) } else { is_lower(local, greedy, &candidate) } {
                return Some(candidate);
            }
            gap = gap * 2.0 + f64::MIN_POSITIVE;
        }
        None
    }
}

/// The largest width of an interval.
pub(crate) fn widest(lower: &[f64], upper: &[f64]) -> f64 {
    lower.iter().zip(upper).fold(0.0, |w, (l, u)| f64::max(w, if l == u { 0.0 } else { u - l }))
}
