//! Linear equations of a Markov chain by elimination without subtractions (Grassmann, Taksar and Heyman 1985), and how
//! accurate the result is.
//!
//! Solves `d_i x_i = sum_j a_ij x_j + c_i` with `d_i = sum_j a_ij + e_i`: arcs `a`, exits `e` and constants `c` are at least
//! 0, and `d` is never stored but summed from the rest of its row, so that nothing is ever subtracted.
//!
//! **The bound.** By the matrix tree theorem `x_i` is a quotient of two sums of products, all terms positive, and each product
//! has exactly one factor from each row. If the numbers of one row are wrong by a factor of at most `1 + t`, every `x_i` is
//! therefore wrong by at most `(1 + t)^2`, *however ill-conditioned the equations are*. Eliminating state k leaves the other
//! states' values alone and rewrites only the rows with an arc to k; rounding there is a relative error of at most
//! `(terms + 4) u` in each of those rows. All these factors multiply: `exact = computed * exp(±error)` with `error` the sum of
//! `2 (terms + 4) u` over all rows ever rewritten, of twice each row's error at the start, and of the roundings of back
//! substitution. The argument fails for numbers close to the smallest double; then the error is infinite.

use super::view::UNIT;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Below this a product may have lost digits.
const TINY: f64 = 1e-290;

/// A chain's equations, with `K` right-hand sides.
pub(crate) struct Equations<const K: usize> {
    /// The arcs of each state to others.
    pub rows: Vec<Vec<(u32, f64)>>,
    /// The mass that leaves, per state.
    pub exits: Vec<f64>,
    /// The right-hand sides, at least 0.
    pub constants: Vec<[f64; K]>,
    /// The sum over all rows of the largest relative error of a number in the row.
    pub row_errors: f64,
}

/// The solution of [`Equations`].
pub(crate) struct Exact<const K: usize> {
    /// The computed values.
    pub values: Vec<[f64; K]>,
    /// Exact values are within a factor of `exp(±error)`.
    pub error: f64,
}

/// Why there is no solution.
#[derive(Debug, PartialEq)]
pub(crate) enum Failure {
    /// Some states never leave: the policy is not proper.
    Improper,
    /// More work than allowed, or stopped by the caller.
    TooMuch,
}

/// Multiplications between two looks at the stop.
const WORK_PER_CHECK: u64 = 1 << 22;

