//! `backsweep.Agent`.

use crate::actions;
use crate::errors;
use crate::exclusive::Exclusive;
use crate::explore::{Given, explore_object, forgetting_object};
use crate::flags::flag;
use crate::known;
use crate::named_agent::NamedAgent;
use crate::names;
use crate::numbers::{count, number};
use crate::pickle;
use crate::planning::{self, Amount, PlanFn};
use crate::policy;
use crate::results::{audit_object, model_object, optimism_object, stats_object};
use crate::settings::{build, declare, planner_settings, seed_or_fresh};
use backsweep::explore::EpsilonGreedy;
use backsweep::planner::{Model, QueueView};
use backsweep::report::ActionExplanation;
use backsweep::{Agent as CoreAgent, Random};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::path::PathBuf;
use std::sync::MutexGuard;

/// The value of an action, term by term: visits, whether known, reward, bonus, share of ends, terms (next state, probability,
/// value).
type ActionTerms = (u64, bool, f64, f64, f64, Vec<(u32, f64, f64)>);
/// The values of a state, term by term: the value that predecessors use, the priority, each action.
type StateTerms = (Option<f64>, f64, Vec<ActionTerms>);

/// The place of each state's action, and (state, action) where it changed.
type ActingChanges<'py> = (Bound<'py, PyArray1<u32>>, Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>);

/// Sweeps over a model with more arcs than this take a long time.
const LONG_SWEEP: usize = 20_000;

/// A learner that keeps a model of everything it has observed and plans on it incrementally.
///
/// Values are near optimal for the model, not exact: ``audit`` and ``bound`` say how near. ``learn`` runs one in an environment.
///
/// Args:
///     discount: the factor by which a reward one step later counts, from 0 to 1.
///     planner: the name of a planner, or an object such as ``SmallBackups(queue="bucket")``.
///     optimism: ``Optimism(value, min_visits)``: an action seen fewer than ``min_visits`` times is worth ``value``.
///     epsilon: the probability that ``act`` takes a random action.
///     actions: the actions of every state: a number n for 0 to n-1, or a list. Without it, actions are discovered.
///     seed: seeds the agent's random generator; None draws a fresh seed.
///     freeze_at: after this many visits an action is no longer learned (R-max).
///     explore: the way act explores, such as ``CountBonus()``; best_action, policy and value then recommend without optimism.
///     reward_range: the lowest and highest reward of a step, as (lowest, highest); bonuses and sampling need it. A reward outside it
///         is refused.
///     start: the value that act assumes for an untried action; None for the most that reward_range allows.
///     age_bonus: adds this times the square root of the steps since an action was last tried.
///     forgetting: ``Forgetting(per_visit=...)``, ``(half_life=...)`` or ``(window=...)``, for worlds that change.
///
/// Raises:
///     ValueError: a setting is out of range, or two settings exclude each other.
///
/// Example:
///     >>> import backsweep
///     >>> agent = backsweep.Agent(discount=0.9)
///     >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
///     >>> agent.value("yard"), agent.best_action("yard")
///     (1.0, 'east')
#[pyclass(module = "backsweep", name = "Agent", weakref, frozen)]
pub struct Agent(Exclusive<NamedAgent>);

impl Agent {
    fn new(learner: NamedAgent) -> Self {
        Self(Exclusive::new(learner))
    }

    #[inline]
    fn lock(&self) -> PyResult<MutexGuard<'_, NamedAgent>> {
        self.0.lock()
    }

    fn run(&self, py: Python<'_>, plan: PlanFn, amount: Amount) -> PyResult<u64> {
        let mut learner = self.lock()?;
        let heavy = sweeps(&learner) && learner.agent.model().n_arcs() > LONG_SWEEP;
        planning::run(py, &mut learner.agent, plan, amount, heavy)
    }

    /// The agent with its recommended values brought up to date.
    #[inline]
    fn recommending(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, NamedAgent>> {
        let mut learner = self.lock()?;
        planning::recommend(py, &mut learner)?;
        Ok(learner)
    }
}

