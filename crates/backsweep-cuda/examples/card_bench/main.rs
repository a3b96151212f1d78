//! Measures the card: time per sweep, whole solves with the processor's proof, and that nothing but speed differs.
//!
//! `cargo run --release -p backsweep-cuda --example card_bench` runs every case, each in a process of its own; names of cases as
//! arguments select. See `CASES` for what there is.

#[path = "../../tests/it/host.rs"]
mod host;
mod models;

use backsweep_cuda::{
    Card, CardEngine, Layout, LayoutOptions, Prepared, Proposal, SweepEngine, Task, memory,
};
use backsweep_mdp::{Direction, Mdp, MdpBuilder, NO_CHOICE, Objective};
use backsweep_solve::{Limits, Start, solve, solve_from};
use host::HostEngine;
use std::error::Error;
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error>>;

/// A name, the most seconds that the case may take, and what it does.
type Case = (&'static str, u64, fn(&Card) -> Outcome);

const CASES: [Case; 10] = [
    ("tiny", 60, tiny),
    ("bits", 60, bits),
    ("grid", 120, grid),
    ("solve-grid", 120, solve_grid),
    ("solve-maze", 90, solve_maze),
    ("garnet", 150, garnet),
    ("solve-garnet", 120, solve_garnet),
    ("sizes", 120, sizes),
    ("rows", 60, long_rows),
    ("grid3", 150, three_billion),
];

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &chosen[..]
        && flag == "--case"
    {
        return run(name);
    }
    let known = |name: &&String| CASES.iter().any(|case| case.0 == **name);
    if let Some(unknown) = chosen.iter().find(|name| !known(name)) {
        eprintln!("unknown case '{unknown}'; expected some of {:?}", CASES.map(|case| case.0));
        std::process::exit(2);
    }
    let began = Instant::now();
    for (name, seconds, _) in CASES {
        if !chosen.is_empty() && !chosen.iter().any(|chosen| chosen == name) {
            continue;
        }
        println!("== {name}");
        in_a_process(name, Duration::from_secs(seconds));
        println!("== {name} ended; {:.1} s since the start", began.elapsed().as_secs_f64());
    }
}

/// Runs a case in a process of its own, so that a fault on the card ends that case alone.
fn in_a_process(name: &str, limit: Duration) {
    let began = Instant::now();
    let program = std::env::current_exe().expect("a program knows its path");
    let Ok(mut child) = std::process::Command::new(program).args(["--case", name]).spawn() else {
        return println!("{name}: could not start");
    };
    loop {
        match child.try_wait() {
            Ok(None) if began.elapsed() < limit => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                drop(child.kill());
                drop(child.wait());
                return println!("{name}: FAILED: it took more than {} s", limit.as_secs());
            }
            Ok(Some(status)) if status.success() => return,
            other => return println!("{name}: FAILED: {other:?}"),
        }
    }
}

fn run(name: &str) {
    let began = Instant::now();
    let done = Card::open().map_err(Into::into).and_then(|card| {
        println!("{}: opened in {:.2} s, {} threads", card.name()?, seconds(began), threads());
        let case = CASES.iter().find(|case| case.0 == name).ok_or("no such case")?;
        (case.2)(&card)
    });
    if let Err(error) = done {
        println!("{name}: FAILED: {error}");
        std::process::exit(1);
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    println!("  {what}: {:.2} s", seconds(began));
    done
}

fn task<'a>(mdp: &'a Mdp, discount: f64, tolerance: f64) -> Task<'a> {
    let direction = Direction::Maximize;
    let rewards = &mdp.rewards[0].choices;
    Task { mdp, rewards, discount, direction, tolerance, stop: &|| false, threads: threads() }
}

/// Sweeps, gathers and policy sweeps of the card against those of the processor, bit for bit.
fn bits(card: &Card) -> Outcome {
    omitting(card, 700, 0.95)?;
    same_bits(
        card,
        [
            ("grid", models::grid(60)),
            ("maze", models::maze(90)),
            ("garnet", models::garnet(20_000, 3, 7)),
            ("uneven", uneven(400, 30, 40)),
            ("long rows", uneven(60, 3, 3000)),
            ("many choices", uneven(20, 3000, 3)),
        ],
    )
}

