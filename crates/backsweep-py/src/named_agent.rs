//! The engine's agent together with the names of its states and actions and its random generator.
//!
//! Invariants: `rows[s]` lists the actions of state `s` in the order of the core's action ids, `None` standing for the
//! declared ones. A state whose actions are not known yet has one unnamed pair in the core, so that it has the optimistic
//! value and not 0, as a state without actions would; its first action takes over that pair.

use crate::action_row::ActionRow;
use crate::errors;
use crate::memory;
use crate::names::{self, Key, Names};
use backsweep::{Action, Agent, Next, Random, State};
use pyo3::prelude::*;

/// Ctrl-C is checked once per this many names, and a state with more actions is checked against the available memory.
const NAMES_PER_CHECK: usize = 1 << 16;

pub struct NamedAgent {
    pub agent: Agent,
    pub random: Random,
    pub states: Names,
    pub actions: Names,
    /// The states in which episodes ended: worth 0 and without actions, unless they are in `states` as well.
    pub ends: Names,
    /// The actions of every new state; `None` if actions are discovered as they occur.
    pub(crate) declared: Option<ActionRow>,
    pub(crate) rows: Vec<Option<ActionRow>>,
    /// True if an interrupt stopped the agent from bringing its recommended values up to date.
    pub(crate) is_recommendation_cut: bool,
}

/// A state as a user may name it.
pub enum KnownState {
    State(u32),
    /// Known only as the end of episodes.
    End,
}

impl NamedAgent {
    pub fn new(agent: Agent, random: Random) -> Self {
        let (states, actions, ends) = Default::default();
        Self {
            agent,
            random,
            states,
            actions,
            ends,
            declared: None,
            rows: Vec::new(),
            is_recommendation_cut: false,
        }
    }

    /// The id of an action; an unknown one is added unless actions are declared.
    pub fn action_id(&mut self, py: Python<'_>, key: Key<'_>) -> PyResult<u32> {
        match self.actions.id(py, &key, "action")? {
            Some(id) => Ok(id),
            None if self.declared.is_some() => Err(self.not_declared(py, &key.show())),
            None => self.actions.insert(py, key),
        }
    }

    /// The ids of actions, each once; unknown ones are added unless actions are declared. Nothing is added if one of them
    /// cannot be.
    pub fn action_ids(&mut self, py: Python<'_>, keys: Vec<Key<'_>>) -> PyResult<ActionRow> {
        for key in &keys {
            if self.actions.id(py, key, "action")?.is_none() && self.declared.is_some() {
                return Err(self.not_declared(py, &key.show()));
            }
        }
        self.name_actions(py, keys.into_iter())
    }

