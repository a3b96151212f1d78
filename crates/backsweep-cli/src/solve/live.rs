//! Keeps an answer up to date while its model changes, and reports what each change does to it.

use super::changes::{TableEdit, What};
use super::report::{self, StateRow};
use crate::error::{Error, Result};
use backsweep_mdp::{ChoiceRow, Mdp, Objective, Question, StateNames};
use backsweep_solve::{Answer, Edit, Limits, Session};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Instant;

/// At most this many states whose policy changes are printed.
const SHOWN: usize = 20;

/// A session under the names of a model, and its answer before the latest changes.
pub struct LiveAnswer<'m> {
    mdp: &'m Mdp,
    session: Session,
    question: Question,
    pub states: StateNames<'m>,
    /// The number of each action by name, and the names by number.
    actions: HashMap<String, u32>,
    action_names: Vec<String>,
    /// The reward of every action, where it does not depend on the model; rewards in changes are ignored then.
    every_reward: Option<f64>,
    values: Vec<f64>,
    policy: Vec<u32>,
}

/// The effect of changes.
pub struct Done {
    n_changes: usize,
    seconds: f64,
    /// The states whose policy differs from before.
    moved: Vec<usize>,
}

impl<'m> LiveAnswer<'m> {
    /// Answers a question, and keeps the answer ready for changes.
    pub fn new(
        mdp: &'m Mdp,
        question: &Question,
        every_reward: Option<f64>,
        limits: &Limits,
    ) -> backsweep_solve::Result<Self> {
        let (mut actions, mut action_names) = (HashMap::new(), Vec::new());
        let number = |choice| number_of(&mut actions, &mut action_names, mdp.action_name(choice));
        let action_of = (0..mdp.n_choices()).map(number).collect();
        let mut own = mdp.clone();
        // Rewards in changes are those that the question is about.
        match &question.objective {
            Objective::Reach { .. } => own.rewards.clear(),
            objective if objective.reward().is_some() => {
                own.rewards.retain(|rewards| Some(rewards.name.as_str()) == objective.reward());
            }
            _ => {}
        }
        let mut session = Session::new(own, action_of, 0.0);
        session.solve_for_edits(question, limits)?;
        let (question, states) = (question.clone(), StateNames::new(mdp));
        let (values, policy) = (Vec::new(), Vec::new());
        Ok(Self { mdp, session, question, states, actions, action_names, every_reward, values, policy })
    }

    /// Makes a change to the model. An unknown action is refused.
    fn edit(&mut self, edit: &TableEdit) -> Result<()> {
        let TableEdit { state, action, what, place } = edit;
        let known = self.actions.get(action).copied();
        let known = known.filter(|&action| self.session.model().find(*state, action).is_some());
        let edit = match (what, self.every_reward) {
            (What::Remove | What::Reward(_), _) if known.is_none() => {
                return Err(Error::at(place, self.unknown(*state, action)));
            }
            (What::Remove, _) => Edit::Remove,
            (What::Reward(reward), None) => Edit::Reward(*reward),
            (What::Reward(_), Some(_)) => return Ok(()),
            (What::Outcomes(row, true), None) => Edit::Set(row.clone()),
            (What::Outcomes(row, _), Some(reward)) if known.is_none() => {
                Edit::Set(ChoiceRow { outcomes: row.outcomes.clone(), reward, reward_error: 0.0 })
            }
            (What::Outcomes(row, _), _) => Edit::Outcomes(row.outcomes.clone()),
        };
        let action = number_of(&mut self.actions, &mut self.action_names, action.clone());
        Ok(self.session.edit(*state, action, edit)?)
    }

    fn unknown(&self, state: u32, action: &str) -> backsweep_mdp::Error {
        let model = self.session.model();
        let name = |choice: u32| self.action_names[model.action_of()[choice as usize] as usize].clone();
        let mut known: Vec<String> = model.choices_of(state).map(name).collect();
        known.sort();
        let state = self.mdp.state_name(state as usize);
        backsweep_mdp::Error::UnknownAction { state, found: action.to_owned(), known }
    }

    /// Makes changes together and repairs the answer. Changes that name an unknown action go to `refuse` and are skipped.
    pub fn change(
        &mut self,
        edits: &[TableEdit],
        limits: &Limits,
        mut refuse: impl FnMut(String),
    ) -> Result<Option<Done>> {
        if let Some(answer) = self.session.answer() {
            (self.values, self.policy) = (answer.values.clone(), answer.policy.clone());
        }
        let mut n_changes = 0;
        for edit in edits {
            match self.edit(edit) {
                Ok(()) => n_changes += 1,
                Err(problem) => refuse(problem.to_string()),
            }
        }
        if n_changes == 0 {
            return Ok(None);
        }
        let began = Instant::now();
        // Every number was checked when it was read, so only rounding at the limits can still cause a refusal.
        let answer = self.session.solve(&self.question, None, limits)?;
        let seconds = began.elapsed().as_secs_f64();
        let moved = (0..self.policy.len()).filter(|&state| self.policy[state] != answer.policy[state]);
        Ok(Some(Done { n_changes, seconds, moved: moved.collect() }))
    }

