//! Policy iteration whose evaluations are exact: elimination without subtractions inside the envelope of the model.
//!
//! Discounting is a probability of stopping, so a policy is a chain in which every state leaks; eliminating states in turn
//! (Grassmann, Taksar & Heyman 1985) only adds and multiplies nonnegative numbers: pivots are sums of what leaves, never 1
//! minus what stays, and keep their relative accuracy however slowly the chain leaks. Entries stay within the envelope: for
//! each state, the numbers down to the lowest that it shares an arc with. Cost per evaluation: the sum of squares of these
//! widths, so the method suits corridors and other narrow models, at any discount.

use super::model::FlatModel;
use super::proof::Shift;
use super::sweeps::{Goal, Reached, SweepEnd, SweepProgress, full_sweep};
use backsweep_mdp::NO_CHOICE;

/// For each state, the lowest number that elimination couples it with; itself if none.
pub(crate) struct Envelope {
    lowest: Vec<u32>,
}

impl Envelope {
    /// Linear in the model.
    pub fn new(model: &FlatModel) -> Self {
        let n = model.n_states();
        let mut lowest: Vec<u32> = (0..n as u32).collect();
        for state in 0..n {
            for &target in &model.targets[model.arcs_of_state(state)] {
                let (low, high) = ((state as u32).min(target), (state as u32).max(target));
                lowest[high as usize] = lowest[high as usize].min(low);
            }
        }
        // Eliminating a state couples those below it with each other, down to its own lowest.
        for state in (1..n).rev() {
            if (lowest[state] as usize) < state {
                lowest[state - 1] = lowest[state - 1].min(lowest[state]);
            }
        }
        Self { lowest }
    }

    /// The root mean square of the widths: the square root of the work per state.
    pub fn width(&self) -> f64 {
        let squares = self.lowest.iter().enumerate().map(|(s, &low)| (s as f64 - f64::from(low)).powi(2));
        (squares.sum::<f64>() / self.lowest.len().max(1) as f64).sqrt()
    }
}

/// The chain of one policy after elimination, ready to solve for any right-hand side.
struct Factors<'a> {
    envelope: &'a Envelope,
    /// Where each state's entries begin in `rows` and `columns`.
    starts: Vec<usize>,
    /// Per state: what leads from it to each lower state of its envelope.
    rows: Vec<f64>,
    /// Per state: what leads to it from each lower state of its envelope.
    columns: Vec<f64>,
    /// Per state: one over what leaves it to lower states or leaks.
    pivots: Vec<f64>,
    leaks: Vec<f64>,
}

impl<'a> Factors<'a> {
    fn new(envelope: &'a Envelope) -> Self {
        let n = envelope.lowest.len();
        let mut starts = Vec::with_capacity(n + 1);
        let mut total = 0;
        starts.push(0);
        for (state, &low) in envelope.lowest.iter().enumerate() {
            total += state - low as usize;
            starts.push(total);
        }
        Self {
            envelope,
            starts,
            rows: vec![0.0; total],
            columns: vec![0.0; total],
            pivots: vec![0.0; n],
            leaks: vec![0.0; n],
        }
    }

    /// Eliminates the chain of a policy; `false` if stopped.
    fn eliminate(&mut self, model: &FlatModel, policy: &[u32], stop: &dyn Fn() -> bool) -> bool {
        self.fill(model, policy);
        let mut work = 0_usize;
        for k in (0..policy.len()).rev() {
            let low = self.envelope.lowest[k] as usize;
            let width = k - low;
            let (rows, row) = self.rows.split_at_mut(self.starts[k]);
            let (columns, column) = self.columns.split_at_mut(self.starts[k]);
            let (row, column) = (&row[..width], &column[..width]);
            let pivot = 1.0 / (self.leaks[k] + row.iter().sum::<f64>());
            self.pivots[k] = pivot;
            for i in 0..width {
                let (state, leads) = (low + i, column[i] * pivot);
                let at = self.starts[state] + low - self.envelope.lowest[state] as usize;
                if leads != 0.0 {
                    add_multiple(&mut rows[at..at + i], leads, &row[..i]);
                    self.leaks[state] += leads * self.leaks[k];
                }
                if row[i] != 0.0 {
                    add_multiple(&mut columns[at..at + i], row[i] * pivot, &column[..i]);
                }
            }
            work += width * width + 1;
            if work > 100_000_000 {
                work = 0;
                if stop() {
                    return false;
                }
            }
        }
        true
    }

