//! Mean scores of the default agent: `cargo run --release -p backsweep-worlds --example explore_means -- SEED RUNS WORLD…`.
//! One line per world: its name, the mean over runs, the median, the worst run, and how many runs did not reach their goal.
//! `scripts/explore-ablation` runs it with one term of the bonus taken out at a time.

use backsweep::Random;
use backsweep_worlds::{AgentSettings, RunScore, world};
use std::sync::atomic::{AtomicU64, Ordering};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seed, n_runs, worlds @ ..] = &arguments[..] else {
        return Err("expected SEED RUNS WORLD…".into());
    };
    let (seed, n_runs): (u64, u64) = (seed.parse()?, n_runs.parse()?);
    for name in worlds {
        let more_is_better = world(name, &mut Random::from_seed(0))?.score.more_is_better();
        let next = AtomicU64::new(0);
        // Each run draws from its own stream, so that figures do not depend on the number of threads.
        let run = |run: u64| -> Result<RunScore, String> {
            let mut random = Random::stream(seed, &[run]);
            let world = world(name, &mut random).map_err(|error| error.to_string())?;
            AgentSettings::default().run(&world, &mut random).map_err(|error| error.to_string())
        };
        let thread = || {
            let runs = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            runs.take_while(|&i| i < n_runs).map(run).collect::<Result<Vec<RunScore>, String>>()
        };
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        let found = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(thread)).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Result<Vec<_>, String>>()
        })?
        .concat();
        let scores = || found.iter().map(|run| run.score);
        let worst = if more_is_better { scores().reduce(f64::min) } else { scores().reduce(f64::max) };
        let n_missed = found.iter().filter(|run| !run.reached).count();
        let mean = scores().sum::<f64>() / n_runs as f64;
        let mut sorted: Vec<f64> = scores().collect();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN);
        println!("{name} {mean} {median} {} {n_missed}", worst.unwrap_or(f64::NAN));
    }
    Ok(())
}
