//! Worlds in which states form a line, a star or two loops.

use crate::table::{TabularWorld, to};
use crate::world::{Score, World};

/// RiverSwim as Osband defines it, with any number of states (2 or more).
pub fn river_swim(n: usize) -> World {
    let table = TabularWorld::new(n, |s| {
        let left = vec![to(1.0, s.saturating_sub(1), if s == 0 { 0.005 } else { 0.0 })];
        let right = match s {
            0 => vec![to(0.6, 1, 0.0), to(0.4, 0, 0.0)],
            s if s + 1 == n => vec![to(0.6, s, 1.0), to(0.4, s - 1, 1.0)],
            s => vec![to(0.35, s + 1, 0.0), to(0.6, s, 0.0), to(0.05, s - 1, 0.0)],
        };
        vec![left, right]
    });
    let world = World::lasting(&format!("riverswim_{n}"), &format!("RiverSwim-{n}"), table, 10_000);
    World { discount: 0.99, score: Score::Regret { gain: gain_of_right(n) }, ceiling: Some(0.0), ..world }
}

/// The share of time that an agent which always swims right spends in the last state, where each step gives 1. Flows between
/// neighbors balance: π(s) · P(s → s+1) = π(s+1) · P(s+1 → s).
fn gain_of_right(n: usize) -> f64 {
    let (mut weight, mut sum) = (1.0, 1.0);
    for s in 0..n - 1 {
        let up = if s == 0 { 0.6 } else { 0.35 };
        let down = if s + 2 == n { 0.4 } else { 0.05 };
        weight *= up / down;
        sum += weight;
    }
    weight / sum
}

/// RiverSwim as Strehl & Littman define it, with any number of states (2 or more); theirs has 6.
pub fn strong_river(n: usize) -> World {
    let table = TabularWorld::new(n, |s| {
        let left = vec![to(1.0, s.saturating_sub(1), if s == 0 { 5.0 } else { 0.0 })];
        let right = match s {
            0 => vec![to(0.3, 1, 0.0), to(0.7, 0, 0.0)],
            s if s + 1 == n => vec![to(0.3, s, 10_000.0), to(0.7, s - 1, 0.0)],
            s => vec![to(0.3, s + 1, 0.0), to(0.6, s, 0.0), to(0.1, s - 1, 0.0)],
        };
        vec![left, right]
    });
    World::lasting(
        &format!("strong_river_{n}"),
        &format!("RiverSwim (Strehl & Littman), {n} states"),
        table,
        5_000,
    )
}

/// Strehl & Littman's SixArms with its first `n` arms, 2 to 6: a hub and rooms, the better the harder to enter.
pub fn arms(n: usize) -> World {
    const ENTER: [f64; 6] = [1.0, 0.15, 0.1, 0.05, 0.03, 0.01];
    const STAY: [f64; 6] = [50.0, 133.0, 300.0, 800.0, 1660.0, 6000.0];
    let table = TabularWorld::new(n + 1, |s| {
        let action = |a: usize| match s {
            0 => vec![to(ENTER[a], a + 1, 0.0), to(1.0 - ENTER[a], 0, 0.0)],
            1 if a + 2 != n => vec![to(1.0, 1, STAY[0])],
            s if s > 1 && a == s - 1 => vec![to(1.0, s, STAY[s - 1])],
            _ => vec![to(1.0, 0, 0.0)],
        };
        (0..n).map(action).collect()
    });
    World::lasting(&format!("arms_{n}"), &format!("{n} arms"), table, 5_000)
}

/// Strens' Chain with any number of states (2 or more; his has 5): forward to a reward of 10, or back to 2 at once; one action in
/// five slips into the other.
pub fn chain(n: usize) -> World {
    let table = TabularWorld::new(n, |s| {
        let forward = |p| to(p, (s + 1).min(n - 1), if s + 1 == n { 10.0 } else { 0.0 });
        let back = |p| to(p, 0, 2.0);
        vec![vec![forward(0.8), back(0.2)], vec![forward(0.2), back(0.8)]]
    });
    World::lasting(&format!("chain_{n}"), &format!("Chain, {n} states"), table, 1_000)
}

/// DoubleLoop: two loops of `n` steps (2 or more; the published ones have 5); a wrong action anywhere leaves the better one.
pub fn double_loop(n: usize) -> World {
    let (poor_end, rich_end) = (n - 1, 2 * n - 2);
    let table = TabularWorld::new(2 * n - 1, |s| {
        let [a, b] = match s {
            0 => [to(1.0, 1, 0.0), to(1.0, n, 0.0)],
            s if s == poor_end => [to(1.0, 0, 1.0); 2],
            s if s == rich_end => [to(1.0, 0, 2.0); 2],
            s if s < poor_end => [to(1.0, s + 1, 0.0); 2],
            s => [to(1.0, 0, 0.0), to(1.0, s + 1, 0.0)],
        };
        vec![vec![a], vec![b]]
    });
    World::lasting(&format!("double_loop_{n}"), &format!("DoubleLoop of {n} steps"), table, 1_000)
}
