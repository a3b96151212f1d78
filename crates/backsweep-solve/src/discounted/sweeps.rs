//! Sweeps over a model and over the rows of a policy, and the ends of a method: what it reached, and when it gives up.

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
    /// Divides out self loops; the first row is that of the state `first`.
    pub fn divide_loops(&mut self, discount: f64, first: usize) {
        for i in 0..self.rewards.len() {
            let row = self.starts[i] as usize..self.starts[i + 1] as usize;
            let mut stay = 0.0;
            for arc in row.clone() {
                if self.targets[arc] as usize == first + i {
                    stay += std::mem::replace(&mut self.probabilities[arc], 0.0);
                }
            }
            if stay > 0.0 {
                let scale = 1.0 / (1.0 - discount * stay);
                self.probabilities[row].iter_mut().for_each(|p| *p *= scale);
                self.rewards[i] *= scale;
            }
        }
    }

    /// Gathers the rows that `policy` takes.
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

    /// The share of the probability that leads one way along the numbers, self loops apart. Reads about a thousand rows.
    pub fn one_way_share(&self) -> f64 {
        let n = self.rewards.len();
        let (mut up, mut down) = (0.0, 0.0);
        for row in (0..n).step_by((n / 1000).max(1)) {
            for arc in self.starts[row] as usize..self.starts[row + 1] as usize {
                match (self.targets[arc] as usize).cmp(&row) {
                    std::cmp::Ordering::Less => down += self.probabilities[arc],
                    std::cmp::Ordering::Greater => up += self.probabilities[arc],
                    std::cmp::Ordering::Equal => {}
                }
            }
        }
        up.max(down) / f64::max(up + down, f64::MIN_POSITIVE)
    }

    /// The probability of each row's self loop.
    pub fn self_loops(&self) -> impl Iterator<Item = f64> {
        self.starts.windows(2).enumerate().map(|(row, ends)| {
            let arcs = ends[0] as usize..ends[1] as usize;
            let own = arcs.filter(|&arc| self.targets[arc] as usize == row);
            own.map(|arc| self.probabilities[arc]).sum()
        })
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
    /// The work done, in sweeps over all choices.
    pub spent: f64,
    /// The progress per sweep in the second half of the work, as the natural logarithm of the ratio of widths.
    pub rate: f64,
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

/// The number of sweeps over the policy's rows that are allowed per sweep over all choices: at least `least`, and more where
/// the policy's rows are a small share of all, and the part of a change that they are to leave.
pub(crate) fn partial_sweeps(least: usize, share: f64) -> (usize, f64) {
    (least.max((1.5 / share.max(1e-6)) as usize).min(1000), (50.0 * share * share).clamp(1e-4, 0.1))
}

/// Computes every state's value under the policy in place, from the first state on or from the last.
pub(crate) fn policy_sweep_in_place(
    rows: &PolicyRows,
    discount: f64,
    values: &mut [f64],
    ascending: bool,
) -> ValueChange {
    let n = values.len();
    let mut change = ValueChange::NONE;
    for i in 0..n {
        let state = if ascending { i } else { n - 1 - i };
        let value = rows.value(state, discount, values);
        change.add(value - values[state]);
        values[state] = value;
    }
    change
}

/// Detects when a method makes no more progress.
#[derive(Default)]
pub(crate) struct SweepProgress {
    best: Option<f64>,
    idle: u32,
    /// The width after each sweep over all choices, with the work until then.
    widths: Vec<(f64, f64)>,
}

impl SweepProgress {
    /// By how much the latest half of the work narrowed the interval, per sweep: the natural logarithm of the ratio.
    pub fn rate(&self) -> f64 {
        let Some(&(spent, width)) = self.widths.last() else { return 0.0 };
        let middle =
            self.widths.iter().rev().find(|(before, _)| *before <= 0.5 * spent).or(self.widths.first());
        let Some(&(before, wider)) = middle else { return 0.0 };
        if spent > before && width > 0.0 { (wider / width).ln() / (spent - before) } else { 0.0 }
    }

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
        self.widths.push((spent, width));
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
