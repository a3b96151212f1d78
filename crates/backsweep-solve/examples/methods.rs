//! The portfolio against each of its methods, on models of many shapes:
//! `cargo run --release -p backsweep-solve --example methods -- [WHAT] [RUNS]`.
//!
//! Every model is solved by the portfolio and by every method, RUNS times in turn; the fastest run of each counts. A method
//! is stopped once it takes four times as long as the fastest so far. WHAT selects the models whose name contains it.
//! With a third argument, the models are written to that folder as UMB instead, for `scripts/bench-peers`.
//! The last lines say on how many models the portfolio takes more than 1.5 times as long as the best method.

use backsweep_bench::families::{self, Family, MazeModel, applied};
use backsweep_bench::thread_time;
use backsweep_mdp::{Compression, Direction, Objective, Question};
use backsweep_solve::{DISCOUNTED_METHODS, Limits, solve};
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let what = arguments.first().map_or("", String::as_str);
    let runs: usize = arguments.get(1).and_then(|runs| runs.parse().ok()).unwrap_or(3);
    if let Some(folder) = arguments.get(2) {
        for (name, make) in models() {
            if name.contains(what) {
                let path = std::path::Path::new(folder).join(format!("{}.umb", name.replace([' ', ','], "")));
                backsweep_mdp::write(path, &make().mdp, None, Compression::None)
                    .expect("a folder that exists");
            }
        }
        return;
    }
    println!(
        "{:24} {:>7} {:>9} {:>9} {:>6}  best method; how the portfolio chose",
        "model", "states", "arcs", "auto ms", "ratio"
    );
    let mut ratios = Vec::new();
    for (name, make) in models() {
        for discount in [0.99, 0.999, 0.9999] {
            let name = format!("{name}, {discount}");
            if name.contains(what) {
                let family = Family { discount, ..make() };
                ratios.push((measure(&name, &family, runs), name));
            }
        }
    }
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    let over = ratios.iter().filter(|(ratio, _)| *ratio > 1.5).count();
    println!("{over} of {} models take more than 1.5 times as long as by their best method", ratios.len());
    for (ratio, name) in ratios.iter().take(over) {
        println!("  {ratio:.2} {name}");
    }
}

type Maker = fn() -> Family;

fn models() -> Vec<(&'static str, Maker)> {
    vec![
        ("inventory 200", || applied::inventory(200, 0.99)),
        ("two products 30", || applied::two_products(30, 0.99)),
        ("mountain car 60", || applied::mountain_car(60, 0.99)),
        ("mountain car 150", || applied::mountain_car(150, 0.99)),
        ("pendulum 50", || applied::pendulum(50, 0.99)),
        ("pendulum 101", || applied::pendulum(101, 0.99)),
        ("tandem queue 30", || applied::tandem_queue(30, 0.99)),
        ("tandem queue 100", || applied::tandem_queue(100, 0.99)),
        ("epidemic 40", || applied::epidemic(40, 0.99)),
        ("gambler 500", || applied::gambler(500, 0.99)),
        ("replacement 5,000", || applied::replacement(5_000, 0.99)),
        ("forest 20,000", || applied::forest(20_000, 0.99)),
        ("self-loops 2,000", || applied::self_loops(2_000, 0.99)),
        ("torus 80", || applied::torus(80, 0.99)),
        ("maze 50", || MazeModel::new(50, 0).family()),
        ("maze 60, paid", || paid(MazeModel::new(60, 3).family())),
        ("maze 120", || MazeModel::new(120, 0).family()),
        ("garnet 2,000", || families::garnet(2_000, 5, 10, 0)),
        ("garnet 20,000", || families::garnet(20_000, 3, 6, 0)),
        ("layers 20,000", || families::layered(200, 100, 0)),
        ("corridor 10,000", || families::corridor(10_000, None)),
        ("corridor shuffled", || families::corridor(10_000, Some(0))),
    ]
}

/// The same model with rewards above 0 by choice, so that its ends are avoided.
fn paid(mut family: Family) -> Family {
    let rewards = &mut family.mdp.rewards[0].choices;
    rewards.iter_mut().enumerate().for_each(|(i, reward)| *reward = 0.25 + ((i * 7919) % 8) as f64 / 4.0);
    family
}

/// The portfolio's time over that of the best method.
fn measure(name: &str, family: &Family, runs: usize) -> f64 {
    let objective = Objective::Discounted { reward: None, discount: family.discount };
    let question = Question { objective, direction: Direction::Maximize };
    let (mut auto, mut why) = (Duration::MAX, String::new());
    let mut best = (Duration::MAX, "none");
    let mut all = vec![Duration::MAX; DISCOUNTED_METHODS.len()];
    for _ in 0..runs {
        let start = thread_time();
        let solved = solve(&family.mdp, &question, None, &limits(&|| false)).expect("a model of ours");
        auto = auto.min(thread_time() - start);
        why = format!(
            "{}{}",
            if solved.converged { "" } else { "NOT CONVERGED: " },
            solved.explanation.join("; ")
        );
        for (method, least) in DISCOUNTED_METHODS.iter().zip(&mut all) {
            let start = thread_time();
            let allowed = 3 * best.0.min(auto).max(Duration::from_micros(50));
            let late = || thread_time() - start > allowed;
            let solved = solve(&family.mdp, &question, Some(method.name()), &limits(&late));
            if solved.is_ok_and(|solved| solved.converged) {
                *least = (*least).min(thread_time() - start);
                if *least < best.0 {
                    best = (*least, method.name());
                }
            }
        }
    }
    let ratio = auto.as_secs_f64() / best.0.as_secs_f64();
    let shown = DISCOUNTED_METHODS.iter().zip(&all).filter(|(_, time)| **time < Duration::MAX);
    let times: Vec<String> = shown.map(|(m, t)| format!("{m} {:.2}", 1e3 * t.as_secs_f64())).collect();
    let (states, arcs, ms) = (family.mdp.n_states(), family.mdp.n_arcs(), 1e3 * auto.as_secs_f64());
    println!(
        "{name:24} {states:>7} {arcs:>9} {ms:>9.2} {ratio:>6.2}  {}; {why} [{}]",
        best.1,
        times.join(", ")
    );
    ratio
}

fn limits<'a>(stop: &'a (dyn Fn() -> bool + Sync)) -> Limits<'a> {
    Limits { tolerance: 1e-4, relative: 0.0, stop, threads: 1 }
}