/// The same with models of a few blocks.
fn tiny(card: &Card) -> Outcome {
    omitting(card, 150, 0.7)?;
    same_bits(
        card,
        [
            ("maze", models::maze(20)),
            ("many choices", uneven(3, 1500, 3)),
            ("uneven", uneven(60, 6, 20)),
            ("long rows", uneven(6, 3, 1500)),
            ("grid", models::grid(12)),
            ("garnet", models::garnet(300, 3, 7)),
        ],
    )
}

fn same_bits(card: &Card, models: [(&str, Mdp); 6]) -> Outcome {
    let mut compared = 0;
    for (name, mdp) in &models {
        for passes in [1, 2, 5] {
            for uncoded in [false, true] {
                let local = Some(!uncoded);
                let options = LayoutOptions { passes: Some(passes), uncoded, local, threads: 1 };
                let prepared = Prepared::new(&task(mdp, 0.9, 1e-6), &options)?;
                let what = format!("{name}, {passes} passes, uncoded {uncoded}");
                compare(card, &prepared, &what)?;
                compared += 1;
            }
        }
        println!("  {name}: the same bits");
    }
    println!("bits: {compared} layouts give the same bits on the card and on the processor");
    // And the answers of whole solves.
    for (name, mdp) in &models {
        let prepared = Prepared::new(&task(mdp, 0.99, 1e-6), &LayoutOptions::default())?;
        let proposal = |engine: &mut dyn SweepEngine| prepared.run(engine);
        let new = || CardEngine::new(card, &prepared.layout, &prepared.rewards, 0.99, 1);
        let (first, second) = (proposal(&mut new()?)?, proposal(&mut new()?)?);
        if !same(&first.values, &second.values) {
            return Err(format!("{name}: two runs differ").into());
        }
        let (work, sweeps) = prove(mdp, 0.99, 1e-6, first)?;
        println!(
            "  {name}: twice the same bits; {work}, {sweeps} sweep(s) of the processor, inside its intervals"
        );
    }
    Ok(())
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

fn compare(card: &Card, prepared: &Prepared, what: &str) -> Outcome {
    let mut host = HostEngine::new(&prepared.layout, &prepared.rewards, 0.9);
    let mut engine = CardEngine::new(card, &prepared.layout, &prepared.rewards, 0.9, 1)?;
    for round in 0..3 {
        let (a, b) = (host.sweep()?, engine.sweep()?);
        if a != b {
            return Err(
                format!("{what}: sweep {round} changed {b:?} on the card, {a:?} on the processor").into()
            );
        }
        if host.policy() != engine.policy()? || !same(&host.values()?, &engine.values()?) {
            return Err(format!("{what}: sweep {round} differs").into());
        }
        host.gather()?;
        engine.gather()?;
        for i in 0..3 {
            if host.policy_sweep(i > 0)? != engine.policy_sweep(i > 0)?
                || !same(&host.values()?, &engine.values()?)
            {
                return Err(format!("{what}: policy sweep {i} of round {round} differs").into());
            }
        }
        host.shift(0.125)?;
        engine.shift(0.125)?;
    }
    // Without anything between them, sweeps of a local layout omit what did not change.
    for round in 0..4 {
        if host.sweep()? != engine.sweep()? || !same(&host.values()?, &engine.values()?) {
            return Err(format!("{what}: sweep {round} of those in a row differs").into());
        }
    }
    Ok(())
}

/// A whole solve that omits tiles against one that omits none.
fn omitting(card: &Card, side: usize, discount: f64) -> Outcome {
    let mdp = models::maze(side);
    let options = LayoutOptions { local: Some(true), ..LayoutOptions::default() };
    let prepared = Prepared::new(&task(&mdp, discount, 1e-4), &options)?;
    let mut host = HostEngine::new(&prepared.layout, &prepared.rewards, discount);
    let mut engine = CardEngine::new(card, &prepared.layout, &prepared.rewards, discount, 1)?;
    let (expected, found) = (prepared.run(&mut host)?, prepared.run(&mut engine)?);
    if expected.work != found.work || !same(&expected.values, &found.values) {
        return Err(format!("maze {side}: omitting tiles changes values").into());
    }
    println!(
        "  maze {side}: omitting tiles changes no bit; {:?}, {} tiles of {}",
        found.work,
        engine.n_swept(),
        engine.n_tiles()
    );
    let (_, sweeps) = prove(&mdp, discount, 1e-4, found)?;
    println!("  {sweeps} sweep(s) of the processor");
    Ok(())
}

/// Proves a proposal and compares it with what the processor finds alone; says what the card did.
fn prove(
    mdp: &Mdp,
    discount: f64,
    tolerance: f64,
    proposal: Proposal,
) -> Result<(String, u64), Box<dyn Error>> {
    let question = Objective::Discounted { reward: None, discount }.maximize();
    let limits = Limits { tolerance, threads: threads(), ..Limits::default() };
    let work = format!("{:?}", proposal.work);
    let (proven, _) = solve_from(mdp, &question, &Start { values: proposal.values }, &limits)?;
    let alone = solve(mdp, &question, None, &limits)?;
    let apart = |s: &usize| proven.lower[*s] > alone.upper[*s] || proven.upper[*s] < alone.lower[*s];
    match (0..mdp.n_states()).find(apart) {
        Some(state) => {
            Err(format!("state {state}: the card's proof and the processor's contradict each other").into())
        }
        None if !proven.converged => Err("not converged".into()),
        None => Ok((work, proven.iterations)),
    }
}

/// A model with rows of all lengths up to a limit.
fn uneven(n_states: u32, most_choices: u32, most_arcs: u32) -> Mdp {
    let mut builder = MdpBuilder::default();
    let mut rewards = Vec::new();
    let mut place = 0;
    let mut draw = |below: u32| {
        place += 1;
        (models::unit(9, place) * f64::from(below)) as u32
    };
    for _ in 0..n_states {
        for _ in 0..1 + draw(most_choices) {
            let n_arcs = 1 + draw(most_arcs);
            (0..n_arcs).for_each(|_| builder.add_arc(draw(n_states), 1.0 / f64::from(n_arcs)));
            builder.end_choice();
            rewards.push(f64::from(draw(100)) / 100.0);
        }
        builder.end_state();
    }
    let mut mdp = builder.finish().expect("rows by formula are right");
    mdp.rewards.push(backsweep_mdp::Rewards { choices: rewards, ..Default::default() });
    mdp
}

/// The sweep of one processor core, and its time.
fn core_sweep(mdp: &Mdp, discount: f64, values: &[f64]) -> (Vec<f64>, f64) {
    let began = Instant::now();
    let rewards = &mdp.rewards[0].choices;
    let mut next = vec![0.0; mdp.n_states()];
    let mut policy = vec![NO_CHOICE; mdp.n_states()];
    for state in 0..mdp.n_states() {
        let mut best = (f64::NEG_INFINITY, NO_CHOICE);
        for choice in mdp.choices_of(state) {
            let (targets, probabilities) = mdp.row(choice);
            let mut sum = 0.0;
            for (&target, &p) in targets.iter().zip(probabilities) {
                sum += p * values[target as usize];
            }
            let value = rewards[choice] + discount * sum;
            if value > best.0 {
                best = (value, choice as u32);
            }
        }
        (next[state], policy[state]) = best;
    }
    (next, seconds(began))
}

/// Times sweeps of a layout, checks them against one core, and prints a line. Returns the values of the first two sweeps.
fn sweeps(
    card: &Card,
    mdp: &Mdp,
    what: &str,
    options: &LayoutOptions,
    times: usize,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let options = LayoutOptions { threads: threads(), ..*options };
    let began = Instant::now();
    let layout = Layout::new(mdp, &options);
    let laid_out = seconds(began);
    let began = Instant::now();
    let mut engine = CardEngine::new(card, &layout, &mdp.rewards[0].choices, 0.99, threads())?;
    let uploaded = seconds(began);
    engine.sweep()?;
    engine.sweep()?;
    let values = engine.values()?;
    let mut per_sweep = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        engine.sweep()?;
        per_sweep.push(seconds(began));
    }
    let began = Instant::now();
    engine.gather()?;
    engine.wait()?;
    let gathered = seconds(began);
    engine.policy_sweep(true)?;
    let began = Instant::now();
    (0..5 * times).try_for_each(|i| engine.policy_sweep(i % 5 == 4).map(drop))?;
    engine.wait()?;
    let per_policy = seconds(began) / (5 * times) as f64;
    per_sweep.sort_by(f64::total_cmp);
    let middle = per_sweep[times / 2];
    println!(
        "{what}: {} states, {} arcs, {} passes, {} B per arc, {:.1} GB | sweep {:.3} ms (fastest {:.3}) = {:.2} TB/s of 12-byte \
         arcs | policy sweep {:.3} ms | gather {:.3} ms | laid out {laid_out:.2} s, uploaded {uploaded:.2} s",
        mdp.n_states(),
        mdp.n_arcs(),
        layout.passes(),
        layout.bytes_per_arc(),
        memory(&layout) as f64 / 1e9,
        1e3 * middle,
        1e3 * per_sweep[0],
        12.0 * mdp.n_arcs() as f64 / middle / 1e12,
        1e3 * per_policy,
        1e3 * gathered,
    );
    Ok(values)
}