impl<const K: usize> Equations<K> {
    /// Solves by eliminating the state with the fewest pairs of predecessor and successor first. `work` counts multiplications
    /// down to 0; `stop` is called now and then.
    pub fn solve(self, work: &mut u64, stop: &dyn Fn() -> bool) -> Result<Exact<K>, Failure> {
        let Self { mut rows, mut exits, mut constants, row_errors } = self;
        let n = rows.len();
        let mut error = 2.0 * row_errors;
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (i, row) in rows.iter().enumerate() {
            row.iter().for_each(|&(j, _)| predecessors[j as usize].push(i as u32));
        }
        let mut alive = vec![true; n];
        let cost = |k: usize, rows: &[Vec<(u32, f64)>], predecessors: &[Vec<u32>]| {
            (predecessors[k].len() * rows[k].len()) as u64
        };
        let mut heap: BinaryHeap<_> =
            (0..n).map(|k| Reverse((cost(k, &rows, &predecessors), k as u32))).collect();
        let mut order = Vec::with_capacity(n);
        let mut divisors = vec![0.0; n];
        // The place of column j in the row being rewritten, plus 1.
        let mut column = vec![0_u32; n];
        // Asked by the work done: where rows fill up, a few eliminations take long.
        let mut asked = *work;
        while let Some(Reverse((key, k))) = heap.pop() {
            let k = k as usize;
            predecessors[k].retain(|&i| alive[i as usize]);
            let now = cost(k, &rows, &predecessors);
            if now > key {
                heap.push(Reverse((now, k as u32)));
                continue;
            }
            alive[k] = false;
            let pivot = std::mem::take(&mut rows[k]);
            let divisor = pivot.iter().map(|&(_, a)| a).sum::<f64>() + exits[k];
            if divisor <= 0.0 {
                return Err(Failure::Improper);
            }
            let terms = pivot.len() as f64 + 1.0;
            let leaving = exits[k];
            for i in std::mem::take(&mut predecessors[k]) {
                let i = i as usize;
                let mut row = std::mem::take(&mut rows[i]);
                *work = work.saturating_sub((row.len() + pivot.len() + K) as u64);
                let Some(at) = row.iter().position(|&(j, _)| j as usize == k) else {
                    rows[i] = row;
                    continue;
                };
                let factor = row.swap_remove(at).1 / divisor;
                row.iter().enumerate().for_each(|(at, &(j, _))| column[j as usize] = at as u32 + 1);
                for &(j, a) in pivot.iter().filter(|&&(j, _)| j as usize != i) {
                    let added = factor * a;
                    let entry = match column[j as usize] {
                        0 => {
                            row.push((j, added));
                            predecessors[j as usize].push(i as u32);
                            added
                        }
                        at => {
                            let entry = &mut row[at as usize - 1].1;
                            *entry += added;
                            *entry
                        }
                    };
                    if entry < TINY {
                        error = f64::INFINITY;
                    }
                }
                row.iter().for_each(|&(j, _)| column[j as usize] = 0);
                rows[i] = row;
                error = add(&mut exits[i], factor, leaving, error);
                let added = constants[k];
                for (constant, &added) in constants[i].iter_mut().zip(&added) {
                    error = add(constant, factor, added, error);
                }
                error += 2.0 * (terms + 4.0) * UNIT;
            }
            rows[k] = pivot;
            divisors[k] = divisor;
            order.push(k);
            if order.len() % 256 == 0 || asked - *work > WORK_PER_CHECK {
                asked = *work;
                if stop() {
                    return Err(Failure::TooMuch);
                }
            }
            if *work == 0 {
                return Err(Failure::TooMuch);
            }
        }
        let mut values = vec![[0.0; K]; n];
        for &k in order.iter().rev() {
            let mut sum = constants[k];
            for &(j, a) in &rows[k] {
                for (sum, &value) in sum.iter_mut().zip(&values[j as usize]) {
                    error = add(sum, a, value, error);
                }
            }
            values[k] = sum.map(|s| s / divisors[k]);
            if values[k].iter().any(|v| !v.is_finite()) {
                error = f64::INFINITY;
            }
            error += (2.0 * rows[k].len() as f64 + 4.0) * UNIT;
        }
        // Its own sum is rounded too.
        Ok(Exact { values, error: error * 1.001 })
    }
}

/// Adds `factor * added` and returns the error, infinite if digits may have been lost at the bottom of the range.
fn add(to: &mut f64, factor: f64, added: f64, error: f64) -> f64 {
    *to += factor * added;
    if added > 0.0 && *to < TINY { f64::INFINITY } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gambler of Haddad and Monmege: from the middle of a line, 1/2 per step back to the start. The condition number of
    /// the equations is 2^n, yet the answer is right to the last digits.
    #[test]
    fn a_line_that_falls_back_to_its_start_is_exact() {
        for n in [10_usize, 40, 200, 900] {
            let rows = (0..n).map(|i| {
                let back = if i == 0 { vec![] } else { vec![(0, 0.5)] };
                let on =
                    if i + 1 < n { vec![(i as u32 + 1, if i == 0 { 1.0 } else { 0.5 })] } else { vec![] };
                back.into_iter().chain(on).collect()
            });
            let exits = (0..n).map(|i| if i + 1 == n { 0.5 } else { 0.0 }).collect();
            let constants = (0..n).map(|i| [if i + 1 == n { 0.35 } else { 0.0 }, 1.0]).collect();
            let equations = Equations { rows: rows.collect(), exits, constants, row_errors: 0.0 };
            let solved = equations.solve(&mut 1_000_000, &|| false).unwrap();
            assert!((solved.values[0][0] - 0.7).abs() < 1e-13, "{n}: {:?}", solved.values[0]);
            assert!(solved.error < 1e-11, "{n}: {}", solved.error);
            // Expected steps: once to state 1, then 2^n - 2 on average before n - 1 successes in a row, times half a step.
            let steps = solved.values[0][1];
            assert!(steps > 2_f64.powi(n as i32 - 2), "{n}: {steps}");
        }
    }

    #[test]
    fn a_ring_without_exit_is_improper_and_no_work_is_too_much() {
        let ring = || Equations {
            rows: vec![vec![(1, 1.0)], vec![(0, 1.0)]],
            exits: vec![0.0, 0.0],
            constants: vec![[0.0]; 2],
            row_errors: 0.0,
        };
        assert_eq!(ring().solve(&mut 1000, &|| false).err(), Some(Failure::Improper));
        assert_eq!(ring().solve(&mut 0, &|| false).err(), Some(Failure::TooMuch));
    }
}
