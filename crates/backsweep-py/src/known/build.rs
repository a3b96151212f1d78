//! Models from arrays: rows of NumPy and SciPy become flat arrays in one pass, without a Python object per row.

use crate::errors;
use crate::known::named_mdp::NamedMdp;
use crate::memory;
use crate::names::Names;
use crate::numbers::A_REWARD;
use backsweep_mdp::{ChoiceRow, MdpBuilder, OutcomeProblem, Rewards, SourceOutcome};
use backsweep_solve::Session;
use pyo3::prelude::*;

/// The precision with which rows must sum to 1.
#[derive(Clone, Copy)]
pub struct Sums {
    /// Relative rounding error of the type in which probabilities were given; 0 for double precision.
    pub eps: f64,
    /// True if to divide rows by their sum.
    pub normalize: bool,
}

/// Turns outcomes in any order into a row. `pair` names it in messages.
pub fn row(given: &mut [SourceOutcome], sums: Sums, pair: impl Fn() -> String) -> PyResult<ChoiceRow> {
    let sum = given.iter().fold(0.0, |sum, outcome| sum + outcome.probability);
    let near = (sum - 1.0).abs() <= sums.eps * (given.len().max(2) as f64);
    let divide = if sums.normalize { sum > 0.0 && sum.is_finite() } else { sums.eps > 0.0 && near };
    if sums.normalize && !divide {
        return Err(errors::value(format!(
            "probabilities of {} sum to {sum}, which cannot be normalized; expected a sum above 0",
            pair()
        )));
    }
    ChoiceRow::new(given, if divide { sum } else { 1.0 }).map_err(|problem| {
        let pair = pair();
        errors::value(match problem {
            OutcomeProblem::Probability(found) => {
                format!("probability of an outcome of {pair} is {found:?}; expected a number from 0 to 1")
            }
            OutcomeProblem::Reward(found) => format!("reward of {pair} is {found:?}; expected {A_REWARD}"),
            OutcomeProblem::Sum(found) => format!(
                "probabilities of the outcomes of {pair} sum to {found}; expected 1 (within 1e-9), or normalize=True"
            ),
        })
    })
}

/// Rows that come in the order of states, with whole numbers as names.
pub struct RowBuilder {
    n_states: u32,
    sums: Sums,
    builder: MdpBuilder,
    action_of: Vec<u32>,
    rewards: Vec<f64>,
    reward_error: f64,
    given: Vec<SourceOutcome>,
    n_arcs: u64,
}

impl RowBuilder {
    /// # Errors
    /// If the model would not fit into memory, or has more successors than 32 bits can count.
    pub fn new(n_states: usize, n_rows: usize, n_arcs: usize, sums: Sums) -> PyResult<Self> {
        memory::check_flat("the model", n_states as u64, n_rows as u64, n_arcs as u64)?;
        if n_states.max(n_rows).max(n_arcs) >= u32::MAX as usize {
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
            n_arcs: 0,
        })
    }

    /// Begins a model whose size is not known yet.
    pub fn growing(sums: Sums) -> Self {
        Self {
            n_states: u32::MAX,
            sums,
            builder: MdpBuilder::with_capacity(0, 0, 0),
            action_of: Vec::new(),
            rewards: Vec::new(),
            reward_error: 0.0,
            given: Vec::new(),
            n_arcs: 0,
        }
    }

    /// # Errors
    /// If solving what there is would not fit into memory.
    pub fn check_memory(&self) -> PyResult<()> {
        memory::check_flat(
            "the model",
            self.builder.n_states() as u64,
            self.rewards.len() as u64,
            self.n_arcs,
        )
    }

    /// Adds an outcome to the current row; -1 is the end.
    #[inline]
    pub fn outcome(&mut self, next: i64, probability: f64, reward: f64) -> PyResult<()> {
        let next = match next {
            -1 => None,
            _ if (0..i64::from(self.n_states)).contains(&next) => Some(next as u32),
            _ => {
                let last = self.n_states.saturating_sub(1);
                return Err(errors::value(format!(
                    "transitions has the column index {next}; expected 0 to {last}"
                )));
            }
        };
        self.given.push(SourceOutcome { next, probability, reward });
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
        self.n_arcs += row.outcomes.len() as u64;
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
        let mut mdp = self.builder.finish().map_err(errors::refused)?;
        mdp.rewards = vec![Rewards { choices: self.rewards, ..Rewards::default() }];
        let states = Names::numbers(mdp.n_states());
        Ok(NamedMdp::new(states, actions, Session::new(mdp, self.action_of, self.reward_error)))
    }
}
