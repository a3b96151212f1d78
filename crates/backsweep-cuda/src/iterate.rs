//! Modified policy iteration over any engine: a sweep over all rows, then sweeps over the policy's rows alone.
//!
//! The loop estimates how far values are from the true ones in order to stop. It proves nothing: the processor does, with a sweep
//! of its own.

use crate::Result;

/// The changes of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepChange {
    /// The smallest change of a value.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The number of states with another choice than before; 0 after a sweep over a policy.
    pub changed: u64,
}

/// The device that sweeps: the card, or the processor in its place.
pub trait SweepEngine {
    /// Takes these values instead of its own.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn begin(&mut self, values: &[f64]) -> Result<()>;
    /// Sweeps over all rows; the best ones are the policy.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn sweep(&mut self) -> Result<SweepChange>;
    /// Gathers the rows of the policy.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn gather(&mut self) -> Result<()>;
    /// Sweeps over the gathered rows; says what changed if asked.
    ///
    /// # Errors
    /// If the driver reports a problem.
    fn policy_sweep(&mut self, report: bool) -> Result<Option<SweepChange>>;
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
pub struct SweepGoal<'a> {
    /// The smallest and the largest discount times mass of a row.
    pub factors: (f64, f64),
    /// True if a state has no choices.
    pub has_terminal: bool,
    /// The number of states.
    pub n_states: usize,
    /// Values to begin with, for models whose arcs lead to states nearby; otherwise values begin at 0.
    pub start: Option<Vec<f64>>,
    /// The width of interval to reach.
    pub width: f64,
    /// `true` ends the work.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// The work done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepCounts {
    /// Sweeps over all rows.
    pub sweeps: u64,
    /// Sweeps over a policy's rows.
    pub policy_sweeps: u64,
    /// The number of times that a policy's rows were gathered.
    pub gathered: u64,
}

/// Sweeps over the policy's rows between two looks at what they change.
const UNSEEN: usize = 5;

/// The most sweeps over the policy's rows in a row.
const MOST_POLICY_SWEEPS: usize = 160;

/// Policies are followed once fewer than one state in so many changes its choice per sweep.
const SETTLED: u64 = 1000;

/// Sweeps over all rows after which sweeps over the policy's rows that did not help are tried again.
const RETRY: u32 = 30;

/// Sweeps over all rows without a narrower interval, after which rounding is all that is left.
const PATIENCE: u32 = 100;

impl SweepGoal<'_> {
    /// Where the true values lie after a sweep, relative to the values: between `.0` and `.1`.
    fn interval(&self, change: SweepChange) -> (f64, f64) {
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

    fn left(&self, change: SweepChange) -> f64 {
        let (down, up) = self.interval(change);
        up - down
    }
}

/// Sweeps until the interval is narrow enough, no longer gets narrower, or `stop` says so.
///
/// # Errors
/// If the engine fails.
pub fn iterate(engine: &mut dyn SweepEngine, goal: &SweepGoal) -> Result<SweepCounts> {
    // Moving all values alike pays only if all rows pass on about the same part of it.
    let (least, most) = goal.factors;
    let local = goal.start.is_some();
    let shiftable = !local && !goal.has_terminal && 1.0 - most > 0.5 * (1.0 - least);
    let mut work = SweepCounts::default();
    let (mut best, mut idle) = (f64::INFINITY, 0);
    // Whether the policy has changed since its rows were gathered.
    let mut stale = true;
    let mut following = Following { next: UNSEEN, done: 0, before: f64::INFINITY, plain: 0 };
    if let Some(start) = &goal.start {
        engine.begin(start)?;
    }
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
        following.learn(width, most);
        following.done = 0;
        stale |= change.changed > 0;
        if !local && following.next > 0 && change.changed * SETTLED <= goal.n_states as u64 {
            if stale {
                engine.gather()?;
                work.gathered += 1;
                stale = false;
            }
            let enough = if change.changed == 0 { 0.5 * goal.width } else { 0.1 * width };
            following.done = follow_policy(engine, goal, enough, following.next)?;
            work.policy_sweeps += following.done as u64;
        }
    }
}

/// The number of sweeps over the policy's rows after a sweep over all rows. Where a policy is found from the goal outward, they keep
/// the values of states that it has not reached yet, and are wasted; where it is known, they cost a part of a full sweep.
struct Following {
    next: usize,
    done: usize,
    before: f64,
    /// Sweeps over all rows since the last try.
    plain: u32,
}

impl Following {
    /// Takes the width after a sweep over all rows into account.
    fn learn(&mut self, width: f64, factor: f64) {
        if self.done == 0 {
            self.plain += 1;
            if self.next == 0 && self.plain >= RETRY {
                (self.next, self.plain) = (UNSEEN, 0);
            }
        } else {
            // Each sweep narrows the interval by the discount at least, if it does not stand still for others.
            let expected = self.before * factor.powi(self.done as i32 + 1).powf(0.7);
            self.next =
                if width <= expected { (2 * self.next).min(MOST_POLICY_SWEEPS) } else { self.next / 2 };
            self.plain = 0;
        }
        self.before = width;
    }
}

/// Sweeps over the policy's rows until `enough` is left, at most so many times; returns how many times.
fn follow_policy(engine: &mut dyn SweepEngine, goal: &SweepGoal, enough: f64, most: usize) -> Result<usize> {
    for i in 1..=most {
        let report = i % UNSEEN == 0;
        let change = engine.policy_sweep(report)?;
        if change.is_some_and(|change| goal.left(change) <= enough) || (report && (goal.stop)()) {
            return Ok(i);
        }
    }
    Ok(most)
}
