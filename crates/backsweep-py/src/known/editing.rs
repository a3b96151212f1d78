//! Changes to a known model, in the user's names. If one of them is refused, nothing changes.

use crate::errors::{self, show};
use crate::known::build::{END, Given, Sums, row};
use crate::known::model::Row;
use crate::known::solving::Solved;
use crate::names::{self, Key};
use crate::outcomes::{Outcome, outcomes};
use backsweep_solve::Change;
use pyo3::prelude::*;

/// A change in the user's names.
pub enum Edit<'py> {
    Outcomes(Vec<Outcome<'py>>),
    Reward(f64),
    Remove,
}

impl Solved {
    /// Sets the outcomes of an action; new states and actions are added.
    pub fn set_outcomes<'py>(
        &mut self,
        state: &Bound<'py, PyAny>,
        action: &Bound<'py, PyAny>,
        given: &Bound<'py, PyAny>,
        normalize: bool,
    ) -> PyResult<()> {
        let py = state.py();
        let pair = || format!("action {} in state {}", show(action), show(state));
        let given = outcomes(given, &pair)?;
        let state_key = names::key(state, "state")?;
        let action_key = names::key(action, "action")?;
        self.model.states.id(py, &state_key, "state")?;
        self.model.actions.id(py, &action_key, "action")?;
        // The row is checked with placeholders for new states, before any of them is added.
        let n_states = self.model.states.len();
        let (mut rows, mut unknown): (Vec<Given>, Vec<Key<'py>>) = (Vec::new(), Vec::new());
        for (probability, next, reward, terminated) in given {
            let key = names::key(&next, "next_state")?;
            let known = self.model.states.id(py, &key, "next_state")?;
            let next = match (terminated, known) {
                (true, _) => END,
                (false, Some(id)) => id,
                (false, None) => {
                    unknown.push(key);
                    (n_states + unknown.len()) as u32
                }
            };
            rows.push(Given { next, probability, reward });
        }
        row(&mut rows.clone(), Sums { eps: 0.0, normalize }, pair)?;
        self.model.prepare()?;
        let action = self.model.actions.id_or_insert(py, action_key, "action")?.0;
        let (state, _) = self.model.states.id_or_insert(py, state_key, "state")?;
        let mut ids = Vec::with_capacity(unknown.len());
        for key in unknown {
            ids.push(self.model.states.id_or_insert(py, key, "next_state")?.0);
        }
        for outcome in
            rows.iter_mut().filter(|outcome| outcome.next != END && outcome.next as usize > n_states)
        {
            outcome.next = ids[outcome.next as usize - n_states - 1];
        }
        let (row, error) = row(&mut rows, Sums { eps: 0.0, normalize }, pair)?;
        self.model.reward_error = self.model.reward_error.max(error);
        let changes = self.model.set(state, action, row);
        self.note(changes);
        Ok(())
    }

    /// The choice of an action that is known.
    fn choice(&mut self, state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>) -> PyResult<u32> {
        let py = state.py();
        let state_id = self.state_id(state)?;
        let key = names::key(action, "action")?;
        let action_id = self.model.actions.id(py, &key, "action")?;
        action_id.and_then(|action| self.model.find(state_id, action)).ok_or_else(|| {
            let known = self.model.choices_of(state_id).take(20);
            let known =
                known.map(|choice| self.model.actions.show(py, self.model.action_of[choice as usize]));
            let known: Vec<String> = known.collect();
            let message = format!(
                "action {} in state {} is not known; expected one of [{}]",
                show(action),
                show(state),
                known.join(", ")
            );
            errors::unknown(py, message)
        })
    }

    /// The id of a state that is known.
    pub fn state_id(&mut self, state: &Bound<'_, PyAny>) -> PyResult<u32> {
        let py = state.py();
        let key = names::key(state, "state")?;
        self.model.states.id(py, &key, "state")?.ok_or_else(|| {
            let n = self.model.states.len();
            errors::unknown(py, format!("state {} is not known; {n} states are known", key.show()))
        })
    }

    pub fn set_reward(
        &mut self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: f64,
    ) -> PyResult<()> {
        check_reward(state, action, reward)?;
        let choice = self.choice(state, action)?;
        self.model.prepare()?;
        let change = self.model.set_reward(choice, reward);
        self.note(vec![change]);
        Ok(())
    }

    pub fn remove(&mut self, state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let choice = self.choice(state, action)?;
        self.model.prepare()?;
        let change = self.model.remove(choice);
        self.note(vec![change]);
        Ok(())
    }

    /// Changes of known states as the solver takes them, and the actions of the choices that they add. Nothing is changed.
    pub fn changes<'py>(
        &mut self,
        edits: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>, Edit<'py>)>,
    ) -> PyResult<(Vec<Change>, Vec<u32>)> {
        self.model.prepare()?;
        let (mut changes, mut added) = (Vec::new(), Vec::new());
        for (state, action, edit) in edits {
            let py = state.py();
            match edit {
                Edit::Reward(reward) => {
                    check_reward(&state, &action, reward)?;
                    changes.push(Change::Reward { choice: self.choice(&state, &action)?, reward });
                }
                Edit::Remove => changes.push(Change::Remove { choice: self.choice(&state, &action)? }),
                Edit::Outcomes(outcomes) => {
                    let mut given = Vec::with_capacity(outcomes.len());
                    for (probability, next, reward, terminated) in outcomes {
                        let next = if terminated { END } else { self.state_id(&next)? };
                        given.push(Given { next, probability, reward });
                    }
                    let pair = || format!("action {} in state {}", show(&action), show(&state));
                    let (Row { outcomes, reward }, _) =
                        row(&mut given, Sums { eps: 0.0, normalize: false }, pair)?;
                    let state = self.state_id(&state)?;
                    let key = names::key(&action, "action")?;
                    let action = self.model.actions.id_or_insert(py, key, "action")?.0;
                    match self.model.find(state, action) {
                        Some(choice) => changes.extend([
                            Change::Outcomes { choice, outcomes },
                            Change::Reward { choice, reward },
                        ]),
                        None => {
                            changes.push(Change::Add { state, reward, outcomes });
                            added.push(action);
                        }
                    }
                }
            }
        }
        Ok((changes, added))
    }
}

fn check_reward(state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>, reward: f64) -> PyResult<()> {
    if crate::columns::is_reward(reward) {
        return Ok(());
    }
    Err(errors::value(format!(
        "reward of action {} in state {} is {reward:?}; expected {}",
        show(action),
        show(state),
        crate::columns::A_REWARD
    )))
}
