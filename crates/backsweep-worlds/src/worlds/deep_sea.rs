//! DeepSea: bsuite's square sea, in which only going right all the way down pays.

use super::mazes::corners;
use crate::grid::Grid;
use crate::table::{TabularWorld, end, to};
use crate::world::{Horizon, Score, World};
use backsweep::Random;
use backsweep::planner::Outcome;

/// DeepSea of side `n`. Which of the two actions is *right* is drawn for each cell, row by row.
///
/// One row down per step, an episode of `n` steps. Right costs .01/n; in the last column it gives 1 more. If the sea is
/// stochastic, right fails to move with probability 1/n, and the rewards in both bottom corners are noisy.
pub fn deep_sea(n: usize, stochastic: bool, random: &mut Random) -> World {
    let right_is: Vec<u32> = (0..n * n).map(|_| random.below(2)).collect();
    let slip = if stochastic { 1.0 / n as f64 } else { 0.0 };
    let mut table = TabularWorld::new(n * n, |s| {
        let (row, column) = (s / n, s % n);
        let land = |p: f64, column: usize, reward: f64| -> Outcome {
            if row + 1 == n { end(p, reward) } else { to(p, (row + 1) * n + column, reward) }
        };
        let treasure = if column + 1 == n { 1.0 } else { 0.0 };
        let reward = treasure - 0.01 / n as f64;
        let right = vec![land(1.0 - slip, (column + 1).min(n - 1), reward), land(slip, column, reward)];
        let left = vec![land(1.0, column.saturating_sub(1), 0.0)];
        if right_is[s] == 1 { vec![left, right] } else { vec![right, left] }
    });
    if stochastic {
        table = table.with_noise((n - 1) * n, 1.0).with_noise(n * n - 1, 1.0);
    }
    let directions =
        right_is.iter().map(|&right| if right == 1 { vec![(1, -1), (1, 1)] } else { vec![(1, 1), (1, -1)] });
    let grid = Grid { directions: directions.collect(), ..Grid::of_cells(&corners(n), &[]) };
    let (name, title) =
        if stochastic { ("deep_sea_stochastic", "DeepSea stochastic") } else { ("deep_sea", "DeepSea") };
    let score = if stochastic {
        Score::Solved { share: 0.8, least: 100 }
    } else {
        Score::Solved { share: 0.9, least: 1 }
    };
    let world =
        World::lasting(&format!("{name}_{n}"), &format!("{title}, N = {n}"), table, 0).with_grid(grid);
    World {
        discount: 0.99,
        // Only over reachable cells; above the diagonal of the last column nothing happens.
        reward_range: (-0.01 / n as f64, 1.0 - 0.01 / n as f64),
        score,
        // bsuite counts a sea as solved only if it took fewer than 2^n + 100 episodes.
        horizon: Horizon::Episodes(10_000.min((1u64 << n.min(20)) + 99)),
        ..world
    }
}
