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

/// A column of the table: its head, its width, its texts.
type TableColumn = (&'static str, usize, fn(&Speed) -> String);

/// The columns; the first two are aligned left.
const COLUMNS: [TableColumn; 13] = [
    ("planner", 22, |speed| speed.planner.clone()),
    ("queue", 11, |speed| speed.queue.clone()),
    ("side", 5, |speed| speed.side.to_string()),
    ("observations", 12, |speed| speed.observations.to_string()),
    ("cycles", 12, |speed| speed.cycles.to_string()),
    ("backups", 13, |speed| speed.backups.to_string()),
    ("µs/obs", 9, |speed| format!("{:.4}", speed.us_per_observation)),
    ("µs/cycle", 10, |speed| format!("{:.4}", speed.us_per_cycle)),
    ("ns/bkp", 8, |speed| format!("{:.2}", speed.ns_per_backup)),
    ("bytes/arc", 9, |speed| format!("{:.1}", speed.bytes_per_arc)),
    ("bytes/pair", 10, |speed| format!("{:.1}", speed.bytes_per_pair)),
    ("peak MB", 9, |speed| speed.peak_mb.map_or("-".to_owned(), |mb| format!("{mb:.1}"))),
    ("RMSE", 9, |speed| speed.rmse.map_or("-".to_owned(), |error| format!("{error:.4}"))),
];

/// Writes rows as a table.
pub(crate) fn write_table(rows: &[Speed], out: &mut dyn Write) -> io::Result<()> {
    let mut write = |text: &dyn Fn(usize) -> String| {
        let cells = COLUMNS.iter().enumerate().map(|(i, (_, width, _))| {
            if i < 2 { format!("{:<width$}", text(i)) } else { format!("{:>width$}", text(i)) }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join(" "))
    };
    write(&|i| COLUMNS[i].0.to_owned())?;
    rows.iter().try_for_each(|row| write(&|i| COLUMNS[i].2(row)))
}
