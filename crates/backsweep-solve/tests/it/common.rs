//! Random models, and their exact values by policy iteration in rationals.
#![allow(dead_code)]

use backsweep::Random;
use backsweep_mdp::Direction;
use backsweep_mdp::{Mdp, MdpBuilder};
use backsweep_solve::Solution;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// A model small enough for rationals.
pub struct Small {
    pub mdp: Mdp,
    pub rewards: Vec<f64>,
    pub discount: f64,
}

pub const DISCOUNTS: [f64; 8] = [0.0, 0.3, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];

/// Uneven choices, ends, unreachable parts, self loops, rows without arcs, repeated targets.
pub fn random_model(random: &mut Random, most_states: u32) -> Small {
    let n = 1 + random.below(most_states);
    let mut builder = MdpBuilder::default();
    let mut rewards = Vec::new();
    let acyclic = random.chance(0.15);
    let ends = random.chance(0.7);
    for state in 0..n {
        let n_choices = if ends && random.chance(0.15) { 0 } else { 1 + random.below(4) };
        for _ in 0..n_choices {
            for (target, p) in random_row(random, state, n, acyclic, ends) {
                builder.add_arc(target, p);
            }
            builder.end_choice();
            rewards.push(random_reward(random));
        }
        builder.end_state();
    }
    let discount = DISCOUNTS[random.below(DISCOUNTS.len() as u32) as usize];
    Small { mdp: builder.finish().unwrap(), rewards, discount }
}

pub fn random_reward(random: &mut Random) -> f64 {
    match random.below(4) {
        0 => 0.0,
        1 => f64::from(random.below(5)) - 2.0,
        _ => 2.0 * random.unit() - 1.0,
    }
}

pub fn random_row(random: &mut Random, state: u32, n: u32, acyclic: bool, ends: bool) -> Vec<(u32, f64)> {
    let n_arcs = if ends { random.below(5) } else { 1 + random.below(4) };
    let weights: Vec<f64> = (0..n_arcs).map(|_| f64::from(1 + random.below(9))).collect();
    let lost = if ends && random.chance(0.3) { f64::from(random.below(5)) } else { 0.0 };
    let sum: f64 = weights.iter().sum::<f64>() + lost;
    let target = |random: &mut Random| match acyclic {
        true if state + 1 == n => state,
        true => state + random.below(n - state),
        false if random.chance(0.2) => state,
        false => random.below(n),
    };
    weights.into_iter().map(|w| (target(random), w / sum)).collect()
}

pub fn rational(x: f64) -> BigRational {
    BigRational::from_float(x).expect("a finite number")
}

/// The exact values of a model whose probabilities and discount are exactly the stored numbers.
pub fn exact_values(small: &Small, direction: Direction) -> Vec<BigRational> {
    let Small { mdp, rewards, discount } = small;
    let n = mdp.n_states();
    let mut policy: Vec<usize> = (0..n).map(|s| mdp.choice_starts()[s] as usize).collect();
    loop {
        let values = evaluate(small, &policy);
        let mut stable = true;
        for s in 0..n {
            let choices = mdp.choice_starts()[s] as usize..mdp.choice_starts()[s + 1] as usize;
            for (c, &reward) in choices.clone().zip(&rewards[choices]) {
                let mut q = BigRational::zero();
                for a in mdp.arc_starts()[c] as usize..mdp.arc_starts()[c + 1] as usize {
                    q += rational(mdp.probabilities()[a]) * &values[mdp.targets()[a] as usize];
                }
                let q = rational(reward) + rational(*discount) * q;
                let better = if direction == Direction::Maximize { q > values[s] } else { q < values[s] };
                if better {
                    // Any strict improvement will do; the best of them is found in later rounds.
                    policy[s] = c;
                    stable = false;
                    break;
                }
            }
        }
        if stable {
            return values;
        }
    }
}

/// Solves (I - discount P) v = r of a policy by Gaussian elimination.
fn evaluate(small: &Small, policy: &[usize]) -> Vec<BigRational> {
    let Small { mdp, rewards, discount } = small;
    let n = mdp.n_states();
    let mut rows: Vec<Vec<BigRational>> = vec![vec![BigRational::zero(); n + 1]; n];
    for s in 0..n {
        rows[s][s] = BigRational::one();
        if mdp.choice_starts()[s] == mdp.choice_starts()[s + 1] {
            continue;
        }
        let c = policy[s];
        rows[s][n] = rational(rewards[c]);
        for a in mdp.arc_starts()[c] as usize..mdp.arc_starts()[c + 1] as usize {
            rows[s][mdp.targets()[a] as usize] -= rational(*discount) * rational(mdp.probabilities()[a]);
        }
    }
    for k in 0..n {
        let pivot = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != k && !row[k].is_zero() {
                let factor = &row[k] / &pivot[k];
                for (to, from) in row.iter_mut().zip(&pivot).skip(k) {
                    *to -= &factor * from;
                }
            }
        }
    }
    (0..n).map(|s| &rows[s][n] / &rows[s][s]).collect()
}

/// Panics unless every exact value is inside its interval.
pub fn assert_inside(exact: &[BigRational], solution: &Solution, what: &str) {
    assert_eq!(exact.len(), solution.lower.len(), "{what}");
    for (s, value) in exact.iter().enumerate() {
        let (lower, upper) = (solution.lower[s], solution.upper[s]);
        assert!(lower.is_finite() && upper.is_finite(), "{what}: state {s}: [{lower}, {upper}]");
        assert!(
            rational(lower) <= *value && *value <= rational(upper),
            "{what}: state {s}: {value} is outside [{lower}, {upper}]; {:?}",
            solution.explanation
        );
    }
}
