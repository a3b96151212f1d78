//! Bounds of one component, each proven by one check of every choice with rounding accounted for.
//!
//! A candidate that is right up to a small `gap` per step is lifted by `gap * weight`, where the weight falls by at least 1/2
//! per step on the choices that matter: `weight >= 1/2 + mean of weight over the arcs`. Lifted in this way, it satisfies
//! the inequality of [`super::reduced`], which is then checked for *every* choice. The weight is a guess; a bad one makes
//! the check fail, never the bound wrong.

use super::component::Component;
use super::elimination::Failure;
use super::howard::{evaluate, improve};
use super::reduced::{down, up};

/// Returns whether `weight` falls by at least 1/2 along choice `c` of state `s`, in every model that the stored one
/// stands for.
pub(crate) fn falls(local: &Component, s: usize, c: usize, weight: &[f64]) -> bool {
    local.backup_bound(c, 0.5, weight, 1.0) <= weight[s]
}

/// Proven bounds of a component.
pub(crate) struct Bounds {
    /// From below.
    pub lower: Vec<f64>,
    /// From above.
    pub upper: Vec<f64>,
}

/// The exact values of a proper policy with the constants of one side (0: lower, 1: upper), between bounds, and computed.
struct Worth {
    low: Vec<f64>,
    high: Vec<f64>,
    middle: Vec<f64>,
}

/// `None` if elimination lost all digits.
fn worth(
    local: &Component,
    policy: &[u32],
    side: usize,
    work: &mut u64,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Worth>, Failure> {
    let parts = |c: usize| [local.gain[c][side].max(0.0), (-local.gain[c][side]).max(0.0)];
    let exact = evaluate(local, policy, parts, work, stop)?;
    // Outside this range the factor is useless as a bound, and the products below could overflow.
    if exact.error.is_nan() || exact.error > 1.0 {
        return Ok(None);
    }
    let (less, more) = ((-exact.error).exp() * (1.0 - 1e-15), exact.error.exp() * (1.0 + 1e-15));
    let difference = |[plus, minus]: [f64; 2], sign: f64| match (plus, minus) {
        (0.0, 0.0) => 0.0,
        (p, m) if sign < 0.0 => down(p * less - m * more),
        (p, m) => up(p * more - m * less),
    };
    Ok(Some(Worth {
        low: exact.values.iter().map(|&v| difference(v, -1.0)).collect(),
        high: exact.values.iter().map(|&v| difference(v, 1.0)).collect(),
        middle: exact.values.iter().map(|v| v[0] - v[1]).collect(),
    }))
}

/// Bounds by policy iteration from a proper policy, which is improved in place: the policy's own value from below, and from
/// above the proof that nothing is better.
///
/// From above: let x be the exact value of the best policy for the upper constants, known within a factor. Its own choices
/// back x up to exactly x. If every other choice is proven to be no better, x is the value. Ties up to rounding cannot be
/// proven like that; lifting covers them. Also returns the number of evaluations.
pub(crate) fn by_elimination(
    local: &Component,
    policy: &mut Vec<u32>,
    work: &mut u64,
    stop: &dyn Fn() -> bool,
) -> Result<(Bounds, u64), Failure> {
    let low = improve(local, policy.clone(), |c| local.gain[c][0], |_| true, work, stop)?;
    let high = improve(local, low.policy.clone(), |c| local.gain[c][1], |_| true, work, stop)?;
    let rounds = low.rounds + high.rounds + 2;
    let lower = worth(local, &low.policy, 0, work, stop)?.ok_or(Failure::TooMuch)?.low;
    let best = worth(local, &high.policy, 1, work, stop)?.ok_or(Failure::TooMuch)?;
    let upper = nothing_better(local, &high.policy, best, work, stop)?;
    *policy = low.policy;
    Ok((Bounds { lower, upper: upper.unwrap_or(vec![f64::INFINITY; local.shape.n()]) }, rounds))
}

/// A bound from above around the value of a policy.
fn nothing_better(
    local: &Component,
    policy: &[u32],
    Worth { low, high, middle }: Worth,
    work: &mut u64,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<f64>>, Failure> {
    let mut counted: Vec<bool> = vec![false; local.gain.len()];
    let mut ties = false;
    for s in 0..local.shape.n() {
        for c in local.shape.choices_of(s) {
            let worse = || local.backup_bound(c, local.gain[c][1], &high, 1.0) <= low[s];
            counted[c] = c == policy[s] as usize || !worse();
            ties |= counted[c] && c != policy[s] as usize;
        }
    }
    if ties { over_ties(local, policy, &middle, counted, work, stop) } else { Ok(Some(high)) }
}

/// A bound from above close to `x`, where the choices that are `counted` are best up to rounding: x lifted by a weight that
/// falls on all of these. A choice on which the check fails is counted in the next round.
fn over_ties(
    local: &Component,
    policy: &[u32],
    x: &[f64],
    mut counted: Vec<bool>,
    work: &mut u64,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<f64>>, Failure> {
    let n = local.shape.n();
    // Each round counts at least one more choice or a wider gap; if more than a few are needed, the weight is unsuitable.
    let mut margin = 2.01;
    for _ in 0..20 {
        let weight = improve(local, policy.to_vec(), |_| 1.0, |c| counted[c], work, stop)?.values;
        let all = |s: usize| local.shape.choices_of(s).map(move |c| (s, c));
        if !(0..n).flat_map(all).filter(|&(_, c)| counted[c]).all(|(s, c)| falls(local, s, c, &weight)) {
            return Ok(None);
        }
        let excess = |(s, c): (usize, usize)| local.backup_bound(c, local.gain[c][1], x, 1.0) - x[s];
        let most = (0..n).flat_map(all).filter(|&(_, c)| counted[c]).map(excess).fold(0.0, f64::max);
        let gap = margin * most;
        let lifted: Vec<f64> = (0..n).map(|s| up(x[s] + up(gap * weight[s]))).collect();
        let failed: Vec<usize> = (0..n)
            .flat_map(all)
            .filter(|&(s, c)| local.backup_bound(c, local.gain[c][1], &lifted, 1.0) > lifted[s])
            .map(|(_, c)| c)
            .collect();
        if failed.is_empty() {
            return Ok(Some(lifted));
        }
        if failed.iter().all(|&c| counted[c]) {
            margin *= 2.0;
        }
        failed.iter().for_each(|&c| counted[c] = true);
    }
    Ok(None)
}

/// Returns whether no choice backs `x` up to more than `x`: then `x` is a bound from above.
pub(crate) fn is_upper(local: &Component, x: &[f64]) -> bool {
    (0..local.shape.n())
        .all(|s| local.shape.choices_of(s).all(|c| local.backup_bound(c, local.gain[c][1], x, 1.0) <= x[s]))
}

/// Returns whether a policy backs `x` up to at least `x`. If the policy is proper, `x` is a bound from below on its value.
pub(crate) fn is_lower(local: &Component, policy: &[u32], x: &[f64]) -> bool {
    policy
        .iter()
        .enumerate()
        .all(|(s, &c)| local.backup_bound(c as usize, local.gain[c as usize][0], x, -1.0) >= x[s])
}
