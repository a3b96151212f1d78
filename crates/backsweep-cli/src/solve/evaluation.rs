//! `backsweep solve --evaluate`: what a policy is worth, and where it loses.

use super::report::{self, StateRow};
use crate::error::{Error, Result};
use crate::output;
use backsweep_mdp::{Mdp, Question, StateNames};
use backsweep_solve::{Limits, MixedPolicy, PolicyValue, StateLoss, evaluate};
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;

/// At most this many states with losses are printed.
const SHOWN: usize = 10;

/// Reads a policy, evaluates it, and prints or writes what was found.
pub fn run(
    path: &Path,
    arguments: &super::SolveArguments,
    mdp: &Mdp,
    question: &Question,
    limits: &Limits,
) -> Result<()> {
    let policy = read(path, mdp)?;
    let found = evaluate(mdp, question, &policy, limits).map_err(|error| Error::at(path.display(), error))?;
    if let Some(values) = &arguments.values {
        report::write_values(values, mdp, |state| StateRow::of(mdp, &found.own, state))?;
    }
    if arguments.json {
        output::result(to_json(mdp, question, &found));
        return Ok(());
    }
    output::result(format_args!("{} evaluated on {}", path.display(), report::size(mdp)));
    output::result(format_args!("{}\n", backsweep_mdp::printable(&question.to_string())));
    let (shown, rest) = report::shown(mdp);
    let header = ["state", "policy", "at least", "at most", "best", "gap at most"].map(str::to_owned);
    let row = |state: usize| {
        let (_, gap) = found.gap(state, question.direction);
        let own =
            [found.own.value(state), found.own.lower[state], found.own.upper[state]].map(report::number);
        let [value, lower, upper] = own;
        [
            mdp.state_name(state),
            value,
            lower,
            upper,
            report::number(found.best.value(state)),
            report::number(gap),
        ]
    };
    let rows: Vec<[String; 6]> = std::iter::once(header).chain(shown.into_iter().map(row)).collect();
    output::result(format_args!("{}{rest}", report::table(&rows, 5)));
    let worst = (0..mdp.n_states()).map(|state| found.gap(state, question.direction).1).fold(0.0, f64::max);
    let proven = if found.own.converged && found.best.converged { "proven" } else { "not converged; proven" };
    output::result(format_args!(
        "{proven}: no state loses more than {} against the best policy",
        report::number(worst)
    ));
    if !found.losses.is_empty() {
        let action = |state: u32| {
            let choice = found.best.policy[state as usize] as usize;
            if choice < mdp.n_choices() { mdp.action_name(choice) } else { report::NOTHING.to_owned() }
        };
        let header = ["state", "loss", "visits", "loss per visit", "better action"].map(str::to_owned);
        let row = |loss: &StateLoss| {
            let numbers = [loss.visits * loss.per_visit, loss.visits, loss.per_visit].map(report::number);
            let [total, visits, per_visit] = numbers;
            [mdp.state_name(loss.state as usize), total, visits, per_visit, action(loss.state)]
        };
        let some = found.losses.iter().take(SHOWN).map(row);
        let rows: Vec<[String; 5]> = std::iter::once(header).chain(some).collect();
        let more = found.losses.len().saturating_sub(SHOWN);
        let rest = if more > 0 { format!("… and {more} more states\n") } else { String::new() };
        let table = report::table(&rows, 3);
        output::result(format_args!(
            "\nwhere it loses (estimated: visits times loss per visit):\n{}{rest}",
            table
        ));
    }
    Ok(())
}

fn to_json(mdp: &Mdp, question: &Question, found: &PolicyValue) -> serde_json::Value {
    let number = |x: f64| if x.is_finite() { json!(x) } else { json!(format!("{x}")) };
    let list = |numbers: &[f64]| numbers.iter().map(|x| number(*x)).collect::<Vec<_>>();
    let losses = found.losses.iter().map(|loss| {
        json!({
            "state": mdp.state_name(loss.state as usize), "visits": number(loss.visits), "per_visit": number(loss.per_visit),
        })
    });
    json!({
        "question": question.to_string(), "states": mdp.state_names, "converged": found.own.converged && found.best.converged,
        "lower": list(&found.own.lower), "upper": list(&found.own.upper),
        "best_lower": list(&found.best.lower), "best_upper": list(&found.best.upper),
        "losses": losses.collect::<Vec<_>>(),
    })
}

/// Reads `state,action` or `state,action,probability`. An empty action means that nothing is chosen in the state.
fn read(path: &Path, mdp: &Mdp) -> Result<MixedPolicy> {
    let refused = |line: u64, problem: String| Error::at(format!("{}:{line}", path.display()), problem);
    let mut table = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(|error| Error::unread(path, error))?;
    let header = table.headers().map_err(|error| refused(1, error.to_string()))?.clone();
    let column = |name: &str| header.iter().position(|found| found.eq_ignore_ascii_case(name));
    let (Some(state_column), Some(action_column)) = (column("state"), column("action")) else {
        let found = header.iter().collect::<Vec<_>>().join(",");
        return Err(refused(
            1,
            format!("found columns '{found}'; expected state,action and optionally probability"),
        ));
    };
    let share_column = column("probability");
    let names = StateNames::new(mdp);
    let mut by_name: HashMap<(u32, String), u32> = HashMap::new();
    for state in 0..mdp.n_states() {
        for choice in mdp.choices_of(state) {
            by_name.entry((state as u32, mdp.action_name(choice))).or_insert(choice as u32);
        }
    }
    let mut policy = MixedPolicy { choices: vec![Vec::new(); mdp.n_states()] };
    let mut named = vec![false; mdp.n_states()];
    for record in table.records() {
        let record = record
            .map_err(|error| refused(error.position().map_or(0, csv::Position::line), error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let state = names.state(&record[state_column]).map_err(|error| refused(line, error.to_string()))?;
        let again = std::mem::replace(&mut named[state as usize], true);
        let action = &record[action_column];
        if action.is_empty() {
            continue;
        }
        let share = match share_column.map(|column| &record[column]) {
            None | Some("") => 1.0,
            Some(text) => text.parse().ok().filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| {
                refused(line, format!("found '{text}'; expected a probability from 0 to 1"))
            })?,
        };
        let Some(&choice) = by_name.get(&(state, action.to_owned())) else {
            let known: Vec<String> =
                mdp.choices_of(state as usize).map(|choice| mdp.action_name(choice)).collect();
            let state = mdp.state_name(state as usize);
            let error = backsweep_mdp::Error::UnknownAction { state, found: action.to_owned(), known };
            return Err(refused(line, error.to_string()));
        };
        if again && share_column.is_none() {
            let state = mdp.state_name(state as usize);
            let problem = format!("state '{state}' has two actions; expected one, or a column 'probability'");
            return Err(refused(line, problem));
        }
        policy.choices[state as usize].push((choice, share));
    }
    let missing = |&state: &usize| !named[state] && !mdp.choices_of(state).is_empty();
    if let Some(state) = (0..mdp.n_states()).find(missing) {
        let n = (0..mdp.n_states()).filter(missing).count();
        let problem = format!(
            "found no action for state '{}'; expected a row for every state that has actions ({n} are missing)",
            mdp.state_name(state)
        );
        return Err(Error::at(path.display(), problem));
    }
    Ok(policy)
}
