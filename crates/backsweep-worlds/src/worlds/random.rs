//! Worlds of chance: most differ from run to run.

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

/// A bandit of `n` arms (2 or more), each of which pays 1 with a probability drawn from 0.2 to 0.7, or nothing.
pub fn bandit(n: usize, random: &mut Random) -> World {
    let chances: Vec<f64> = (0..n).map(|_| 0.2 + 0.5 * random.unit()).collect();
    let table =
        TabularWorld::new(1, |_| chances.iter().map(|&p| vec![to(p, 0, 1.0), to(1.0 - p, 0, 0.0)]).collect());
    let world = World::lasting(&format!("bandit_{n}"), &format!("Bandit of {n} arms"), table, 3_000);
    let gain = chances.iter().copied().fold(0.0, f64::max);
    World { reward_range: (0.0, 1.0), score: Score::Regret { gain }, ceiling: Some(0.0), ..world }
}

/// A lock of `n` wheels (2 or more): one of four actions, drawn per wheel, turns it; any other locks them all again. The last one
/// pays 1 and locks again.
pub fn combination(n: usize, random: &mut Random) -> World {
    let right: Vec<usize> = (0..n).map(|_| random.below(4) as usize).collect();
    let table = TabularWorld::new(n, |s| {
        let turned = if s + 1 == n { to(1.0, 0, 1.0) } else { to(1.0, s + 1, 0.0) };
        (0..4).map(|a| vec![if a == right[s] { turned } else { to(1.0, 0, 0.0) }]).collect()
    });
    World::lasting(&format!("combination_{n}"), &format!("Lock of {n} wheels"), table, 500 * n as u64)
}

/// A store of at most `n` goods (2 or more), after Puterman (1994): a good sells for 8 and costs 2, an order 4, and what is in store 1
/// each. Demand is geometric with mean n/3, so the highest reward, that of a full store sold out, is hardly ever seen.
pub fn inventory(n: usize) -> World {
    let stays = 1.0 / (1.0 + 3.0 / n as f64); // the chance that one more is wanted
    let table = TabularWorld::new(n + 1, |s| {
        let order = |a: usize| {
            let stock = s + a;
            let cost = if a > 0 { 4.0 + 2.0 * a as f64 } else { 0.0 } + stock as f64;
            let sold = |k: usize| {
                let p = stays.powi(k as i32) * if k < stock { 1.0 - stays } else { 1.0 };
                to(p, stock - k, 8.0 * k as f64 - cost)
            };
            (0..=stock).map(sold).collect()
        };
        (0..=n - s).map(order).collect()
    });
    World::lasting(&format!("inventory_{n}"), &format!("Store of {n} goods"), table, 4_000)
}
