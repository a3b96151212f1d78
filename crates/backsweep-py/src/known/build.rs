//! Models from arrays: rows of NumPy and SciPy become flat arrays in one pass, without a Python object per row.

use crate::errors;
use crate::known::named_mdp::NamedMdp;
use crate::memory;
use crate::names::Names;
use crate::numbers::{A_REWARD, is_reward};
use backsweep_mdp::{MdpBuilder, Rewards, SUM_SLACK};
use backsweep_solve::{ChoiceRow, Session};
use pyo3::prelude::*;

/// The precision with which rows must sum to 1.
#[derive(Clone, Copy)]
pub struct Sums {
    /// Relative rounding error of the type in which probabilities were given; 0 for double precision.
    pub eps: f64,
    /// True if to divide rows by their sum.
    pub normalize: bool,
}

/// An outcome of a row; a next state of [`END`] is the end of the episode.
#[derive(Clone, Copy)]
pub struct GivenOutcome {
    pub next: u32,
    pub probability: f64,
    pub reward: f64,
}

/// Stands after all states.
pub const END: u32 = u32::MAX;

/// Turns outcomes in any order into a row: checked, in ascending order, those of the same next state added up, and the mean of
/// the rewards. `pair` names the row in messages.
pub fn row(given: &mut [GivenOutcome], sums: Sums, pair: impl Fn() -> String) -> PyResult<ChoiceRow> {
    let sum = given.iter().fold(0.0, |sum, outcome| sum + outcome.probability);
    let near = (sum - 1.0).abs() <= sums.eps * (given.len().max(2) as f64);
    let divide = if sums.normalize { sum > 0.0 && sum.is_finite() } else { sums.eps > 0.0 && near };
    let factor = if divide { sum } else { 1.0 };
    if sums.normalize && !divide {
        return Err(errors::value(format!(
            "probabilities of {} sum to {sum}, which cannot be normalized; expected a sum above 0",
            pair()
        )));
    }
    let first = given.first().map_or(0.0, |outcome| outcome.reward);
    // A NaN sum means an invalid probability, which is refused next.
    let (mut ascending, mut mean, mut same, mut before) = (true, 0.0, true, None);
    for outcome in given.iter() {
        let probability = outcome.probability / factor;
        if !(0.0..=1.0 + SUM_SLACK).contains(&probability) {
            return Err(errors::value(format!(
                "probability of an outcome of {} is {:?}; expected a number from 0 to 1",
                pair(),
                outcome.probability
            )));
        }
        if !is_reward(outcome.reward) {
            return Err(errors::value(format!(
                "reward of {} is {:?}; expected {A_REWARD}",
                pair(),
                outcome.reward
            )));
        }
        same &= outcome.reward == first;
        mean += probability * outcome.reward;
        ascending &= before.is_none_or(|before| before < outcome.next);
        before = Some(outcome.next);
    }
    if (sum / factor - 1.0).abs() > SUM_SLACK {
        return Err(errors::value(format!(
            "probabilities of the outcomes of {} sum to {sum}; expected 1 (within 1e-9), or normalize=True",
            pair()
        )));
    }
    let reward_error = if same {
        mean = first;
        0.0
    } else {
        let sizes = given.iter().map(|outcome| outcome.probability / factor * outcome.reward.abs());
        (given.len() as f64 + 4.0) * f64::EPSILON * sizes.sum::<f64>()
    };
    if !ascending {
        given.sort_by_key(|outcome| outcome.next);
    }
    let mut outcomes: Vec<(u32, f64)> = Vec::with_capacity(given.len());
    for outcome in given.iter().filter(|outcome| outcome.probability > 0.0 && outcome.next != END) {
        let probability = outcome.probability / factor;
        match outcomes.last_mut() {
            Some((next, sum)) if *next == outcome.next => *sum = (*sum + probability).min(1.0),
            _ => outcomes.push((outcome.next, probability.min(1.0))),
        }
    }
    Ok(ChoiceRow { outcomes, reward: mean, reward_error })
}

/// Rows that come in the order of states, with whole numbers as names.
pub struct RowBuilder {
    n_states: u32,
    sums: Sums,
    builder: MdpBuilder,
    action_of: Vec<u32>,
    rewards: Vec<f64>,
    reward_error: f64,
    given: Vec<GivenOutcome>,
}

impl RowBuilder {
    /// # Errors
    /// If the model would not fit into memory, or has more successors than 32 bits can count.
    pub fn new(n_states: usize, n_rows: usize, n_arcs: usize, sums: Sums) -> PyResult<Self> {
        memory::check_flat("the model", n_states as u64, n_rows as u64, n_arcs as u64)?;
        if n_states.max(n_rows).max(n_arcs) >= END as usize {
            return Err(errors::value(format!(
                "the model has {n_states} states, {n_rows} actions of states and {n_arcs} successors; expected fewer than 2³² \
                 of each"
            )));
        }
        let rewards = Vec::with_capacity(n_rows);
        let action_of = Vec::with_capacity(n_rows);
        Ok(Self {
            n_states: n_states as u32,
            sums,
            builder: MdpBuilder::with_capacity(n_states, n_rows, n_arcs),
            action_of,
            rewards,
            reward_error: 0.0,
            given: Vec::new(),
        })
    }

    /// Adds an outcome to the current row; -1 is the end.
    #[inline]
    pub fn outcome(&mut self, next: i64, probability: f64, reward: f64) -> PyResult<()> {
        let next = match next {
            -1 => END,
            _ if (0..i64::from(self.n_states)).contains(&next) => next as u32,
            _ => {
                let last = self.n_states.saturating_sub(1);
                return Err(errors::value(format!(
                    "transitions has the column index {next}; expected 0 to {last}"
                )));
            }
        };
        self.given.push(GivenOutcome { next, probability, reward });
        Ok(())
    }

    /// Ends the current row, which is an action of the current state.
    pub fn end_row(&mut self, action: u32) -> PyResult<()> {
        let state = self.builder.n_states();
        let row = row(&mut self.given, self.sums, || format!("action {action} in state {state}"))?;
        self.given.clear();
        self.rewards.push(row.reward);
        self.action_of.push(action);
        self.reward_error = self.reward_error.max(row.reward_error);
        self.builder.add_choice(row.outcomes);
        Ok(())
    }

    /// Ends the current state.
    pub fn end_state(&mut self) {
        self.builder.end_state();
    }

    /// The model; its states have whole numbers as names.
    ///
    /// # Errors
    /// As [`MdpBuilder::finish`].
    pub fn finish(self, actions: Names) -> PyResult<NamedMdp> {
        let mut mdp = self.builder.finish().map_err(|error| errors::value(error.to_string()))?;
        mdp.rewards = vec![Rewards { choices: self.rewards, ..Rewards::default() }];
        let states = Names::numbers(self.n_states as usize);
        Ok(NamedMdp::new(states, actions, Session::new(mdp, self.action_of, self.reward_error)))
    }
}