    fn fill(&mut self, model: &FlatModel, policy: &[u32]) {
        self.rows.fill(0.0);
        self.columns.fill(0.0);
        for (state, &choice) in policy.iter().enumerate() {
            self.leaks[state] = 1.0;
            if choice == NO_CHOICE {
                continue;
            }
            let mut mass = 0.0;
            for arc in model.arcs_of(choice as usize) {
                let (target, p) = (model.targets[arc] as usize, model.probabilities[arc]);
                mass += p;
                let high = state.max(target);
                let at = self.starts[high] + state.min(target);
                let at = at.wrapping_sub(self.envelope.lowest[high] as usize);
                match target.cmp(&state) {
                    std::cmp::Ordering::Less => self.rows[at] += model.discount * p,
                    std::cmp::Ordering::Greater => self.columns[at] += model.discount * p,
                    std::cmp::Ordering::Equal => {}
                }
            }
            self.leaks[state] = (1.0 - model.discount * mass).max(f64::EPSILON);
        }
    }

    /// Solves for what `right` (per step) is worth in the long run, in place.
    fn solve(&self, right: &mut [f64]) {
        for k in (0..right.len()).rev() {
            let low = self.envelope.lowest[k] as usize;
            let (below, here) = right.split_at_mut(k);
            let worth = here[0] * self.pivots[k];
            let column = &self.columns[self.starts[k]..self.starts[k + 1]];
            add_multiple(&mut below[low..], worth, column);
        }
        for k in 0..right.len() {
            let low = self.envelope.lowest[k] as usize;
            let (below, here) = right.split_at_mut(k);
            let row = &self.rows[self.starts[k]..self.starts[k + 1]];
            let carried: f64 = row.iter().zip(&below[low..]).map(|(w, v)| w * v).sum();
            here[0] = (here[0] + carried) * self.pivots[k];
        }
    }
}

#[inline(always)]
fn add_multiple(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// Policy iteration from `values`. Each round corrects the values by what their residual is worth in the long run, which
/// both evaluates a new policy and refines the values of an old one.
pub(crate) fn policy_iteration(
    model: &FlatModel,
    mut values: Vec<f64>,
    envelope: &Envelope,
    goal: &Goal,
) -> Reached {
    let n = model.n_states();
    let mut next = vec![0.0; n];
    let mut policy = vec![NO_CHOICE; n];
    let mut eliminated: Vec<u32> = Vec::new();
    let mut factors = Factors::new(envelope);
    let mut progress = SweepProgress::default();
    let mut iterations = 0;
    loop {
        // In-place sweeps first: a choice that only pays once its neighbour has changed too moves all the way in one sweep,
        // where policy iteration alone moves it one state per elimination (corridor of 1 million states: 107 rounds).
        down_and_up(model, &mut values);
        iterations += 2;
        let change = full_sweep(model, &values, &mut next, &mut policy, goal.threads);
        iterations += 1;
        let shift = Shift::after_sweep(model, &next, change);
        if let Some(end) = progress.end(model, &next, change, shift, goal, iterations as f64) {
            return Reached {
                values: next,
                policy,
                shift,
                iterations,
                spent: iterations as f64,
                rate: 0.0,
                end,
            };
        }
        if policy != eliminated {
            if !factors.eliminate(model, &policy, goal.stop) {
                let (spent, end) = (iterations as f64, SweepEnd::Stopped);
                return Reached { values: next, policy, shift, iterations, spent, rate: 0.0, end };
            }
            eliminated.clone_from(&policy);
        }
        iterations += 1;
        next.iter_mut().zip(&values).for_each(|(next, v)| *next -= v);
        factors.solve(&mut next);
        values.iter_mut().zip(&next).for_each(|(v, correction)| *v += correction);
    }
}

/// One sweep in place from the last state to the first, and one back.
pub(crate) fn down_and_up(model: &FlatModel, values: &mut [f64]) {
    let n = values.len();
    for state in (0..n).rev().chain(0..n) {
        values[state] = model.backup(state, values).0;
    }
}
