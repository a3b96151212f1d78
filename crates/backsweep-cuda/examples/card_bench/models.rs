//! Large models made in memory, by formula: the same on every machine.

use backsweep_mdp::{Mdp, Rewards};
use std::sync::Mutex;

/// A number from 0 to below 1 for a place in a stream.
pub fn unit(stream: u64, place: u64) -> f64 {
    (mixed(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ place) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The finalizer of splitmix64.
fn mixed(seed: u64) -> u64 {
    let x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A model whose states all have the same number of rows, and rows the same number of arcs. `fill` writes the targets,
/// the probabilities and the reward of a row.
fn regular(
    n_states: usize,
    n_choices: usize,
    n_arcs: usize,
    fill: impl Fn(usize, &mut [u32], &mut [f64]) -> f64 + Sync,
) -> Mdp {
    let n_rows = n_states * n_choices;
    let mut targets = vec![0_u32; n_rows * n_arcs];
    let mut probabilities = vec![0.0; n_rows * n_arcs];
    let mut rewards = vec![0.0; n_rows];
    let rows = 1 << 16;
    let pieces = targets.chunks_mut(rows * n_arcs).zip(probabilities.chunks_mut(rows * n_arcs));
    let pieces = Mutex::new(pieces.zip(rewards.chunks_mut(rows)).enumerate());
    std::thread::scope(|scope| {
        for _ in 0..crate::threads() {
            scope.spawn(|| {
                while let Some((i, ((targets, probabilities), rewards))) = {
                    let mut pieces = pieces.lock().expect("no thread panics here");
                    pieces.next()
                } {
                    let arcs = targets.chunks_mut(n_arcs).zip(probabilities.chunks_mut(n_arcs));
                    for (row, ((targets, probabilities), reward)) in arcs.zip(rewards).enumerate() {
                        *reward = fill(i * rows + row, targets, probabilities);
                    }
                }
            });
        }
    });
    let choices = (0..=n_states).map(|state| (state * n_choices) as u32).collect();
    let arcs = (0..=n_rows).map(|row| (row * n_arcs) as u32).collect();
    let mut mdp = Mdp::from_arrays(choices, arcs, targets, probabilities).expect("rows by formula are right");
    mdp.rewards.push(Rewards { choices: rewards, ..Rewards::default() });
    mdp
}

/// Four actions on a square, each to one of fifteen cells ahead; the middle cell is the goal. Every step costs 1.
pub fn grid(side: usize) -> Mdp {
    // Two cells ahead on average, up to one to the side.
    let weight = |ahead: usize, aside: usize| [1.0, 2.0, 4.0, 2.0, 1.0][ahead] * [1.0, 3.0, 1.0][aside];
    let sum: f64 = (0..15).map(|i| weight(i / 3, i % 3)).sum();
    let goal = side / 2 * side + side / 2;
    regular(side * side, 4, 15, |row, targets, probabilities| {
        let (state, action) = (row / 4, row % 4);
        for i in 0..15 {
            probabilities[i] = weight(i / 3, i % 3) / sum;
            targets[i] = if state == goal {
                state as u32
            } else {
                beside(side, state, action, (i / 3) as i64, (i % 3) as i64 - 1) as u32
            };
        }
        if state == goal { 0.0 } else { -1.0 }
    })
}

/// Four actions on a square with walls, which succeed with probability 0.8 and slip to a side otherwise; the middle cell is the
/// goal. Every step costs 1.
pub fn maze(side: usize) -> Mdp {
    let goal = side / 2 * side + side / 2;
    let wall = |cell: usize| cell != goal && unit(1, cell as u64) < 0.2;
    regular(side * side, 4, 3, |row, targets, probabilities| {
        let (state, action) = (row / 4, row % 4);
        let rests = state == goal || wall(state);
        for (i, turn) in [0, 1, 3].into_iter().enumerate() {
            let to = beside(side, state, (action + turn) % 4, 1, 0);
            targets[i] = if rests || wall(to) { state } else { to } as u32;
            probabilities[i] = [0.8, 0.1, 0.1][i];
        }
        if rests { 0.0 } else { -1.0 }
    })
}

/// The cell that lies so far ahead and aside, or the nearest on the square.
fn beside(side: usize, cell: usize, direction: usize, ahead: i64, aside: i64) -> usize {
    let (x, y) = match direction {
        0 => (ahead, aside),
        1 => (-aside, ahead),
        2 => (-ahead, -aside),
        _ => (aside, -ahead),
    };
    let inside = |at: usize, by: i64| (at as i64 + by).clamp(0, side as i64 - 1) as usize;
    inside(cell / side, y) * side + inside(cell % side, x)
}

/// Every row leads to states drawn at random, with random probabilities.
pub fn garnet(n_states: usize, n_choices: usize, n_arcs: usize) -> Mdp {
    regular(n_states, n_choices, n_arcs, |row, targets, probabilities| {
        let mut sum = 0.0;
        for i in 0..n_arcs {
            let place = (row * n_arcs + i) as u64;
            targets[i] = (unit(2, place) * n_states as f64) as u32;
            probabilities[i] = 0.01 + unit(3, place);
            sum += probabilities[i];
        }
        probabilities.iter_mut().for_each(|p| *p /= sum);
        unit(4, row as u64)
    })
}
