//! Policy iteration in one component, each policy evaluated by elimination.

use super::component::Component;
use super::elimination::{Equations, Exact, Failure};

/// The equations of a policy with `K` right-hand sides.
pub(crate) fn evaluate<const K: usize>(
    local: &Component,
    policy: &[u32],
    constants: impl Fn(usize) -> [f64; K],
    work: &mut u64,
    stop: &dyn Fn() -> bool,
) -> Result<Exact<K>, Failure> {
    let n = local.shape.n();
    let mut equations =
        Equations { rows: Vec::with_capacity(n), exits: vec![], constants: vec![], row_errors: 0.0 };
    for &c in policy {
        let c = c as usize;
        let mut row: Vec<(u32, f64)> =
            local.shape.arcs_of(c).map(|a| (local.targets[a], local.probabilities[a])).collect();
        row.sort_unstable_by_key(|&(t, _)| t);
        let arcs = row.len() as f64;
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        equations.row_errors += local.error[c] + (arcs - row.len() as f64) * f64::EPSILON;
        equations.rows.push(row);
        equations.exits.push(local.exit[c]);
        equations.constants.push(constants(c));
    }
    equations.solve(work, stop)
}

/// Where policy iteration ended.
pub(crate) struct Improved {
    /// The policy, proper.
    pub policy: Vec<u32>,
    /// Its values, rounded.
    pub values: Vec<f64>,
    /// The number of policies that were evaluated.
    pub rounds: u64,
}

/// Improves a proper policy until no choice where `allowed` holds is better by more than rounding.
///
/// Only a strict gain changes a choice, so ties never lead into a loop. A policy that rounding made improper is reverted:
/// then only the largest gain is applied, and if that fails too, the last proper policy is the answer (its values are still
/// bounds from one side; nothing is proven by having ended here).
pub(crate) fn improve(
    local: &Component,
    start: Vec<u32>,
    constant: impl Fn(usize) -> f64,
    allowed: impl Fn(usize) -> bool,
    work: &mut u64,
    stop: &dyn Fn() -> bool,
) -> Result<Improved, Failure> {
    let sides = |c: usize| [constant(c).max(0.0), (-constant(c)).max(0.0)];
    let solve = |policy: &[u32], work: &mut u64| -> Result<Vec<f64>, Failure> {
        Ok(evaluate(local, policy, sides, work, stop)?.values.iter().map(|v| v[0] - v[1]).collect())
    };
    let mut policy = start;
    let mut values = solve(&policy, work)?;
    let mut rounds = 1;
    // Far more than policy iteration needs; rounding might let it cycle.
    while rounds < 1000 {
        let mut next = policy.clone();
        let mut best = (0.0, 0, 0);
        for s in 0..local.shape.n() {
            let mut most = 0.0;
            for c in local.shape.choices_of(s).filter(|&c| allowed(c)) {
                let value = local.backup(c, constant(c), &values);
                let size = local.shape.arcs_of(c).fold(value.abs() + values[s].abs(), |size, a| {
                    size + local.probabilities[a] * values[local.targets[a] as usize].abs()
                });
                let gain = value - values[s];
                if gain > 1e-14 * size && gain > most {
                    most = gain;
                    next[s] = c as u32;
                }
            }
            if most > best.0 {
                best = (most, s, next[s]);
            }
        }
        if best.0 == 0.0 {
            break;
        }
        rounds += 1;
        values = match solve(&next, work) {
            Ok(values) => {
                policy = next;
                values
            }
            Err(Failure::Improper) => {
                let mut single = policy.clone();
                single[best.1] = best.2;
                match solve(&single, work) {
                    Ok(values) => {
                        policy = single;
                        values
                    }
                    Err(Failure::Improper) => break,
                    Err(failure) => return Err(failure),
                }
            }
            Err(failure) => return Err(failure),
        };
    }
    Ok(Improved { policy, values, rounds })
}
