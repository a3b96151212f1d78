//! The speed of the update cycle: the library's planners on one fixed stream of observations, against a plain reference and
//! a floor, all in one run; and how well a planning call keeps its deadline.
//!
//! Arguments → rows → table or JSON. Every row is a plain struct; printing reads only those.

mod clock;
mod deadline;
mod error;
pub mod families;
mod fixed_point;
mod options;
mod planners;
mod reference;
mod report;
mod world;

pub use clock::{peak_memory, reset_peak_memory, thread_time};
pub use deadline::{DeadlineTimes, measure_deadline};
pub use error::{Error, Result};
pub use fixed_point::{fixed_point, rmse};
pub use options::{BenchOptions, parse_duration};
pub use planners::run_planner;
pub use reference::{Reference, Version};
pub use report::Speed;
pub use world::{Observation, observations, scattered_observations};

use std::io::{self, Write};

/// Measures what the options select and writes the result.
///
/// # Errors
/// If an option is out of range, or the result cannot be written.
pub fn run(options: &BenchOptions, out: &mut dyn Write) -> Result<()> {
    options.check()?;
    let written = if let Some(deadline) = options.deadline {
        let found = measure_deadline(deadline, options.hub, options.calls, options.seed)?;
        if options.json { report::write_json(&found, out) } else { found.write(out) }
    } else {
        let rows = measure(options)?;
        if options.json { report::write_json(&rows, out) } else { report::write_table(&rows, out) }
    };
    // A reader that stops listening (`| head`) is not a failure.
    written.or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(Error::Write(error)),
    })
}

/// The rows of the table, in the order in which they were measured.
fn measure(options: &BenchOptions) -> Result<Vec<Speed>> {
    let draw = if options.scattered { scattered_observations } else { observations };
    let walk = draw(options.side, options.observations, options.seed);
    let exact = (!options.no_rmse).then(|| fixed_point(&walk, options.side * options.side));
    let mut rows: Vec<Speed> = Vec::new();
    // Repetitions are interleaved, so that a slow minute of the machine affects all rows alike; the fastest of each counts.
    for repetition in 0..options.repeat {
        let mut round = Vec::new();
        for (planner, queue) in options.planner_rows()? {
            round.push(run_planner(options, planner, queue, &walk, exact.as_deref())?);
        }
        if !options.no_reference {
            round.extend(reference::run_references(options, &walk, exact.as_deref()));
        }
        if repetition == 0 {
            rows = round;
        } else {
            rows.iter_mut().zip(round).for_each(|(row, again)| row.keep_faster(&again));
        }
    }
    Ok(rows)
}