/// Sweeps in several layouts against one core.
fn against_core(card: &Card, mdp: &Mdp, name: &str, layouts: &[LayoutOptions], times: usize) -> Outcome {
    let (first, _) = core_sweep(mdp, 0.99, &vec![0.0; mdp.n_states()]);
    let (expected, core) = core_sweep(mdp, 0.99, &first);
    println!("{name}: one core takes {:.2} ms per sweep", 1e3 * core);
    for options in layouts {
        let found = sweeps(card, mdp, name, options, times)?;
        let most = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!(
            "  against one core: {} apart at most{}",
            most,
            if most == 0.0 { ", not a bit" } else { "" }
        );
        if most > 1e-9 {
            return Err(format!("{name}: the card and one core differ by {most}").into());
        }
    }
    Ok(())
}

const PLAIN: LayoutOptions = LayoutOptions { passes: Some(1), uncoded: true, local: Some(false), threads: 0 };
const CODED: LayoutOptions =
    LayoutOptions { passes: Some(1), uncoded: false, local: Some(false), threads: 0 };

fn copy_speed(card: &Card) -> Outcome {
    let (n, times) = (1 << 30, 5);
    let elapsed = card.copy_numbers(n, times)?.as_secs_f64();
    println!("copy within the card: {:.2} TB/s, read and written", (16 * n * times) as f64 / elapsed / 1e12);
    Ok(())
}

