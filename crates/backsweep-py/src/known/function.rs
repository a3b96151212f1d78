//! Models given by Python functions: enumerated, or explored only as far as an answer about the start needs.

use crate::errors::{self, show};
use crate::exclusive::Exclusive;
use crate::known::KnownModel;
use crate::known::asking::{checked_discount, ids, stopping};
use crate::known::named_mdp::NamedMdp;
use crate::names::{self, Names};
use crate::outcomes::outcomes;
use backsweep_mdp::{Direction, KnownPart, ModelSource, NO_CHOICE, SourceError, SourceOutcome};
use backsweep_solve::{
    Answer, ExplorationError, ExplorationGoal, Limits, Session, Solution, explore_from_start,
};
use numpy::IntoPyArray;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::time::{Duration, Instant};

/// The time that an answer from what is known may take after Ctrl-C.
const LAST_ANSWER: Duration = Duration::from_millis(300);

/// The functions and the names of what they returned.
struct Functions {
    states: Names,
    actions: Names,
    /// The actions of each expanded state, by id.
    rows: Vec<Vec<u32>>,
    start: Vec<u32>,
    actions_of: Py<PyAny>,
    outcomes_of: Py<PyAny>,
    normalize: bool,
}

/// A model given by functions, and the part of it that is known.
struct Explored {
    functions: Functions,
    part: KnownPart,
    discount: f64,
    answer: Option<ExploredAnswer>,
}

/// Bounds and policy of the latest exploration, and whether it minimized.
type ExploredAnswer = (Vec<f64>, Vec<f64>, Vec<u32>, bool);

/// A model given by two functions. Users see `backsweep.MDP.from_function`.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct FunctionModel(Exclusive<Explored>);

/// The functions while Python may be called.
struct Caller<'a, 'py> {
    py: Python<'py>,
    functions: &'a mut Functions,
}

impl ModelSource for Caller<'_, '_> {
    type Error = PyErr;

    fn start(&mut self) -> PyResult<Vec<u32>> {
        Ok(self.functions.start.clone())
    }

    fn n_actions(&mut self, state: u32) -> PyResult<usize> {
        let (py, functions) = (self.py, &mut *self.functions);
        let object = functions.states.object(py, state)?;
        let place = || format!("actions of state {}: ", show(&object));
        let within = |error| errors::with_context(py, error, &place(), "");
        let found = functions.actions_of.bind(py).call1((&object,)).map_err(within)?;
        let mut row = Vec::new();
        for action in found.try_iter().map_err(within)? {
            let action = names::key(&action.map_err(within)?, "action").map_err(within)?;
            let id = functions.actions.id_or_insert(py, action, "action")?.0;
            if row.contains(&id) {
                return Err(within(errors::value(format!(
                    "action {} occurs twice",
                    functions.actions.show(py, id)
                ))));
            }
            row.push(id);
        }
        let n = row.len();
        if functions.rows.len() <= state as usize {
            functions.rows.resize(state as usize + 1, Vec::new());
        }
        functions.rows[state as usize] = row;
        Ok(n)
    }

    fn outcomes(&mut self, state: u32, action: usize, into: &mut Vec<SourceOutcome>) -> PyResult<()> {
        let (py, functions) = (self.py, &mut *self.functions);
        let action = functions.rows[state as usize][action];
        let (state, action) = (functions.states.object(py, state)?, functions.actions.object(py, action)?);
        let pair = || format!("action {} in state {}", show(&action), show(&state));
        let within = |error| errors::with_context(py, error, &format!("outcomes of {}: ", pair()), "");
        let found = functions.outcomes_of.bind(py).call1((&state, &action)).map_err(within)?;
        let mut add = |probability: f64, next: &Bound<'_, PyAny>, reward: f64, ended: bool| -> PyResult<()> {
            let next = match ended {
                true => None,
                false => {
                    let key = names::key(next, "next_state").map_err(within)?;
                    Some(functions.states.id_or_insert(py, key, "next_state").map_err(within)?.0)
                }
            };
            into.push(SourceOutcome { probability, next, reward });
            Ok(())
        };
        // Three items, or four as in Gymnasium's tables.
        type Three<'py> = (f64, Bound<'py, PyAny>, f64);
        if let Ok(rows) = found.extract::<Vec<Three<'_>>>() {
            rows.iter().try_for_each(|(p, next, reward)| add(*p, next, *reward, false))?;
        } else {
            let mut full = Vec::new();
            for item in found.try_iter().map_err(within)? {
                let item = item.map_err(within)?;
                full.push(match item.extract::<Three<'_>>() {
                    Ok((p, next, reward)) => (p, next, reward, false).into_pyobject(py)?.into_any(),
                    Err(_) => item,
                });
            }
            let full = pyo3::types::PyList::new(py, full)?.into_any();
            let full = outcomes(&full, &pair)?;
            full.iter().try_for_each(|(p, next, reward, ended)| add(*p, next, *reward, *ended))?;
        }
        let sum: f64 = into.iter().map(|outcome| outcome.probability).sum();
        if functions.normalize && sum > 0.0 && sum.is_finite() {
            into.iter_mut().for_each(|outcome| outcome.probability /= sum);
        }
        Ok(())
    }
}

