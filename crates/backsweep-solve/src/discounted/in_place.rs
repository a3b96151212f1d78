//! Sweeps in place (Gauss–Seidel), window by window: for models whose values flow outward from where they end.
//!
//! States are numbered outward from the ends. A sweep carries values outward at once, but every arc back towards an outer
//! state costs another sweep, and a long path has many. A window of states is therefore swept until it settles before the
//! next is touched; windows overlap by half, and those disturbed by later changes are swept again. Values start at a
//! lower bound: from above, a state would be drawn to values further out that are still too high, and those sink only one
//! reward per sweep (500 x 500 maze: 16 sweeps over all choices and 25 over the policy instead of 30 and 129).

use super::model::FlatModel;
use super::proof::{self, Shift, ValueChange};
use super::sweeps::{Goal, PolicyRows, Reached, SweepEnd, SweepProgress, partial_sweeps};
use backsweep_mdp::NO_CHOICE;
use std::ops::Range;

/// At most this many sweeps over the policy's rows per sweep over all choices.
const PARTIAL_SWEEPS: usize = 5;

/// At most this many passes over the windows; sweeps that rounding keeps from settling end here.
const PASSES: u32 = 100;

/// A value that no state falls below, for a start from below; 0 for ends.
pub(crate) fn values_from_below(model: &FlatModel) -> Vec<f64> {
    let best = |s: usize| {
        model.choices_of(s).map(|c| model.sign * model.rewards[c]).fold(f64::NEG_INFINITY, f64::max)
    };
    let n = model.n_states();
    let least = (0..n).filter(|&s| !model.choices_of(s).is_empty()).map(best).fold(0.0, f64::min);
    let from = least / (1.0 - model.discount);
    (0..n).map(|s| if from == 0.0 || model.is_end(s) { 0.0 } else { from }).collect()
}

/// Modified policy iteration in place, ascending, in windows of `window` states.
pub(crate) fn iterate(model: &FlatModel, mut values: Vec<f64>, window: usize, goal: &Goal) -> Reached {
    let n = model.n_states();
    let factor = model.facts.most_factor(model.discount);
    // The change per sweep at which the interval is narrow enough, whatever the signs.
    let enough = 0.49 * goal.width * (1.0 - factor) / factor.max(0.1);
    let mut settled = enough.max(1e-7 * model.largest_value());
    let mut work =
        Workspace { policy: vec![NO_CHOICE; n], rows: PolicyRows::default(), spent: 0.0, iterations: 0 };
    let mut progress = SweepProgress::default();
    let mut overlap = window < n;
    let mut passes = 0;
    loop {
        passes += 1;
        // Below half of what rounding may cause there is nothing to gain.
        settled = settled.max(0.5 * model.rounding(proof::largest(&values)));
        let mut change = ValueChange::NONE;
        let mut clean = !overlap;
        let step = if overlap { window.div_ceil(2) } else { window };
        let mut first = 0;
        let mut stopped = false;
        while first < n {
            let last = (first + window).min(n);
            let (seen, again) = work.settle(model, &mut values, first..last, settled, goal);
            change = change.join(seen);
            clean &= !again;
            stopped = (goal.stop)();
            first = if last == n { n } else { first + step };
            if stopped && first < n {
                clean = false;
                break;
            }
        }
        if stopped || work.spent > goal.patience || passes > PASSES {
            // The bound needs one sweep over everything with nothing in between.
            if !clean {
                change = work.sweep(model, &mut values, 0..n);
            }
            let shift = Shift::after_sweep_in_place(model, &values, change);
            let end = match shift.width() <= goal.width {
                true => SweepEnd::Converged,
                false if stopped => SweepEnd::Stopped,
                false => SweepEnd::Slow,
            };
            return work.finish(values, shift, end);
        }
        if clean {
            let shift = Shift::after_sweep_in_place(model, &values, change);
            if let Some(end) = progress.end(model, &values, change, shift, goal, work.spent) {
                return work.finish(values, shift, end);
            }
        }
        overlap = false;
        // A later round goes straight to the goal, or as far as rounding lets it.
        settled = enough.max(if clean { 0.0 } else { 1e-3 * settled });
        if clean && change.largest() <= settled {
            settled = 0.5 * change.largest();
        }
    }
}

struct Workspace {
    policy: Vec<u32>,
    rows: PolicyRows,
    /// Work done, in sweeps over all choices.
    spent: f64,
    iterations: u64,
}

impl Workspace {
    /// Sweeps a window until it changes by at most `settled`. Returns the first sweep's change and whether more followed.
    fn settle(
        &mut self,
        model: &FlatModel,
        values: &mut [f64],
        window: Range<usize>,
        settled: f64,
        goal: &Goal,
    ) -> (ValueChange, bool) {
        let first = self.sweep(model, values, window.clone());
        let mut change = first;
        let mut again = false;
        let mut rounds = 0;
        while change.largest() > settled && rounds < 1000 && self.spent <= goal.patience && !(goal.stop)() {
            again = true;
            rounds += 1;
            self.rows.gather(model, &self.policy[window.clone()]);
            self.rows.divide_loops(model.discount, window.start);
            let all = model.arcs_of_states(window.clone()).len();
            let (n_sweeps, part) =
                partial_sweeps(PARTIAL_SWEEPS, self.rows.n_arcs() as f64 / all.max(1) as f64);
            let left = (part * change.largest()).max(0.5 * settled);
            for _ in 0..n_sweeps {
                let mut most = 0.0_f64;
                for (i, state) in window.clone().enumerate() {
                    let value = self.rows.value(i, model.discount, values);
                    most = most.max((value - values[state]).abs());
                    values[state] = value;
                }
                self.iterations += 1;
                self.spent += self.rows.n_arcs() as f64 / model.targets.len().max(1) as f64;
                if most <= left {
                    break;
                }
            }
            change = self.sweep(model, values, window.clone());
        }
        (first, again)
    }

    /// One sweep in place over all choices of some states.
    fn sweep(&mut self, model: &FlatModel, values: &mut [f64], states: Range<usize>) -> ValueChange {
        let mut change = ValueChange::NONE;
        self.spent += states.len() as f64 / values.len() as f64;
        self.iterations += 1;
        for state in states {
            let (value, choice) = model.backup(state, values);
            change.add(value - values[state]);
            values[state] = value;
            self.policy[state] = choice;
        }
        change
    }

    fn finish(self, values: Vec<f64>, shift: Shift, end: SweepEnd) -> Reached {
        let Self { policy, iterations, spent, .. } = self;
        Reached { values, policy, shift, iterations, spent, rate: 0.0, end }
    }
}
