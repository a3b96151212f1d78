//! The engine's agent together with the names of its states and actions and its random generator.
//!
//! Invariants: `rows[s]` lists the actions of state `s` in the order of the core's action ids, `None` standing for the
//! default ones. A state whose actions are not known yet has one pair without a name in the core, so that it is worth the
//! optimistic value and not 0, as a state without actions is; its first action takes that pair over.

use crate::errors::{self, show};
use crate::names::{self, Key, Names};
use backsweep::{Action, Agent, Next, Outcome, Random, State, Transition};
use pyo3::prelude::*;

pub struct NamedAgent {
    pub agent: Agent,
    pub random: Random,
    pub states: Names,
    pub actions: Names,
    /// What episodes ended in, so that its value can be asked for: 0, unless it is a state as well.
    pub ends: Names,
    /// The actions of every new state, as ids; `None` if they are discovered as they come.
    pub(crate) default: Option<Vec<u32>>,
    /// Whether the default actions are 0, 1, 2 … as ids, so that an action's id is its place in the row.
    pub(crate) identity: bool,
    pub(crate) rows: Vec<Option<Vec<u32>>>,
}

impl NamedAgent {
    pub fn new(agent: Agent, random: Random) -> Self {
        let (states, actions, ends) = Default::default();
        Self { agent, random, states, actions, ends, default: None, identity: false, rows: Vec::new() }
    }

    /// The id of an action, a new one if it is new and actions are not declared.
    pub fn action_id(&mut self, py: Python<'_>, key: Key<'_>) -> PyResult<u32> {
        match self.actions.id(py, &key, "action")? {
            Some(id) => Ok(id),
            None if self.default.is_some() => Err(self.not_declared(py, &key.show())),
            None => self.actions.insert(py, key),
        }
    }

