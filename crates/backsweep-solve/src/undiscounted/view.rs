//! The model as the methods without discount see it: with predecessors, and with the mass that ends each choice.
//!
//! A probability in a file is a rounded number. The intervals of this module hold for every model whose probabilities are
//! within a relative `slack` of those stored: the stored ones, the rationals that they were rounded from, and the rows
//! divided by their sums. A row whose sum is 1 up to rounding is taken to sum to exactly 1; without that rule 0.1 + 0.2 +
//! 0.7 would leave 1e-16 of every step unaccounted for, no goal would be certain and every cost infinite.

use super::level::is_short;
pub(crate) use crate::discounted::model::UNIT;
use crate::incidence::Incidence;
use crate::{Error, Result};
use backsweep_mdp::{Mdp, Rewards, SUM_SLACK};
use std::ops::Range;

/// A model with what graph analysis needs besides.
pub(crate) struct View<'a> {
    /// The model itself.
    pub mdp: &'a Mdp,
    /// The state of each choice.
    pub owner: Vec<u32>,
    /// The probability with which each choice ends the episode; exactly 0 for rows that sum to 1 up to rounding.
    pub ends: Vec<f64>,
    /// The largest relative distance between a stored probability and the one it stands for.
    pub slack: f64,
    predecessors: Incidence<u32>,
}

impl<'a> View<'a> {
    /// Prepares the view; linear in the model.
    pub fn new(mdp: &'a Mdp) -> Result<Self> {
        if mdp.n_states() == 0 {
            return Err(Error::Empty);
        }
        let mut slack = UNIT;
        let row = |c: usize| {
            let (end, off) = ends_and_slack(missing_mass(mdp.row(c).1));
            slack = slack.max(off);
            end
        };
        let ends = (0..mdp.n_choices()).map(row).collect();
        Ok(Self::with_ends(mdp, ends, slack))
    }

    /// The view of a model for which `ends` and `slack` are known.
    pub fn with_ends(mdp: &'a Mdp, ends: Vec<f64>, slack: f64) -> Self {
        let (n, n_choices) = (mdp.n_states(), mdp.n_choices());
        let mut owner = vec![0; n_choices];
        for s in 0..n {
            owner[mdp.choices_of(s)].fill(s as u32);
        }
        let rows = (0..n_choices).map(|c| mdp.arcs_of(c));
        let predecessors = Incidence::new(n, mdp.targets(), rows, |c, _| c as u32);
        Self { mdp, owner, ends, slack, predecessors }
    }

    /// The number of states.
    pub fn n(&self) -> usize {
        self.mdp.n_states()
    }

    /// The choices of a state.
    pub fn choices(&self, state: usize) -> Range<usize> {
        self.mdp.choices_of(state)
    }

    /// The arcs of a choice.
    pub fn arcs(&self, choice: usize) -> Range<usize> {
        self.mdp.arcs_of(choice)
    }

    /// The states that a choice may lead to.
    pub fn targets(&self, choice: usize) -> &'a [u32] {
        &self.mdp.targets()[self.arcs(choice)]
    }

    /// The choices with an arc into a state; a choice with two arcs comes twice.
    pub fn predecessors(&self, state: usize) -> &[u32] {
        self.predecessors.of(state)
    }

    /// Membership by state of a list of states.
    pub fn set(&self, states: &[u32]) -> Vec<bool> {
        let mut set = vec![false; self.n()];
        states.iter().for_each(|&s| set[s as usize] = true);
        set
    }

    /// The expected reward of every choice as an interval, rounding accounted for.
    pub fn rewards(&self, rewards: &Rewards) -> Result<Vec<[f64; 2]>> {
        let mdp = self.mdp;
        mdp.check_rewards(rewards)?;
        let mut expected = Vec::with_capacity(mdp.n_choices());
        for c in 0..mdp.n_choices() {
            let mut sum = rewards.states.get(self.owner[c] as usize).copied().unwrap_or(0.0);
            let own = rewards.choices.get(c).copied().unwrap_or(0.0);
            let mut size = sum.abs() + own.abs();
            sum += own;
            let mut terms = 2.0;
            if !rewards.arcs.is_empty() {
                for a in self.arcs(c) {
                    let term = mdp.probabilities()[a] * rewards.arcs[a];
                    sum += term;
                    size += term.abs();
                    terms += 1.0;
                }
            }
            // Parts that cancel exactly give a reward of 0. A number with few binary places is exact; one with many may
            // have been rounded from a fraction.
            let plain = rewards.arcs.is_empty() && size == sum.abs() && (own == 0.0 || sum == own);
            let error = if sum == 0.0 || (plain && is_short(sum)) {
                0.0
            } else {
                size * (UNIT * (terms + 4.0) + 2.0 * self.slack) + f64::MIN_POSITIVE
            };
            expected.push([sum - error, sum + error]);
        }
        Ok(expected)
    }
}

/// Returns the distance by which the probabilities of a row fall short of 1.
pub(crate) fn missing_mass(probabilities: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for p in probabilities {
        // Knuth's exact sum of two: what the rounded sum lost is kept, so that the deviation from 1 is known.
        let next = sum + p;
        let part = next - sum;
        lost += (sum - (next - part)) + (p - part);
        sum = next;
    }
    (1.0 - sum) - lost
}

/// The probability with which a row that falls short by this much ends the episode, and the relative error of its
/// probabilities.
pub(crate) fn ends_and_slack(missing: f64) -> (f64, f64) {
    if missing > SUM_SLACK { (missing, UNIT) } else { (0.0, UNIT + 2.0 * missing.abs()) }
}
