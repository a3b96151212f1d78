//! Modified policy iteration over any engine: a sweep over all rows, then sweeps over the policy's rows alone.
//!
//! The loop estimates how far values are from the true ones in order to stop. It proves nothing: the processor does, with a sweep
//! of its own.

use crate::Result;

/// What a sweep changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The smallest change of a value.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// How many states have another choice than before; 0 after a sweep over a policy.
    pub changed: u64,
}

/// What sweeps: the card, or the processor in its place.
pub trait Engine {
    /// Sweeps over all rows; the best ones are the policy.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn sweep(&mut self) -> Result<Change>;
    /// Gathers the rows of the policy.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn gather(&mut self) -> Result<()>;
    /// Sweeps over the gathered rows; says what changed if asked.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn policy_sweep(&mut self, report: bool) -> Result<Option<Change>>;
    /// Moves all values alike.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn shift(&mut self, by: f64) -> Result<()>;
    /// The values.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn values(&mut self) -> Result<Vec<f64>>;
}

/// When to end.
pub struct Goal<'a> {
    /// The smallest and the largest discount times mass of a row.
    pub factors: (f64, f64),
    /// Whether a state has no choices.
    pub has_terminal: bool,
    /// The number of states.
    pub n_states: usize,
    /// The width of interval to reach.
    pub width: f64,
    /// `true` ends the work.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Sweeps over all rows.
    pub sweeps: u64,
    /// Sweeps over a policy's rows.
    pub policy_sweeps: u64,
    /// How often a policy's rows were gathered.
    pub gathered: u64,
}

/// Sweeps over the policy's rows between two looks at what they change.
const UNSEEN: usize = 5;

/// Sweeps over all rows without a narrower interval, after which rounding is all that is left.
const PATIENCE: u32 = 20;

impl Goal<'_> {
    /// Where the true values lie after a sweep, relative to the values: between `.0` and `.1`.
    fn interval(&self, change: Change) -> (f64, f64) {
        let (least, most) = self.factors;
        let (mut down, mut up) = (change.least, change.most);
        if self.has_terminal {
            (down, up) = (down.min(0.0), up.max(0.0));
        }
        let scaled = |x: f64, factor: f64| x * factor / (1.0 - factor);
        (
            scaled(down, if down <= 0.0 { most } else { least }),
            scaled(up, if up >= 0.0 { most } else { least }),
        )
    }

    fn left(&self, change: Change) -> f64 {
        let (down, up) = self.interval(change);
        up - down
    }
}

/// Sweeps until the interval is narrow enough, no longer gets narrower, or `stop` says so.
///
/// # Errors
/// If the engine fails.
pub fn iterate(engine: &mut dyn Engine, goal: &Goal) -> Result<Work> {
    // Moving all values alike pays only if all rows pass on about the same part of it.
    let (least, most) = goal.factors;
    let shiftable = !goal.has_terminal && 1.0 - most > 0.5 * (1.0 - least);
    let mut work = Work::default();
    let (mut best, mut idle) = (f64::INFINITY, 0);
    loop {
        let change = engine.sweep()?;
        work.sweeps += 1;
        let (down, up) = goal.interval(change);
        let width = up - down;
        idle = if width < best { 0 } else { idle + 1 };
        best = best.min(width);
        if shiftable {
            engine.shift(down + width / 2.0)?;
        }
        let still = change.least == 0.0 && change.most == 0.0;
        if width <= goal.width || still || idle > PATIENCE || (goal.stop)() {
            return Ok(work);
        }
        if change.changed > 0 || work.gathered == 0 {
            engine.gather()?;
            work.gathered += 1;
        }
        // A policy that still changes is not worth exact values; one that hardly does is worth many cheap sweeps.
        let (enough, rounds) = match change.changed {
            0 => (0.5 * goal.width, 100),
            n if n * 100 <= goal.n_states as u64 => (0.1 * width, 10),
            _ => (0.1 * width, 2),
        };
        follow_policy(engine, goal, enough, rounds, &mut work)?;
    }
}

/// Sweeps over the policy's rows until `enough` is left, at most `rounds` times [`UNSEEN`].
fn follow_policy(
    engine: &mut dyn Engine,
    goal: &Goal,
    enough: f64,
    rounds: u32,
    work: &mut Work,
) -> Result<()> {
    for _ in 0..rounds {
        for i in 1..=UNSEEN {
            let change = engine.policy_sweep(i == UNSEEN)?;
            work.policy_sweeps += 1;
            if change.is_some_and(|change| goal.left(change) <= enough) || (i == UNSEEN && (goal.stop)()) {
                return Ok(());
            }
        }
    }
    Ok(())
}
