//! The whole saved agent: agent, random generator and names.

use super::{Error, Name, Result, decode, decode_names, encode, encode_names, load, save};
use crate::planner::{Array, Snapshot};
use crate::{Agent, PlannerKind, Random, State};
use std::path::Path;

/// Names of an agent's states and actions.
///
/// Action names are shared by all states; each state lists the ones it has, in the order of its action ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentNames {
    /// `states[s]` is the name of state `s`.
    pub states: Vec<Name>,
    /// The names of actions.
    pub actions: Vec<Name>,
    /// The actions of new states, as indices into `actions`; `None` if actions are discovered as they occur.
    pub default_actions: Option<Vec<u32>>,
    /// `rows[s]` are the actions of state `s`, as indices into `actions`; `None` stands for the default ones. The row of a
    /// state with one action may be empty: the action has no name yet.
    pub rows: Vec<Option<Vec<u32>>>,
    /// Names of the states in which episodes ended.
    pub ends: Vec<Name>,
}

/// An agent with its names: everything that is saved and resumed.
#[derive(Clone, Debug)]
pub struct SavedAgent {
    /// Model, planner (values, queue, settings) and policy.
    pub agent: Agent,
    /// The random generator in its current state.
    pub random: Random,
    /// Names, if there are any.
    pub names: Option<AgentNames>,
}

/// In `names.row_length`: the row is the default one.
const DEFAULT_ROW: u32 = u32::MAX;

impl SavedAgent {
    /// An agent without names.
    pub fn new(agent: Agent, random: Random) -> Self {
        Self { agent, random, names: None }
    }

    /// The agent as named arrays.
    ///
    /// # Errors
    /// If a name cannot be stored.
    pub fn store(&self) -> Result<Snapshot> {
        let mut snapshot = self.agent.store()?;
        snapshot.put("random", self.random.state().to_vec());
        if let Some(names) = &self.names {
            names.store(&mut snapshot)?;
        }
        Ok(snapshot)
    }

    /// The agent that was stored, if its planner is one of the core's.
    ///
    /// # Errors
    /// If the arrays do not describe one.
    pub fn restore(snapshot: &Snapshot) -> Result<Self> {
        Self::restore_among(snapshot, &PlannerKind::SWEEPING)
    }

    /// As [`restore`](Self::restore), with a planner of one of these kinds.
    ///
    /// # Errors
    /// As for `restore`; a planner of another kind is refused by its name.
    pub fn restore_among(snapshot: &Snapshot, planners: &[PlannerKind]) -> Result<Self> {
        let agent = Agent::restore_among(snapshot, planners)?;
        let random = snapshot.random("random")?;
        let names = match snapshot.get("names.states") {
            None => None,
            Some(_) => Some(AgentNames::restore(&agent, snapshot)?),
        };
        Ok(Self { agent, random, names })
    }

    /// The agent as the bytes of a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(encode(&self.store()?))
    }

    /// The agent in the bytes of a file, if its planner is one of the core's.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_bytes_among(bytes, &PlannerKind::SWEEPING)
    }

    /// As [`from_bytes`](Self::from_bytes), with a planner of one of these kinds.
    pub fn from_bytes_among(bytes: &[u8], planners: &[PlannerKind]) -> Result<Self> {
        Self::restore_among(&decode(bytes)?, planners)
    }

    /// Writes the agent to a file; see [`save`]. What is written is read back first: a file that exists is never replaced by
    /// one that cannot be loaded.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let snapshot = self.store()?;
        let kind = self.agent.planner().kind().unwrap_or_default();
        Self::restore_among(&snapshot, &[kind])?;
        save(path, &snapshot)
    }

    /// Reads an agent from a file, if its planner is one of the core's; see [`load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_among(path, &PlannerKind::SWEEPING)
    }

    /// As [`load`](Self::load), with a planner of one of these kinds.
    pub fn load_among(path: impl AsRef<Path>, planners: &[PlannerKind]) -> Result<Self> {
        Self::restore_among(&load(&path)?, planners).map_err(|error| error.in_file(path.as_ref()))
    }
}

impl AgentNames {
    /// The name of an action of a state, as text for people.
    pub fn action_text(&self, state: State, action: usize) -> String {
        let row = self.rows.get(state.index()).and_then(Option::as_ref).or(self.default_actions.as_ref());
        let name = row.and_then(|row| row.get(action)).and_then(|&id| self.actions.get(id as usize));
        name.map_or_else(|| action.to_string(), Name::text)
    }

    fn store(&self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.put("names.states", encode_names(&self.states)?);
        snapshot.put("names.actions", encode_names(&self.actions)?);
        snapshot.put("names.ends", encode_names(&self.ends)?);
        if let Some(actions) = &self.default_actions {
            snapshot.put("names.default_actions", actions.clone());
        }
        let lengths = self.rows.iter().map(|row| row.as_ref().map_or(DEFAULT_ROW, |row| row.len() as u32));
        snapshot.put("names.row_length", lengths.collect::<Vec<u32>>());
        snapshot.put("names.rows", self.rows.iter().flatten().flatten().copied().collect::<Vec<u32>>());
        Ok(())
    }

    fn restore(agent: &Agent, snapshot: &Snapshot) -> Result<Self> {
        let names = |part: &str| decode_names(&format!("section '{part}'"), snapshot.bytes(part)?);
        let (states, actions, ends) = (names("names.states")?, names("names.actions")?, names("names.ends")?);
        let wrong = |problem: String| Err(Error::damaged("names", problem));
        let is_row = |row: &[u32]| {
            let mut sorted = row.to_vec();
            sorted.sort_unstable();
            sorted.windows(2).all(|two| two[0] != two[1])
                && sorted.last().is_none_or(|&last| (last as usize) < actions.len())
        };
        let default_actions = match snapshot.get("names.default_actions") {
            None => None,
            Some(Array::U32(row)) if is_row(row) => Some(row.clone()),
            Some(_) => {
                return wrong("expected default actions that are among the actions, each once".to_owned());
            }
        };
        let model = agent.model();
        let lengths = snapshot.u32s("names.row_length")?;
        if states.len() != model.n_states() || lengths.len() != model.n_states() {
            return wrong(format!(
                "expected names and rows of {} states, found {} and {}",
                model.n_states(),
                states.len(),
                lengths.len()
            ));
        }
        let mut left = snapshot.u32s("names.rows")?;
        let mut rows = Vec::new();
        for (state, &length) in lengths.iter().enumerate() {
            let n_actions = model.n_actions(State(state as u32));
            if length == DEFAULT_ROW {
                if default_actions.as_ref().map(Vec::len) != Some(n_actions) {
                    return wrong(format!(
                        "state {state} has {n_actions} actions; expected the default actions"
                    ));
                }
                rows.push(None);
                continue;
            }
            let Some((row, rest)) = left.split_at_checked(length as usize) else {
                return wrong(format!("the rows of actions end before that of state {state}"));
            };
            if !(row.len() == n_actions || (row.is_empty() && n_actions == 1)) || !is_row(row) {
                return wrong(format!(
                    "the row of state {state} names {} actions; expected {n_actions} different ones",
                    row.len()
                ));
            }
            rows.push(Some(row.to_vec()));
            left = rest;
        }
        if !left.is_empty() {
            return wrong(format!("{} items remain after the rows of all states", left.len()));
        }
        Ok(Self { states, actions, default_actions, rows, ends })
    }
}
