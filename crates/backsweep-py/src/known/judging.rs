//! Policies that users give, under their names: judged and simulated.

use crate::errors::{self, show};
use crate::known::KnownModel;
use crate::known::asking::{AskedObjective, effort, question, stopping};
use crate::known::named_mdp::NamedMdp;
use backsweep::Random;
use backsweep_solve::{MixedPolicy, evaluate, simulate};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Steps of a simulated run between two checks for Ctrl-C.
const STEPS_PER_CHECK: u64 = 1 << 16;

/// An action that a policy takes in a state, and the probability of it.
pub type GivenAction<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, f64);

impl NamedMdp {
    /// A policy by the numbers of the model.
    ///
    /// # Errors
    /// If it names unknown states or actions, or misses a state that has actions.
    pub fn mixed_policy(&mut self, py: Python<'_>, given: &[GivenAction<'_>]) -> PyResult<MixedPolicy> {
        self.flatten()?;
        let n = self.session.model().n_states();
        let mut policy = MixedPolicy { choices: vec![Vec::new(); n] };
        for (state, action, share) in given {
            let (id, action_id) = self.pair(state, action)?;
            let Some(choice) = self.session.model().find(id, action_id) else { continue };
            let row = &mut policy.choices[id as usize];
            if row.iter().any(|(known, _)| *known == choice) {
                let (state, action) = (show(state), show(action));
                return Err(errors::value(format!(
                    "the policy gives action {action} of state {state} twice"
                )));
            }
            row.push((choice, *share));
        }
        let model = self.session.model();
        let missing = |&state: &u32| {
            policy.choices[state as usize].is_empty() && model.choices_of(state).next().is_some()
        };
        if let Some(state) = (0..n as u32).find(missing) {
            let more = (0..n as u32).filter(missing).count() - 1;
            let more = if more > 0 { format!(" (and {more} more states)") } else { String::new() };
            let state = self.states.show(py, state);
            return Err(errors::value(format!(
                "the policy has no action for state {state}{more}; expected one for each state"
            )));
        }
        Ok(policy)
    }
}

#[pymethods]
impl KnownModel {
    /// Values, bounds, best values and largest gaps of a policy, (state, action, probability) by (state, action, probability);
    /// states where it loses, with visits and loss per visit; converged, seconds, what stopped it, the question in words.
    #[allow(clippy::too_many_arguments, reason = "one for each of Python's")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        policy: Vec<GivenAction<'py>>,
        tolerances: (f64, f64),
        objective: Option<AskedObjective>,
        minimize: bool,
        time_limit: Option<f64>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let stopping = stopping(time_limit)?;
        let effort = effort(tolerances, None, threads)?;
        let mut known = self.0.lock()?;
        let question = question(&known, objective, minimize)?;
        let policy = known.mixed_policy(py, &policy)?;
        let mdp = known.session.model().mdp();
        let judged = effort.run(py, &stopping, |limits| evaluate(mdp, &question, &policy, limits))?;
        let states = 0..mdp.n_states();
        let gap: Vec<f64> = states.clone().map(|state| judged.gap(state, question.direction).1).collect();
        let middle = |solution: &backsweep_solve::Solution| -> Vec<f64> {
            states.clone().map(|state| solution.value(state)).collect()
        };
        let (values, best_values) = (middle(&judged.own), middle(&judged.best));
        let lost: Vec<u32> = judged.losses.iter().map(|loss| loss.state).collect();
        let visits: Vec<f64> = judged.losses.iter().map(|loss| loss.visits).collect();
        let per_visit: Vec<f64> = judged.losses.iter().map(|loss| loss.per_visit).collect();
        let converged = judged.own.converged && judged.best.converged;
        let stopped = stopping.reason(py)?.filter(|_| !converged);
        let numbers = (
            values.into_pyarray(py),
            judged.own.lower.into_pyarray(py),
            judged.own.upper.into_pyarray(py),
            best_values.into_pyarray(py),
            gap.into_pyarray(py),
        );
        let losses = (lost.into_pyarray(py), visits.into_pyarray(py), per_visit.into_pyarray(py));
        (numbers, losses, (converged, stopping.seconds(), stopped, question.to_string())).into_pyobject(py)
    }

    /// Runs of a policy: a list of (state, action, reward, next state) per episode.
    #[allow(clippy::too_many_arguments, reason = "one for each of Python's")]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        policy: Vec<GivenAction<'py>>,
        start: Option<Bound<'py, PyAny>>,
        episodes: usize,
        max_steps: u64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut known = self.0.lock()?;
        let policy = known.mixed_policy(py, &policy)?;
        let start = start.map(|start| known.state_id(&start)).transpose()?;
        let mdp = known.session.model().mdp();
        let reward = mdp.rewards.first().map(|rewards| rewards.name.as_str());
        let mut random = Random::from_seed(seed);
        let runs = PyList::empty(py);
        for episode in 0..episodes {
            let initial = (mdp.initial.len() > 1).then(|| random.below(mdp.initial.len() as u32) as usize);
            let first = start.or_else(|| mdp.initial.get(initial.unwrap_or(0)).copied()).unwrap_or(0);
            let run = PyList::empty(py);
            let (mut at, mut left) = (Some(first), max_steps);
            while let Some(state) = at.filter(|_| left > 0) {
                // In parts, so that Ctrl-C need not wait for a run of any length.
                let n = left.min(STEPS_PER_CHECK);
                let steps = simulate(mdp, reward, &policy, state, n, &mut random).map_err(errors::refused)?;
                at = steps.last().filter(|_| steps.len() as u64 == n).and_then(|step| step.next);
                left -= n;
                for step in steps {
                    let action = known.session.model().action_of()[step.choice as usize];
                    let next = step.next.map(|next| known.states.object(py, next)).transpose()?;
                    let (state, action) =
                        (known.states.object(py, step.state)?, known.actions.object(py, action)?);
                    run.append((state, action, step.reward, next))?;
                }
                if left > 0 && at.is_some() {
                    py.check_signals()?;
                }
            }
            runs.append(run)?;
            if episode % 16 == 15 {
                py.check_signals()?;
            }
        }
        Ok(runs)
    }
}
