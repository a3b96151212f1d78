//! Worlds that differ from run to run: the default setting was chosen on these and on other sizes of the suite's families.

use super::toy_text::frozen_lake;
use crate::table::{TabularWorld, to};
use crate::world::{Score, World};
use backsweep::Random;

/// A slippery lake of side `side` (3 or more) with a hole in one cell of five, drawn until the goal can be reached.
pub fn lake(side: usize, random: &mut Random) -> World {
    let map = loop {
        let mut cells: Vec<u8> =
            (0..side * side).map(|_| if random.chance(0.2) { b'H' } else { b'F' }).collect();
        cells[0] = b'S';
        cells[side * side - 1] = b'G';
        if is_open(&cells, side) {
            break cells
                .chunks(side)
                .map(|row| String::from_utf8_lossy(row).into_owned())
                .collect::<Vec<_>>();
        }
    };
    frozen_lake(&format!("lake_{side}"), &format!("Random lake {side}x{side}"), &map, 25 * side as u64)
}

/// Returns whether the last cell can be reached from the first without a hole.
fn is_open(cells: &[u8], side: usize) -> bool {
    let mut reached = vec![false; cells.len()];
    let mut open = vec![0];
    while let Some(cell) = open.pop() {
        if cells[cell] == b'H' || std::mem::replace(&mut reached[cell], true) {
            continue;
        }
        open.extend(crate::COMPASS.map(|direction| crate::grid::stepped((side, side), cell, direction)));
    }
    reached[cells.len() - 1]
}

/// A random MDP (GARNET; Bhatnagar et al. 2009) of `n` states with 4 actions, each with 3 successors drawn with their
/// probabilities. One pair in ten gives a reward, drawn from 0 to 1.
pub fn garnet(n: usize, random: &mut Random) -> World {
    let table = TabularWorld::new(n, |_| {
        let mut action = || {
            let reward = if random.chance(0.1) { random.unit() } else { 0.0 };
            let weights = [(); 3].map(|()| -(1.0 - random.unit()).ln());
            let sum: f64 = weights.iter().sum();
            weights.map(|weight| to(weight / sum, random.below(n as u32) as usize, reward)).to_vec()
        };
        (0..4).map(|_| action()).collect()
    });
    let world = World::lasting(&format!("garnet_{n}"), &format!("Random MDP of {n} states"), table, 3_000);
    World { reward_range: (0.0, 1.0), ..world }
}

/// A bandit of `n` arms (2 or more), each of which pays 1 with a probability drawn from 0 to 1, or nothing.
pub fn bandit(n: usize, random: &mut Random) -> World {
    let chances: Vec<f64> = (0..n).map(|_| random.unit()).collect();
    let table =
        TabularWorld::new(1, |_| chances.iter().map(|&p| vec![to(p, 0, 1.0), to(1.0 - p, 0, 0.0)]).collect());
    let world = World::lasting(&format!("bandit_{n}"), &format!("Bandit of {n} arms"), table, 3_000);
    let gain = chances.iter().copied().fold(0.0, f64::max);
    World {
        discount: 0.99,
        reward_range: (0.0, 1.0),
        score: Score::Regret { gain },
        ceiling: Some(0.0),
        ..world
    }
}