    /// The answer now.
    pub fn answer(&self) -> Result<&Answer> {
        self.session.answer().ok_or_else(|| backsweep_solve::Error::Unanswered.into())
    }

    /// The effect of the latest changes, in one line.
    pub fn line(&self, done: &Done) -> Result<String> {
        let (Done { n_changes, seconds, moved }, answer) = (done, self.answer()?);
        let how = if answer.repaired { "repaired" } else { "solved again" };
        let work = if answer.repaired { "backup" } else { "iteration" };
        let proven = if answer.solution.converged { "proven" } else { "not converged" };
        Ok(format!(
            "{}, {how} in {seconds:.6} s ({}); the policy changes in {}; {proven} within {:.1e}",
            report::count(*n_changes, "change"),
            report::count(answer.solution.iterations as usize, work),
            report::count(moved.len(), "state"),
            bound(answer)
        ))
    }

    /// Values before and after, and the states whose policy changes.
    pub fn before_and_after(&self, done: &Done) -> Result<String> {
        let answer = self.answer()?;
        let header = || ["state", "before", "after", "action before", "action after"].map(str::to_owned);
        let action = |action| self.action(action).unwrap_or(report::NOTHING.to_owned());
        let table = |states: &[usize]| {
            let rows = states.iter().map(|&state| {
                [
                    self.mdp.state_name(state),
                    report::number(self.values[state]),
                    report::number(answer.values[state]),
                    action(self.policy[state]),
                    action(answer.policy[state]),
                ]
            });
            report::table(&std::iter::once(header()).chain(rows).collect::<Vec<_>>(), 2)
        };
        let (shown, rest) = report::shown(self.mdp);
        let mut text = format!("{}{rest}", table(&shown));
        if !done.moved.is_empty() {
            let some = &done.moved[..done.moved.len().min(SHOWN)];
            text.push_str(&format!("\nwhere the policy changes:\n{}", table(some)));
        }
        if done.moved.len() > SHOWN {
            text.push_str(&format!("… and {} more\n", done.moved.len() - SHOWN));
        }
        Ok(text)
    }

    /// The row of a state.
    pub fn of<'a>(&'a self, answer: &'a Answer) -> impl Fn(usize) -> StateRow + use<'a, 'm> {
        |state| StateRow {
            value: answer.values[state],
            lower: answer.solution.lower[state],
            upper: answer.solution.upper[state],
            action: self.action(answer.policy[state]),
        }
    }

    /// The answer for programs, on one line.
    pub fn json(&self, done: Option<&Done>) -> Result<Value> {
        let answer = self.answer()?;
        let number = |x: f64| if x.is_finite() { json!(x) } else { json!(format!("{x}")) };
        let of = self.of(answer);
        let state = |state: usize| {
            let StateRow { value, lower, upper, action } = of(state);
            let name = self.mdp.state_name(state);
            json!({ "state": name, "value": number(value), "lower": number(lower), "upper": number(upper), "action": action })
        };
        let states: Vec<Value> = report::shown(self.mdp).0.into_iter().map(state).collect();
        let mut line = json!({ "states": states, "bound": number(bound(answer)) });
        if let Some(Done { n_changes, seconds, moved }) = done {
            line["changes"] = json!(n_changes);
            line["seconds"] = json!(seconds);
            line["backups"] = json!(if answer.repaired { answer.solution.iterations } else { 0 });
            line["solved_afresh"] = json!(!answer.repaired);
            line["converged"] = json!(answer.solution.converged);
            line["policy_changes"] = json!(moved.len());
        }
        Ok(line)
    }

    fn action(&self, action: u32) -> Option<String> {
        self.action_names.get(action as usize).cloned()
    }
}

fn bound(answer: &Answer) -> f64 {
    answer.error_bound().unwrap_or(f64::INFINITY)
}

/// The number of an action, which is new if its name is.
pub fn number_of(ids: &mut HashMap<String, u32>, names: &mut Vec<String>, name: String) -> u32 {
    *ids.entry(name).or_insert_with_key(|name| {
        names.push(name.clone());
        names.len() as u32 - 1
    })
}
