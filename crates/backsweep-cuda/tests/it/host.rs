//! The kernels of `kernels/sweep.cu` in plain Rust: the same tiles, the same order of every sum.
//!
//! Tests run it where no card is, and compare a card with it bit for bit.

use backsweep_cuda::{Layout, Result, SweepChange, SweepEngine};
use backsweep_mdp::NO_CHOICE;

/// The threads of a block.
const THREADS: usize = 256;

/// Sweeps on the processor as the card does; slow, for comparison.
pub struct HostEngine<'a> {
    layout: &'a Layout<'a>,
    rewards: &'a [f64],
    discount: f64,
    values: Vec<f64>,
    next: Vec<f64>,
    policy: Vec<u32>,
    partial: Vec<f64>,
    chain: Chain,
}

/// The gathered rows of a policy.
#[derive(Default)]
struct Chain {
    ends: Vec<u16>,
    rewards: Vec<f64>,
    targets: Vec<u32>,
    probabilities: Vec<f64>,
}

impl<'a> HostEngine<'a> {
    /// Begins with values of 0. `rewards` has one per row, with the sign by which every sweep maximizes.
    pub fn new(layout: &'a Layout<'a>, rewards: &'a [f64], discount: f64) -> Self {
        let n = layout.n_states();
        Self {
            layout,
            rewards,
            discount,
            values: vec![0.0; n],
            next: vec![0.0; n],
            policy: vec![NO_CHOICE; n],
            partial: vec![0.0; layout.n_rows()],
            chain: Chain {
                ends: vec![0; n],
                rewards: vec![0.0; n],
                targets: vec![0; layout.chain_space],
                probabilities: vec![0.0; layout.chain_space],
            },
        }
    }

    /// The policy of the last sweep over all rows.
    pub fn policy(&self) -> &[u32] {
        &self.policy
    }

    fn product(&self, arc: usize) -> f64 {
        self.layout.probability(arc) * self.values[self.layout.targets[arc] as usize]
    }

    /// Adds the products of a row in a pass to `sum`, in order.
    fn add(&self, sum: f64, starts: &[u32], row: usize) -> f64 {
        (starts[row] as usize..starts[row + 1] as usize).fold(sum, |sum, arc| sum + self.product(arc))
    }

    /// The value of a long row: 256 sums, added by a tree.
    fn long_value(&self, row: usize) -> f64 {
        let starts = self.layout.starts_of(self.layout.passes() - 1);
        let arcs = starts[row] as usize..starts[row + 1] as usize;
        let mut sums = [0.0; THREADS];
        for (i, arc) in arcs.enumerate() {
            sums[i % THREADS] += self.product(arc);
        }
        // A thread adds 0 for each load past the end, which changes no bit of a sum that is not -0.
        let mut half = THREADS / 2;
        while half > 0 {
            for i in 0..half {
                sums[i] += sums[i + half];
            }
            half /= 2;
        }
        self.rewards[row] + self.discount * sums[0]
    }

    fn set(&mut self, state: usize, value: f64, choice: u32, change: &mut SweepChange) {
        self.next[state] = value;
        note(change, value - self.values[state]);
        change.changed += u64::from(self.policy[state] != choice);
        self.policy[state] = choice;
    }
}

fn note(change: &mut SweepChange, by: f64) {
    change.least = change.least.min(by);
    change.most = change.most.max(by);
}

const NOTHING: SweepChange = SweepChange { least: f64::INFINITY, most: f64::NEG_INFINITY, changed: 0 };

impl SweepEngine for HostEngine<'_> {
    fn begin(&mut self, values: &[f64]) -> Result<()> {
        self.values.copy_from_slice(values);
        Ok(())
    }

    fn sweep(&mut self) -> Result<SweepChange> {
        let layout = self.layout;
        let last = layout.passes() - 1;
        for pass in 0..last {
            for tile in &layout.tiles[pass] {
                for row in tile.row as usize..tile.end_row as usize {
                    let sum = if pass == 0 { 0.0 } else { self.partial[row] };
                    self.partial[row] = self.add(sum, layout.starts_of(pass), row);
                }
            }
        }
        let mut change = NOTHING;
        for tile in &layout.tiles[last] {
            for state in tile.state as usize..tile.end_state as usize {
                let mut best = (0.0, NO_CHOICE);
                for row in layout.choices[state] as usize..layout.choices[state + 1] as usize {
                    let sum = if last == 0 { 0.0 } else { self.partial[row] };
                    let value =
                        self.rewards[row] + self.discount * self.add(sum, layout.starts_of(last), row);
                    if best.1 == NO_CHOICE || value > best.0 {
                        best = (value, row as u32);
                    }
                }
                self.set(state, best.0, best.1, &mut change);
            }
        }
        for &state in &layout.long_states {
            let mut best = (f64::NEG_INFINITY, NO_CHOICE);
            for row in layout.choices[state as usize]..layout.choices[state as usize + 1] {
                let value = self.long_value(row as usize);
                if value > best.0 {
                    best = (value, row);
                }
            }
            self.set(state as usize, best.0, best.1, &mut change);
        }
        std::mem::swap(&mut self.values, &mut self.next);
        Ok(change)
    }

    fn gather(&mut self) -> Result<()> {
        let layout = self.layout;
        for tile in &layout.chain_tiles {
            let mut end = 0;
            for state in tile.state as usize..tile.end_state as usize {
                let row = self.policy[state] as usize;
                let passes = if self.policy[state] == NO_CHOICE { 0 } else { layout.passes() };
                self.chain.rewards[state] = if passes == 0 { 0.0 } else { self.rewards[row] };
                for pass in 0..passes {
                    let starts = layout.starts_of(pass);
                    for arc in starts[row] as usize..starts[row + 1] as usize {
                        let to = tile.arc as usize + end;
                        self.chain.targets[to] = layout.targets[arc];
                        self.chain.probabilities[to] = layout.probability(arc);
                        end += 1;
                    }
                }
                self.chain.ends[state] = end as u16;
            }
        }
        Ok(())
    }

    fn policy_sweep(&mut self, report: bool) -> Result<Option<SweepChange>> {
        let mut change = NOTHING;
        for tile in &self.layout.chain_tiles {
            let mut from = tile.arc as usize;
            for state in tile.state as usize..tile.end_state as usize {
                let to = tile.arc as usize + self.chain.ends[state] as usize;
                let products = (from..to)
                    .map(|arc| self.chain.probabilities[arc] * self.values[self.chain.targets[arc] as usize]);
                let value = self.chain.rewards[state] + self.discount * products.fold(0.0, |sum, p| sum + p);
                self.next[state] = value;
                note(&mut change, value - self.values[state]);
                from = to;
            }
        }
        for &state in &self.layout.long_chain {
            let state = state as usize;
            self.next[state] = self.long_value(self.policy[state] as usize);
            note(&mut change, self.next[state] - self.values[state]);
        }
        std::mem::swap(&mut self.values, &mut self.next);
        Ok(report.then_some(change))
    }

    fn shift(&mut self, by: f64) -> Result<()> {
        self.values.iter_mut().for_each(|value| *value += by);
        Ok(())
    }

    fn values(&mut self) -> Result<Vec<f64>> {
        Ok(self.values.clone())
    }
}