/// Returns whether a cycle is a sweep over all states.
fn sweeps(learner: &NamedAgent) -> bool {
    learner.agent.planner().kind() == Some(backsweep_baselines::VALUE_ITERATION)
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (discount=0.99, *, planner=None, optimism=None, epsilon=0.0, actions=None, seed=None, freeze_at=None,
        explore=None, reward_range=None, start=None, age_bonus=None, forgetting=None))]
    #[allow(clippy::too_many_arguments, reason = "one for each setting")]
    fn py_new(
        py: Python<'_>,
        discount: f64,
        planner: Option<&Bound<'_, PyAny>>,
        optimism: Option<&Bound<'_, PyAny>>,
        epsilon: f64,
        actions: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        freeze_at: Option<&Bound<'_, PyAny>>,
        explore: Option<&Bound<'_, PyAny>>,
        reward_range: Option<&Bound<'_, PyAny>>,
        start: Option<&Bound<'_, PyAny>>,
        age_bonus: Option<&Bound<'_, PyAny>>,
        forgetting: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (kind, settings) = planner_settings(planner, discount, optimism)?;
        let mut model = Model::new();
        if let Some(visits) = freeze_at {
            let visits = count(visits, "freeze_at")?;
            model = model.with_freeze_at(u32::try_from(visits).unwrap_or(u32::MAX));
        }
        let seed = seed_or_fresh(py, seed)?;
        let given = Given { explore, reward_range, start, age_bonus, forgetting };
        let agent = if given.is_exploring() {
            given.build(model, kind, settings, epsilon, seed)?
        } else {
            build(model, kind, settings, epsilon)?
        };
        let mut learner = NamedAgent::new(agent, Random::from_seed(seed));
        if let Some(actions) = actions {
            declare(&mut learner, actions)?;
        }
        Ok(Self::new(learner))
    }

    /// Declare the actions of every state; states that are already known get the ones they lack.
    ///
    /// Args:
    ///     actions: a number n for the actions 0 to n-1, or a list of actions.
    fn declare_actions(&self, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        declare(&mut *self.lock()?, actions)
    }

    /// Add a state before it is visited, or actions to a known state.
    ///
    /// Args:
    ///     state: the state.
    ///     actions: its actions, as a list or mask (see act); the declared ones if not given.
    #[pyo3(signature = (state, actions=None))]
    fn add_state(&self, state: &Bound<'_, PyAny>, actions: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let py = state.py();
        let mut learner = self.lock()?;
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
        self.lock()?.observe(state, action, reward, next_state, terminated, truncated)
    }

    /// Undo one observed step, as if it had never happened.
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
    ///     ValueError: this step was not observed, or observations fade; nothing has changed.
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
        self.lock()?.forget(state, action, reward, next_state, terminated, truncated)
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
        let mut learner = self.lock()?;
        // The model may grow meanwhile: a sweep may be short now and long at the end.
        let heavy = sweeps(&learner);
        let columns = [Some(states), Some(actions), Some(rewards), Some(next_states), terminated, truncated];
        crate::observe_many::observe_many(py, &mut learner, columns, cycles, heavy)
    }

    /// Propagate changes of the values that act uses, most urgent first. Give cycles, microseconds, or until (with cycles as a
    /// limit).
    ///
    /// Args:
    ///     cycles: the maximum number of update cycles.
    ///     microseconds: the time to plan for.
    ///     until: plan until no priority is above this.
    ///
    /// Returns:
    ///     The number of update cycles; fewer than allowed if nothing was left to do.
    ///
    /// Raises:
    ///     TypeError: no amount is given, or more than one.
    ///     ValueError: the amount is negative or not a number.
    ///
    /// Example:
    ///     >>> import backsweep
    ///     >>> agent = backsweep.Agent(discount=0.9)
    ///     >>> agent.observe("hall", "north", 0.0, "yard")
    ///     >>> agent.observe("yard", "east", 1.0, "street", terminated=True)
    ///     >>> agent.plan(cycles=10)
    ///     2
    ///     >>> agent.value("hall")
    ///     0.9
    #[pyo3(signature = (cycles=None, *, microseconds=None, until=None))]
    fn plan(
        &self,
        py: Python<'_>,
        cycles: Option<&Bound<'_, PyAny>>,
        microseconds: Option<&Bound<'_, PyAny>>,
        until: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        self.run(py, CoreAgent::plan, Amount::new(cycles, microseconds, until)?)
    }

    /// Plan the values that best_action, policy, value and values use. An agent built with explore keeps them separately from
    /// those that act uses; without this call, these methods first propagate everything that was observed. Arguments as in
    /// plan.
    ///
    /// Args:
    ///     cycles: the maximum number of update cycles.
    ///     microseconds: the time to plan for.
    ///     until: plan until no priority is above this.
    ///
    /// Returns:
    ///     The number of update cycles; fewer than allowed if nothing was left to do.
    ///
    /// Raises:
    ///     TypeError: no amount is given, or more than one.
    ///     ValueError: the amount is negative or not a number.
    ///
    /// Example:
    ///     >>> import backsweep
    ///     >>> agent = backsweep.Agent(0.95, explore=backsweep.CountBonus(), reward_range=(0, 1), actions=2)
    ///     >>> agent.observe("start", 0, 0.0, "start")
    ///     >>> _ = agent.plan(cycles=10)
    ///     >>> agent.act("start")
    ///     1
    ///     >>> _ = agent.recommend(cycles=10)
    ///     >>> agent.best_action("start")
    ///     0
    #[pyo3(signature = (cycles=None, *, microseconds=None, until=None))]
    fn recommend(
        &self,
        py: Python<'_>,
        cycles: Option<&Bound<'_, PyAny>>,
        microseconds: Option<&Bound<'_, PyAny>>,
        until: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        self.run(py, CoreAgent::recommend, Amount::new(cycles, microseconds, until)?)
    }

    /// Choose an action: the best one, ties broken at random; with probability epsilon a random one; as explore says, if it
    /// was given.
    ///
    /// Args:
    ///     state: the state to act in.
    ///     actions: the actions that are possible; new ones are added. A list of booleans, or an array of booleans or bytes
    ///         that are 0 or 1, is treated as a mask.
    ///     action_mask: a flag for each declared action, or for 0, 1, 2, ... if none are declared: whether it is possible.
    ///
    /// Raises:
    ///     UnknownName: no actions are known in the state.
    ///     ValueError: no action is possible, or the mask has another length.
    #[pyo3(signature = (state, actions=None, *, action_mask=None))]
    fn act<'py>(
        &self,
        state: &Bound<'py, PyAny>,
        actions: Option<&Bound<'py, PyAny>>,
        action_mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        actions::act(&mut *self.lock()?, state, actions, action_mask)
    }

    /// The value of a state; 0 for one seen only as the end of an episode.
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn value(&self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        self.recommending(state.py())?.value(state)
    }

    /// The values of a state's actions, as a dict.
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn action_values<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.recommending(state.py())?.action_values(state)
    }

    /// The best action in a state; None if no action is known there. Among equally good actions it is the first, or with
    /// discount 1 one that leads to an end (which takes a pass over the model).
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn best_action<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.recommending(state.py())?.best_action(state)
    }

    /// The best action of every state with actions, as a dict.
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let learner = self.recommending(py)?;
        learner.policy(py, &policy::policy(&learner.agent))
    }

    /// The value of every state, as a dict.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.recommending(py)?.values(py)
    }

    /// The actions known in a state, as a list.
    ///
    /// Args:
    ///     state: a known state.
    ///
    /// Raises:
    ///     UnknownName: the agent does not know the state.
    fn actions<'py>(&self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.action_names(state)
    }

    /// The states that a step left, or reached without ending the episode, in the order in which they were first seen.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.lock()?.states.list(py)
    }

    /// The observations, as counts and probabilities.
    #[getter]
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        model_object(py, &*self.lock()?)
    }

    /// Counters of the work so far: cycles, backups, queue length, idle pops and more.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats_object(py, &self.lock()?.agent)
    }

    /// Recompute everything from the model: how accurate the values are, and a bound on their distance from the optimum.
    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        audit_object(py, &self.recommending(py)?.agent)
    }

    /// The most that the recommended policy can lose in the learned model, compared with the best one there; None with discount
    /// 1, and for planners that cannot tell. It accounts for what is still queued, so it holds at any time and takes no pass
    /// over the model.
    fn bound(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.recommending(py)?.agent.bound())
    }

    /// For every state, an interval that contains its optimal value in the real world, not only in the learned model.
    ///
    /// All of them hold at once with probability confidence, if no reward is outside reward_range and the world does not
    /// change. They come from Hoeffding's inequality, so they are wide until a lot has been seen.
    ///
    /// Args:
    ///     confidence: above 0 and below 1.
    ///
    /// Returns:
    ///     A dict of (lower, upper) by state.
    ///
    /// Raises:
    ///     ValueError: the agent has no reward_range, or confidence is out of range.
    #[pyo3(signature = (confidence=0.95))]
    fn intervals<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<Bound<'py, PyDict>> {
        self.lock()?.intervals(py, confidence)
    }

    /// The learned model as an MDP: to solve it for any objective, to write it for other tools, to ask what-if questions.
    ///
    /// The agent is not changed, nor does the MDP change with it. Actions that were never tried are not in the problem.
    fn mdp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        known::mdp_object(py, &*self.lock()?)
    }

    /// Compute the values of the learned model with proven intervals, at any size; same as ``mdp().solve``.
    ///
    /// The agent's own values stay as they are: these are kept near the optimum by ``plan``, and optimistic where little was seen.
    ///
    /// Args:
    ///     tolerance: the largest accepted distance of a value from the truth, above 0.
    ///     objective: as for ``MDP.solve``; discounted reward if not given.
    ///     minimize: whether to compute the smallest values that a policy attains, not the largest.
    ///     time_limit: stop after this many seconds, with the intervals reached so far.
    ///     threads: the number of threads; all cores if not given.
    ///
    /// Raises:
    ///     ValueError: the objective is not defined for this model; the message says what to do.
    #[pyo3(signature = (tolerance=1e-9, objective=None, *, minimize=false, time_limit=None, threads=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        tolerance: f64,
        objective: Option<Bound<'py, PyAny>>,
        minimize: bool,
        time_limit: Option<f64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(py);
        options.set_item("minimize", minimize)?;
        options.set_item("time_limit", time_limit)?;
        options.set_item("threads", threads)?;
        self.mdp(py)?.call_method("solve", (tolerance, objective), Some(&options))
    }

    /// Write the whole agent to a file, replacing any existing one.
    ///
    /// Args:
    ///     path: the file; a device or pipe is refused.
    ///     encode: a function that turns names other than plain data into plain data, different ones into different data.
    ///
    /// Raises:
    ///     TypeError: a name is not plain data, and there is no encode.
    ///     OSError: the file cannot be written; the old one is unchanged.
    #[pyo3(signature = (path, *, encode=None))]
    fn save<'py>(&self, py: Python<'py>, path: PathBuf, encode: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        self.lock()?.save(py, &path, encode.as_ref())
    }

    /// Load an agent from a file: it continues bit for bit as the saved one would have.
    ///
    /// Args:
    ///     path: a file that save wrote.
    ///     decode: the inverse of the encode that it was saved with.
    ///
    /// Raises:
    ///     FileError: the file is damaged, of another version, or not an agent.
    ///     OSError: the file cannot be read.
    #[staticmethod]
    #[pyo3(signature = (path, *, decode=None))]
    fn load<'py>(py: Python<'py>, path: PathBuf, decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        Ok(Self::new(NamedAgent::load(py, &path, decode.as_ref())?))
    }

    /// The bytes that save would write.
    ///
    /// Args:
    ///     encode: as for save.
    ///
    /// Raises:
    ///     TypeError: a name is not plain data, and there is no encode.
    #[pyo3(signature = (*, encode=None))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        encode: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.lock()?.to_bytes(py, encode.as_ref())?))
    }

    /// Load an agent from the bytes of to_bytes or of a file.
    ///
    /// Args:
    ///     data: the bytes.
    ///     decode: as for load.
    ///
    /// Raises:
    ///     FileError: the bytes are damaged, of another version, or not an agent.
    #[staticmethod]
    #[pyo3(signature = (data, *, decode=None))]
    fn from_bytes<'py>(py: Python<'py>, data: &[u8], decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        Ok(Self::new(NamedAgent::from_bytes(py, data, decode.as_ref())?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce::<Self>(py, |put_aside| self.lock()?.to_bytes(py, Some(put_aside)))
    }

    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        Ok(Self::new(NamedAgent::from_bytes(py, data, Some(&pickle::take_back(others)?))?))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::new(self.lock()?.copied(py)?))
    }

    /// Names are copied as copy.deepcopy copies them.
    fn __deepcopy__<'py>(&self, py: Python<'py>, memo: Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self::new(self.lock()?.deep_copied(py, &memo)?))
    }

    /// The discount.
    #[getter]
    fn discount(&self) -> PyResult<f64> {
        Ok(self.lock()?.discount())
    }

    /// The name of the planner.
    #[getter]
    fn planner(&self) -> PyResult<&'static str> {
        Ok(self.lock()?.planner_name())
    }

    /// The value of an action before it has been seen often enough.
    #[getter]
    fn optimism<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optimism_object(py, &self.lock()?.agent)
    }

    /// The way the agent explores; None if it was built without explore, reward_range, start, age_bonus and forgetting.
    #[getter]
    fn explore<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        explore_object(py, &self.lock()?.agent)
    }

    /// The way the agent forgets; None if it does not.
    #[getter]
    fn forgetting<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        forgetting_object(py, &self.lock()?.agent)
    }

    /// The lowest and highest reward of a step, if they were given.
    #[getter]
    fn reward_range(&self) -> PyResult<Option<(f64, f64)>> {
        Ok(self.lock()?.agent.exploration().and_then(|exploration| exploration.reward_range))
    }

    /// The probability of a random action.
    #[getter]
    fn epsilon(&self) -> PyResult<f64> {
        Ok(self.lock()?.agent.policy().epsilon())
    }

    #[setter]
    fn set_epsilon(&self, epsilon: f64) -> PyResult<()> {
        let policy = EpsilonGreedy::new(epsilon).map_err(errors::refused)?;
        self.lock()?.agent.set_policy(policy);
        Ok(())
    }

    /// The declared actions, or None if actions are discovered.
    #[getter]
    fn declared_actions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let learner = self.lock()?;
        let Some(declared) = &learner.declared else { return Ok(None) };
        let objects = declared.as_slice().iter().map(|&id| learner.actions.object(py, id));
        Ok(Some(PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)?))
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.states.len())
    }

    /// The priority of every queued state, 0 for the others, in the order of ``states``. For ``watch``.
    fn _priorities(&self) -> PyResult<Vec<f64>> {
        let learner = self.lock()?;
        let (model, planner) = (learner.agent.model(), learner.agent.acting_planner());
        Ok(model
            .states()
            .map(|state| planner.queue().map_or(0.0, |queue| queue.priority(model, state)))
            .collect())
    }

    /// The action that act would take in every state, as its place in the state's row, equal ones told apart by the seed; and
    /// (state, action) wherever that differs from `before`. For ``cluster``.
    fn _acting_changes<'py>(
        &self,
        py: Python<'py>,
        before: PyReadonlyArray1<'py, u32>,
        seed: u64,
    ) -> PyResult<ActingChanges<'py>> {
        let learner = self.lock()?;
        let now = policy::acting(&learner.agent, seed);
        let before = before.as_slice().map_err(|_| errors::value("before is not contiguous"))?;
        let mut changed = Vec::new();
        for (state, &place) in (0..).zip(&now) {
            if before.get(state as usize) != Some(&place)
                && let Some(&action) = learner.row(state).get(place as usize)
            {
                changed.push((learner.states.object(py, state)?, learner.actions.object(py, action)?));
            }
        }
        Ok((now.into_pyarray(py), changed))
    }

    /// The values of the state with this number, term by term; None for an agent that acts by other values than it
    /// recommends by, since the terms would not add up to the recommended ones. For ``watch``.
    fn _explain(&self, state: u32) -> PyResult<Option<StateTerms>> {
        let agent = &self.lock()?.agent;
        let found = agent.explain(backsweep::State(state)).filter(|_| !agent.has_two_planners());
        Ok(found.map(|found| {
            let action = |one: ActionExplanation| {
                let terms =
                    one.terms.into_iter().map(|(next, probability, value)| (next.0, probability, value));
                (one.weight as u64, one.is_known, one.reward, one.bonus, one.ended, terms.collect())
            };
            (found.backed_up_value, found.priority, found.actions.into_iter().map(action).collect())
        }))
    }

    /// An agent is true even if it knows no state.
    fn __bool__(&self) -> bool {
        true
    }

    /// Returns whether the state is known, so that value, best_action, actions and action_values accept it.
    fn __contains__(&self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.lock()?.contains(state)
    }

    fn __repr__(&self) -> PyResult<String> {
        let learner = self.lock()?;
        let model = learner.agent.model();
        Ok(format!(
            "<backsweep.Agent: {}, discount {}, {} states, {} arcs, {} queued>",
            learner.planner_name(),
            learner.discount(),
            model.n_states(),
            model.n_arcs(),
            learner.agent.acting_planner().queue().map_or(0, QueueView::n_queued)
        ))
    }

    fn _repr_html_(&self) -> PyResult<String> {
        Ok(self.lock()?.html("backsweep.Agent"))
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        self.0.traverse(|learner| learner.traverse(&visit))
    }

    /// Called only by the garbage collector: it leaves an agent without names.
    fn __clear__(&self) {
        if let Ok(mut learner) = self.lock() {
            learner.clear();
        }
    }
}
