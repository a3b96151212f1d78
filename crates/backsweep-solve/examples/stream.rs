//! A model that is never in memory: writes it row by row, solves it from disk, and prints rates and memory.
//!
//! `cargo run --release -p backsweep-solve --example stream -- FOLDER [SIDE [MOVES]]`: a grid of SIDE × SIDE cells (default 1000),
//! four actions, each of which leads up to MOVES cells ahead (default 15), about 4 × MOVES arcs per cell. SIDE 4200 makes a
//! billion arcs and takes 17 GB.

use backsweep_mdp::{Direction, DiskMdp, DiskWriter};
use backsweep_solve::{Limits, solve_streamed};
use std::path::Path;
use std::time::Instant;

const DISCOUNT: f64 = 0.99;
const ARCS_PER_BLOCK: u64 = 1 << 22;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("stream: expected a folder with room for the model");
        std::process::exit(2);
    };
    let mut number = |default: u32| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (side, moves) = (number(1000), number(15));
    let path = Path::new(&folder).join(format!("grid-{side}-{moves}.umb"));
    if !path.exists()
        && let Err(error) = write(&path, side, moves)
    {
        eprintln!("stream: {error}");
        std::process::exit(2);
    }
    if let Err(error) = solve(&path) {
        eprintln!("stream: {error}");
        std::process::exit(2);
    }
}

/// Each step costs 1, and the last cell ends the episode. An action moves 1 to `moves` cells, each as likely.
fn write(path: &Path, side: u32, moves: u32) -> Result<(), backsweep_mdp::Error> {
    let began = Instant::now();
    let mut writer = DiskWriter::create(path)?;
    let (mut targets, probabilities) = (Vec::new(), vec![1.0 / f64::from(moves); moves as usize]);
    for cell in 0..side * side {
        let (row, column) = ((cell / side) as i64, (cell % side) as i64);
        if cell + 1 < side * side {
            for (action, (down, right)) in [(0, 1), (1, 0), (0, -1), (-1, 0)].into_iter().enumerate() {
                let ahead = |n: i64| {
                    let last = i64::from(side) - 1;
                    let (row, column) =
                        ((row + n * down).clamp(0, last), (column + n * right).clamp(0, last));
                    row as u32 * side + column as u32
                };
                targets.clear();
                targets.extend((1..=i64::from(moves)).map(ahead));
                writer.add_choice(action as u32, -1.0, &targets, &probabilities)?;
            }
        }
        writer.end_state()?;
    }
    writer.finish(&[0], &[])?;
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len()) as f64;
    let seconds = began.elapsed().as_secs_f64();
    println!("written: {:.2} GB in {seconds:.1} s, {:.2} GB/s", bytes / 1e9, bytes / 1e9 / seconds);
    Ok(())
}

fn solve(path: &Path) -> Result<(), backsweep_solve::Error> {
    let began = Instant::now();
    let disk = DiskMdp::open(path, ARCS_PER_BLOCK)?;
    println!(
        "opened: {} states, {} arcs, {} blocks in {:.1} s",
        disk.n_states(),
        disk.n_arcs(),
        disk.n_blocks(),
        began.elapsed().as_secs_f64()
    );
    let began = Instant::now();
    let limits = Limits { tolerance: 1e-4, ..Limits::default() };
    let solution = solve_streamed(&disk, None, DISCOUNT, Direction::Maximize, &limits, &|now| {
        if now.done == 0 {
            println!(
                "pass {}, {:.1} s, intervals {:.1e} wide",
                now.pass,
                began.elapsed().as_secs_f64(),
                now.width
            );
        }
    })?;
    let seconds = began.elapsed().as_secs_f64();
    // The last block of a pass is not read again.
    let read = disk.bytes_per_pass(0) as f64 * solution.passes as f64 / 1e9;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown").to_owned();
    println!(
        "solved: {} passes, {seconds:.1} s, {:.2} GB/s, {:.1} million arcs/s; value of the start {} to {}; converged {}; {}",
        solution.passes,
        read / seconds,
        disk.n_arcs() as f64 * solution.passes as f64 / 1e6 / seconds,
        solution.lower(0),
        solution.upper(0),
        solution.converged,
        peak.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    Ok(())
}