impl Explored {
    /// An error of exploring, under the names of the functions.
    fn explain(&self, py: Python<'_>, error: SourceError<PyErr>) -> PyErr {
        match error {
            SourceError::Source(error) => error,
            SourceError::Row { state, action, problem } => {
                let functions = &self.functions;
                let name =
                    functions.rows[state as usize].get(action).map(|&id| functions.actions.show(py, id));
                let (action, state) = (name.unwrap_or_default(), functions.states.show(py, state));
                let hint =
                    if problem.contains(" sum to ") { "; normalize=True divides by the sum" } else { "" };
                errors::value(format!("outcomes of action {action} in state {state}: {problem}{hint}"))
            }
        }
    }
}

#[pymethods]
impl FunctionModel {
    #[new]
    fn new(
        py: Python<'_>,
        start: Vec<Bound<'_, PyAny>>,
        actions: Py<PyAny>,
        outcomes: Py<PyAny>,
        discount: f64,
        normalize: bool,
    ) -> PyResult<Self> {
        let discount = checked_discount(discount)?;
        let mut states = Names::default();
        let mut ids = Vec::new();
        for state in &start {
            ids.push(states.id_or_insert(py, names::key(state, "state")?, "state")?.0);
        }
        if ids.is_empty() {
            return Err(errors::value("start is empty; expected at least one state"));
        }
        let mut functions = Functions {
            states,
            actions: Names::default(),
            rows: Vec::new(),
            start: ids,
            actions_of: actions,
            outcomes_of: outcomes,
            normalize,
        };
        let part = KnownPart::new(&mut Caller { py, functions: &mut functions });
        let part = part.map_err(|_| errors::value("the start could not be told"))?;
        Ok(Self(Exclusive::new(Explored { functions, part, discount, answer: None })))
    }

    /// Expands states, oldest first, up to `limit` in all; returns what stopped it, if anything did. `progress` receives the
    /// number of states that were expanded and met.
    #[pyo3(signature = (limit=None, progress=None))]
    fn enumerate(
        &self,
        py: Python<'_>,
        limit: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<&'static str>> {
        let mut explored = self.0.lock()?;
        let limit = limit.unwrap_or(usize::MAX);
        let mut state = 0;
        while (state as usize) < explored.part.n_states() {
            if explored.part.n_expanded() >= limit {
                return Ok(Some("the limit"));
            }
            let Explored { functions, part, .. } = &mut *explored;
            let done = part.expand(&mut Caller { py, functions }, state);
            match done
                .map_err(|error| explored.explain(py, error))
                .and_then(|()| if state % 256 == 255 { py.check_signals() } else { Ok(()) })
            {
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => return Ok(Some("Ctrl-C")),
                done => done?,
            }
            state += 1;
            if state % 1024 == 0
                && let Some(progress) = &progress
            {
                progress.call1((explored.part.n_expanded(), explored.part.n_states()))?;
            }
        }
        Ok(None)
    }

