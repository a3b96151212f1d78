//! Modified policy iteration with simultaneous sweeps: a sweep over all choices, then sweeps over the policy's rows alone.
//!
//! Each sweep over all choices gives the smallest and the largest change, hence a bound, and the middle of the two moves all
//! values at once: where nothing ends, what remains contracts as fast as the chain mixes, not as slowly as the discount.
//! The rows of the policy are gathered into their own arrays, so that the sweeps in between read a fraction of the
//! model. Every state depends only on the values before the sweep, so any number of threads computes the same bytes.

use super::model::{ARCS_PER_THREAD, FlatModel, mean};
use super::proof::{Shift, ValueChange};
use backsweep_mdp::NO_CHOICE;

/// The rows of one policy, in arrays of their own.
#[derive(Default)]
pub(crate) struct PolicyRows {
    starts: Vec<u32>,
    targets: Vec<u32>,
    probabilities: Vec<f64>,
    rewards: Vec<f64>,
    filled: bool,
}

impl PolicyRows {
    /// Gathers the rows that `policy` takes in `states`.
    pub fn gather(&mut self, model: &FlatModel, policy: &[u32]) {
        self.filled = model.filled;
        self.starts.clear();
        self.targets.clear();
        self.probabilities.clear();
        self.rewards.clear();
        self.starts.push(0);
        for &choice in policy {
            if choice == NO_CHOICE {
                self.rewards.push(0.0);
            } else {
                let arcs = model.arcs_of(choice as usize);
                self.targets.extend_from_slice(&model.targets[arcs.clone()]);
                self.probabilities.extend_from_slice(&model.probabilities[arcs]);
                self.rewards.push(model.sign * model.rewards[choice as usize]);
            }
            self.starts.push(self.targets.len() as u32);
        }
    }

    /// The value of the `i`-th row.
    #[inline(always)]
    pub fn value(&self, i: usize, discount: f64, values: &[f64]) -> f64 {
        let row = self.starts[i] as usize..self.starts[i + 1] as usize;
        let mean = mean(&self.targets[row.clone()], &self.probabilities[row], values, self.filled);
        self.rewards[i] + discount * mean
    }

    /// Sets all rewards to 0, which leaves the chain alone.
    pub fn forget_rewards(&mut self) {
        self.rewards.fill(0.0);
    }

    pub fn n_arcs(&self) -> usize {
        self.targets.len()
    }
}

/// Computes every state's best choice from `values` into `next` and `policy`.
pub(crate) fn full_sweep(
    model: &FlatModel,
    values: &[f64],
    next: &mut [f64],
    policy: &mut [u32],
    threads: usize,
) -> ValueChange {
    let parts = parts(model.n_states(), model.targets.len(), threads);
    let size = model.n_states().div_ceil(parts).max(1);
    let sweep = |first: usize, next: &mut [f64], policy: &mut [u32]| {
        let mut change = ValueChange::NONE;
        for (i, (next, policy)) in next.iter_mut().zip(policy).enumerate() {
            let state = first + i;
            (*next, *policy) = model.backup(state, values);
            change.add(*next - values[state]);
        }
        change
    };
    let chunks = next.chunks_mut(size).zip(policy.chunks_mut(size)).enumerate();
    in_parallel(parts, chunks.map(|(i, (next, policy))| move || sweep(i * size, next, policy)))
}

/// Computes every state's value under the policy from `values` into `next`.
pub(crate) fn policy_sweep(
    rows: &PolicyRows,
    discount: f64,
    values: &[f64],
    next: &mut [f64],
    threads: usize,
) -> ValueChange {
    let parts = parts(next.len(), rows.n_arcs(), threads);
    let size = next.len().div_ceil(parts).max(1);
    let sweep = |first: usize, next: &mut [f64]| {
        let mut change = ValueChange::NONE;
        for (i, next) in next.iter_mut().enumerate() {
            *next = rows.value(first + i, discount, values);
            change.add(*next - values[first + i]);
        }
        change
    };
    in_parallel(parts, next.chunks_mut(size).enumerate().map(|(i, next)| move || sweep(i * size, next)))
}

fn parts(n_states: usize, n_arcs: usize, threads: usize) -> usize {
    threads.min(n_arcs / ARCS_PER_THREAD).min(n_states).max(1)
}

