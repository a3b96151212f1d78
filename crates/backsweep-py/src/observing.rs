//! Learning from steps, one by one or many.

use crate::actions;
use crate::agent::{Agent, sweeps};
use crate::errors;
use crate::flags::flag;
use crate::named_agent::to_state;
use crate::names;
use crate::numbers::{A_REWARD, count, is_reward, number};
use crate::settings::declare;
use backsweep::{Next, State, Transition};
use pyo3::prelude::*;

#[pymethods]
impl Agent {
    /// Declare the actions of every state; states that are already known get the ones they lack.
    ///
    /// Args:
    ///     actions: a number n for the actions 0 to n-1, or a list of actions.
    fn declare_actions(&self, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        declare(&mut *self.0.lock()?, actions)
    }

    /// Add a state before it is visited, or actions to a known state.
    ///
    /// Args:
    ///     state: the state.
    ///     actions: its actions, as a list or mask (see act); the declared ones if not given.
    #[pyo3(signature = (state, actions=None))]
    fn add_state(&self, state: &Bound<'_, PyAny>, actions: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let py = state.py();
        let mut learner = self.0.lock()?;
        let keys = actions.map(|actions| actions::keys_or_mask(&learner, actions)).transpose()?;
        let key = names::key(state, "state")?;
        learner.states.id(py, &key, "state")?;
        let row = keys.map(|keys| learner.action_ids(py, keys)).transpose()?;
        learner.add_state(py, key, row)?;
        Ok(())
    }

