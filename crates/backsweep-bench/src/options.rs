//! The options of a measurement.

use crate::world::{MAX_SIDE, MIN_SIDE};
use crate::{Error, Result};
use backsweep::PlannerKind;
use backsweep::planner::QueueKind;
use std::time::Duration;

/// The options of `backsweep bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchOptions {
    /// Planners to measure: names, or `all`; `reversed` stands for reversed_full_backups, `small` for small_backups
    #[arg(long, value_delimiter = ',', default_value = "reversed,small")]
    pub planner: Vec<String>,
    /// Queues to measure: exact, bucket
    #[arg(long, value_delimiter = ',', default_value = "exact,bucket")]
    pub queue: Vec<String>,
    /// Cells of one side of the grid
    #[arg(long, default_value_t = 50)]
    pub side: usize,
    /// Observations
    #[arg(long, default_value_t = 200_000)]
    pub observations: usize,
    /// Start every step in a random state instead of where the last one led, for grids too large for a walk
    #[arg(long)]
    pub scattered: bool,
    /// Update cycles after every observation
    #[arg(long, default_value_t = 5)]
    pub cycles: u64,
    /// Learn without planning, then time only this many update cycles; counts and times are those of the cycles
    #[arg(long, value_name = "CYCLES")]
    pub afterwards: Option<u64>,
    /// Priorities at or below this value are not queued
    #[arg(long, default_value_t = 1e-5)]
    pub threshold: f64,
    /// The seed of the observations
    #[arg(long, default_value_t = 12345)]
    pub seed: u64,
    /// Measure everything this many times, interleaved, and report the fastest
    #[arg(long, default_value_t = 1)]
    pub repeat: usize,
    /// Omit the plain reference and the floor
    #[arg(long)]
    pub no_reference: bool,
    /// Omit the error against the fixed point, which takes a long time to compute on large grids
    #[arg(long)]
    pub no_rmse: bool,
    /// Measure how well planning calls keep this time budget (100us, 1ms) instead, on a state with many predecessors
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub deadline: Option<Duration>,
    /// Predecessors of the state in the deadline measurement
    #[arg(long, default_value_t = 1_000_000)]
    pub hub: usize,
    /// Planning calls of the deadline measurement
    #[arg(long, default_value_t = 100_000)]
    pub calls: usize,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// A time such as `100us`, `1.5ms` or `2s`.
///
/// # Errors
/// Says what was found and which units there are.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let problem = || Error::Time(text.to_owned());
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(problem)?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(problem()),
    };
    let number: f64 = number.parse().map_err(|_| problem())?;
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| problem())?;
    if time.is_zero() { Err(problem()) } else { Ok(time) }
}

impl BenchOptions {
    /// Checks that every number is in its range.
    pub(crate) fn check(&self) -> Result<()> {
        let range = |name, found: usize, least: usize, most: usize| {
            let expected = format!("a number from {least} to {most}");
            let is_in_range = (least..=most).contains(&found);
            if is_in_range { Ok(()) } else { Err(Error::Option { name, found: found.to_string(), expected }) }
        };
        range("side", self.side, MIN_SIDE, MAX_SIDE)?;
        range("observations", self.observations, 1, u32::MAX as usize)?;
        range("repeat", self.repeat, 1, 1000)?;
        range("hub", self.hub, 1, 100_000_000)?;
        range("calls", self.calls, 1, 100_000_000)?;
        if !(self.threshold >= 0.0 && self.threshold.is_finite()) {
            let expected = "a finite number, 0 or more".to_owned();
            return Err(Error::Option { name: "threshold", found: self.threshold.to_string(), expected });
        }
        Ok(())
    }

    /// The planners and queues to measure. Value iteration has no queue and is measured once.
    pub(crate) fn planner_rows(&self) -> Result<Vec<(PlannerKind, Option<QueueKind>)>> {
        let mut planners = Vec::new();
        for name in &self.planner {
            match name.as_str() {
                "all" => planners.extend(backsweep_baselines::PLANNERS),
                "reversed" => planners.push(PlannerKind::REVERSED_FULL_BACKUPS),
                "small" => planners.push(PlannerKind::SMALL_BACKUPS),
                name => planners.push(backsweep_baselines::named(name)?),
            }
        }
        let mut rows = Vec::new();
        for planner in planners {
            if planner == backsweep_baselines::VALUE_ITERATION {
                rows.push((planner, None));
                continue;
            }
            for queue in &self.queue {
                rows.push((planner, Some(queue.parse()?)));
            }
        }
        Ok(rows)
    }
}
