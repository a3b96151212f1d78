//! `backsweep.Agent`.

use crate::choice::{self, actions_of};
use crate::errors;
use crate::named_agent::NamedAgent;
use crate::names::{self, Names};
use crate::planning::{self, Amount, count, number};
use crate::results::{audit_object, optimism_object, stats_object};
use crate::settings::{build, declared_list, planner_settings};
use crate::stored::Translate;
use backsweep::{EpsilonGreedy, Model, PlannerKind, Random, State};
use backsweep_io::Learner;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::path::PathBuf;

/// Cycles of planners that go over the whole model are long if it has more arcs than this.
const LONG_SWEEP: usize = 20_000;

/// A learner that keeps a model of what it saw and values of it, exact after every step.
#[pyclass(module = "backsweep", name = "Agent", weakref)]
pub struct Agent {
    pub learner: NamedAgent,
    /// Whether a cycle is a sweep over all states.
    sweeps: bool,
}

impl Agent {
    fn new(learner: NamedAgent) -> Self {
        let sweeps = learner.agent.planner().kind() == Some(PlannerKind::ValueIteration);
        Self { learner, sweeps }
    }

    fn is_heavy(&self) -> bool {
        self.sweeps && self.learner.agent.model().n_arcs() > LONG_SWEEP
    }

    fn from_learner<'py>(
        py: Python<'py>,
        learner: backsweep_io::Result<Learner>,
        decode: Option<Translate<'_, 'py>>,
    ) -> PyResult<Self> {
        let learner = learner.map_err(|error| errors::from_io(py, error))?;
        Ok(Self::new(NamedAgent::restore(py, learner, decode)?))
    }
}

