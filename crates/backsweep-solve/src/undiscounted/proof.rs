//! Bounds of one component, each proven by one look at every choice with rounding counted.
//!
//! A candidate that is right up to a small `gap` per step is lifted by `gap * weight`, where the weight falls by at least 1/2
//! per step on the choices that matter: `weight >= 1/2 + mean of weight over the arcs`. Lifted like that it satisfies the
//! inequality of [`super::reduced`], which is then checked for *every* choice. The weight is a guess; a bad one makes the
//! check fail, never the bound wrong.

use super::elimination::Failure;
use super::howard::{evaluate, improve};
use super::local::Local;
use super::reduced::{down, up};

/// Whether `weight` falls by at least 1/2 along choice `c` of state `s`, in every model that the stored one stands for.
pub(crate) fn falls(local: &Local, s: usize, c: usize, weight: &[f64]) -> bool {
    local.backup_bound(c, 0.5, weight, 1.0) <= weight[s]
}

/// Proven bounds of a component.
pub(crate) struct Bounds {
    /// From below.
    pub lower: Vec<f64>,
    /// From above.
    pub upper: Vec<f64>,
}

/// Bounds around the exact values of a proper policy: its own from below, and from above the proof that nothing is better.
///
/// From above: let x be the policy's exact value, known within a factor. Its own choices back x up to exactly x. Every other
/// choice is either proven to be worse, or a tie up to rounding; ties are lifted over with a weight that falls on them and on
/// the policy's own choices.
pub(crate) fn around_policy(
    local: &Local,
    policy: &[u32],
    work: &mut u64,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Bounds>, Failure> {
    let n = local.n();
    let sides = |c: usize| {
        let [low, high] = local.gain[c];
        [low.max(0.0), (-low).max(0.0), high.max(0.0), (-high).max(0.0)]
    };
    let exact = evaluate(local, policy, sides, work, stop)?;
    // Outside this the factor is not worth the name of a bound, and the products below could leave the range of numbers.
    if exact.error.is_nan() || exact.error > 1.0 {
        return Ok(None);
    }
    let (less, more) = ((-exact.error).exp() * (1.0 - 1e-15), exact.error.exp() * (1.0 + 1e-15));
    let difference = |plus: f64, minus: f64, sign: f64| match (plus, minus) {
        (0.0, 0.0) => 0.0,
        (p, m) if sign < 0.0 => down(p * less - m * more),
        (p, m) => up(p * more - m * less),
    };
    let lower: Vec<f64> = exact.values.iter().map(|v| difference(v[0], v[1], -1.0)).collect();
    let low: Vec<f64> = exact.values.iter().map(|v| difference(v[2], v[3], -1.0)).collect();
    let high: Vec<f64> = exact.values.iter().map(|v| difference(v[2], v[3], 1.0)).collect();
    let mut counted: Vec<bool> = vec![false; local.gain.len()];
    policy.iter().for_each(|&c| counted[c as usize] = true);
    let mut weight = vec![0.0; n];
    let (mut gap, mut upper) = (0.0_f64, high.clone());
    // Each round counts at least one more choice, so this ends; more than a few rounds mean that the weight is no good.
    for _ in 0..20 {
        let mut failed = false;
        for s in 0..n {
            for c in local.choices_of(s).filter(|&c| c != policy[s] as usize) {
                let excess = up(local.backup_bound(c, local.gain[c][1], &high, 1.0) - low[s]);
                let holds = if counted[c] {
                    2.0 * excess <= gap
                } else if gap == 0.0 {
                    excess <= 0.0
                } else {
                    local.backup_bound(c, local.gain[c][1], &upper, 1.0)
                        <= down(low[s] + down(gap * weight[s]))
                };
                if !holds {
                    failed = true;
                    counted[c] = true;
                    gap = gap.max(2.0 * excess);
                }
            }
        }
        if !failed {
            return Ok(Some(Bounds { lower, upper }));
        }
        let guess = improve(local, policy.to_vec(), |_| 1.0, |c| counted[c], work, stop)?;
        weight = guess.values;
        let sound =
            (0..n).all(|s| local.choices_of(s).filter(|&c| counted[c]).all(|c| falls(local, s, c, &weight)));
        if !sound {
            return Ok(Some(Bounds { lower, upper: vec![f64::INFINITY; n] }));
        }
        upper = (0..n).map(|s| up(high[s] + up(gap * weight[s]))).collect();
    }
    Ok(Some(Bounds { lower, upper: vec![f64::INFINITY; n] }))
}

/// Whether no choice backs `x` up to more than `x`: then `x` is a bound from above.
pub(crate) fn is_upper(local: &Local, x: &[f64]) -> bool {
    (0..local.n())
        .all(|s| local.choices_of(s).all(|c| local.backup_bound(c, local.gain[c][1], x, 1.0) <= x[s]))
}

/// Whether a policy backs `x` up to at least `x`. If the policy is proper, `x` is a bound from below on its value.
pub(crate) fn is_lower(local: &Local, policy: &[u32], x: &[f64]) -> bool {
    policy
        .iter()
        .enumerate()
        .all(|(s, &c)| local.backup_bound(c as usize, local.gain[c as usize][0], x, -1.0) >= x[s])
}
