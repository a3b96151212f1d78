//! From values to actions.

use crate::planner::{Model, PairValue, Values};
use crate::{Action, Error, Random, Result, State};

/// Takes the best action or, with probability `epsilon`, a random one, each of the state's actions equally likely, the best
/// included (Departure 21). Ties are broken at random (Departure 20).
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
        Error::ensure((0.0..=1.0).contains(&epsilon), "epsilon", epsilon, "a number from 0 to 1")?;
        Ok(Self { epsilon })
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
        let row = values.pair_values(model, state);
        Ok(Action(self.pick(n_actions as u32, |i| row.get(i as usize).map_or(0.0, PairValue::value), random)))
    }

    /// As [`choose`](Self::choose), among some of the state's actions: at least one, each once.
    ///
    /// # Errors
    /// If the state does not exist or does not have one of the actions, or none are given.
    pub fn choose_among(
        &self,
        model: &Model,
        values: &Values,
        state: State,
        actions: &[Action],
        random: &mut Random,
    ) -> Result<Action> {
        for &action in actions {
            model.pair(state, action)?;
        }
        if actions.is_empty() {
            return Err(Error::NoActions { state });
        }
        let row = values.pair_values(model, state);
        let value = |i: u32| row.get(actions[i as usize].index()).map_or(0.0, PairValue::value);
        Ok(actions[self.pick(actions.len() as u32, value, random) as usize])
    }

    /// The index of the item to take, among `n > 0` with these values.
    #[inline]
    fn pick(&self, n: u32, value: impl Fn(u32) -> f64, random: &mut Random) -> u32 {
        if self.epsilon > 0.0 && random.chance(self.epsilon) {
            return random.below(n);
        }
        let (mut best, mut highest, mut n_best) = (0, value(0), 1);
        for i in 1..n {
            let value = value(i);
            if value > highest {
                (best, highest, n_best) = (i, value, 1);
            } else if value == highest {
                n_best += 1;
            }
        }
        if n_best > 1 {
            let chosen = random.below(n_best) as usize;
            best = (0..n).filter(|&i| value(i) == highest).nth(chosen).unwrap_or(best);
        }
        best
    }
}
