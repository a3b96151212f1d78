//! The value of a policy to almost twice the digits of a double, however ill-conditioned its equations are.
//!
//! Elimination that only adds, multiplies and divides numbers of at least 0 (Grassmann, Taksar and Heyman) keeps relative
//! accuracy: by the matrix tree theorem each value is a quotient of two sums of products with one factor from each row, all
//! terms positive, so numbers of one row that are off by a factor of `1 + t` move a value by at most `(1 + t)²`. Here every
//! operation is off by at most `WIDE_EPS`, and the errors of all rows, at the start and whenever they are rewritten, add up.
//! Positive and negative rewards are summed apart.

use crate::linear::in_order;
use crate::problem::{Remainder, SplitValues};
use crate::rows::{WIDE_EPS, Wide};

/// Multiplications that elimination may take: a few seconds.
const MAX_MULTIPLICATIONS: usize = 100_000_000;

/// Relative accuracy is lost below this.
const MIN_ACCURATE: f64 = 1e-250;

/// The value of a state: positive and negative parts, with rewards at their lower and at their upper ends.
type Parts = [Wide; 4];

/// The values of a policy and how far they may be off; `None` if that takes too long or the policy never leaves.
pub fn values(problem: &Remainder, policy: &[u32]) -> Option<(SplitValues, Vec<f64>)> {
    let n = policy.len();
    let (starts, members) = in_order(problem, policy);
    let work: usize = starts.windows(2).map(|range| (range[1] - range[0]).saturating_pow(3)).sum();
    if work > MAX_MULTIPLICATIONS {
        return None;
    }
    let mut x = vec![Parts::default(); n + 2];
    x[n + 1] = [1.0.into(), Wide::default(), 1.0.into(), Wide::default()];
    let (mut rank, mut error) = (vec![usize::MAX; n + 2], 0.0);
    for range in starts.windows(2) {
        let groups = &members[range[0]..range[1]];
        groups.iter().enumerate().for_each(|(i, &group)| rank[group] = i);
        error += eliminate(problem, policy, &mut x, groups, &rank)?;
        groups.iter().for_each(|&group| rank[group] = usize::MAX);
    }
    if error > 1e-3 {
        return None;
    }
    let mut found = SplitValues { large: vec![0.0; n + 2], small: vec![0.0; n + 2] };
    found.large[n + 1] = 1.0;
    let mut off = vec![0.0; n];
    for (group, [gain, loss, more_gain, more_loss]) in x[..n].iter().enumerate() {
        let (low, high) = (gain.minus(*loss), more_gain.minus(*more_loss));
        (found.large[group], found.small[group]) = (low.hi, low.lo);
        let size = gain.hi + loss.hi + more_gain.hi + more_loss.hi;
        off[group] = 1.01 * (error * size + high.minus(low).hi.abs());
    }
    Some((found, off))
}

/// Solves a component, whose successors are solved; returns the relative error that this adds to values.
fn eliminate(
    problem: &Remainder,
    policy: &[u32],
    x: &mut [Parts],
    groups: &[usize],
    rank: &[usize],
) -> Option<f64> {
    let n = groups.len();
    let mut p = vec![Wide::default(); n * n];
    let (mut b, mut exit) = (vec![Parts::default(); n], vec![Wide::default(); n]);
    let mut error = 0.0;
    for (i, &group) in groups.iter().enumerate() {
        let choice = policy[group] as usize;
        let reward = problem.rewards[choice];
        let parts = [reward.lo.max(0.0), (-reward.lo).max(0.0), reward.hi.max(0.0), (-reward.hi).max(0.0)];
        b[i] = parts.map(|part| problem.scale[choice].times(part.into()));
        let missing = problem.missing[choice];
        exit[i] = missing;
        let arcs = problem.arcs_of(choice);
        // What is missing from 1 is known as well as 1 is.
        let share = if missing.hi > 0.0 { 1.0 / missing.hi } else { 0.0 };
        error += 4.0 * (arcs.len() as f64 + 8.0) * WIDE_EPS * (1.0 + share);
        for arc in arcs {
            let (target, probability) = (problem.targets[arc] as usize, problem.probabilities[arc].into());
            if target == group {
                continue;
            }
            if rank[target] == usize::MAX {
                (0..4).for_each(|k| b[i][k] = b[i][k].plus(x[target][k].times(probability)));
                exit[i] = exit[i].plus(probability);
            } else {
                let entry = &mut p[i * n + rank[target]];
                *entry = entry.plus(probability);
            }
        }
    }
    let leaves = |p: &[Wide], exit: &[Wide], k: usize| {
        p[k * n..k * n + k].iter().fold(exit[k], |sum, &entry| sum.plus(entry))
    };
    let lost = |number: &Wide| {
        number.hi < 0.0 || (number.hi > 0.0 && number.hi < MIN_ACCURATE) || !number.hi.is_finite()
    };
    // From the last to the first, each is replaced by where it leads.
    for k in (0..n).rev() {
        let sum = leaves(&p, &exit, k);
        if sum.hi <= 0.0 {
            return None;
        }
        for i in 0..k {
            if p[i * n + k].hi == 0.0 {
                continue;
            }
            let into = p[i * n + k].over(sum);
            for j in (0..k).filter(|&j| j != i) {
                p[i * n + j] = p[i * n + j].plus(into.times(p[k * n + j]));
            }
            exit[i] = exit[i].plus(into.times(exit[k]));
            (0..4).for_each(|part| b[i][part] = b[i][part].plus(into.times(b[k][part])));
            error += 2.0 * (k as f64 + 8.0) * WIDE_EPS;
            if p[i * n..i * n + k].iter().chain(&[into, exit[i]]).chain(&b[i]).any(lost) {
                return None;
            }
        }
    }
    for k in 0..n {
        let sum = leaves(&p, &exit, k);
        for part in 0..4 {
            let terms = (0..k).map(|j| p[k * n + j].times(x[groups[j]][part]));
            x[groups[k]][part] = terms.fold(b[k][part], Wide::plus).over(sum);
        }
        error += (2.0 * k as f64 + 8.0) * WIDE_EPS;
        if x[groups[k]].iter().any(lost) {
            return None;
        }
    }
    Some(error)
}
