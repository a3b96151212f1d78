//! The answer for people, and as tables for other programs.

use super::live::number_of;
use crate::error::{Error, Result};
use crate::process::peak_memory_text;
use backsweep_mdp::{Mdp, NO_CHOICE, printable};
use backsweep_solve::Solution;
use std::collections::HashMap;
use std::path::Path;

/// At most this many states are printed.
pub const SHOWN: usize = 10;

/// The size of a model, in words.
pub fn size(mdp: &Mdp) -> String {
    let (states, choices) = (count(mdp.n_states(), "state"), count(mdp.n_choices(), "choice"));
    format!("{states}, {choices}, {}", count(mdp.n_arcs(), "arc"))
}

/// A number with its noun, in the plural unless it is 1.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// A row of the table of values.
pub struct StateRow {
    pub value: f64,
    pub lower: f64,
    pub upper: f64,
    /// The action that the policy takes, if it takes any.
    pub action: Option<String>,
}

impl StateRow {
    /// A state by a solution of the model.
    pub fn of(mdp: &Mdp, solution: &Solution, state: usize) -> Self {
        let choice = solution.policy.get(state).copied().unwrap_or(NO_CHOICE);
        let action = (choice != NO_CHOICE).then(|| mdp.action_name(choice as usize));
        let (lower, upper) = (solution.lower[state], solution.upper[state]);
        Self { value: solution.value(state), lower, upper, action }
    }
}

/// Values, intervals and actions of the initial states or, if there are none, of the first ones.
pub fn states(mdp: &Mdp, of: impl Fn(usize) -> StateRow) -> String {
    let (shown, rest) = shown(mdp);
    let rows = shown.into_iter().map(|state| (mdp.state_name(state), of(state)));
    format!("{}{rest}", state_table(rows))
}

/// Values, intervals and actions of named states.
pub fn state_table(rows: impl IntoIterator<Item = (String, StateRow)>) -> String {
    let header = ["state", "value", "at least", "at most", "action"].map(str::to_owned);
    let row = |(name, StateRow { value, lower, upper, action })| {
        let action = action.unwrap_or(NOTHING.to_owned());
        [name, number_between(value, lower, upper), format!("{lower:?}"), format!("{upper:?}"), action]
    };
    table(&std::iter::once(header).chain(rows.into_iter().map(row)).collect::<Vec<_>>(), 3)
}

/// The states to print, and a line about the others.
pub fn shown(mdp: &Mdp) -> (Vec<usize>, String) {
    let (all, kind): (Vec<usize>, _) = if mdp.initial.is_empty() {
        ((0..mdp.n_states()).take(SHOWN).collect(), "states")
    } else {
        (mdp.initial.iter().map(|&state| state as usize).collect(), "initial states")
    };
    let n = if mdp.initial.is_empty() { mdp.n_states() } else { all.len() };
    let rest = n.saturating_sub(SHOWN);
    let rest =
        if rest > 0 { format!("… and {rest} more {kind}; see --values FILE\n") } else { String::new() };
    (all.into_iter().take(SHOWN).collect(), rest)
}

/// Rows in columns, one line each. After the first column, `n_numbers` columns are numbers, aligned right.
pub fn table<const N: usize>(rows: &[[String; N]], n_numbers: usize) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| printable(cell).into_owned())).collect();
    let mut widths = [0; N];
    for row in &rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            line.push_str(&if (1..=n_numbers).contains(&column) {
                format!("{cell:>width$}  ")
            } else {
                format!("{cell:<width$}  ")
            });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Says what is proven.
pub fn proof(solution: &Solution, tolerances: (f64, f64), reason: &str) -> String {
    let gap = |(lower, upper): (&f64, &f64)| if lower == upper { 0.0 } else { upper - lower };
    let both = || solution.lower.iter().zip(&solution.upper);
    let widest = both().map(gap).fold(0.0, f64::max);
    let infinite = match both().filter(|(l, u)| l == u && l.is_infinite()).count() {
        0 => String::new(),
        1 => "; the value of 1 state is proven to be infinite".to_owned(),
        n => format!("; the values of {n} states are proven to be infinite"),
    };
    proof_line(solution.converged, widest, tolerances, reason, &infinite)
}

/// The method, time and memory of the solve.
pub fn effort(solution: &Solution, seconds: f64) -> String {
    let method = solution.explanation.first().map_or("graph analysis", String::as_str);
    let iterations = count(solution.iterations as usize, "iteration");
    format!("method: {method}\n{iterations}, {seconds:.3} s, peak memory {}", peak_memory_text())
}