    /// The ids of actions, each once; unknown ones are added.
    fn name_actions<'py>(
        &mut self,
        py: Python<'py>,
        keys: impl Iterator<Item = Key<'py>>,
    ) -> PyResult<ActionRow> {
        let mut row = ActionRow::default();
        for (i, key) in keys.enumerate() {
            row.insert(self.actions.id_or_insert(py, key, "action")?.0);
            if i % NAMES_PER_CHECK == NAMES_PER_CHECK - 1 {
                py.check_signals()?;
            }
        }
        Ok(row)
    }

    pub fn not_declared(&self, py: Python<'_>, action: &str) -> PyErr {
        errors::unknown(
            py,
            format!(
                "action {action} is not one of the declared actions [{}]; declare all of them: Agent(actions=...)",
                self.show_declared(py)
            ),
        )
    }

    fn show_declared(&self, py: Python<'_>) -> String {
        let declared = self.declared.as_ref().map_or(&[][..], ActionRow::as_slice);
        let mut shown: Vec<_> = declared.iter().take(20).map(|&id| self.actions.show(py, id)).collect();
        if declared.len() > 20 {
            shown.push("…".to_owned());
        }
        shown.join(", ")
    }

    /// Declares the actions of all states that are added from now on; known states get the ones they lack.
    pub fn declare<'py>(
        &mut self,
        py: Python<'py>,
        actions: impl ExactSizeIterator<Item = Key<'py>>,
    ) -> PyResult<()> {
        if actions.len() == 0 {
            return Err(errors::value("actions is empty; expected at least one action"));
        }
        if self.declared.is_some() {
            return self.check_same(py, actions);
        }
        let row = self.name_actions(py, actions)?;
        for state in 0..self.rows.len() as u32 {
            for &id in row.as_slice() {
                self.place(py, state, id)?;
            }
        }
        self.declared = Some(row);
        Ok(())
    }

    /// Refuses actions other than those that are declared already.
    fn check_same<'py>(&mut self, py: Python<'py>, actions: impl Iterator<Item = Key<'py>>) -> PyResult<()> {
        let mut row = ActionRow::default();
        for key in actions {
            row.insert(self.actions.id(py, &key, "action")?.unwrap_or(u32::MAX));
        }
        match &self.declared {
            Some(declared) if declared.as_slice() == row.as_slice() => Ok(()),
            _ => Err(errors::value(format!(
                "the agent's actions are already declared as [{}] and cannot be changed",
                self.show_declared(py)
            ))),
        }
    }

    /// Returns whether a state, known or new, may take an action: if actions are declared it must be one of them, or the state must have
    /// its own.
    #[inline]
    pub fn may_take(&self, state: u32, action: u32) -> bool {
        self.declared.is_none()
            || self.find_declared(action).is_some()
            || ((action as usize) < self.actions.len()
                && matches!(self.rows.get(state as usize), Some(Some(_))))
    }

    /// The actions of a state, in the order of the core's ids.
    pub fn row(&self, state: u32) -> &[u32] {
        match self.rows.get(state as usize) {
            Some(Some(row)) => row.as_slice(),
            Some(None) => self.declared.as_ref().map_or(&[], ActionRow::as_slice),
            None => &[],
        }
    }

    /// A known state, possibly only as an end.
    pub fn find(&mut self, py: Python<'_>, key: &Key<'_>) -> PyResult<Option<KnownState>> {
        if let Some(id) = self.states.id(py, key, "state")? {
            return Ok(Some(KnownState::State(id)));
        }
        Ok(self.ends.id(py, key, "state")?.map(|_| KnownState::End))
    }

    /// A known state, possibly only as an end; an error if it is not.
    pub fn known(&mut self, state: &Bound<'_, PyAny>) -> PyResult<KnownState> {
        let py = state.py();
        let key = names::key(state, "state")?;
        self.find(py, &key)?.ok_or_else(|| {
            errors::unknown(
                py,
                format!(
                    "state {} is not known: no step left it or reached it; {} states are known",
                    key.show(),
                    self.states.len()
                ),
            )
        })
    }

    /// The id of a state; a new one gets the declared actions.
    #[inline]
    pub fn state_id(&mut self, py: Python<'_>, key: Key<'_>) -> PyResult<u32> {
        match self.states.id(py, &key, "state")? {
            Some(id) => Ok(id),
            None => self.add(py, key, None),
        }
    }

    /// Adds an unknown state, with these actions or the declared ones.
    pub fn add(&mut self, py: Python<'_>, key: Key<'_>, row: Option<ActionRow>) -> PyResult<u32> {
        let row = match (row, &self.declared) {
            (Some(row), Some(declared)) if row.as_slice() == declared.as_slice() => None,
            (Some(row), _) => Some(row),
            (None, Some(_)) => None,
            (None, None) => Some(ActionRow::default()),
        };
        let n_actions = row.as_ref().or(self.declared.as_ref()).map_or(1, |row| row.len().max(1));
        self.add_row(py, key, row, n_actions)
    }

    /// Adds a state of a known model: it has these actions and will get no others, so without any it is an end, worth 0.
    pub fn add_known(&mut self, py: Python<'_>, key: Key<'_>, row: ActionRow) -> PyResult<u32> {
        let n_actions = row.len();
        self.add_row(py, key, Some(row), n_actions)
    }

    fn add_row(
        &mut self,
        py: Python<'_>,
        key: Key<'_>,
        row: Option<ActionRow>,
        n_actions: usize,
    ) -> PyResult<u32> {
        if n_actions > NAMES_PER_CHECK {
            // Growing may take a second copy of everything.
            let model = self.agent.model();
            let n_pairs = 2 * model.n_pairs() + n_actions;
            memory::check(&format!("state {}", key.show()), model.n_states() as u64, n_pairs as u64, 0)?;
        }
        let id = self.states.insert(py, key)?;
        self.agent.add_state(n_actions).map_err(|error| self.explain(py, error))?;
        self.rows.push(row);
        Ok(id)
    }

    /// Adds a state with its own actions, or adds to a known one those that it lacks.
    pub fn add_state(&mut self, py: Python<'_>, key: Key<'_>, row: Option<ActionRow>) -> PyResult<u32> {
        let Some(state) = self.states.id(py, &key, "state")? else {
            return self.add(py, key, row);
        };
        for &id in row.unwrap_or_default().as_slice() {
            self.place(py, state, id)?;
        }
        Ok(state)
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
            row.insert(action);
        }
        Ok(Action(place as u32))
    }

    /// The place of an action in the row of a state.
    ///
    /// # Complexity
    /// O(1).
    #[inline]
    pub fn find_place(&self, state: u32, action: u32) -> Option<Action> {
        match self.rows.get(state as usize)? {
            Some(row) => row.find(action),
            None => self.find_declared(action),
        }
    }

    /// The place of an action among the declared ones.
    #[inline]
    pub fn find_declared(&self, action: u32) -> Option<Action> {
        self.declared.as_ref()?.find(action)
    }

    /// Refuses a reward outside the stated range, on which bonuses and [`intervals`](Self::intervals) rely. What rounding
    /// adds is not counted.
    #[inline]
    pub fn check_range(&self, reward: f64) -> PyResult<()> {
        let Some((lowest, highest)) = self.agent.exploration().and_then(|e| e.reward_range) else {
            return Ok(());
        };
        let slack = 1e-9 * (highest - lowest);
        if reward >= lowest - slack && reward <= highest + slack {
            return Ok(());
        }
        Err(errors::value(format!(
            "reward is {reward:?}, outside reward_range ({lowest:?}, {highest:?}); expected a range that contains every reward of \
             a step"
        )))
    }
}

#[inline]
pub fn to_state(id: u32, truncated: bool) -> Next {
    if truncated { Next::Truncated(State(id)) } else { Next::Continue(State(id)) }
}
