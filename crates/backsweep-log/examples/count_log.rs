//! Counts a log whose columns have the usual names: `cargo run --release -p backsweep-log --example count_log -- log.csv`.

use backsweep_log::{Input, Spec, columns, read};
use std::time::Instant;

fn main() -> Result<(), backsweep_log::Error> {
    let inputs = Input::expand(&std::env::args().skip(1).collect::<Vec<_>>())?;
    let mut spec = Spec::default();
    for guess in spec.fill_in(&columns(&inputs[0])?)? {
        println!("{guess}");
    }
    let start = Instant::now();
    let log = read(&spec, &inputs, 0, &())?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = log.report.rows as f64 / seconds / 1e6;
    println!(
        "{} rows, {} counts in {seconds:.2} s: {rate:.1} million rows per second",
        log.report.rows,
        log.counts.rows.len()
    );
    Ok(())
}
