//! `backsweep.Agent`: how it is made, planned with and described. Other files have the methods of their subject.

use crate::errors;
use crate::exclusive::Exclusive;
use crate::explore::{Given, explore_object, forgetting_object};
use crate::known;
use crate::named_agent::NamedAgent;
use crate::numbers::count;
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
use pyo3::types::{PyDict, PyList};
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
pub struct Agent(pub(crate) Exclusive<NamedAgent>);

impl Agent {
    pub fn new(learner: NamedAgent) -> Self {
        Self(Exclusive::new(learner))
    }

    fn run(&self, py: Python<'_>, plan: PlanFn, amount: Amount) -> PyResult<u64> {
        let mut learner = self.0.lock()?;
        let heavy = sweeps(&learner) && learner.agent.model().n_arcs() > LONG_SWEEP;
        planning::run(py, &mut learner.agent, plan, amount, heavy)
    }

    /// The agent with its recommended values brought up to date.
    #[inline]
    pub fn recommending(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, NamedAgent>> {
        let mut learner = self.0.lock()?;
        planning::recommend(py, &mut learner)?;
        Ok(learner)
    }
}

/// Returns whether a cycle is a sweep over all states.
pub fn sweeps(learner: &NamedAgent) -> bool {
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

    /// The states that a step left, or reached without ending the episode, in the order in which they were first seen.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.lock()?.states.list(py)
    }

    /// The observations, as counts and probabilities.
    #[getter]
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        model_object(py, &*self.0.lock()?)
    }

    /// Counters of the work so far: cycles, backups, queue length, idle pops and more.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats_object(py, &self.0.lock()?.agent)
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

    /// The learned model as an MDP: to solve it for any objective, to write it for other tools, to ask what-if questions.
    ///
    /// The agent is not changed, nor does the MDP change with it. Actions that were never tried are not in the problem.
    fn mdp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        known::mdp_object(py, &*self.0.lock()?)
    }

    /// Compute the values of the learned model with proven intervals, at any size; same as ``mdp().solve``.
    ///
    /// The agent's own values stay as they are: these are kept near the optimum by ``plan``, and optimistic where little was seen.
    ///
    /// Args:
    ///     tolerance: as for ``MDP.solve``.
    ///     objective: as for ``MDP.solve``; discounted reward if not given.
    ///     minimize: whether to compute the smallest values that a policy attains, not the largest.
    ///     time_limit: stop after this many seconds, with the intervals reached so far.
    ///     threads: the number of threads; all cores if not given.
    ///
    /// Raises:
    ///     ValueError: the objective is not defined for this model; the message says what to do.
    #[pyo3(signature = (tolerance=None, objective=None, *, minimize=false, time_limit=None, threads=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        tolerance: Option<f64>,
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

    /// The discount.
    #[getter]
    fn discount(&self) -> PyResult<f64> {
        Ok(self.0.lock()?.discount())
    }

    /// The name of the planner.
    #[getter]
    fn planner(&self) -> PyResult<&'static str> {
        Ok(self.0.lock()?.planner_name())
    }

    /// The value of an action before it has been seen often enough.
    #[getter]
    fn optimism<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optimism_object(py, &self.0.lock()?.agent)
    }

    /// The way the agent explores; None if it was built without explore, reward_range, start, age_bonus and forgetting.
    #[getter]
    fn explore<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        explore_object(py, &self.0.lock()?.agent)
    }

    /// The way the agent forgets; None if it does not.
    #[getter]
    fn forgetting<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        forgetting_object(py, &self.0.lock()?.agent)
    }

    /// The lowest and highest reward of a step, if they were given.
    #[getter]
    fn reward_range(&self) -> PyResult<Option<(f64, f64)>> {
        Ok(self.0.lock()?.agent.exploration().and_then(|exploration| exploration.reward_range))
    }

    /// The probability of a random action.
    #[getter]
    fn epsilon(&self) -> PyResult<f64> {
        Ok(self.0.lock()?.agent.policy().epsilon())
    }

    #[setter]
    fn set_epsilon(&self, epsilon: f64) -> PyResult<()> {
        let policy = EpsilonGreedy::new(epsilon).map_err(errors::refused)?;
        self.0.lock()?.agent.set_policy(policy);
        Ok(())
    }

    /// The declared actions, or None if actions are discovered.
    #[getter]
    fn declared_actions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let learner = self.0.lock()?;
        let Some(declared) = &learner.declared else { return Ok(None) };
        let objects = declared.as_slice().iter().map(|&id| learner.actions.object(py, id));
        Ok(Some(PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)?))
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.0.lock()?.states.len())
    }

    /// The priority of every queued state, 0 for the others, in the order of ``states``. For ``watch``.
    fn _priorities(&self) -> PyResult<Vec<f64>> {
        let learner = self.0.lock()?;
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
        let learner = self.0.lock()?;
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
        let agent = &self.0.lock()?.agent;
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

    fn __repr__(&self) -> PyResult<String> {
        let learner = self.0.lock()?;
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

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        self.0.traverse(|learner| learner.traverse(&visit))
    }

    /// Called only by the garbage collector: it leaves an agent without names.
    fn __clear__(&self) {
        if let Ok(mut learner) = self.0.lock() {
            learner.clear();
        }
    }
}
