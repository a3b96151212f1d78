//! `backsweep bench --solve`: how fast known models are solved and repaired.
//!
//! All figures are CPU seconds of the single working thread. Making or reading a model is not counted. Each row is printed
//! as soon as it is measured; with `--json` all are printed at the end.

use super::BenchArguments;
use crate::error::{Error, Result};
use crate::{loading, output};
use backsweep::Random;
use backsweep_bench::families::{self, Family, MazeModel, applied};
use backsweep_bench::{peak_memory, reset_peak_memory, thread_time};
use backsweep_mdp::{Change, Direction, Mdp, Objective, Question};
use backsweep_solve::{Limits, Repair, Solution, solve};
use serde_json::{Value, json};

const LIMITS: Limits = Limits { tolerance: 1e-4, relative: 0.0, stop: &|| false, threads: 1 };

/// The walls of `walls`, each closed and opened again.
const WALLS: usize = 50;

/// The name of a case, and its model; `walls` measures repairs.
type SolveCase = (&'static str, Option<fn() -> Family>);

/// All cases. The last [`N_LARGE`] are too large to run by default.
const CASES: [SolveCase; 23] = [
    ("layered1m", Some(|| families::layered(2_000, 500, 0))),
    ("corridor10k", Some(|| families::corridor(10_000, None))),
    ("corridor1m", Some(|| families::corridor(1_000_000, None))),
    ("corridor1m_shuf", Some(|| families::corridor(1_000_000, Some(0)))),
    ("maze50", Some(|| MazeModel::new(50, 0).family())),
    ("maze200", Some(|| MazeModel::new(200, 0).family())),
    ("maze500", Some(|| MazeModel::new(500, 0).family())),
    ("garnet2k", Some(|| families::garnet(2_000, 5, 10, 0))),
    ("garnet100k", Some(|| families::garnet(100_000, 5, 10, 0))),
    ("inventory200", Some(|| applied::inventory(200, 0.999))),
    ("products30", Some(|| applied::two_products(30, 0.999))),
    ("car150", Some(|| applied::mountain_car(150, 0.999))),
    ("pendulum101", Some(|| applied::pendulum(101, 0.999))),
    ("queues100", Some(|| applied::tandem_queue(100, 0.999))),
    ("epidemic40", Some(|| applied::epidemic(40, 0.999))),
    ("gambler500", Some(|| applied::gambler(500, 0.999))),
    ("replacement5k", Some(|| applied::replacement(5_000, 0.999))),
    ("forest20k", Some(|| applied::forest(20_000, 0.999))),
    ("selfloops2k", Some(|| applied::self_loops(2_000, 0.999))),
    ("torus80", Some(|| applied::torus(80, 0.999))),
    ("walls", None),
    ("garnet10m", Some(|| families::garnet(10_000_000, 2, 5, 0))),
    ("layered10m", Some(|| families::layered(10_000, 1_000, 0))),
];

const N_LARGE: usize = 2;

/// Measures the cases that the arguments select.
pub fn run(arguments: &BenchArguments) -> Result<()> {
    let find = |name: &String| {
        CASES.iter().find(|case| case.0 == name).ok_or_else(|| {
            let expected = CASES.map(|case| case.0).join(", ");
            Error::new(format!("--cases: found '{name}'; expected some of {expected}"))
        })
    };
    let cases: Vec<_> = match &arguments.cases[..] {
        [] if arguments.model.is_some() => Vec::new(),
        [] if arguments.large => CASES.iter().collect(),
        [] => CASES[..CASES.len() - N_LARGE].iter().collect(),
        named => named.iter().map(find).collect::<Result<_>>()?,
    };
    let own = arguments.model.is_some().then(|| read(arguments)).transpose()?;

    let bench =
        Bench { runs: arguments.runs, streaming: streaming_bandwidth(), table: !arguments.options.json };
    bench.say(format_args!(
        "CPU seconds at tolerance {:e}, fastest of {}; memory is read in order at {:.1} GB/s\n\n{:16} {:>9} {:>10} {:>10} {:>9} \
         {:>10} {:>9} {:>8}  method",
        LIMITS.tolerance,
        bench.runs,
        bench.streaming,
        "case",
        "states",
        "arcs",
        "CPU s",
        "bound",
        "sweep s",
        "of memory",
        "MiB"
    ));
    let mut rows = Vec::new();
    if let Some((name, family, direction)) = own {
        rows.push(bench.solve(&name, &family, direction)?);
    }
    for (case, make) in cases {
        rows.push(match make {
            Some(make) => bench.solve(case, &make(), Direction::Maximize)?,
            None => bench.walls()?,
        });
    }
    if arguments.options.json {
        let all = json!({ "tolerance": LIMITS.tolerance, "runs": bench.runs, "streaming_gb_per_s": bench.streaming, "rows": rows });
        output::result(serde_json::to_string_pretty(&all)?);
    }
    Ok(())
}

/// The model that the caller names.
fn read(arguments: &BenchArguments) -> Result<(String, Family, Direction)> {
    let path = arguments.model.clone().unwrap_or_default();
    let mdp = loading::load(&path, arguments.format)?;
    mdp.rewards(None).map_err(|error| Error::at(path.display(), error))?;
    let name = path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let direction = if arguments.minimize { Direction::Minimize } else { Direction::Maximize };
    Ok((name, Family { mdp, discount: arguments.discount.unwrap_or(0.99) }, direction))
}

struct Bench {
    runs: u32,
    /// Bytes per nanosecond.
    streaming: f64,
    /// True if rows are printed as they are measured.
    table: bool,
}

impl Bench {
    fn say(&self, line: std::fmt::Arguments) {
        if self.table {
            output::result(line);
        }
    }

    /// Solves a model from scratch and measures one sweep over all of its choices.
    fn solve(&self, case: &str, family: &Family, direction: Direction) -> Result<Value> {
        reset_peak_memory();
        let (seconds, solution) = self.fresh(case, family, direction)?;
        let peak = peak_memory();
        let width = |(lower, upper): (&f64, &f64)| 0.5 * (upper - lower);
        let bound = solution.lower.iter().zip(&solution.upper).map(width).fold(0.0, f64::max);
        let mdp = &family.mdp;
        let sweep = sweep_seconds(family, direction)?;
        // Targets and probabilities; row starts and rewards; values read and written, and the policy.
        let bytes = 12 * mdp.n_arcs() + 12 * mdp.n_choices() + 24 * mdp.n_states();
        let share = bytes as f64 / sweep / 1e9 / self.streaming;
        let mib = peak.map_or("-".to_owned(), |bytes| format!("{:.0}", bytes as f64 / f64::from(1 << 20)));
        let method = solution.explanation.join("; ");
        let (states, arcs) = (mdp.n_states(), mdp.n_arcs());
        self.say(format_args!(
            "{case:16} {states:>9} {arcs:>10} {seconds:>10.5} {bound:>9.1e} {sweep:>10.6} {share:>9.2} {mib:>8}  {method}"
        ));
        Ok(json!({
            "case": case, "states": states, "choices": mdp.n_choices(), "arcs": arcs, "cpu_seconds": seconds, "bound": bound,
            "sweep_cpu_seconds": sweep, "sweep_share_of_streaming": share, "peak_memory": peak, "method": method,
        }))
    }

    /// The fastest of several solves.
    fn fresh(&self, case: &str, family: &Family, direction: Direction) -> Result<(f64, Solution)> {
        let question = question(family, direction);
        let mut best: Option<(f64, Solution)> = None;
        for _ in 0..self.runs {
            let (seconds, solved) = timed(|| solve(&family.mdp, &question, None, &LIMITS));
            let solution = solved.map_err(|error| Error::at(case, error))?;
            if !solution.converged {
                let why = solution.explanation.join("; ");
                return Err(Error::new(format!("{case}: the tolerance was not reached ({why})")));
            }
            if best.as_ref().is_none_or(|best| seconds < best.0) {
                best = Some((seconds, solution));
            }
        }
        best.ok_or_else(|| Error::new("--runs: expected at least 1"))
    }

    /// One cell of the 500 x 500 maze becomes a wall, and free again: repairs relative to a fresh solve.
    fn walls(&self) -> Result<Value> {
        let maze = MazeModel::new(500, 0);
        let family = maze.family();
        let (fresh, _) = self.fresh("walls", &family, Direction::Maximize)?;
        let mdp = &family.mdp;
        let mut repair = Repair::new(mdp, &question(&family, Direction::Maximize), &LIMITS)?;
        let mut random = Random::from_seed(7);
        let mut seconds = Vec::new();
        for _ in 0..WALLS {
            let wall = random.below(maze.n_states() as u32 - 1) as usize;
            let rows = maze.changes(wall);
            let change = |s: usize, a: usize, outcomes| Change::Outcomes {
                choice: mdp.choice_starts()[s] + a as u32,
                outcomes,
            };
            let close: Vec<_> =
                rows.iter().map(|(s, a, outcomes)| change(*s, *a, outcomes.clone())).collect();
            let open: Vec<_> =
                rows.iter().map(|(s, a, _)| change(*s, *a, maze.outcomes(*s, *a, None))).collect();
            for changes in [close, open] {
                let (took, repaired) = timed(|| repair.apply(&changes, &LIMITS));
                if !repaired?.converged {
                    return Err(Error::new("walls: a repair did not reach the tolerance"));
                }
                seconds.push(took);
            }
        }
        seconds.sort_by(f64::total_cmp);
        let (median, worst) = (seconds[seconds.len() / 2], seconds[seconds.len() - 1]);
        self.say(format_args!(
            "walls            {WALLS} walls of maze500 closed and opened, relative to a fresh solve ({fresh:.3} s): median 1/{:.0}, \
             worst 1/{:.1}",
            fresh / median,
            fresh / worst
        ));
        Ok(json!({
            "case": "walls", "repairs": seconds.len(), "fresh_cpu_seconds": fresh, "median_cpu_seconds": median,
            "worst_cpu_seconds": worst,
        }))
    }
}

/// CPU seconds of a call, and what it returns.
fn timed<T>(call: impl FnOnce() -> T) -> (f64, T) {
    let start = thread_time();
    let done = call();
    ((thread_time() - start).as_secs_f64(), done)
}

fn question(family: &Family, direction: Direction) -> Question {
    Question { objective: Objective::Discounted { reward: None, discount: family.discount }, direction }
}

/// The CPU time of one sweep over all choices.
fn sweep_seconds(family: &Family, direction: Direction) -> Result<f64> {
    let Family { mdp, discount } = family;
    let sign = direction.sign();
    let rewards: Vec<f64> = mdp.expected_rewards(None)?.into_iter().map(|reward| sign * reward).collect();
    let n_sweeps = (100_000_000 / mdp.n_arcs().max(1)).clamp(2, 200);
    let (mut values, mut next) = (vec![0.0; mdp.n_states()], vec![0.0; mdp.n_states()]);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let (seconds, ()) = timed(|| {
            for _ in 0..n_sweeps {
                sweep(mdp, &rewards, *discount, &values, &mut next);
                std::mem::swap(&mut values, &mut next);
            }
        });
        best = best.min(seconds / n_sweeps as f64);
    }
    std::hint::black_box(values);
    Ok(best)
}

/// Backs up all states from the previous values: plain value iteration.
fn sweep(mdp: &Mdp, rewards: &[f64], discount: f64, values: &[f64], next: &mut [f64]) {
    for (state, next) in next.iter_mut().enumerate() {
        let mut best = f64::NEG_INFINITY;
        for choice in mdp.choices_of(state) {
            let (targets, probabilities) = mdp.row(choice);
            let terms = targets.iter().zip(probabilities).map(|(&target, p)| p * values[target as usize]);
            best = best.max(rewards[choice] + discount * terms.sum::<f64>());
        }
        *next = if mdp.choices_of(state).is_empty() { 0.0 } else { best };
    }
}

/// Gigabytes per second of reading 100 MB in order, the best of five.
fn streaming_bandwidth() -> f64 {
    let block = vec![1.0_f64; 12_500_000];
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (seconds, _) = timed(|| {
            let mut sums = [0.0; 16];
            for chunk in block.chunks_exact(16) {
                sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
            }
            std::hint::black_box(sums)
        });
        best = best.min(seconds);
    }
    8.0 * block.len() as f64 / best / 1e9
}
