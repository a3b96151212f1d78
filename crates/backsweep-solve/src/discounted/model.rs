//! The model as the discounted methods see it: checked once, rewards signed so that every method maximizes.
//!
//! A probability in a file is a rounded number. Intervals hold for every model whose probabilities are within a relative
//! `slack` of those stored: the stored ones, the rationals that they were rounded from, and rows divided by their sums.

use crate::{Error, Result};
use backsweep_mdp::{Direction, MAX_REWARD, Mdp, NO_CHOICE, SUM_SLACK};
use std::ops::Range;

/// Half a unit in the last place of 1: the relative error of one rounding.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// Returns whether a reward is small enough that no sum overflows.
pub(crate) fn in_range(reward: f64) -> bool {
    reward.abs() <= MAX_REWARD
}

/// Rows longer than this are summed in blocks of this length, so that rounding grows with the square root of the length.
const BLOCK: usize = 64;

/// Below this many arcs per sweep a second thread costs more than it saves (measured: about 30 microseconds to start one).
pub(super) const ARCS_PER_THREAD: usize = 500_000;

/// Padded rows are summed this many arcs at a time. The end of a row is a branch that the processor cannot predict where
/// lengths vary, and multiples of four vary less (500 x 500 maze: 1.10 ns per arc instead of 1.46; 2 and 8 gain less).
pub(crate) const LANES: usize = 4;

/// Flat arrays of a model with the numbers that every bound needs.
#[derive(Clone, Copy)]
pub(crate) struct FlatModel<'a> {
    pub choices: &'a [u32],
    pub arcs: &'a [u32],
    pub targets: &'a [u32],
    pub probabilities: &'a [f64],
    pub rewards: &'a [f64],
    /// 1 to maximize, -1 to minimize: rewards are multiplied by it, and values come out multiplied by it.
    pub sign: f64,
    pub discount: f64,
    pub facts: Facts,
    /// True if the number of arcs of every row is a multiple of [`LANES`]: rows are padded with arcs of probability 0.
    pub filled: bool,
}

/// Arrays of a model that a method made for itself.
#[derive(Default)]
pub(crate) struct FlatArrays {
    pub choices: Vec<u32>,
    pub arcs: Vec<u32>,
    pub targets: Vec<u32>,
    pub probabilities: Vec<f64>,
    pub rewards: Vec<f64>,
}

impl FlatArrays {
    /// Clears all rows and keeps the memory.
    pub fn clear(&mut self) {
        for starts in [&mut self.choices, &mut self.arcs] {
            starts.clear();
            starts.push(0);
        }
        self.targets.clear();
        self.probabilities.clear();
        self.rewards.clear();
    }

    /// The arrays as a model that is otherwise like another.
    pub fn model<'a>(&'a self, like: &FlatModel) -> FlatModel<'a> {
        FlatModel {
            choices: &self.choices,
            arcs: &self.arcs,
            targets: &self.targets,
            probabilities: &self.probabilities,
            rewards: &self.rewards,
            ..*like
        }
    }
}

/// Bounds over all rows; each number is rounded to the safe side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Facts {
    /// The largest sum of a choice's probabilities.
    pub most_mass: f64,
    /// The smallest sum of a choice's probabilities; 1 without choices.
    pub least_mass: f64,
    /// The largest relative distance between a stored probability and the one it may stand for.
    pub slack: f64,
    /// The largest absolute reward.
    pub largest_reward: f64,
    /// The number of roundings that an arc's product may undergo.
    pub roundings: f64,
    /// True if some state has no choices.
    pub has_terminal: bool,
}

impl Facts {
    /// The bounds before any row was seen.
    pub const NONE: Self = Self {
        most_mass: 0.0,
        least_mass: 1.0,
        slack: UNIT,
        largest_reward: 0.0,
        roundings: 8.0,
        has_terminal: false,
    };