    /// Learn from one step. The value of this state and action is updated at once, from the present values of its next states.
    ///
    /// Call ``plan`` to pass the change on to other states.
    ///
    /// Args:
    ///     state: the state before the step.
    ///     action: the action that was taken.
    ///     reward: the reward, a finite number.
    ///     next_state: the state after the step.
    ///     terminated: whether the episode ended there, so that nothing follows.
    ///     truncated: whether the episode was cut there, for instance by a time limit; next_state keeps its value.
    ///
    /// Raises:
    ///     ValueError: the reward is not finite, outside reward_range, or a flag is neither true nor false; nothing is learned.
    ///     TypeError: a state or action cannot be a name.
    #[pyo3(
        signature = (state, action, reward, next_state, terminated=None, truncated=None),
        text_signature = "($self, state, action, reward, next_state, terminated=False, truncated=False)"
    )]
    fn observe(
        &self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        next_state: &Bound<'_, PyAny>,
        terminated: Option<&Bound<'_, PyAny>>,
        truncated: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let reward = number(reward, "reward")?;
        let (terminated, truncated) = (flag(terminated, "terminated")?, flag(truncated, "truncated")?);
        let (learner, py) = (&mut *self.0.lock()?, state.py());
        let state_key = names::key(state, "state")?;
        let action_key = names::key(action, "action")?;
        let next_key = names::key(next_state, "next_state")?;
        if !is_reward(reward) {
            return Err(errors::value(format!(
                "reward of action {} in state {} is {reward:?}; expected {A_REWARD}",
                action_key.show(),
                state_key.show()
            )));
        }
        learner.check_range(reward)?;
        // All names are looked up before anything is added, so that an invalid name changes nothing.
        let known_state = learner.states.id(py, &state_key, "state")?;
        let known_action = learner.actions.id(py, &action_key, "action")?;
        if !learner.may_take(known_state.unwrap_or(u32::MAX), known_action.unwrap_or(u32::MAX)) {
            return Err(learner.not_declared(py, &action_key.show()));
        }
        let table = if terminated { &mut learner.ends } else { &mut learner.states };
        let known_next = table.id(py, &next_key, "next_state")?;
        let action_id = match known_action {
            Some(id) => id,
            None => learner.action_id(py, action_key)?,
        };
        let state_id = match known_state {
            Some(id) => id,
            None => learner.add(py, state_key, None)?,
        };
        let action = learner.place(py, state_id, action_id)?;
        let next = match known_next {
            Some(_) if terminated => Next::Terminated,
            None if terminated => {
                learner.ends.insert(py, next_key)?;
                Next::Terminated
            }
            Some(id) => to_state(id, truncated),
            // Looked up again: it may be the state that has just been added.
            None => to_state(learner.state_id(py, next_key)?, truncated),
        };
        let transition = Transition { state: State(state_id), action, reward, next };
        learner.agent.observe_transition(&transition).map_err(|error| learner.explain(py, error))?;
        Ok(())
    }

    /// Undo one observed step, as if it had never happened.
    ///
    /// A window knows every reward and refuses others. Otherwise the state and action must have led to this next state; of its
    /// rewards only the sum is known, so that a wrong one is noticed with the last step at the latest.
    ///
    /// Args:
    ///     state: the state before the step.
    ///     action: the action that was taken.
    ///     reward: its reward.
    ///     next_state: the state after the step.
    ///     terminated: whether the episode ended there.
    ///     truncated: whether the episode was cut there.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    ///     ValueError: this step cannot have been observed, or observations fade; nothing has changed.
    ///
    /// Example:
    ///     >>> import backsweep
    ///     >>> agent = backsweep.Agent(discount=0.9)
    ///     >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
    ///     >>> agent.observe("yard", "east", 5.0, "street", terminated=True)
    ///     >>> agent.forget("yard", "east", 5.0, "street", terminated=True)
    ///     >>> agent.value("yard")
    ///     1.0
    #[pyo3(
        signature = (state, action, reward, next_state, terminated=None, truncated=None),
        text_signature = "($self, state, action, reward, next_state, terminated=False, truncated=False)"
    )]
    fn forget(
        &self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        next_state: &Bound<'_, PyAny>,
        terminated: Option<&Bound<'_, PyAny>>,
        truncated: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let reward = number(reward, "reward")?;
        let (terminated, truncated) = (flag(terminated, "terminated")?, flag(truncated, "truncated")?);
        let (learner, py) = (&mut *self.0.lock()?, state.py());
        let (state_key, action_key) = (names::key(state, "state")?, names::key(action, "action")?);
        let next_key = names::key(next_state, "next_state")?;
        let unknown = |what: &str, name: String| {
            errors::unknown(py, format!("{what} {name} is not known, so it has no step to undo"))
        };
        let Some(id) = learner.states.id(py, &state_key, "state")? else {
            return Err(unknown("state", state_key.show()));
        };
        let found =
            learner.actions.id(py, &action_key, "action")?.and_then(|action| learner.find_place(id, action));
        let Some(action) = found else { return Err(unknown("action", action_key.show())) };
        let next = match learner.states.id(py, &next_key, "next_state")? {
            _ if terminated => Next::Terminated,
            Some(next) => to_state(next, truncated),
            None => return Err(unknown("next_state", next_key.show())),
        };
        let transition = Transition { state: State(id), action, reward, next };
        learner.agent.forget(&transition).map_err(|error| learner.explain(py, error))?;
        Ok(())
    }

    /// Learn from many steps given as columns: from all of them, or from none if one is refused.
    ///
    /// Ctrl-C stops between two rows; a note on the exception says how many were learned.
    ///
    /// Args:
    ///     states: the state before each step.
    ///     actions: the action of each step.
    ///     rewards: the reward of each step.
    ///     next_states: the state after each step.
    ///     terminated: whether each step ended its episode.
    ///     truncated: whether each step was cut.
    ///     cycles: update cycles after each step; none if not given.
    ///
    /// Returns:
    ///     The number of steps.
    ///
    /// Raises:
    ///     ValueError: a row is refused, or columns differ in length; the message names the row, and nothing is learned.
    #[pyo3(signature = (states, actions, rewards, next_states, terminated=None, truncated=None, *, cycles=None))]
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn observe_many(
        &self,
        py: Python<'_>,
        states: &Bound<'_, PyAny>,
        actions: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        next_states: &Bound<'_, PyAny>,
        terminated: Option<&Bound<'_, PyAny>>,
        truncated: Option<&Bound<'_, PyAny>>,
        cycles: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let cycles = cycles.map_or(Ok(0), |cycles| count(cycles, "cycles"))?;
        let mut learner = self.0.lock()?;
        // The model may grow meanwhile: a sweep may be short now and long at the end.
        let heavy = sweeps(&learner);
        let columns = [Some(states), Some(actions), Some(rewards), Some(next_states), terminated, truncated];
        crate::observe_many::observe_many(py, &mut learner, columns, cycles, heavy)
    }
}