fn grid(card: &Card) -> Outcome {
    copy_speed(card)?;
    let mdp = timed("model", || models::grid(4096));
    against_core(card, &mdp, "grid 4096", &[PLAIN, CODED], 20)?;
    let first = sweeps(card, &mdp, "grid 4096 again", &PLAIN, 20)?;
    let second = sweeps(card, &mdp, "grid 4096 again", &PLAIN, 20)?;
    println!("  twice the same bits: {}", same(&first, &second));
    Ok(())
}

fn three_billion(card: &Card) -> Outcome {
    let mdp = timed("model", || models::grid(7000));
    sweeps(card, &mdp, "grid 7000", &PLAIN, 10)?;
    sweeps(card, &mdp, "grid 7000", &CODED, 10).map(drop)
}

fn garnet(card: &Card) -> Outcome {
    let mdp = timed("model", || models::garnet(20_000_000, 5, 10));
    let in_passes = |passes| LayoutOptions { passes: Some(passes), ..LayoutOptions::default() };
    let automatic = LayoutOptions::default();
    let layouts = [automatic, PLAIN, in_passes(3), in_passes(4), in_passes(6), in_passes(8)];
    against_core(card, &mdp, "garnet 20M", &layouts, 10)
}

fn sizes(card: &Card) -> Outcome {
    for side in [316, 1000, 3162, 10_000] {
        let mdp = models::maze(side);
        let times = if side > 5000 { 5 } else { 20 };
        against_core(card, &mdp, &format!("maze {side}"), &[LayoutOptions::default()], times)?;
        if side <= 1000 {
            whole(card, &mdp, &format!("maze {side}"), 0.99, 1e-6)?;
            let question = Objective::Discounted { reward: None, discount: 0.99 }.maximize();
            let limits = Limits { threads: threads(), ..Limits::default() };
            let alone = timed("the processor alone, all cores", || solve(&mdp, &question, None, &limits))?;
            println!("  {}", alone.explanation.join("; "));
        }
    }
    for n in [100_000, 1_000_000, 10_000_000] {
        let mdp = models::garnet(n, 4, 5);
        against_core(card, &mdp, &format!("garnet {n}"), &[LayoutOptions::default()], 10)?;
    }
    Ok(())
}