    /// The bounds over all rows of a model.
    fn of(mdp: &Mdp, rewards: &[f64], threads: usize) -> Self {
        let see = |rows: Range<usize>| {
            // No branch per arc, so that the loops process several arcs at a time: on a model that one pass solves, this is
            // half of the work.
            let mut seen = Seen::default();
            for (row, &reward) in mdp.arc_starts()[rows.start..=rows.end].windows(2).zip(&rewards[rows]) {
                let probabilities = &mdp.probabilities()[row[0] as usize..row[1] as usize];
                seen.add(probabilities.iter().sum(), probabilities.len(), reward);
            }
            seen
        };
        let n = rewards.len();
        let threads = threads.min(mdp.n_arcs() / ARCS_PER_THREAD).max(1);
        let part = |i: usize| n * i / threads..n * (i + 1) / threads;
        // Extremes are the same for any division of the rows.
        let seen = std::thread::scope(|scope| {
            let running: Vec<_> = (1..threads).map(|i| scope.spawn(move || see(part(i)))).collect();
            running.into_iter().fold(see(part(0)), |seen, task| match task.join() {
                Ok(other) => seen.join(other),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        });
        let has_terminal = mdp.choice_starts().windows(2).any(|w| w[0] == w[1]);
        let mut facts = Self { has_terminal, ..Self::NONE };
        facts.take(&seen);
        facts
    }

    /// Takes a row into account: its sum (not checked here), its length and its reward.
    pub fn add(&mut self, sum: f64, length: usize, reward: f64) {
        let mut seen = Seen::default();
        seen.add(sum, length, reward);
        self.take(&seen);
    }

    fn take(&mut self, seen: &Seen) {
        let roundings = roundings(seen.longest);
        let error = roundings * UNIT * seen.most;
        self.slack = self.slack.max(UNIT + 2.0 * (seen.off + error));
        self.most_mass = self.most_mass.max(seen.most + error);
        self.least_mass = self.least_mass.min((seen.least - error).max(0.0));
        self.largest_reward = self.largest_reward.max(seen.largest_reward);
        self.roundings = self.roundings.max(roundings);
    }

    /// The largest distance of a computed backup, or of its difference from an old value, from the exact one. `more`
    /// roundings may have been added to those of the row.
    pub fn rounding(&self, largest_value: f64, more: f64) -> f64 {
        let carried = 1.01 * largest_value;
        let roundings = self.roundings + more;
        (roundings * UNIT * (self.largest_reward + 2.0 * carried) + self.slack * carried) * 1.01
            + f64::MIN_POSITIVE
    }

    /// The largest factor by which a change of all values can come back after one step, rounded up.
    pub fn most_factor(&self, discount: f64) -> f64 {
        discount * self.most_mass * (1.0 + 2.0 * self.slack + 4.0 * UNIT)
    }

    /// The smallest such factor, rounded down.
    pub fn least_factor(&self, discount: f64) -> f64 {
        discount * self.least_mass * (1.0 - 2.0 * self.slack - 4.0 * UNIT)
    }
}

/// Extremes over rows: all that the check of a large model can afford to track per row.
struct Seen {
    most: f64,
    least: f64,
    /// The largest distance of a sum from 1 that counts as rounding.
    off: f64,
    longest: usize,
    largest_reward: f64,
}

impl Default for Seen {
    fn default() -> Self {
        Self { most: 0.0, least: 1.0, off: 0.0, longest: 0, largest_reward: 0.0 }
    }
}

impl Seen {
    /// The extremes over two sets of rows.
    fn join(self, other: Self) -> Self {
        Self {
            most: self.most.max(other.most),
            least: self.least.min(other.least),
            off: self.off.max(other.off),
            longest: self.longest.max(other.longest),
            largest_reward: self.largest_reward.max(other.largest_reward),
        }
    }

    #[inline(always)]
    fn add(&mut self, sum: f64, length: usize, reward: f64) {
        let missing = (1.0 - sum).abs();
        let off = if (missing <= SUM_SLACK) | (sum > 1.0) { missing } else { 0.0 };
        // Plain comparisons: NaN was or will be refused, and each is one instruction.
        self.off = if off > self.off { off } else { self.off };
        self.most = if sum > self.most { sum } else { self.most };
        self.least = if sum < self.least { sum } else { self.least };
        self.longest = self.longest.max(length);
        let reward = reward.abs();
        self.largest_reward = if reward > self.largest_reward { reward } else { self.largest_reward };
    }
}

/// The number of roundings that a term of a row of this length may undergo: products, sums (in blocks), discount,
/// reward, difference.
fn roundings(length: usize) -> f64 {
    let summed = if length <= BLOCK { length } else { BLOCK + length / BLOCK + 2 };
    summed as f64 + 8.0
}

impl<'a> FlatModel<'a> {
    /// Views a model with `rewards` that were checked; one pass over the model.
    pub fn new(
        mdp: &'a Mdp,
        rewards: &'a [f64],
        discount: f64,
        direction: Direction,
        threads: usize,
    ) -> Result<Self> {
        if !(0.0..1.0).contains(&discount) {
            let expected = "a number from 0 to below 1; for 1 use an objective without discount";
            return Err(Error::Discount { found: discount, expected });
        }
        let facts = Facts::of(mdp, rewards, threads);
        let model = Self {
            choices: mdp.choice_starts(),
            arcs: mdp.arc_starts(),
            targets: mdp.targets(),
            probabilities: mdp.probabilities(),
            rewards,
            sign: direction.sign(),
            discount,
            facts,
            filled: false,
        };
        if facts.most_factor(discount) >= 1.0 {
            return Err(Error::NoContraction { discount, most_mass: facts.most_mass });
        }
        Ok(model)
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.choices.len() - 1
    }

    /// The choices of a state.
    pub fn choices_of(&self, state: usize) -> std::ops::Range<usize> {
        self.choices[state] as usize..self.choices[state + 1] as usize
    }

    /// The arcs of a choice.
    pub fn arcs_of(&self, choice: usize) -> std::ops::Range<usize> {
        self.arcs[choice] as usize..self.arcs[choice + 1] as usize
    }

    /// The arcs of all choices of a state.
    pub fn arcs_of_state(&self, state: usize) -> std::ops::Range<usize> {
        let choices = self.choices_of(state);
        self.arcs[choices.start] as usize..self.arcs[choices.end] as usize
    }

    /// The arcs of all choices of neighbouring states.
    pub fn arcs_of_states(&self, states: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let first = self.arcs[self.choices[states.start] as usize];
        first as usize..self.arcs[self.choices[states.end] as usize] as usize
    }

    /// The value of a choice given the values of its successors.
    #[inline(always)]
    pub fn choice_value(&self, choice: usize, values: &[f64]) -> f64 {
        let arcs = self.arcs_of(choice);
        let mean = mean(&self.targets[arcs.clone()], &self.probabilities[arcs], values, self.filled);
        self.sign * self.rewards[choice] + self.discount * mean
    }

    /// The best value of a state and the choice that has it; the first of equals.
    #[inline(always)]
    pub fn backup(&self, state: usize, values: &[f64]) -> (f64, u32) {
        let choices = self.choices_of(state);
        if choices.is_empty() {
            return (0.0, NO_CHOICE);
        }
        let mut best = (f64::NEG_INFINITY, NO_CHOICE);
        for choice in choices {
            let value = self.choice_value(choice, values);
            if value > best.0 {
                best = (value, choice as u32);
            }
        }
        best
    }

    /// The largest distance of a computed backup, or of its difference from an old value, from the exact one.
    pub fn rounding(&self, largest_value: f64) -> f64 {
        self.facts.rounding(largest_value, 0.0)
    }

    /// Every value lies within this of 0.
    pub fn largest_value(&self) -> f64 {
        let factor = self.facts.most_factor(self.discount);
        (self.facts.largest_reward / (1.0 - factor).next_down() * (1.0 + 8.0 * UNIT)).next_up()
    }

    /// Some of the arcs, each with its state: about a hundred states with about as many arcs each.
    pub fn sampled_arcs(&self) -> impl Iterator<Item = (usize, usize)> {
        let n = self.n_states();
        (0..n).step_by((n / 128).max(1)).flat_map(move |state| {
            let arcs = self.arcs_of_state(state);
            let step = (arcs.len() / 128).max(1);
            arcs.step_by(step).map(move |arc| (state, arc))
        })
    }

    /// The share of self loops in the probability, by a sample.
    pub fn self_loops(&self) -> f64 {
        let (mut stay, mut all) = (0.0, 0.0);
        for (state, arc) in self.sampled_arcs() {
            let own = self.targets[arc] as usize == state && !self.is_end(state);
            stay += if own { self.probabilities[arc] } else { 0.0 };
            all += self.probabilities[arc];
        }
        stay / f64::max(all, f64::MIN_POSITIVE)
    }

    /// Returns whether a run may come to a state that it never leaves.
    pub fn has_ends(&self) -> bool {
        self.facts.has_terminal || (0..self.n_states()).any(|state| self.is_absorbing(state))
    }

    /// Returns whether every choice of a state stays there.
    fn is_absorbing(&self, state: usize) -> bool {
        self.targets[self.arcs_of_state(state)].iter().all(|&target| target as usize == state)
    }

    /// Returns whether every choice of a state stays there without reward: worth 0, like a terminal state.
    pub fn is_end(&self, state: usize) -> bool {
        self.is_absorbing(state) && self.choices_of(state).all(|c| self.rewards[c] == 0.0)
    }
}

/// The probability-weighted sum of successors' values; `filled` as in [`FlatModel`].
#[inline(always)]
pub(crate) fn mean(targets: &[u32], probabilities: &[f64], values: &[f64], filled: bool) -> f64 {
    if targets.len() > BLOCK {
        return mean_of_long_row(targets, probabilities, values);
    }
    if filled {
        return mean_of_filled_row(targets, probabilities, values);
    }
    let mut sum = 0.0;
    for (&target, &p) in targets.iter().zip(probabilities) {
        sum += p * values[target as usize];
    }
    sum
}

#[inline(always)]
fn mean_of_filled_row(targets: &[u32], probabilities: &[f64], values: &[f64]) -> f64 {
    let (targets, _) = targets.as_chunks::<LANES>();
    let (probabilities, _) = probabilities.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (targets, p) in targets.iter().zip(probabilities) {
        for lane in 0..LANES {
            sums[lane] += p[lane] * values[targets[lane] as usize];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

#[inline(never)]
fn mean_of_long_row(targets: &[u32], probabilities: &[f64], values: &[f64]) -> f64 {
    let blocks = targets.chunks(BLOCK).zip(probabilities.chunks(BLOCK));
    blocks.map(|(t, p)| t.iter().zip(p).map(|(&t, &p)| p * values[t as usize]).sum::<f64>()).sum()
}