/// The line that says what was proven about intervals, the widest of which has this width; `infinite` says which values are infinite.
pub fn proof_line(
    converged: bool,
    widest: f64,
    (tolerance, relative): (f64, f64),
    reason: &str,
    infinite: &str,
) -> String {
    if converged {
        let within = match (tolerance, relative) {
            _ if widest <= 2.0 * tolerance => format!("{tolerance:e} of the truth"),
            (0.0, relative) => format!("{relative:e} times its size of the truth"),
            (tolerance, relative) => {
                format!("{tolerance:e}, or {relative:e} times its size if that is more, of the truth")
            }
        };
        let widest = if widest == 0.0 { "0".to_owned() } else { format!("{widest:.0e}") };
        format!("proven: every value is within {within} (widest interval {widest}){infinite}")
    } else {
        let widest = number(widest);
        format!("not converged: {reason}; every interval is proven, the widest is {widest}{infinite}")
    }
}

/// A number with ten digits. The interval from minus to plus infinity has no middle.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x.is_nan() {
        "unknown".to_owned()
    } else if x == 0.0 || x.is_infinite() {
        format!("{x:?}").replace("0.0", "0")
    } else if (1e-4..1e9).contains(&size) {
        let digits = (9.0 - size.log10().floor()).clamp(0.0, 14.0) as usize;
        let text = format!("{x:.digits$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        text.to_owned()
    } else {
        format!("{x:.9e}")
    }
}

/// A number with ten digits, or with all if ten would show it outside its interval.
fn number_between(x: f64, lower: f64, upper: f64) -> String {
    let text = number(x);
    if text.parse().is_ok_and(|shown: f64| shown < lower || shown > upper) { format!("{x:?}") } else { text }
}

/// The text where nothing is chosen.
pub const NOTHING: &str = "-";

/// A number with all digits; nothing if it is unknown.
pub fn exact(x: f64) -> String {
    if x.is_nan() { String::new() } else { format!("{x:?}") }
}

/// Writes `state,value,lower,upper`, with all digits. A value about which nothing is known is empty.
pub fn write_values(path: &Path, mdp: &Mdp, of: impl Fn(usize) -> StateRow) -> Result<()> {
    write(path, ["state", "value", "lower", "upper"], mdp.n_states(), |state| {
        let row = of(state);
        Ok([mdp.state_name(state), exact(row.value), exact(row.lower), exact(row.upper)])
    })
}

/// Writes `state,action`; the action is empty where nothing is chosen.
pub fn write_policy(path: &Path, mdp: &Mdp, of: impl Fn(usize) -> StateRow) -> Result<()> {
    if path.extension().is_some_and(|extension| extension == "h") {
        return write_header(path, mdp, of);
    }
    write(path, ["state", "action"], mdp.n_states(), |state| {
        Ok([mdp.state_name(state), of(state).action.unwrap_or_default()])
    })
}

/// Writes a C header: the names of actions, a table of their numbers by state, and a function.
fn write_header(path: &Path, mdp: &Mdp, of: impl Fn(usize) -> StateRow) -> Result<()> {
    let mut names: Vec<String> = Vec::new();
    let mut ids = HashMap::new();
    let mut table = String::new();
    for state in 0..mdp.n_states() {
        let id = of(state).action.map(|action| number_of(&mut ids, &mut names, action));
        table.push_str(if state == 0 { "    " } else { ", " });
        table.push_str(if state > 0 && state % 16 == 0 { "\n    " } else { "" });
        table.push_str(&id.map_or("-1".to_owned(), |id| id.to_string()));
    }
    let quoted = |name: &String| {
        let escaped = |c: char| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_ascii() && !c.is_control() && c != '?' => c.to_string(),
            c => c.to_string().bytes().map(|byte| format!("\\{byte:03o}")).collect(),
        };
        format!("    \"{}\"", name.chars().map(escaped).collect::<String>())
    };
    let names: Vec<String> = names.iter().map(quoted).collect();
    let (n, n_actions) = (mdp.n_states(), names.len());
    let text = format!(
        "/* A policy, written by Backsweep: the action of each state by its number, -1 for none. */\n\
         #ifndef BACKSWEEP_POLICY_H\n#define BACKSWEEP_POLICY_H\n\n\
         #define BACKSWEEP_N_STATES {n}\n#define BACKSWEEP_N_ACTIONS {n_actions}\n\n\
         static const char *const backsweep_action_names[] = {{\n{}\n}};\n\n\
         static const int backsweep_policy_table[] = {{\n{table}\n}};\n\n\
         static inline int backsweep_policy(unsigned long state) {{\n    \
         return state < BACKSWEEP_N_STATES ? backsweep_policy_table[state] : -1;\n}}\n\n#endif\n",
        if names.is_empty() { "    0".to_owned() } else { names.join(",\n") },
    );
    std::fs::write(path, text).map_err(|error| Error::unwritten(path, error))
}

/// Writes a table, row by row.
pub fn write<const N: usize>(
    path: &Path,
    header: [&str; N],
    n_rows: usize,
    mut row: impl FnMut(usize) -> Result<[String; N]>,
) -> Result<()> {
    let refused = |error: csv::Error| Error::unwritten(path, error);
    let mut table = csv::Writer::from_path(path).map_err(refused)?;
    table.write_record(header).map_err(refused)?;
    for i in 0..n_rows {
        table.write_record(row(i)?).map_err(refused)?;
    }
    table.flush().map_err(|error| refused(error.into()))
}
