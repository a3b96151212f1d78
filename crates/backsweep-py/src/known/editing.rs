//! Changes to a known model, in the user's names. If one of them is refused, nothing changes.

use crate::errors::{self, show};
use crate::known::KnownModel;
use crate::known::build::{Sums, row};
use crate::known::named_mdp::NamedMdp;
use crate::names::{self, Key};
use crate::outcomes::outcomes as given_outcomes;
use backsweep_mdp::SourceOutcome;
use backsweep_solve::Edit;
use pyo3::prelude::*;

/// A change that is asked about: state, action, outcomes, reward. One without outcomes or reward is a removal.
pub type GivenChange<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<f64>);

#[pymethods]
impl KnownModel {
    /// Sets the outcomes of an action; new states and actions are added.
    #[pyo3(signature = (state, action, outcomes, normalize=false))]
    fn set_outcomes<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        action: &Bound<'py, PyAny>,
        outcomes: &Bound<'py, PyAny>,
        normalize: bool,
    ) -> PyResult<()> {
        let known = &mut *self.0.lock()?;
        let py = state.py();
        let pair = || format!("action {} in state {}", show(action), show(state));
        let given = given_outcomes(outcomes, &pair)?;
        let state_key = names::key(state, "state")?;
        let action_key = names::key(action, "action")?;
        known.states.id(py, &state_key, "state")?;
        known.actions.id(py, &action_key, "action")?;
        // The row is checked with placeholders for new states, before any of them is added.
        let n_states = known.states.len();
        let (mut rows, mut unknown): (Vec<SourceOutcome>, Vec<Key<'py>>) = (Vec::new(), Vec::new());
        for (probability, next, reward, terminated) in given {
            let key = names::key(&next, "next_state")?;
            let id = known.states.id(py, &key, "next_state")?;
            let next = match (terminated, id) {
                (true, _) => None,
                (false, Some(id)) => Some(id),
                (false, None) => {
                    unknown.push(key);
                    Some((n_states + unknown.len()) as u32)
                }
            };
            rows.push(SourceOutcome { next, probability, reward });
        }
        row(&mut rows.clone(), Sums { eps: 0.0, normalize }, pair)?;
        known.session.check_editable().map_err(errors::refused)?;
        let action = known.actions.id_or_insert(py, action_key, "action")?.0;
        let (state, _) = known.states.id_or_insert(py, state_key, "state")?;
        let mut ids = Vec::with_capacity(unknown.len());
        for key in unknown {
            ids.push(known.states.id_or_insert(py, key, "next_state")?.0);
        }
        for next in rows.iter_mut().filter_map(|outcome| outcome.next.as_mut()) {
            if *next as usize > n_states {
                *next = ids[*next as usize - n_states - 1];
            }
        }
        let row = row(&mut rows, Sums { eps: 0.0, normalize }, pair)?;
        known.session.grow(known.states.len());
        known.session.edit(state, action, Edit::Set(row)).map_err(errors::refused)
    }

    fn set_reward(&self, state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>, reward: f64) -> PyResult<()> {
        let mut known = self.0.lock()?;
        check_reward(state, action, reward)?;
        let (state, action) = known.pair(state, action)?;
        known.session.edit(state, action, Edit::Reward(reward)).map_err(errors::refused)
    }

    fn remove_action(&self, state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut known = self.0.lock()?;
        let (state, action) = known.pair(state, action)?;
        known.session.edit(state, action, Edit::Remove).map_err(errors::refused)
    }
}

impl NamedMdp {
    /// The ids of a state and an action that it has.
    pub fn pair(&mut self, state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
        let py = state.py();
        let state_id = self.state_id(state)?;
        let key = names::key(action, "action")?;
        let model = self.session.model();
        let action_id = self.actions.id(py, &key, "action")?;
        let known = action_id.filter(|&action| model.find(state_id, action).is_some());
        known.map(|action| (state_id, action)).ok_or_else(|| {
            let known = model.choices_of(state_id).take(20);
            let known = known.map(|choice| self.actions.show(py, model.action_of()[choice as usize]));
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
        self.states.id(py, &key, "state")?.ok_or_else(|| {
            let n = self.states.len();
            errors::unknown(py, format!("state {} is not known; {n} states are known", key.show()))
        })
    }

    /// Changes of known states, by ids. The model stays as it is.
    pub fn edits(&mut self, changes: Vec<GivenChange<'_>>) -> PyResult<Vec<(u32, u32, Edit)>> {
        let mut edits = Vec::with_capacity(changes.len());
        for (state, action, given, reward) in changes {
            edits.push(match (given, reward) {
                (None, Some(reward)) => {
                    check_reward(&state, &action, reward)?;
                    let (state, action) = self.pair(&state, &action)?;
                    (state, action, Edit::Reward(reward))
                }
                (None, None) => {
                    let (state, action) = self.pair(&state, &action)?;
                    (state, action, Edit::Remove)
                }
                (Some(given), _) => {
                    let pair = || format!("action {} in state {}", show(&action), show(&state));
                    let mut rows = Vec::new();
                    for (probability, next, reward, terminated) in given_outcomes(&given, &pair)? {
                        let next = if terminated { None } else { Some(self.state_id(&next)?) };
                        rows.push(SourceOutcome { next, probability, reward });
                    }
                    let row = row(&mut rows, Sums { eps: 0.0, normalize: false }, pair)?;
                    let id = self.state_id(&state)?;
                    let key = names::key(&action, "action")?;
                    let action = self.actions.id_or_insert(state.py(), key, "action")?.0;
                    (id, action, Edit::Set(row))
                }
            });
        }
        Ok(edits)
    }
}

fn check_reward(state: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>, reward: f64) -> PyResult<()> {
    if crate::numbers::is_reward(reward) {
        return Ok(());
    }
    Err(errors::value(format!(
        "reward of action {} in state {} is {reward:?}; expected {}",
        show(action),
        show(state),
        crate::numbers::A_REWARD
    )))
}