fn long_rows(card: &Card) -> Outcome {
    let cases = [
        ("rows of 2", 2_000_000, 4, 2),
        ("rows of 100", 100_000, 4, 100),
        ("rows of 250", 40_000, 4, 250),
        ("rows of 300", 40_000, 4, 300),
        ("rows of 2,000", 5000, 4, 2000),
        ("rows of 100,000", 100, 4, 100_000),
        ("two rows of 20 million", 1, 2, 20_000_000),
        ("10,000 choices", 1000, 10_000, 3),
        ("two states of 5 million choices", 2, 5_000_000, 2),
    ];
    for (name, n_states, n_choices, n_arcs) in cases {
        let mdp = models::garnet(n_states, n_choices, n_arcs);
        against_core(card, &mdp, name, &[LayoutOptions::default()], 5)?;
    }
    Ok(())
}

/// A whole solve: laid out, copied, swept on the card, proven by the processor.
fn whole(card: &Card, mdp: &Mdp, name: &str, discount: f64, tolerance: f64) -> Outcome {
    let began = Instant::now();
    let task = task(mdp, discount, tolerance);
    let prepared = timed("laid out", || Prepared::new(&task, &LayoutOptions::default()))?;
    let upload = || CardEngine::new(card, &prepared.layout, &prepared.rewards, discount, threads());
    let mut engine = timed("uploaded", upload)?;
    let proposal = timed("swept on the card, values copied back", || prepared.run(&mut engine))?;
    println!(
        "  {:?}, {} B per arc; {:.1} sweeps' worth of tiles, local {}",
        proposal.work,
        prepared.layout.bytes_per_arc(),
        engine.n_swept() as f64 / engine.n_tiles() as f64,
        prepared.layout.local
    );
    drop(engine);
    drop(prepared);
    let question = Objective::Discounted { reward: None, discount }.maximize();
    let limits = Limits { tolerance, threads: threads(), ..Limits::default() };
    let start = Start { values: proposal.values };
    let (proven, _) = timed("proven by the processor", || solve_from(mdp, &question, &start, &limits))?;
    let widest = proven.lower.iter().zip(&proven.upper).map(|(l, u)| u - l).fold(0.0, f64::max);
    println!(
        "{name}: whole solve {:.2} s, discount {discount}, tolerance {tolerance:e}: converged {}, intervals at most {widest:.2e} wide, \
         {} sweep(s) of the processor",
        seconds(began),
        proven.converged,
        proven.iterations
    );
    Ok(())
}

fn solve_grid(card: &Card) -> Outcome {
    let mdp = timed("model", || models::grid(4096));
    whole(card, &mdp, "grid 4096", 0.99, 1e-4)?;
    whole(card, &mdp, "grid 4096 again", 0.99, 1e-4)
}

fn solve_maze(card: &Card) -> Outcome {
    let mdp = timed("model", || models::maze(4096));
    whole(card, &mdp, "maze 4096", 0.99, 1e-4)?;
    whole(card, &mdp, "maze 4096 again", 0.99, 1e-4)
}

fn solve_garnet(card: &Card) -> Outcome {
    let mdp = timed("model", || models::garnet(20_000_000, 5, 10));
    whole(card, &mdp, "garnet 20M", 0.99, 1e-6)
}
