//! Keeps an answer up to date while its model changes, and reports what each change does to it.

use super::changes::{Edit, Names};
use super::report;
use crate::error::Result;
use backsweep_mdp::Mdp;
use backsweep_solve::{Limits, Repair, Repaired, Solution};
use serde_json::{Value, json};
use std::time::Instant;

/// At most this many states whose policy changes are printed.
const SHOWN: usize = 20;

/// A solved model, the names in it, and the answer before the latest changes.
pub struct Kept<'m> {
    mdp: &'m Mdp,
    pub repair: Repair,
    pub names: Names<'m>,
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

impl<'m> Kept<'m> {
    pub fn new(mdp: &'m Mdp, repair: Repair, names: Names<'m>) -> Self {
        let mut kept = Self { mdp, repair, names, values: Vec::new(), policy: Vec::new() };
        kept.remember();
        kept
    }

    fn remember(&mut self) {
        let states = 0..self.mdp.n_states();
        self.values = states.clone().map(|state| self.repair.value(state)).collect();
        self.policy = states.map(|state| self.repair.choice(state)).collect();
    }

    /// Applies changes together and repairs the answer. Changes that name an unknown action go to `refuse` and are skipped.
    pub fn change(
        &mut self,
        edits: &[Edit],
        limits: &Limits,
        mut refuse: impl FnMut(String),
    ) -> Result<Option<Done>> {
        self.remember();
        let mut changes = Vec::new();
        let mut n_changes = 0;
        for edit in edits {
            match self.names.resolve(edit, &mut changes) {
                Ok(error) => {
                    self.repair.count_reward_error(error);
                    n_changes += 1;
                }
                Err(problem) => refuse(problem),
            }
        }
        if n_changes == 0 {
            return Ok(None);
        }
        let began = Instant::now();
        // Every number was checked when it was read, so only rounding at the limits can still cause a refusal.
        let repaired = self.repair.apply(&changes, limits)?;
        let seconds = began.elapsed().as_secs_f64();
        let moved =
            (0..self.policy.len()).filter(|&state| self.policy[state] != self.repair.choice(state)).collect();
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
        let action = report::action(self.mdp, &self.names.added_names, self.repair.choice(state));
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
        report::action(self.mdp, &self.names.added_names, choice).unwrap_or(report::NOTHING.to_owned())
    }
}
