//! From values to actions.

use crate::{Action, Error, Model, Random, Result, State, Values};

/// Takes the best action, but with probability `epsilon` one at random, each of the state's actions equally likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpsilonGreedy {
    epsilon: f64,
}

impl EpsilonGreedy {
    /// Always the best action.
    pub const GREEDY: Self = Self { epsilon: 0.0 };

    /// # Errors
    /// If `epsilon` is not from 0 to 1.
    pub fn new(epsilon: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&epsilon) {
            Ok(Self { epsilon })
        } else {
            Err(Error::Setting { name: "epsilon", found: epsilon, expected: "a number from 0 to 1" })
        }
    }

    /// The probability of a random action.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Chooses an action. Among equally good ones each is equally likely.
    ///
    /// # Complexity
    /// O(actions of the state).
    ///
    /// # Errors
    /// If the state does not exist or has no actions.
    pub fn choose(
        &self,
        model: &Model,
        values: &Values,
        state: State,
        random: &mut Random,
    ) -> Result<Action> {
        let n_actions = model.n_actions(state);
        if n_actions == 0 {
            model.pair(state, Action(0))?;
        }
        if self.epsilon > 0.0 && random.chance(self.epsilon) {
            return Ok(Action(random.below(n_actions as u32)));
        }
        let row = values.row(model, state);
        if row.is_empty() {
            // The planner has not met the state: its actions are all worth the same.
            return Ok(Action(random.below(n_actions as u32)));
        }
        let mut highest = row[0].value();
        let (mut best, mut n_best) = (0, 1u32);
        for (i, pair) in row.iter().enumerate().skip(1) {
            if pair.value() > highest {
                (highest, best, n_best) = (pair.value(), i, 1);
            } else if pair.value() == highest {
                n_best += 1;
            }
        }
        if n_best > 1 {
            let chosen = random.below(n_best) as usize;
            let ties = row.iter().enumerate().filter(|(_, pair)| pair.value() == highest);
            best = ties.map(|(i, _)| i).nth(chosen).unwrap_or(best);
        }
        Ok(Action(best as u32))
    }
}
