//! A known model in our own files, which hold a learner: agents can load what an MDP saved and vice versa. Labels, reward
//! structures and solved values are extra arrays in the same file, which other readers skip.

use crate::action_row::ActionRow;
use crate::errors;
use crate::known::KnownModel;
use crate::known::named_mdp::NamedMdp;
use crate::memory;
use crate::name_codec::Translate;
use crate::named_agent::NamedAgent;
use crate::pickle;
use crate::settings::{build, planner_settings};
use backsweep::planner::{Model, Outcome, Snapshot};
use backsweep::save::{self, Name, SavedAgent, decode_names, encode_names};
use backsweep::{Action, Next, Random, State};
use backsweep_mdp::{Label, Mdp, NO_CHOICE, Rewards, SUM_SLACK};
use backsweep_solve::{Answer, Session, Solution, learned_mdp};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::path::PathBuf;

/// True if claims about values are trusted. Those in files are not: the next solve proves them again.
#[derive(Clone, Copy, PartialEq)]
pub enum Trust {
    File,
    Pickle,
}

impl NamedMdp {
    /// The arrays to save.
    ///
    /// # Errors
    /// If a name cannot be stored.
    pub fn store<'py>(&mut self, py: Python<'py>, encode: Option<Translate<'_, 'py>>) -> PyResult<Snapshot> {
        let io = |error| errors::from_io(py, error);
        let learner = self.named_agent(py, None)?.to_learner(py, encode)?;
        let mut snapshot = learner.store().map_err(io)?;
        let mdp = self.session.model().mdp();
        let texts = |names: Vec<&str>| {
            encode_names(&names.into_iter().map(|n| Name::Text(n.to_owned())).collect::<Vec<_>>())
        };
        if !mdp.labels.is_empty() || !mdp.initial.is_empty() {
            let names = mdp.labels.iter().map(|label| label.name.as_str()).collect();
            snapshot.put("mdp.labels", texts(names).map_err(io)?);
            let sets = || std::iter::once(&mdp.initial).chain(mdp.labels.iter().map(|label| &label.states));
            snapshot.put("mdp.label_lengths", sets().map(|set| set.len() as u32).collect::<Vec<u32>>());
            snapshot.put("mdp.label_states", sets().flatten().copied().collect::<Vec<u32>>());
        }
        if mdp.rewards.len() != 1 || !mdp.rewards[0].name.is_empty() {
            let names = mdp.rewards.iter().map(|rewards| rewards.name.as_str()).collect();
            snapshot.put("mdp.rewards", texts(names).map_err(io)?);
            let mut all = Vec::new();
            for rewards in &mdp.rewards {
                let expected = mdp.expected_rewards(Some(&rewards.name));
                all.extend(expected.map_err(errors::refused)?);
            }
            snapshot.put("mdp.reward_values", all);
        }
        snapshot.put("mdp.reward_error", vec![self.session.model().reward_error()]);
        let usual = self.usual_objective().maximize();
        if let Some(answer) = self.session.answer().filter(|answer| answer.question == usual) {
            snapshot.put("solution.lower", answer.solution.lower.clone());
            snapshot.put("solution.upper", answer.solution.upper.clone());
            // An action that was removed since is none.
            let model = self.session.model();
            let kept = |(state, &action)| match model.find(state, action) {
                Some(_) => action,
                None => NO_CHOICE,
            };
            snapshot.put("solution.policy", (0..).zip(&answer.policy).map(kept).collect::<Vec<u32>>());
            snapshot.put("solution.start", answer.start());
            let converged = answer.solution.converged;
            let proof = vec![answer.tolerance, f64::from(converged), f64::from(answer.current)];
            snapshot.put("solution.proof", proof);
        }
        Ok(snapshot)
    }

    /// The arrays to save, after they were read back: a file that exists is never replaced by one that cannot be loaded.
    ///
    /// # Errors
    /// As [`store`](Self::store) and [`restore`](Self::restore).
    pub fn checked<'py>(
        &mut self,
        py: Python<'py>,
        encode: Option<Translate<'_, 'py>>,
    ) -> PyResult<Snapshot> {
        let snapshot = self.store(py, encode)?;
        let restored = SavedAgent::restore_among(&snapshot, &backsweep_baselines::PLANNERS);
        restored.map_err(|error| errors::from_io(py, error))?;
        let learner = self.named_agent(py, None)?;
        Self::of_parts(py, &snapshot, &learner, Trust::File)?;
        Ok(snapshot)
    }

    /// The saved object.
    ///
    /// # Errors
    /// If the arrays do not describe a model, or a name cannot be read.
    pub fn restore<'py>(
        py: Python<'py>,
        snapshot: &Snapshot,
        decode: Option<Translate<'_, 'py>>,
        trust: Trust,
    ) -> PyResult<Self> {
        let learner = SavedAgent::restore_among(snapshot, &backsweep_baselines::PLANNERS)
            .map_err(|error| errors::from_io(py, error))?;
        Self::of_parts(py, snapshot, &NamedAgent::from_learner(py, learner, decode)?, trust)
    }

    /// The saved object, of which an agent has model and names.
    fn of_parts(py: Python<'_>, snapshot: &Snapshot, learner: &NamedAgent, trust: Trust) -> PyResult<Self> {
        let io = |error: backsweep::save::Error| errors::from_io(py, error);
        let damaged = |problem: String| errors::file(py, problem);
        let core = |error: backsweep::Error| damaged(error.to_string());
        let (mut mdp, action_of) = flat(learner).map_err(damaged)?;
        if snapshot.get("mdp.labels").is_some() {
            let names = decode_names("section 'mdp.labels'", snapshot.bytes("mdp.labels").map_err(core)?)
                .map_err(io)?;
            let mut rest = snapshot.u32s("mdp.label_states").map_err(core)?;
            let lengths = snapshot.u32s("mdp.label_lengths").map_err(core)?;
            let mut sets = Vec::new();
            for &length in lengths {
                let Some((set, more)) = rest.split_at_checked(length as usize) else {
                    return Err(damaged(
                        "section 'mdp.label_states': it ends before the last label".to_owned(),
                    ));
                };
                sets.push(set.to_vec());
                rest = more;
            }
            if sets.len() != names.len() + 1 {
                return Err(damaged(format!(
                    "expected {} sets of states, found {}",
                    names.len() + 1,
                    sets.len()
                )));
            }
            let mut sets = sets.into_iter();
            mdp.initial = sets.next().unwrap_or_default();
            mdp.labels =
                names.iter().zip(sets).map(|(name, states)| Label { name: text(name), states }).collect();
        }
        if snapshot.get("mdp.rewards").is_some() {
            let names = decode_names("section 'mdp.rewards'", snapshot.bytes("mdp.rewards").map_err(core)?)
                .map_err(io)?;
            let values = snapshot.f64s("mdp.reward_values").map_err(core)?;
            let n = mdp.n_choices();
            if values.len() != n * names.len() {
                return Err(damaged(format!("expected {} rewards, found {}", n * names.len(), values.len())));
            }
            let part = |i: usize| values[i * n..(i + 1) * n].to_vec();
            let rewards = names.iter().enumerate().map(|(i, name)| Rewards {
                name: text(name),
                choices: part(i),
                ..Rewards::default()
            });
            mdp.rewards = rewards.collect();
        }
        if mdp.n_states() > 0 {
            mdp.check().map_err(|error| damaged(error.to_string()))?;
        }
        let error = match snapshot.f64s("mdp.reward_error") {
            Ok(&[error]) if error >= 0.0 && error.is_finite() => error,
            _ => 0.0,
        };
        let mut solved = Self::of_model(py, learner, Session::new(mdp, action_of, error))?;
        if snapshot.get("solution.lower").is_some() {
            let answer = solved.restore_answer(snapshot, trust).map_err(core)?;
            solved.session.set_answer(answer);
        }
        Ok(solved)
    }

    fn restore_answer(&self, snapshot: &Snapshot, trust: Trust) -> backsweep::Result<Answer> {
        let numbers = |name: &str| {
            let numbers = snapshot.f64s(name)?.to_vec();
            let right = numbers.len() <= self.states.len() && !numbers.iter().any(|x| x.is_nan());
            if right { Ok(numbers) } else { Err(wrong(name)) }
        };
        let (lower, upper, start) =
            (numbers("solution.lower")?, numbers("solution.upper")?, numbers("solution.start")?);
        let policy = snapshot.u32s("solution.policy")?.to_vec();
        if [upper.len(), start.len(), policy.len()] != [lower.len(); 3] {
            return Err(wrong("solution.policy"));
        }
        let has = |(state, &action): (u32, &u32)| {
            action == NO_CHOICE || self.session.model().find(state, action).is_some()
        };
        if !(0..).zip(&policy).all(has) || lower.iter().zip(&upper).any(|(l, u)| l > u) {
            return Err(wrong("solution.policy"));
        }
        let &[tolerance, converged, current] = snapshot.f64s("solution.proof")? else {
            return Err(wrong("solution.proof"));
        };
        let trusted = trust == Trust::Pickle;
        let question = self.usual_objective().maximize();
        let converged = trusted && converged == 1.0;
        let solution = Solution { lower, upper, converged, ..Solution::default() };
        let mut answer = Answer::new(question, tolerance, solution, policy, start);
        answer.current = trusted && current == 1.0;
        Ok(answer)
    }

    /// The model as that of an agent with a planner that has not planned.
    pub fn named_agent(
        &mut self,
        py: Python<'_>,
        planner: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NamedAgent> {
        self.flatten()?;
        let Self { states, actions, session, .. } = &*self;
        let (mdp, action_of) = (session.model().mdp(), session.model().action_of());
        memory::check(
            "the model for a planner or file",
            mdp.n_states() as u64,
            mdp.n_choices() as u64,
            mdp.n_arcs() as u64,
        )?;
        let (kind, settings) = planner_settings(planner, self.discount, None)?;
        let empty = build(Model::new(), kind, settings, 0.0)?;
        let mut learner = NamedAgent::new(empty, Random::from_seed(0));
        learner.actions = actions.copied(py)?;
        learner.ends = self.ends.copied(py)?;
        for state in 0..mdp.n_states() {
            let row = ActionRow::new(mdp.choices_of(state).map(|choice| action_of[choice]));
            learner.add_known(py, states.key(py, state, "state")?, row)?;
        }
        let mut model = learner.agent.model().clone();
        let mut outcomes = Vec::new();
        for state in 0..mdp.n_states() as u32 {
            for (place, choice) in (0..).zip(mdp.choices_of(state as usize)) {
                let reward = self.session.model().reward(
                    choice as u32,
                    state,
                    mdp.rewards.first().map(|r| r.name.as_str()),
                );
                outcomes.clear();
                let mut left = 1.0;
                for (next, probability) in self.session.model().outcomes(choice as u32) {
                    outcomes.push(Outcome { probability, reward, next: Next::Continue(State(next)) });
                    left -= probability;
                }
                if left > SUM_SLACK || outcomes.is_empty() {
                    outcomes.push(Outcome { probability: left, reward, next: Next::Terminated });
                }
                let set = model.set_outcomes(State(state), Action(place), &outcomes);
                set.map_err(|error| learner.explain(py, error))?;
            }
        }
        learner.agent = build(model, kind, settings, 0.0)?;
        Ok(learner)
    }

    /// The model of an agent. Actions that were never tried are not in it.
    pub fn of_agent(py: Python<'_>, learner: &NamedAgent) -> PyResult<Self> {
        let (mdp, action_of) = flat(learner).map_err(|problem| errors::file(py, problem))?;
        Self::of_model(py, learner, Session::new(mdp, action_of, 0.0))
    }

    /// A session with the names and the discount of an agent.
    fn of_model(py: Python<'_>, learner: &NamedAgent, session: Session) -> PyResult<Self> {
        let (states, actions) = (learner.states.copied(py)?, learner.actions.copied(py)?);
        let named = Self::new(states, actions, session);
        Ok(Self { ends: learner.ends.copied(py)?, ..named.with_discount(learner.discount()) })
    }
}

