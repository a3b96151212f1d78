//! The results, as a table and as JSON.

use serde::Serialize;
use std::io::{self, Write};

/// The cost of one planner with one queue.
#[derive(Clone, Debug, Serialize)]
pub struct Speed {
    /// The planner, `reference small`, `reference reversed` or `floor`.
    pub planner: String,
    /// The queue, `none` if there is none.
    pub queue: String,
    /// Cells of one side of the grid.
    pub side: usize,
    /// Observations.
    pub observations: usize,
    /// Update cycles (sweeps of value iteration).
    pub cycles: u64,
    /// Backups (transitions of value iteration).
    pub backups: u64,
    /// Microseconds per observation, with the cycles after it (a sweep of value iteration).
    pub us_per_observation: f64,
    /// Microseconds per cycle, with the observations before them.
    pub us_per_cycle: f64,
    /// Nanoseconds per backup, with all other work.
    pub ns_per_backup: f64,
    /// Different (state, action, next state) that were seen.
    pub arcs: usize,
    /// Bytes per arc of the lists of arcs, in both directions and with unfilled places.
    pub bytes_per_arc: f64,
    /// Bytes per pair of everything else, states and queue included.
    pub bytes_per_pair: f64,
    /// The most memory that the process held while it learned, the observations included; megabytes of 2²⁰ bytes.
    pub peak_mb: Option<f64>,
    /// The root mean squared error of V against the fixed point of the learned model.
    pub rmse: Option<f64>,
}

impl Speed {
    /// Keeps the times of a repetition if it was faster.
    pub(crate) fn keep_faster(&mut self, again: &Self) {
        if again.us_per_observation < self.us_per_observation {
            self.us_per_observation = again.us_per_observation;
            self.us_per_cycle = again.us_per_cycle;
            self.ns_per_backup = again.ns_per_backup;
        }
    }
}

/// Writes anything as indented JSON.
pub(crate) fn write_json(result: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, result)?;
    writeln!(out)
}

/// Writes rows as a table.
pub(crate) fn write_table(rows: &[Speed], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<22} {:<11} {:>5} {:>12} {:>12} {:>13} {:>9} {:>10} {:>8} {:>9} {:>10} {:>9} {:>9}",
        "planner",
        "queue",
        "side",
        "observations",
        "cycles",
        "backups",
        "µs/obs",
        "µs/cycle",
        "ns/bkp",
        "bytes/arc",
        "bytes/pair",
        "peak MB",
        "RMSE"
    )?;
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    for row in rows {
        writeln!(
            out,
            "{:<22} {:<11} {:>5} {:>12} {:>12} {:>13} {:>9.4} {:>10.4} {:>8.2} {:>9.1} {:>10.1} {:>9} {:>9}",
            row.planner,
            row.queue,
            row.side,
            row.observations,
            row.cycles,
            row.backups,
            row.us_per_observation,
            row.us_per_cycle,
            row.ns_per_backup,
            row.bytes_per_arc,
            row.bytes_per_pair,
            number(row.peak_mb, 1),
            number(row.rmse, 4),
        )?;
    }
    Ok(())
}