    /// Proven bounds of all states that were met, and actions by id; whether the start is known well enough, seconds, and what
    /// stopped it.
    fn explore<'py>(
        &self,
        py: Python<'py>,
        tolerance: f64,
        value_range: (f64, f64),
        minimize: bool,
        limit: Option<usize>,
        time_limit: Option<f64>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let stopping = stopping(time_limit)?;
        let mut explored = self.0.lock()?;
        let Explored { functions, part, discount, .. } = &mut *explored;
        let mut goal = ExplorationGoal {
            discount: *discount,
            direction: if minimize { Direction::Minimize } else { Direction::Maximize },
            value_range,
            tolerance,
            max_states: limit.unwrap_or(usize::MAX),
        };
        let stop = || stopping.stop();
        let limits = Limits { stop: &stop, ..Limits::default() };
        let mut caller = Caller { py, functions };
        let mut stopped = None;
        let mut found = explore_from_start(&mut caller, part, &goal, &limits, |_| ());
        if let Err(ExplorationError::Source(SourceError::Source(error))) = &found
            && error.is_instance_of::<PyKeyboardInterrupt>(py)
        {
            // What is known is answered.
            stopped = Some("Ctrl-C");
            goal.max_states = part.n_expanded();
            let began = Instant::now();
            let stop = || began.elapsed() > LAST_ANSWER;
            found = explore_from_start(
                &mut caller,
                part,
                &goal,
                &Limits { stop: &stop, ..Limits::default() },
                |_| (),
            );
        }
        let answer = match found {
            Ok(answer) => answer,
            Err(ExplorationError::Solve(backsweep_solve::Error::BeyondRange { state, lower, upper })) => {
                let (name, (least, most)) = (explored.functions.states.show(py, state), value_range);
                return Err(errors::value(format!(
                    "value_range is ({least}, {most}), but state {name} is worth {lower} to {upper} by it; expected a range that \
                     contains the value of every state"
                )));
            }
            Err(ExplorationError::Solve(error)) => return Err(errors::refused(error)),
            Err(ExplorationError::Source(error)) => return Err(explored.explain(py, error)),
        };
        let action = |(state, &place): (usize, &u32)| match place {
            NO_CHOICE => NO_CHOICE,
            place => explored.functions.rows[state][place as usize],
        };
        let policy: Vec<u32> = answer.policy.iter().enumerate().map(action).collect();
        let stopped = stopped.or(stopping.reason(py)?).filter(|_| !answer.converged);
        explored.answer = Some((answer.lower.clone(), answer.upper.clone(), policy.clone(), minimize));
        let numbers =
            (answer.lower.into_pyarray(py), answer.upper.into_pyarray(py), ids(&policy).into_pyarray(py));
        (numbers, (answer.converged, stopping.seconds(), stopped)).into_pyobject(py)
    }

    /// The numbers of states that were expanded and met.
    fn counts(&self) -> PyResult<(usize, usize)> {
        let explored = self.0.lock()?;
        Ok((explored.part.n_expanded(), explored.part.n_states()))
    }

    /// The ids of the states in which episodes begin.
    fn start(&self) -> PyResult<Vec<u32>> {
        Ok(self.0.lock()?.functions.start.clone())
    }

    /// The known part as a model, with the answer of the latest exploration. States of the frontier are terminal, and
    /// labeled. Unless `keep`, names are moved, and this object is of no further use.
    fn model(&self, py: Python<'_>, keep: bool) -> PyResult<KnownModel> {
        let mut explored = self.0.lock()?;
        let Explored { functions, part, discount, answer } = &mut *explored;
        let mdp = part.mdp(None).map_err(errors::refused)?;
        let expanded = (0..part.n_states() as u32).filter(|&state| part.is_expanded(state));
        let action_of = expanded.flat_map(|state| functions.rows[state as usize].iter().copied()).collect();
        let session = Session::new(mdp, action_of, part.reward_error());
        let (states, actions) = match keep {
            true => (functions.states.copied(py)?, functions.actions.copied(py)?),
            false => (std::mem::take(&mut functions.states), std::mem::take(&mut functions.actions)),
        };
        let mut model = NamedMdp::new(states, actions, session).with_discount(*discount);
        if let Some((lower, upper, policy, minimize)) = answer.take() {
            let objective = model.usual_objective();
            let question = if minimize { objective.minimize() } else { objective.maximize() };
            // Proven with the range of values, not for the model on its own: it is shown, and not called converged.
            let solution = Solution { lower, upper, ..Solution::default() };
            let start = vec![0.0; part.n_states()];
            let answer = Answer::new(question, f64::INFINITY, solution, policy, start);
            model.session.set_answer(answer);
        }
        Ok(KnownModel::of(model))
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        self.0.traverse(|explored| {
            explored.functions.states.traverse(&visit)?;
            explored.functions.actions.traverse(&visit)?;
            visit.call(&explored.functions.actions_of)?;
            visit.call(&explored.functions.outcomes_of)
        })
    }
}
