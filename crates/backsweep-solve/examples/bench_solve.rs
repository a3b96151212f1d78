//! Measures the discounted portfolio on its families: `bench_solve [runs] [cases...]`.
//!
//! Prints CPU seconds of the solve call (best of `runs`), the bound reached at tolerance 1e-4, the bandwidth of one sweep
//! over all choices relative to streaming through memory, the peak memory of the process, and the method chosen. Making the
//! model is not counted. `walls` closes and opens 50 cells of the 500 x 500 maze. The two cases of 100 million arcs run only
//! when named.

use backsweep::Random;
use backsweep_solve::families::{self, Family, Maze};
use backsweep_solve::{Change, Direction, Limits, Repair, solve_discounted, sweep_values};

const LIMITS: Limits = Limits { tolerance: 1e-4, stop: &|| false, threads: 1 };

const CASES: [&str; 10] = [
    "maze50",
    "maze200",
    "maze500",
    "garnet2k",
    "garnet100k",
    "layered1m",
    "corridor10k",
    "corridor1m",
    "corridor1m_shuf",
    "walls",
];

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let runs = arguments.next_if(|a| a.parse::<u32>().is_ok()).map_or(5, |a| a.parse().unwrap_or(5));
    let named: Vec<String> = arguments.collect();
    let cases: Vec<&str> =
        if named.is_empty() { CASES.to_vec() } else { named.iter().map(String::as_str).collect() };
    let stream = streaming_bandwidth();
    println!("streaming: {stream:.1} GB/s");
    println!(
        "{:16} {:>10} {:>11} {:>9} {:>9} {:>9}  method",
        "case", "CPU s", "bound", "sweep s", "of stream", "peak MiB"
    );
    for case in cases {
        match make(case) {
            Some(family) => measure(case, &family, runs, stream),
            None if case == "walls" => walls(),
            None => {
                eprintln!(
                    "unknown case {case:?}; expected one of {}, garnet10m, layered10m",
                    CASES.join(", ")
                );
                std::process::exit(2);
            }
        }
    }
}

fn make(case: &str) -> Option<Family> {
    Some(match case {
        "maze50" => Maze::new(50, 0).family(),
        "maze200" => Maze::new(200, 0).family(),
        "maze500" => Maze::new(500, 0).family(),
        "garnet2k" => families::garnet(2_000, 5, 10, 0),
        "garnet100k" => families::garnet(100_000, 5, 10, 0),
        "garnet10m" => families::garnet(10_000_000, 2, 5, 0),
        "layered1m" => families::layered(2_000, 500, 0),
        "layered10m" => families::layered(10_000, 1_000, 0),
        "corridor10k" => families::corridor(10_000, None),
        "corridor1m" => families::corridor(1_000_000, None),
        "corridor1m_shuf" => families::corridor(1_000_000, Some(0)),
        _ => return None,
    })
}

fn measure(case: &str, family: &Family, runs: usize, stream: f64) {
    let Family { mdp, rewards, discount } = family;
    let (mut best, mut solution) = (f64::INFINITY, None);
    for _ in 0..runs {
        let start = cpu_seconds();
        let solved = solve_discounted(mdp, rewards, *discount, Direction::Maximize, None, &LIMITS);
        best = best.min(cpu_seconds() - start);
        solution = solved.ok();
    }
    let Some(solution) = solution else { return };
    assert!(solution.converged, "{case}: {:?}", solution.explanation);
    let bound = solution.lower.iter().zip(&solution.upper).map(|(l, u)| 0.5 * (u - l)).fold(0.0, f64::max);
    let peak = peak_mib();
    let sweep = sweep_seconds(family);
    let bytes = 12 * mdp.n_arcs() + 12 * mdp.n_choices() + 24 * mdp.n_states();
    let share = bytes as f64 / sweep / 1e9 / stream;
    let method = solution.explanation.join("; ");
    println!("{case:16} {best:10.5} {bound:11.2e} {sweep:9.5} {share:9.2} {peak:9.0}  {method}");
}

/// The CPU time of one sweep over all choices.
fn sweep_seconds(family: &Family) -> f64 {
    let n_sweeps = (100_000_000 / family.mdp.n_arcs()).clamp(2, 200);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let mut values = vec![0.0; family.mdp.n_states()];
        let mut timed = |n_sweeps| {
            let start = cpu_seconds();
            let result = sweep_values(
                &family.mdp,
                &family.rewards,
                family.discount,
                Direction::Maximize,
                &mut values,
                n_sweeps,
            );
            assert!(result.is_ok(), "{result:?}");
            cpu_seconds() - start
        };
        best = best.min((timed(n_sweeps + 1) - timed(1)).max(1e-9) / n_sweeps as f64);
    }
    best
}

fn walls() {
    let maze = Maze::new(500, 0);
    let family = maze.family();
    let Family { mdp, rewards, discount } = &family;
    let mut fresh = f64::INFINITY;
    for _ in 0..3 {
        let start = cpu_seconds();
        let solved = solve_discounted(mdp, rewards, *discount, Direction::Maximize, None, &LIMITS);
        fresh = fresh.min(cpu_seconds() - start);
        assert!(solved.is_ok_and(|s| s.converged));
    }
    let Ok(mut repair) = Repair::new(mdp, rewards, *discount, Direction::Maximize, &LIMITS) else { return };
    let mut random = Random::from_seed(7);
    let mut shares = Vec::new();
    for _ in 0..50 {
        let wall = random.below(maze.n_states() as u32 - 1) as usize;
        let rows = maze.changes(wall);
        let change =
            |s: usize, a: usize, outcomes| Change::Outcomes { choice: mdp.choices[s] + a as u32, outcomes };
        let close: Vec<_> = rows.iter().map(|(s, a, outcomes)| change(*s, *a, outcomes.clone())).collect();
        let open: Vec<_> = rows.iter().map(|(s, a, _)| change(*s, *a, maze.outcomes(*s, *a, None))).collect();
        for changes in [close, open] {
            let start = cpu_seconds();
            let repaired = repair.apply(&changes, &LIMITS);
            shares.push((cpu_seconds() - start) / fresh);
            assert!(repaired.is_ok_and(|r| r.converged));
        }
    }
    shares.sort_by(f64::total_cmp);
    let median = shares[shares.len() / 2];
    let worst = shares[shares.len() - 1];
    println!(
        "walls            fresh {fresh:.3} s; 50 walls closed and opened: median 1/{:.0}, worst 1/{:.1} of that",
        1.0 / median,
        1.0 / worst
    );
}

/// Reads 100 MB in order, the best of five.
fn streaming_bandwidth() -> f64 {
    let block = vec![1.0_f64; 12_500_000];
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = cpu_seconds();
        let mut sums = [0.0; 16];
        for chunk in block.chunks_exact(16) {
            sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
        }
        std::hint::black_box(sums);
        best = best.min(cpu_seconds() - start);
    }
    8.0 * block.len() as f64 / best / 1e9
}

/// CPU seconds of this thread, which does all the work with `threads: 1`.
fn cpu_seconds() -> f64 {
    // The scheduler updates its figure when it runs: yielding makes it current.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

fn peak_mib() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|l| l.split_whitespace().nth(1)).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0)
        / 1024.0
}