#[pymethods]
impl KnownModel {
    #[pyo3(signature = (path, encode=None))]
    fn save<'py>(&self, py: Python<'py>, path: PathBuf, encode: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let snapshot = self.0.lock()?.checked(py, encode.as_ref())?;
        py.detach(|| save::save(&path, &snapshot)).map_err(|error| errors::from_io(py, error))
    }

    #[staticmethod]
    #[pyo3(signature = (path, decode=None))]
    fn load<'py>(py: Python<'py>, path: PathBuf, decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let snapshot = py.detach(|| save::load(&path)).map_err(|error| errors::from_io(py, error))?;
        let restored = NamedMdp::restore(py, &snapshot, decode.as_ref(), Trust::File);
        let place = format!("{}: ", path.display());
        restored.map(Self::of).map_err(|error| errors::with_context(py, error, &place, ""))
    }

    #[pyo3(signature = (encode=None))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        encode: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &save::encode(&self.0.lock()?.store(py, encode.as_ref())?)))
    }

    #[staticmethod]
    #[pyo3(signature = (data, decode=None))]
    fn from_bytes<'py>(py: Python<'py>, data: &[u8], decode: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        let snapshot = save::decode(data).map_err(|error| errors::from_io(py, error))?;
        NamedMdp::restore(py, &snapshot, decode.as_ref(), Trust::File).map(Self::of)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce::<Self>(py, |put_aside| Ok(save::encode(&self.0.lock()?.store(py, Some(put_aside))?)))
    }

    #[staticmethod]
    fn _restore<'py>(py: Python<'py>, data: &[u8], others: &Bound<'py, PyList>) -> PyResult<Self> {
        let snapshot = save::decode(data).map_err(|error| errors::from_io(py, error))?;
        NamedMdp::restore(py, &snapshot, Some(&pickle::take_back(others)?), Trust::Pickle).map(Self::of)
    }
}

/// The model of an agent as flat arrays, and the action of each choice.
fn flat(learner: &NamedAgent) -> Result<(Mdp, Vec<u32>), String> {
    let core = learner.agent.model();
    if core.n_states() == 0 {
        return Ok(Default::default());
    }
    let mut mdp = learned_mdp(core).map_err(|error| error.to_string())?;
    mdp.action_names.clear();
    if mdp.rewards.is_empty() {
        // Without any action the rewards are still there, none of them.
        mdp.rewards.push(Rewards::default());
    }
    let mut action_of = Vec::with_capacity(mdp.n_choices());
    for state in core.states() {
        let tried = core.pairs(state).enumerate().filter(|(_, pair)| core.weight(*pair) > 0.0);
        for (place, _) in tried {
            let action = learner.row(state.0).get(place).copied();
            action_of.push(action.ok_or_else(|| format!("an action of state {} has no name", state.0))?);
        }
    }
    Ok((mdp, action_of))
}

fn text(name: &Name) -> String {
    if let Name::Text(text) = name { text.clone() } else { format!("{name:?}") }
}

fn wrong(part: &str) -> backsweep::Error {
    Snapshot::problem(part, "expected values and actions that fit the model")
}
