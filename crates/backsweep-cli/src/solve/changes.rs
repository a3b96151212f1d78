//! The answer again after a file of changes, by repair.

use super::report;
use crate::loading;
use backsweep_io::mdp::{Format, Mdp, Rewards};
use backsweep_lab::{Error, Result};
use backsweep_solve::{Change, Direction, Limits, Repair, Solution, reward_rounding};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// At most this many states whose policy changes are printed.
const SHOWN: usize = 20;

/// Changes of a model.
pub struct Changes {
    path: PathBuf,
    changes: Vec<Change>,
    /// The names of the actions that are added, in order: their choices are numbered after the model's.
    added: Vec<String>,
    n_replaced: usize,
    /// The table as a model of its own, for its rewards.
    table: Mdp,
}

/// Reads a table of changes: the rows of a state and action replace that action, or add it.
pub fn read(path: &Path, mdp: &Mdp) -> Result<Changes> {
    let table = loading::load(path, Some(Format::Table))?;
    let states: HashMap<&str, usize> =
        mdp.state_names.iter().enumerate().map(|(state, name)| (name.as_str(), state)).collect();
    let find = |state: usize| {
        let name = table.state_name(state);
        let number =
            || name.parse().ok().filter(|&state| mdp.state_names.is_empty() && state < mdp.n_states());
        states.get(name.as_str()).copied().or_else(number).ok_or_else(|| {
            let problem =
                format!("state '{name}' is not in the model; expected one of its {} states", mdp.n_states());
            Error::new(format!("{}: {problem}", path.display()))
        })
    };
    let rewards = match table.rewards.is_empty() {
        true => None,
        false => Some(table.expected_rewards(None).map_err(|error| Error::new(error.to_string()))?),
    };
    let (mut changes, mut added, mut n_replaced) = (Vec::new(), Vec::new(), 0);
    for state in (0..table.n_states()).filter(|&state| !table.choices_of(state).is_empty()) {
        let of_model = find(state)?;
        for choice in table.choices_of(state) {
            let name = report::action_of(&table, choice);
            let mut outcomes = Vec::new();
            for arc in table.arcs_of(choice) {
                outcomes.push((find(table.targets[arc] as usize)? as u32, table.probabilities[arc]));
            }
            let reward = rewards.as_ref().map(|rewards| rewards[choice]);
            match mdp.choices_of(of_model).find(|&known| report::action_of(mdp, known) == name) {
                Some(known) => {
                    n_replaced += 1;
                    let choice = known as u32;
                    changes.push(Change::Outcomes { choice, outcomes });
                    changes.extend(reward.map(|reward| Change::Reward { choice, reward }));
                }
                None => {
                    let (state, reward) = (of_model as u32, reward.unwrap_or(0.0));
                    changes.push(Change::Add { state, reward, outcomes });
                    added.push(name);
                }
            }
        }
    }
    Ok(Changes { path: path.to_owned(), changes, added, n_replaced, table })
}

/// The answer after the changes.
pub struct After {
    /// What they do, for people.
    pub text: String,
    /// Values and policy. Choices after the model's are those of `added`.
    pub solution: Solution,
    /// The names of the actions that were added.
    pub added: Vec<String>,
}

impl Changes {
    /// Solves the model, applies the changes, and says what they do.
    pub fn repair(
        self,
        mdp: &Mdp,
        rewards: &Rewards,
        discount: f64,
        direction: Direction,
        limits: &Limits,
    ) -> std::result::Result<After, String> {
        let expected = mdp.expected_rewards(Some(&rewards.name)).map_err(|error| error.to_string())?;
        let mut repair = Repair::new(mdp, &expected, discount, direction, limits)?;
        let states = 0..mdp.n_states();
        let values: Vec<f64> = states.clone().map(|state| repair.value(state)).collect();
        let policy: Vec<u32> = states.clone().map(|state| repair.choice(state)).collect();
        let bound_before = repair.bound();
        let began = Instant::now();
        let done = repair.apply(&self.changes, limits);
        let seconds = began.elapsed().as_secs_f64();
        let done = done.map_err(|problem| format!("{}: {problem}", self.path.display()))?;
        let rounding =
            self.table.rewards.iter().map(|rewards| reward_rounding(&self.table, rewards, discount));
        let rounding = rounding.fold(reward_rounding(mdp, rewards, discount), f64::max);
        let bound = repair.bound().max(bound_before) + rounding;

        let mut text = format!(
            "{}: {} replaced, {} added; {} in {seconds:.6} s ({})\n\n",
            self.path.display(),
            report::count(self.n_replaced, "action"),
            self.added.len(),
            if done.solved_afresh { "so much changes that all was solved again," } else { "repaired" },
            report::count(done.backups as usize, "backup")
        );
        let action = |choice| report::action(mdp, &self.added, choice).unwrap_or(report::NOTHING.to_owned());
        let row = |state: usize| {
            let (before, after) = (values[state], repair.value(state));
            [
                mdp.state_name(state),
                report::number(before),
                report::number(after),
                action(policy[state]),
                action(repair.choice(state)),
            ]
        };
        let header = ["state", "before", "after", "action before", "action after"].map(str::to_owned);
        let (shown, rest) = report::shown(mdp);
        let rows: Vec<_> = std::iter::once(header.clone()).chain(shown.into_iter().map(row)).collect();
        text.push_str(&format!("{}{rest}", report::table(&rows, 2)));
        let moved: Vec<usize> = states.filter(|&state| policy[state] != repair.choice(state)).collect();
        text.push_str(&format!("\nthe policy changes in {}\n", report::count(moved.len(), "state")));
        if !moved.is_empty() {
            let rows: Vec<_> =
                std::iter::once(header).chain(moved.iter().take(SHOWN).map(|&state| row(state))).collect();
            text.push_str(&report::table(&rows, 2));
        }
        if moved.len() > SHOWN {
            text.push_str(&format!("… and {} more\n", moved.len() - SHOWN));
        }
        let said = if done.converged && bound <= limits.tolerance { "proven" } else { "not converged" };
        text.push_str(&format!("{said}: values before and after are within {bound:.1e} of the truth"));
        let mut solution = repair.solution();
        solution.lower.iter_mut().for_each(|lower| *lower = (*lower - rounding).next_down());
        solution.upper.iter_mut().for_each(|upper| *upper = (*upper + rounding).next_up());
        Ok(After { text, solution, added: self.added })
    }
}
