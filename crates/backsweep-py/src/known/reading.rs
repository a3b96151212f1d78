//! Reading a known model and its values.

use crate::errors;
use crate::known::KnownModel;
use crate::known::named_mdp::NamedMdp;
use crate::names;
use crate::results::{ModelArrays, type_of};
use backsweep_solve::{Answer, Solution};
use pyo3::prelude::*;

impl NamedMdp {
    /// A copy whose names are copied as copy.deepcopy copies them.
    pub fn deep_copied(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut copy = self.copied(py)?;
        copy.states = self.states.deep_copied(py, memo, "state")?;
        copy.actions = self.actions.deep_copied(py, memo, "action")?;
        copy.ends = self.ends.deep_copied(py, memo, "end")?;
        Ok(copy)
    }

    /// The value of each state by the latest answer; 0 before there is one.
    pub fn values(&self) -> Vec<f64> {
        (0..self.states.len() as u32).map(|state| self.session.value(state)).collect()
    }

    /// The id of a known state; `None` for one seen only as the end of an episode.
    pub fn find_state(&mut self, state: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        let py = state.py();
        let key = names::key(state, "state")?;
        if self.states.id(py, &key, "state")?.is_none() && self.ends.id(py, &key, "state")?.is_some() {
            return Ok(None);
        }
        self.state_id(state).map(Some)
    }

    /// The action that the policy takes in a state, or the best by the values there are.
    pub fn best(&self, state: u32) -> Option<u32> {
        let none = self.unsolved();
        self.session.best_action(self.session.answer().unwrap_or(&none), state)
    }

    /// The value of a choice, given the current values.
    pub fn action_value(&self, state: u32, choice: u32) -> PyResult<f64> {
        let none = self.unsolved();
        let answer = self.session.answer().unwrap_or(&none);
        self.session.lookahead(answer, state, choice).ok_or_else(|| {
            let question = &answer.question;
            errors::value(format!(
                "actions have no separate values for the {question}; solve for another objective first"
            ))
        })
    }

    /// Stands for an answer before there is one: all values 0.
    fn unsolved(&self) -> Answer {
        let question = self.usual_objective().maximize();
        Answer::new(question, f64::INFINITY, Solution::default(), Vec::new(), Vec::new())
    }
}

#[pymethods]
impl KnownModel {
    /// `backsweep.Model`.
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut known = self.0.lock()?;
        let n_arcs = known.flatten()?.n_arcs();
        if i32::try_from(n_arcs).is_err() {
            return Err(errors::value(format!(
                "the model has {n_arcs} successors; SciPy's indices end at 2³¹"
            )));
        }
        let (model, mut arrays) = (known.session.model(), ModelArrays::default());
        let name = model.mdp().rewards.first().map(|rewards| rewards.name.as_str());
        for state in 0..model.mdp().n_states() as u32 {
            for choice in model.choices_of(state) {
                let reward = model.reward(choice, state, name);
                let pair = (state, model.action_of()[choice as usize]);
                arrays.push(pair, 1.0, reward, model.outcomes(choice));
            }
        }
        arrays.object(py, &known.states, &known.actions, known.values())
    }

    /// `backsweep.Stats`: sweeps and backups count as cycles.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let known = self.0.lock()?;
        let n = known.session.iterations();
        let (n_states, n_pairs) = (known.states.len(), known.session.model().n_choices());
        let n_arcs = known.session.model().n_arcs();
        type_of(py, "Stats")?.call1((n, n, 0, n, 0, 0, 0, n_states, n_pairs, n_arcs))
    }

    /// `backsweep.Audit`: one backup of every state.
    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let known = self.0.lock()?;
        let none = known.unsolved();
        let answer = known.session.answer().unwrap_or(&none);
        let sign = answer.question.direction.sign();
        let mut residual: f64 = 0.0;
        let mut largest: f64 = 0.0;
        let mut longest = 0;
        for state in 0..known.states.len() as u32 {
            let value = known.session.value(state);
            largest = largest.max(value.abs());
            let mut best: Option<f64> = None;
            for choice in known.session.model().choices_of(state) {
                let q = sign * known.action_value(state, choice)?;
                best = Some(best.map_or(q, |best| best.max(q)));
                longest = longest.max(known.session.model().outcomes(choice).count());
            }
            let backed_up = sign * best.unwrap_or(0.0);
            if backed_up != value {
                residual = residual.max((backed_up - value).abs());
            }
        }
        let rounding = (longest as f64 + 8.0) * f64::EPSILON * largest;
        let discounted = answer.question.objective.discount().is_some();
        let bound = answer.error_bound().filter(|_| discounted && answer.current);
        type_of(py, "Audit")?.call1((0.0, 0.0, residual, residual, rounding, bound))
    }

    /// A table for notebooks.
    fn html(&self) -> PyResult<String> {
        let known = self.0.lock()?;
        let answer = known.session.answer();
        let rows = [
            ("discount", known.discount.to_string()),
            ("states", known.states.len().to_string()),
            ("actions of states", known.session.model().n_choices().to_string()),
            (
                "labels",
                known
                    .session
                    .model()
                    .mdp()
                    .labels
                    .iter()
                    .map(|l| escaped(&l.name))
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            ("solved", answer.map_or("no".to_owned(), |a| escaped(&a.question.to_string()))),
        ];
        let rows = rows.map(|(name, value)| format!("<tr><th>{name}</th><td>{value}</td></tr>"));
        Ok(format!("<table><caption>backsweep.MDP</caption>{}</table>", rows.concat()))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