    /// The ids of actions, new ones if they are new; each once.
    fn action_ids(&mut self, py: Python<'_>, actions: &[Bound<'_, PyAny>]) -> PyResult<Vec<u32>> {
        let keys = actions.iter().map(|action| names::key(action, "action")).collect::<PyResult<Vec<_>>>()?;
        let mut ids = Vec::with_capacity(keys.len());
        for key in keys {
            let id = self.action_id(py, key)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    fn not_declared(&self, py: Python<'_>, action: &str) -> PyErr {
        let declared: Vec<_> =
            (0..self.actions.len().min(20)).map(|id| self.actions.show(py, id as u32)).collect();
        let more = if self.actions.len() > 20 { ", …" } else { "" };
        errors::unknown(
            py,
            format!(
                "action {action} is not one of the declared actions [{}{more}]; declare all of them: Agent(actions=...)",
                declared.join(", ")
            ),
        )
    }

    /// Declares the actions of all states that are met from now on; states already met get those that they lack.
    pub fn declare(&mut self, py: Python<'_>, actions: &[Bound<'_, PyAny>]) -> PyResult<()> {
        let unknown_before = self.default.take();
        let ids = self.action_ids(py, actions);
        self.default = unknown_before;
        let ids = ids?;
        if ids.is_empty() {
            return Err(errors::value("actions is empty; expected one action at least"));
        }
        match &self.default {
            Some(default) if *default == ids => return Ok(()),
            Some(default) => {
                let first: Vec<_> = default.iter().take(20).map(|&id| self.actions.show(py, id)).collect();
                return Err(errors::value(format!(
                    "the agent was declared with the actions [{}]; they cannot be changed to others",
                    first.join(", ")
                )));
            }
            None => {}
        }
        for state in 0..self.rows.len() as u32 {
            for &id in &ids {
                self.place(py, state, id)?;
            }
        }
        self.identity = ids.iter().enumerate().all(|(i, &id)| i as u32 == id);
        self.default = Some(ids);
        Ok(())
    }

    /// The declared actions.
    pub fn declared(&self) -> Option<&[u32]> {
        self.default.as_deref()
    }

    /// The actions of a state, in the order of the core's ids.
    pub fn row(&self, state: u32) -> &[u32] {
        match self.rows.get(state as usize) {
            Some(Some(row)) => row,
            Some(None) => self.default.as_deref().unwrap_or_default(),
            None => &[],
        }
    }

    /// The id of a state that is known.
    pub fn known(&mut self, state: &Bound<'_, PyAny>) -> PyResult<u32> {
        let py = state.py();
        let key = names::key(state, "state")?;
        match self.states.id(py, &key, "state")? {
            Some(id) => Ok(id),
            None => Err(errors::unknown(
                py,
                format!(
                    "state {} is not known: it was neither left nor reached by a step that went on; \
                     {} states are known",
                    key.show(),
                    self.states.len()
                ),
            )),
        }
    }

    /// The id of a state; a new one gets the default actions.
    #[inline]
    pub fn meet(&mut self, py: Python<'_>, key: Key<'_>) -> PyResult<u32> {
        match self.states.id(py, &key, "state")? {
            Some(id) => Ok(id),
            None => self.add(py, key, None),
        }
    }

    /// Adds a state that is not known, with these actions or the default ones.
    pub fn add(&mut self, py: Python<'_>, key: Key<'_>, row: Option<Vec<u32>>) -> PyResult<u32> {
        let row = match (row, &self.default) {
            (Some(row), Some(default)) if row == *default => None,
            (Some(row), _) => Some(row),
            (None, Some(_)) => None,
            (None, None) => Some(Vec::new()),
        };
        let n_actions = match &row {
            Some(row) => row.len().max(1),
            None => self.default.as_ref().map_or(1, Vec::len),
        };
        let id = self.states.insert(py, key)?;
        self.agent.add_state(n_actions).map_err(|error| self.explain(py, error))?;
        self.rows.push(row);
        Ok(id)
    }

    /// Adds a state of a known model: it has these actions and will get no others, so without any it is an end, worth 0.
    pub fn add_known(&mut self, py: Python<'_>, key: Key<'_>, row: Vec<u32>) -> PyResult<u32> {
        let id = self.states.insert(py, key)?;
        self.agent.add_state(row.len()).map_err(|error| self.explain(py, error))?;
        self.rows.push(Some(row));
        Ok(id)
    }

    /// Adds a state with its own actions, or adds to a known one those that it lacks.
    pub fn add_state(
        &mut self,
        py: Python<'_>,
        key: Key<'_>,
        actions: Option<&[Bound<'_, PyAny>]>,
    ) -> PyResult<u32> {
        let known = self.states.id(py, &key, "state")?;
        let row = match actions {
            Some(actions) => Some(self.action_ids(py, actions)?),
            None => None,
        };
        match (known, row) {
            (None, row) => self.add(py, key, row),
            (Some(state), row) => {
                for id in row.unwrap_or_default() {
                    self.place(py, state, id)?;
                }
                Ok(state)
            }
        }
    }

    /// The place of an action in the row of a state; it is added if it is not there.
    #[inline]
    pub fn place(&mut self, py: Python<'_>, state: u32, action: u32) -> PyResult<Action> {
        if let Some(place) = self.find_place(state, action) {
            return Ok(place);
        }
        let Some(Some(row)) = self.rows.get_mut(state as usize) else {
            return Err(self.not_declared(py, &self.actions.show(py, action)));
        };
        let place = row.len();
        if place >= self.agent.model().n_actions(State(state)) {
            self.agent.add_action(State(state)).map_err(|error| self.explain(py, error))?;
        }
        if let Some(Some(row)) = self.rows.get_mut(state as usize) {
            row.push(action);
        }
        Ok(Action(place as u32))
    }

    /// The place of an action in the row of a state.
    #[inline]
    pub fn find_place(&self, state: u32, action: u32) -> Option<Action> {
        match self.rows.get(state as usize)? {
            None if self.identity => {
                let n = self.default.as_ref().map_or(0, Vec::len);
                ((action as usize) < n).then_some(Action(action))
            }
            _ => self.row(state).iter().position(|&id| id == action).map(|i| Action(i as u32)),
        }
    }

    /// The place of an action that the state is known to have.
    pub fn known_place(&mut self, state: u32, action: &Bound<'_, PyAny>) -> PyResult<Action> {
        let py = action.py();
        let key = names::key(action, "action")?;
        let id = self.actions.id(py, &key, "action")?;
        id.and_then(|id| self.find_place(state, id)).ok_or_else(|| {
            errors::unknown(
                py,
                format!("action {} is not known in state {}", key.show(), self.states.show(py, state)),
            )
        })
    }

    /// Learns from one step. Nothing has changed if it fails.
    #[inline]
    pub fn observe(
        &mut self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: f64,
        next_state: &Bound<'_, PyAny>,
        terminated: bool,
        truncated: bool,
    ) -> PyResult<()> {
        let py = state.py();
        let state_key = names::key(state, "state")?;
        let action_key = names::key(action, "action")?;
        let next_key = names::key(next_state, "next_state")?;
        if !reward.is_finite() {
            return Err(errors::value(format!(
                "reward of action {} in state {} is {reward:?}; expected a finite number",
                action_key.show(),
                state_key.show()
            )));
        }
        // All names are looked up before anything is added, so that one that cannot be a name changes nothing.
        let known_state = self.states.id(py, &state_key, "state")?;
        let known_action = self.actions.id(py, &action_key, "action")?;
        let table = if terminated { &mut self.ends } else { &mut self.states };
        let known_next = table.id(py, &next_key, "next_state")?;
        let action_id = match known_action {
            Some(id) => id,
            None => self.action_id(py, action_key)?,
        };
        let state_id = match known_state {
            Some(id) => id,
            None => self.add(py, state_key, None)?,
        };
        let action = self.place(py, state_id, action_id)?;
        let next = match known_next {
            Some(_) if terminated => Next::Terminated,
            None if terminated => {
                self.ends.insert(py, next_key)?;
                Next::Terminated
            }
            Some(id) if truncated => Next::Truncated(State(id)),
            Some(id) => Next::Continue(State(id)),
            // Looked up again: it may be the state that has just been added.
            None if truncated => Next::Truncated(State(self.meet(py, next_key)?)),
            None => Next::Continue(State(self.meet(py, next_key)?)),
        };
        let transition = Transition { state: State(state_id), action, reward, next };
        self.agent.observe(&transition).map_err(|error| self.explain(py, error))?;
        Ok(())
    }

    /// Sets the known outcomes of a pair: (probability, next state, reward, terminated), as in Gymnasium's tables.
    pub fn set_outcomes(
        &mut self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        outcomes: Vec<(f64, Bound<'_, PyAny>, f64, bool)>,
    ) -> PyResult<()> {
        let py = state.py();
        let sum: f64 = outcomes.iter().map(|outcome| outcome.0).sum();
        let wrong = outcomes.iter().find(|outcome| !(0.0..=1.0).contains(&outcome.0));
        let pair = || format!("action {} in state {}", show(action), show(state));
        if let Some((probability, ..)) = wrong {
            let message =
                format!("probability of an outcome of {} is {probability}; expected 0 to 1", pair());
            return Err(errors::value(message));
        }
        if (sum - 1.0).abs() > 1e-9 {
            let message = format!("probabilities of {} sum to {sum}; expected 1 (within 1e-9)", pair());
            return Err(errors::value(message));
        }
        if let Some((_, _, reward, _)) = outcomes.iter().find(|outcome| !outcome.2.is_finite()) {
            let message = format!("reward of {} is {reward:?}; expected a finite number", pair());
            return Err(errors::value(message));
        }
        let state_key = names::key(state, "state")?;
        self.states.id(py, &state_key, "state")?;
        let mut nexts = Vec::with_capacity(outcomes.len());
        for (_, next, _, terminated) in &outcomes {
            let key = names::key(next, "next_state")?;
            self.states.id(py, &key, "next_state")?;
            nexts.push((!terminated).then_some(key));
        }
        let action_id = self.action_ids(py, std::slice::from_ref(action))?[0];
        let state_id = self.meet(py, state_key)?;
        let place = self.place(py, state_id, action_id)?;
        let mut rows = Vec::with_capacity(outcomes.len());
        for ((probability, _, reward, _), next) in outcomes.iter().zip(nexts) {
            let next = match next {
                Some(key) => Next::Continue(State(self.meet(py, key)?)),
                None => Next::Terminated,
            };
            rows.push(Outcome { probability: *probability, reward: *reward, next });
        }
        self.agent.set_outcomes(State(state_id), place, &rows).map_err(|error| self.explain(py, error))?;
        Ok(())
    }
}