/// Runs the tasks, one thread each, and joins what they report; a single task runs here.
fn in_parallel(
    parts: usize,
    tasks: impl Iterator<Item = impl FnOnce() -> ValueChange + Send>,
) -> ValueChange {
    if parts <= 1 {
        return tasks.map(|task| task()).fold(ValueChange::NONE, ValueChange::join);
    }
    std::thread::scope(|scope| {
        let running: Vec<_> = tasks.map(|task| scope.spawn(task)).collect();
        let join = |all: ValueChange, task: std::thread::ScopedJoinHandle<ValueChange>| match task.join() {
            Ok(change) => all.join(change),
            Err(panic) => std::panic::resume_unwind(panic),
        };
        running.into_iter().fold(ValueChange::NONE, join)
    })
}

/// Values with what is known about them.
pub(crate) struct Reached {
    pub values: Vec<f64>,
    pub policy: Vec<u32>,
    pub shift: Shift,
    pub iterations: u64,
    pub end: SweepEnd,
}

/// Why a method ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SweepEnd {
    /// The interval is narrow enough.
    Converged,
    /// Rounding keeps the interval from getting narrower.
    Rounding,
    /// The caller asked to stop.
    Stopped,
    /// The method converges too slowly here; another may do better.
    Slow,
}

/// The goal of a method, and when it may give up.
pub(crate) struct Goal<'a> {
    /// The width of interval to reach.
    pub width: f64,
    pub stop: &'a (dyn Fn() -> bool + Sync),
    pub threads: usize,
    /// Give up as slow after the equivalent of this many sweeps over all choices.
    pub patience: f64,
}

/// Modified policy iteration from `values`.
pub(crate) fn modified_policy_iteration(model: &FlatModel, mut values: Vec<f64>, goal: &Goal) -> Reached {
    let n = model.n_states();
    let mut next = vec![0.0; n];
    let mut policy = vec![NO_CHOICE; n];
    let mut rows = PolicyRows::default();
    let mut spent = 0.0;
    let mut iterations = 0;
    // Shifting by a constant pays only if all rows pass on about the same part of it.
    let (least, most) = (model.facts.least_factor(model.discount), model.facts.most_factor(model.discount));
    let shiftable = !model.facts.has_terminal && 1.0 - most > 0.5 * (1.0 - least);
    let mut progress = SweepProgress::default();
    loop {
        let change = full_sweep(model, &values, &mut next, &mut policy, goal.threads);
        std::mem::swap(&mut values, &mut next);
        iterations += 1;
        spent += 1.0;
        let shift = Shift::after_sweep(model, &values, change);
        if let Some(end) = progress.end(model, &values, change, shift, goal, spent) {
            return Reached { values, policy, shift, iterations, end };
        }
        let span = change.most - change.least;
        if shiftable {
            let middle = shift.down + shift.width() / 2.0;
            values.iter_mut().for_each(|v| *v += middle);
        }
        rows.gather(model, &policy);
        let share = rows.n_arcs() as f64 / model.targets.len().max(1) as f64;
        // Each round reduces the spread of changes to a tenth, with at most ten cheap sweeps, since the policy is
        // still changing.
        for _ in 0..PARTIAL_SWEEPS {
            let change = policy_sweep(&rows, model.discount, &values, &mut next, goal.threads);
            std::mem::swap(&mut values, &mut next);
            iterations += 1;
            spent += share;
            let left = if shiftable { change.most - change.least } else { change.largest() };
            if left <= span * 0.1 || (goal.stop)() {
                break;
            }
        }
    }
}

/// At most this many sweeps over the policy's rows per sweep over all choices.
const PARTIAL_SWEEPS: usize = 10;

/// Detects when a method makes no more progress.
#[derive(Default)]
pub(crate) struct SweepProgress {
    best: Option<f64>,
    idle: u32,
}

impl SweepProgress {
    /// Why to end after a sweep over all choices, if at all: `spent` is the work so far, in such sweeps.
    pub fn end(
        &mut self,
        model: &FlatModel,
        values: &[f64],
        change: ValueChange,
        shift: Shift,
        goal: &Goal,
        spent: f64,
    ) -> Option<SweepEnd> {
        let width = shift.width();
        if width <= goal.width {
            return Some(SweepEnd::Converged);
        }
        // The part of the width that rounding alone causes; once it dominates, nothing more can be gained.
        let rounding = model.rounding(super::proof::largest(values));
        let least = Shift::from_residual(model, -rounding, rounding).width();
        if width <= 2.5 * least || (change.least == 0.0 && change.most == 0.0) {
            return Some(SweepEnd::Rounding);
        }
        let improved = self.best.is_none_or(|best| width < best);
        self.idle = if improved { 0 } else { self.idle + 1 };
        self.best = if improved { Some(width) } else { self.best };
        if (goal.stop)() {
            return Some(SweepEnd::Stopped);
        }
        (self.idle > 100 || spent > goal.patience).then_some(SweepEnd::Slow)
    }
}
