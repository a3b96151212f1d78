//! Safe policy improvement (Laroche et al. 2019) on its authors' grid of 25 states, rebuilt from the published definition.

mod common;

use backsweep::Random;
use backsweep_learn::Settings;
use common::{World, count, full_policy, learned};

const DISCOUNT: f64 = 0.95;

/// Five by five cells; an action moves as meant with .75, to either side with .10, back with .05. Two walls. Reaching the far
/// corner pays 1 and ends.
fn grid() -> World {
    const MOVES: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
    let wall = |x: i32, y: i32| (x == 2 && (0..3).contains(&y)) || (x == 3 && (2..4).contains(&y));
    let mut p = vec![vec![vec![0.0; 24]; 4]; 24];
    for (state, rows) in p.iter_mut().enumerate() {
        let (x, y) = (state as i32 % 5, state as i32 / 5);
        for (direction, (dx, dy)) in MOVES.into_iter().enumerate() {
            let (to_x, to_y) = (x + dx, y + dy);
            let blocked =
                !(0..5).contains(&to_x) || !(0..5).contains(&to_y) || (dx != 0 && wall(x.min(to_x), y));
            let to = if blocked { state } else { (to_x + 5 * to_y) as usize };
            for (action, row) in rows.iter_mut().enumerate() {
                if to < 24 {
                    row[to] += [0.75, 0.10, 0.05, 0.10][(direction + 4 - action) % 4];
                }
            }
        }
    }
    World { p, reward: |_, _, next| if next.is_none() { 1000 } else { 0 }, start: 0 }
}

/// The softmax of the best action values. The authors' own table of values is not published as text; this temperature gives a
/// baseline that is worth the same.
fn baseline(world: &World) -> Vec<Vec<f64>> {
    let best = world.best(DISCOUNT);
    let row = |state: usize| {
        let weight: Vec<f64> = (0..4)
            .map(|a| (TEMPERATURE * (world.q(state, a, DISCOUNT, &best) - best[state])).exp())
            .collect();
        let sum: f64 = weight.iter().sum();
        weight.iter().map(|w| w / sum).collect()
    };
    (0..24).map(row).collect()
}

const TEMPERATURE: f64 = 24.788736788057637;

#[test]
fn the_grid_is_theirs() {
    let world = grid();
    assert!((world.best(DISCOUNT)[0] - 0.597742).abs() < 1e-6, "{}", world.best(DISCOUNT)[0]);
    let value = world.values(&baseline(&world), DISCOUNT)[0];
    assert!((value - 0.402250).abs() < 1e-6, "{value}");
}

/// Mean and mean of the worst tenth, of 60 runs.
fn runs(n_cases: u64, settings: &Settings) -> (f64, f64) {
    let world = grid();
    let logged = baseline(&world);
    let mut found: Vec<f64> = (0..60)
        .map(|run| {
            let mut random = Random::stream(run, &[n_cases]);
            let cases: Vec<_> =
                (0..n_cases).map(|i| world.run(&logged, 50, (i % 16) as u8, &mut random)).collect();
            let learned = learned(&count(24, 4, &cases), &[], settings);
            world.values(&full_policy(&learned, &logged), DISCOUNT)[0]
        })
        .collect();
    found.sort_by(f64::total_cmp);
    (found.iter().sum::<f64>() / 60.0, found[..6].iter().sum::<f64>() / 6.0)
}

#[test]
fn dbg() {
    for n in [20, 100, 1000] {
        for (keep, m) in [(false, 1), (true, 5), (true, 20), (false, 5), (false, 20)] {
            let settings = Settings {
                discount: DISCOUNT,
                min_count: m,
                keep_logged: keep,
                hold_out: 0,
                ..Settings::default()
            };
            println!("{n} {keep} {m}: {:?}", runs(n, &settings));
        }
    }
}
