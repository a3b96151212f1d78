//! The worlds of the suite as environments for Python, with the suite's own scores.

use crate::errors;
use backsweep::episode::Environment;
use backsweep::{Action, Next, Random, Transition};
use backsweep_worlds::{Run, names, world};
use pyo3::prelude::*;

/// One run in a world of the suite: a Gymnasium-like environment that also keeps the score.
#[pyclass(module = "backsweep.bench")]
pub struct SuiteWorld {
    run: Run,
    random: Random,
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    title: String,
    #[pyo3(get)]
    discount: f64,
    #[pyo3(get)]
    reward_range: (f64, f64),
    #[pyo3(get)]
    score_name: String,
    #[pyo3(get)]
    more_is_better: bool,
}

/// The result of a step: the next state, the reward, whether the episode terminated, whether it was truncated.
type Stepped = (u32, f64, bool, bool);

#[pymethods]
impl SuiteWorld {
    #[new]
    #[pyo3(signature = (name, seed=0))]
    fn new(name: &str, seed: u64) -> PyResult<Self> {
        let mut random = Random::from_seed(seed);
        let world = world(name, &mut random).map_err(errors::refused)?;
        Ok(Self {
            name: world.name.clone(),
            title: world.title.clone(),
            discount: world.discount,
            reward_range: world.reward_range,
            score_name: world.score.label(),
            more_is_better: world.score.more_is_better(),
            run: Run::new(world, &mut random),
            random,
        })
    }

    /// Takes an action in the current state. After a termination or truncation, `state` is the start of the next episode.
    fn step(&mut self, action: u32) -> PyResult<Stepped> {
        let (state, table) = (self.run.state(), self.run.table());
        if action as usize >= table.n_actions(state) {
            let n = table.n_actions(state);
            return Err(errors::value(format!(
                "action is {action}; expected a number from 0 to {}",
                n.saturating_sub(1)
            )));
        }
        let action = Action(action);
        let drawn = table.step(state, action, &mut self.random);
        let transition = Transition { state, action, reward: drawn.reward, next: drawn.next };
        let next = self.run.take(&transition, &mut self.random);
        let reached = next.state().unwrap_or(state).0;
        Ok((reached, drawn.reward, next == Next::Terminated, matches!(next, Next::Truncated(_))))
    }

    /// Judges a recommended policy, one action per state: its value as a fraction of the best one.
    fn judge(&mut self, policy: Vec<u32>) -> PyResult<f64> {
        let table = self.run.table();
        if policy.len() != table.n_states() {
            let (found, expected) = (policy.len(), table.n_states());
            return Err(errors::value(format!(
                "the policy has {found} actions; expected {expected}, one per state"
            )));
        }
        let wrong = (0..).map(backsweep::State).zip(&policy).find(|&(state, &action)| {
            let n = table.n_actions(state);
            n > 0 && action as usize >= n
        });
        if let Some((state, action)) = wrong {
            return Err(errors::value(format!(
                "the policy takes action {action} in {state}, which has no such action"
            )));
        }
        let policy: Vec<Action> = policy.into_iter().map(Action).collect();
        self.run.judge(&policy).map_err(errors::refused)
    }

    /// Score, steps, episodes, and whether the goal was reached.
    fn result(&self) -> (f64, u64, u64, bool) {
        let result = self.run.result();
        (result.score, result.steps, result.episodes, result.reached)
    }

    /// The number of actions of each state.
    fn action_counts(&self) -> Vec<usize> {
        let table = self.run.table();
        (0..table.n_states() as u32).map(|state| table.n_actions(backsweep::State(state))).collect()
    }

    #[getter]
    fn state(&self) -> u32 {
        self.run.state().0
    }

    #[getter]
    fn is_over(&self) -> bool {
        self.run.is_over()
    }

    #[getter]
    fn wants_policy(&self) -> bool {
        self.run.wants_policy()
    }

    fn __repr__(&self) -> String {
        let result = self.run.result();
        format!("<backsweep.bench.World {}: {} steps, score {:.6}>", self.name, result.steps, result.score)
    }
}

/// The names of the suite's worlds.
#[pyfunction]
pub fn suite_names() -> Vec<String> {
    names()
}
