//! The fixed point of the model of the observations, by plain sweeps.

use crate::world::{DISCOUNT, N_ACTIONS, Observation, REWARD};

/// Sweeps stop when no value changes by more than this.
const TOLERANCE: f64 = 1e-9;

/// The optimal values of the maximum-likelihood model of the observations; an unseen pair is worth 0.
pub fn fixed_point(walk: &[Observation], n_states: usize) -> Vec<f64> {
    let n_pairs = n_states * N_ACTIONS;
    // Sorted by pair and next state, equal observations are adjacent and are counted in one pass.
    let mut steps: Vec<(u32, u32)> =
        walk.iter().map(|o| (o.pair() as u32, if o.terminated { u32::MAX } else { o.next })).collect();
    steps.sort_unstable();
    let mut n = vec![0u32; n_pairs];
    let mut end = vec![0usize; n_pairs + 1];
    let mut successors: Vec<(u32, u32)> = Vec::new(); // next state, count
    let mut last = None;
    for step @ (pair, next) in steps {
        n[pair as usize] += 1;
        if next != u32::MAX {
            match successors.last_mut() {
                Some(successor) if last == Some(step) => successor.1 += 1,
                _ => successors.push((next, 1)),
            }
            end[pair as usize + 1] = successors.len();
        }
        last = Some(step);
    }
    for pair in 0..n_pairs {
        end[pair + 1] = end[pair + 1].max(end[pair]);
    }
    let mut v = vec![0.0f64; n_states];
    loop {
        let mut largest_change = 0.0f64;
        for state in 0..n_states {
            let mut highest = f64::NEG_INFINITY;
            for pair in state * N_ACTIONS..(state + 1) * N_ACTIONS {
                let mut q = 0.0;
                if n[pair] > 0 {
                    let row = &successors[end[pair]..end[pair + 1]];
                    let sum: f64 = row.iter().map(|&(next, n)| f64::from(n) * v[next as usize]).sum();
                    q = DISCOUNT * sum / f64::from(n[pair]) + REWARD;
                }
                highest = highest.max(q);
            }
            largest_change = largest_change.max((highest - v[state]).abs());
            v[state] = highest;
        }
        if largest_change <= TOLERANCE {
            return v;
        }
    }
}

/// The root of the mean squared difference.
pub fn rmse(values: impl Iterator<Item = f64>, exact: &[f64]) -> f64 {
    let squares: f64 = values.zip(exact).map(|(value, exact)| (value - exact).powi(2)).sum();
    (squares / exact.len() as f64).sqrt()
}