/// A callable as a translation of names.
fn call<'py>(
    function: Option<Bound<'py, PyAny>>,
) -> Option<impl FnMut(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>> {
    function.map(|function| move |object: &Bound<'py, PyAny>| function.call1((object,)))
}

macro_rules! translate {
    ($function:expr) => {
        $function.as_mut().map(|function| function as &mut dyn FnMut(&Bound<'py, PyAny>) -> PyResult<_>)
    };
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (discount=0.99, *, planner=None, optimism=None, epsilon=0.0, actions=None, seed=None, freeze_at=None))]
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
    ) -> PyResult<Self> {
        let (kind, settings) = planner_settings(planner, discount, optimism)?;
        let mut model = Model::new();
        if let Some(visits) = freeze_at {
            let visits = count(visits, "freeze_at")?;
            model = model.frozen_at(u32::try_from(visits).unwrap_or(u32::MAX));
        }
        let agent = build(model, kind, settings, epsilon)?;
        let seed = seed.map_or(Ok(0), |seed| count(seed, "seed"))?;
        let mut learner = NamedAgent::new(agent, Random::from_seed(seed));
        if let Some(actions) = actions {
            learner.declare(py, &declared_list(actions)?)?;
        }
        Ok(Self::new(learner))
    }

    /// Declare the actions of every state: a number n for 0 .. n-1, or a list. States already known get those they lack.
    fn declare_actions(&mut self, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        self.learner.declare(actions.py(), &declared_list(actions)?)
    }

    /// Add a state with its own actions before it is visited, or actions to a known state.
    #[pyo3(signature = (state, actions=None))]
    fn add_state(&mut self, state: &Bound<'_, PyAny>, actions: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let actions = actions.map(actions_of).transpose()?;
        let key = names::key(state, "state")?;
        self.learner.add_state(state.py(), key, actions.as_deref())?;
        Ok(())
    }

    /// Learn from one step. A terminated step has nothing after it; a truncated one goes on from next_state.
    #[pyo3(signature = (state, action, reward, next_state, terminated=false, truncated=false))]
    fn observe(
        &mut self,
        state: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        next_state: &Bound<'_, PyAny>,
        terminated: bool,
        truncated: bool,
    ) -> PyResult<()> {
        let reward = number(reward, "reward")?;
        self.learner.observe(state, action, reward, next_state, terminated, truncated)
    }

    /// Learn from many steps given as columns; after each, plan for so many cycles.
    #[pyo3(signature = (states, actions, rewards, next_states, terminated=None, truncated=None, *, cycles=None))]
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn observe_many(
        &mut self,
        states: &Bound<'_, PyAny>,
        actions: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        next_states: &Bound<'_, PyAny>,
        terminated: Option<&Bound<'_, PyAny>>,
        truncated: Option<&Bound<'_, PyAny>>,
        cycles: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let cycles = cycles.map_or(Ok(0), |cycles| count(cycles, "cycles"))?;
        // The model may grow on the way: a sweep may be short now and long at the end.
        let heavy = self.sweeps;
        let columns = [Some(states), Some(actions), Some(rewards), Some(next_states), terminated, truncated];
        crate::columns::observe_many(&mut self.learner, columns, cycles, heavy)
    }

    /// Plan: so many update cycles, so many microseconds, or until no priority is above a tolerance. Returns the cycles.
    #[pyo3(signature = (cycles=None, *, microseconds=None, until=None))]
    fn plan(
        &mut self,
        py: Python<'_>,
        cycles: Option<&Bound<'_, PyAny>>,
        microseconds: Option<&Bound<'_, PyAny>>,
        until: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let amount = Amount::new(cycles, microseconds, until)?;
        let heavy = self.is_heavy();
        planning::run(py, &mut self.learner.agent, amount, heavy)
    }

    /// Choose an action: the best, with probability epsilon a random one. actions or action_mask say which are possible.
    #[pyo3(signature = (state, actions=None, *, action_mask=None))]
    fn act<'py>(
        &mut self,
        state: &Bound<'py, PyAny>,
        actions: Option<&Bound<'py, PyAny>>,
        action_mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        choice::act(&mut self.learner, state, actions, action_mask)
    }

    /// The value of a state; 0 for one in which episodes ended.
    fn value(&mut self, state: &Bound<'_, PyAny>) -> PyResult<f64> {
        let py = state.py();
        let key = names::key(state, "state")?;
        if let Some(id) = self.learner.states.id(py, &key, "state")? {
            return Ok(self.learner.agent.value(State(id)));
        }
        match self.learner.ends.id(py, &key, "state")? {
            Some(_) => Ok(0.0),
            None => Err(self
                .learner
                .known(state)
                .map_or_else(|error| error, |_| errors::error(py, String::new()))),
        }
    }

    /// The values of a state's actions, as a dict.
    fn action_values<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = state.py();
        let id = self.learner.known(state)?;
        let values = self.learner.agent.planner().values();
        let found = PyDict::new(py);
        for (&action, pair) in
            self.learner.row(id).iter().zip(values.row(self.learner.agent.model(), State(id)))
        {
            found.set_item(self.learner.actions.object(py, action)?, pair.value())?;
        }
        Ok(found)
    }

    /// The best action as it now seems, the first of equally good ones; None if no action is known.
    fn best_action<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = self.learner.known(state)?;
        self.best(state.py(), id)
    }

    /// The best action of every state with actions, as a dict.
    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for state in 0..self.learner.states.len() as u32 {
            if let Some(action) = self.best(py, state)? {
                found.set_item(self.learner.states.object(py, state)?, action)?;
            }
        }
        Ok(found)
    }

    /// The value of every state, as a dict.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for state in 0..self.learner.states.len() as u32 {
            found.set_item(self.learner.states.object(py, state)?, self.learner.agent.value(State(state)))?;
        }
        Ok(found)
    }

    /// The actions known in a state.
    fn actions<'py>(&mut self, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = state.py();
        let id = self.learner.known(state)?;
        let row = self.learner.row(id).iter().map(|&action| self.learner.actions.object(py, action));
        PyList::new(py, row.collect::<PyResult<Vec<_>>>()?)
    }

    /// All known states, in the order in which they were met.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.learner.states.list(py)
    }

    /// What was seen, as counts and probabilities.
    #[getter]
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::model_view::model_object(py, &self.learner)
    }

    /// What was done so far: cycles, backups, queue length, idle pops and more.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        stats_object(py, &self.learner.agent)
    }

    /// Recompute everything from the model: how exact the values are, and how far from the optimum at the most.
    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        audit_object(py, &self.learner.agent)
    }

    /// Write the whole agent to a file. encode turns names other than plain data into plain data.
    #[pyo3(signature = (path, *, encode=None))]
    fn save<'py>(&self, py: Python<'py>, path: PathBuf, encode: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let mut encode = call(encode);
        let learner = self.learner.store(py, translate!(encode))?;
        py.detach(|| learner.save(&path)).map_err(|error| errors::from_io(py, error))
    }

    /// The agent in a file: it goes on bit for bit as the one that was saved would have.
    #[staticmethod]
    #[pyo3(signature = (path, *, decode=None))]
    fn load<'py>(py: Python<'py>, path: PathBuf, decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let mut decode = call(decode);
        let learner = py.detach(|| Learner::load(&path));
        Self::from_learner(py, learner, translate!(decode))
    }

    /// The bytes that save would write.
    #[pyo3(signature = (*, encode=None))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        encode: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut encode = call(encode);
        let learner = self.learner.store(py, translate!(encode))?;
        let bytes = learner.to_bytes().map_err(|error| errors::from_io(py, error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The agent in bytes of to_bytes or of a file.
    #[staticmethod]
    #[pyo3(signature = (data, *, decode=None))]
    fn from_bytes<'py>(py: Python<'py>, data: &[u8], decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let mut decode = call(decode);
        Self::from_learner(py, Learner::from_bytes(data), translate!(decode))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.learner.reduce::<Self>(py)
    }

    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        Ok(Self::new(NamedAgent::unreduce(py, data, others)?))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { learner: self.learner.copied(py)?, sweeps: self.sweeps })
    }

    /// Names are copied as copy.deepcopy copies them.
    fn __deepcopy__<'py>(&self, py: Python<'py>, memo: Bound<'py, PyAny>) -> PyResult<Self> {
        let deepcopy = py.import("copy")?.getattr("deepcopy")?;
        let mut learner = self.learner.copied(py)?;
        for (table, word) in
            [(&mut learner.states, "state"), (&mut learner.actions, "action"), (&mut learner.ends, "end")]
        {
            let mut copied = Names::default();
            for name in table.named() {
                let object = deepcopy.call1((name.object(py)?, &memo))?;
                copied.id_or_insert(py, names::key(&object, word)?, word)?;
            }
            if copied.len() != table.len() {
                return Err(errors::error(py, format!("copies of different {word}s are equal")));
            }
            *table = copied;
        }
        Ok(Self { learner, sweeps: self.sweeps })
    }

    /// The discount.
    #[getter]
    fn discount(&self) -> f64 {
        self.learner.agent.planner().settings().discount
    }

    /// The name of the planner.
    #[getter]
    fn planner(&self) -> &'static str {
        self.learner.agent.planner().kind().map_or("", PlannerKind::name)
    }

    /// What a pair is worth before it has been seen often enough.
    #[getter]
    fn optimism<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optimism_object(py, &self.learner.agent)
    }

    /// The probability of a random action.
    #[getter]
    fn epsilon(&self) -> f64 {
        self.learner.agent.policy().epsilon()
    }

    #[setter]
    fn set_epsilon(&mut self, epsilon: f64) -> PyResult<()> {
        let policy = EpsilonGreedy::new(epsilon).map_err(|error| errors::value(error.to_string()))?;
        self.learner.agent.set_policy(policy);
        Ok(())
    }

    /// The declared actions, or None if they are discovered as they come.
    #[getter]
    fn declared_actions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(declared) = self.learner.declared() else { return Ok(None) };
        let objects = declared.iter().map(|&id| self.learner.actions.object(py, id));
        Ok(Some(PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)?))
    }

    fn __len__(&self) -> usize {
        self.learner.states.len()
    }

    /// Whether the state was met.
    fn __contains__(&mut self, state: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = names::key(state, "state")?;
        Ok(self.learner.states.id(state.py(), &key, "state")?.is_some())
    }

    fn __repr__(&self) -> String {
        let (agent, model) = (&self.learner.agent, self.learner.agent.model());
        format!(
            "<backsweep.Agent: {}, discount {}, {} states, {} arcs, {} queued>",
            agent.planner().kind().map_or("", PlannerKind::name),
            self.discount(),
            model.n_states(),
            model.n_arcs(),
            agent.planner().queue_length()
        )
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        for names in [&self.learner.states, &self.learner.actions, &self.learner.ends] {
            names.traverse(&visit)?;
        }
        Ok(())
    }

    /// Called on garbage only: what is left is an agent without states.
    fn __clear__(&mut self) {
        let settings = self.learner.agent.planner().settings();
        if let Ok(agent) = build(
            Model::new(),
            self.learner.agent.planner().kind().unwrap_or_default(),
            settings,
            self.epsilon(),
        ) {
            self.learner = NamedAgent::new(agent, self.learner.random.clone());
        }
    }
}

impl Agent {
    fn best<'py>(&self, py: Python<'py>, state: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        let row = self.learner.row(state);
        match self.learner.agent.best_action(State(state)).and_then(|action| row.get(action.index())) {
            Some(&action) => Ok(Some(self.learner.actions.object(py, action)?)),
            None => Ok(None),
        }
    }
}
