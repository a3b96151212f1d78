//! Keeps an answer up to date while its model changes, and reports what each change does to it.

use super::changes::{TableEdit, What};
use super::report;
use crate::error::{Error, Result};
use backsweep_mdp::{Change, Mdp, Objective, Question, StateNames};
use backsweep_solve::{ChoiceRow, Edit, EditableMdp, Limits, Repair, Repaired, Solution};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Instant;

/// At most this many states whose policy changes are printed.
const SHOWN: usize = 20;

/// A solved model, the names in it, and the answer before the latest changes.
pub struct LiveAnswer<'m> {
    mdp: &'m Mdp,
    model: EditableMdp,
    repair: Repair,
    pub states: StateNames<'m>,
    /// The number of each action by name, and the names by number.
    actions: HashMap<String, u32>,
    action_names: Vec<String>,
    /// The reward of every action, where it does not depend on the model; rewards in changes are ignored then.
    every_reward: Option<f64>,
    values: Vec<f64>,
    policy: Vec<u32>,
}

/// What changes did.
pub struct Done {
    n_changes: usize,
    repaired: Repaired,
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
        let repair = Repair::new(mdp, question, limits)?;
        let model = EditableMdp::new(own, action_of, 0.0);
        let states = StateNames::new(mdp);
        let (values, policy) = (Vec::new(), Vec::new());
        Ok(Self { mdp, model, repair, states, actions, action_names, every_reward, values, policy })
    }

    /// Makes a change to the model and returns it for the repair. An unknown action is refused.
    fn edit(&mut self, edit: &TableEdit) -> Result<Vec<Change>> {
        let TableEdit { state, action, what, place } = edit;
        let known = self.actions.get(action).copied();
        let known = known.filter(|&action| self.model.find(*state, action).is_some());
        let edit = match (what, self.every_reward) {
            (What::Remove | What::Reward(_), _) if known.is_none() => {
                return Err(Error::at(place, self.unknown(*state, action)));
            }
            (What::Remove, _) => Edit::Remove,
            (What::Reward(reward), None) => Edit::Reward(*reward),
            (What::Reward(_), Some(_)) => return Ok(Vec::new()),
            (What::Outcomes(outcomes, Some(reward)), None) => {
                self.repair.count_reward_error(reward.error);
                let (outcomes, reward, reward_error) = (outcomes.clone(), reward.mean, reward.error);
                Edit::Set(ChoiceRow { outcomes, reward, reward_error })
            }
            (What::Outcomes(outcomes, _), Some(reward)) if known.is_none() => {
                Edit::Set(ChoiceRow { outcomes: outcomes.clone(), reward, reward_error: 0.0 })
            }
            (What::Outcomes(outcomes, _), _) => Edit::Outcomes(outcomes.clone()),
        };
        let action = number_of(&mut self.actions, &mut self.action_names, action.clone());
        Ok(self.model.edit(*state, action, edit)?)
    }

    fn unknown(&self, state: u32, action: &str) -> backsweep_mdp::Error {
        let model = &self.model;
        let name = |choice: u32| self.action_names[model.action_of()[choice as usize] as usize].clone();
        let mut known: Vec<String> = model.choices_of(state).map(name).collect();
        known.sort();
        let state = self.mdp.state_name(state as usize);
        backsweep_mdp::Error::UnknownAction { state, found: action.to_owned(), known }
    }

    /// The names of all actions ever added, in order: their choices are numbered after the model's.
    pub fn added_names(&self) -> Vec<String> {
        let added = self.model.action_of().iter().skip(self.mdp.n_choices());
        added.map(|&action| self.action_names[action as usize].clone()).collect()
    }

    /// Makes changes together and repairs the answer. Changes that name an unknown action go to `refuse` and are skipped.
    pub fn change(
        &mut self,
        edits: &[TableEdit],
        limits: &Limits,
        mut refuse: impl FnMut(String),
    ) -> Result<Option<Done>> {
        let states = 0..self.mdp.n_states();
        let repair = &self.repair;
        let values = states.clone().map(|state| repair.value(state)).collect();
        let policy: Vec<u32> = states.clone().map(|state| repair.choice(state)).collect();
        (self.values, self.policy) = (values, policy);
        let (mut changes, mut n_changes) = (Vec::new(), 0);
        for edit in edits {
            match self.edit(edit) {
                Ok(made) => {
                    changes.extend(made);
                    n_changes += 1;
                }
                Err(problem) => refuse(problem.to_string()),
            }
        }
        if n_changes == 0 {
            return Ok(None);
        }
        let began = Instant::now();
        // Every number was checked when it was read, so only rounding at the limits can still cause a refusal.
        let repaired = self.repair.apply(&changes, limits)?;
        let seconds = began.elapsed().as_secs_f64();
        let moved = states.filter(|&state| self.policy[state] != self.repair.choice(state)).collect();
        Ok(Some(Done { n_changes, repaired, seconds, moved }))
    }

    /// The answer now.
    pub fn solution(&self) -> Solution {
        self.repair.solution()
    }

    /// What the latest changes did, in one line.
    pub fn line(&self, done: &Done) -> String {
        let Done { n_changes, repaired, seconds, moved } = done;
        let how = if repaired.solved_afresh { "solved again" } else { "repaired" };
        let proven = if repaired.converged { "proven" } else { "not converged" };
        format!(
            "{}, {how} in {seconds:.6} s ({}); the policy changes in {}; {proven} within {:.1e}",
            report::count(*n_changes, "change"),
            report::count(repaired.backups as usize, "backup"),
            report::count(moved.len(), "state"),
            self.repair.bound()
        )
    }

    /// Values before and after, and the states whose policy changes.
    pub fn before_and_after(&self, done: &Done) -> String {
        let header = || ["state", "before", "after", "action before", "action after"].map(str::to_owned);
        let table = |states: &[usize]| {
            let rows = states.iter().map(|&state| {
                [
                    self.mdp.state_name(state),
                    report::number(self.values[state]),
                    report::number(self.repair.value(state)),
                    self.action(self.policy[state]),
                    self.action(self.repair.choice(state)),
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
        text
    }

    /// Current values of the initial states or, if there are none, of the first ones.
    pub fn now(&self) -> String {
        report::states(self.mdp, |state| self.of(state))
    }

    fn of(&self, state: usize) -> (f64, (f64, f64), Option<String>) {
        let action = report::action(self.mdp, &self.added_names(), self.repair.choice(state));
        (self.repair.value(state), self.repair.interval(state), action)
    }

    /// The same for programs, on one line.
    pub fn json(&self, done: Option<&Done>) -> Value {
        let number = |x: f64| if x.is_finite() { json!(x) } else { json!(format!("{x}")) };
        let states: Vec<Value> = report::shown(self.mdp)
            .0
            .into_iter()
            .map(|state| {
                let (value, (lower, upper), action) = self.of(state);
                let name = self.mdp.state_name(state);
                json!({ "state": name, "value": number(value), "lower": number(lower), "upper": number(upper), "action": action })
            })
            .collect();
        match done {
            None => json!({ "states": states, "bound": number(self.repair.bound()) }),
            Some(Done { n_changes, repaired, seconds, moved }) => json!({
                "changes": n_changes, "seconds": seconds, "backups": repaired.backups, "solved_afresh": repaired.solved_afresh,
                "converged": repaired.converged, "bound": number(self.repair.bound()), "policy_changes": moved.len(),
                "states": states,
            }),
        }
    }

    fn action(&self, choice: u32) -> String {
        report::action(self.mdp, &self.added_names(), choice).unwrap_or(report::NOTHING.to_owned())
    }
}

/// The number of an action, which is new if its name is.
fn number_of(ids: &mut HashMap<String, u32>, names: &mut Vec<String>, name: String) -> u32 {
    *ids.entry(name).or_insert_with_key(|name| {
        names.push(name.clone());
        names.len() as u32 - 1
    })
}
