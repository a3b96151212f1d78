//! `.tra`: the transitions.

use super::super::text::{TextLines, count, whole};
use crate::formats::Dropped;
use crate::{Mdp, Result, SUM_SLACK};

/// Reads the transitions of an MDP (`states choices transitions`, then `state choice target probability [action]`) or of a chain
/// (`states transitions`, then `state target probability`).
pub fn read(mut lines: TextLines, warnings: &mut Vec<String>) -> Result<Mdp> {
    let mut rows = TransitionRows::default();
    let expected = "the numbers of states, choices and transitions";
    let Some(header) = lines.read_data()? else { return Err(lines.ended(expected)) };
    let words: Vec<&str> = header.text.split_whitespace().collect();
    let mut n_expected = None;
    match words[..] {
        [] => return Err(header.unexpected(header.text, expected)),
        [word] if word.eq_ignore_ascii_case("mdp") => {}
        [word] if word.eq_ignore_ascii_case("dtmc") => rows.mdp.chain = true,
        [word] => return Err(header.unexpected(word, &format!("{expected}, or mdp or dtmc"))),
        _ => {
            rows.mdp.chain = words.len() == 2;
            let bad = words.iter().find(|word| whole(word).and_then(count).is_none());
            if let Some(bad) = bad.or(words.get(3)) {
                return Err(header.unexpected(bad, &format!("{expected}, each below {}", u32::MAX)));
            }
            let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
            rows.n_states = Some(numbers[0]);
            n_expected = Some(numbers);
        }
    }
    // A choice is entered when it begins, and its number of arcs is known only at the next one.
    rows.mdp.arcs.clear();
    while let Some(line) = lines.read_data()? {
        let mut words = line.words();
        let limit = rows.n_states.unwrap_or(u32::MAX as usize - 1);
        let state = words.index("a state", limit)?;
        let choice = if rows.mdp.chain { 0 } else { words.whole("the number of a choice")? };
        let target = words.index("a state", limit)?;
        let word = words.clone().word();
        let p = words.number("a probability from 0 to 1")?;
        if !(0.0..=1.0 + SUM_SLACK).contains(&p) {
            return Err(line.unexpected(word, "a probability from 0 to 1"));
        }
        // The transitions of a chain may each name an action; these names are ignored.
        let action = if rows.mdp.chain { "" } else { words.rest() };
        rows.begin(state, choice, action).map_err(|problem| line.error(line.text.trim_start(), problem))?;
        rows.greatest = rows.greatest.max(target);
        if p == 0.0 {
            rows.dropped.zero_arc();
        } else if rows.mdp.targets.len() < u32::MAX as usize {
            rows.mdp.targets.push(target);
            rows.mdp.probabilities.push(p);
        } else {
            return Err(line.error(line.text, format!("found more than {} transitions", u32::MAX)));
        }
        rows.n_lines += 1;
    }
    let n_states = rows.n_states.unwrap_or(rows.greatest as usize + 1).max(1);
    if n_states > most_states(rows.n_lines) {
        return Err(lines.ended(&format!("transitions of {n_states} states, found {}", rows.n_lines)));
    }
    rows.finish(n_states);
    if let Some(expected) = n_expected {
        let found = (rows.mdp.n_choices(), rows.n_lines);
        let n_choices = if rows.mdp.chain { found.0 } else { expected[1] };
        let n_lines = expected[expected.len() - 1];
        if found.1 != n_lines {
            return Err(lines.ended(&format!("{n_lines} transitions as the header says, found {}", found.1)));
        }
        if found.0 != n_choices {
            return Err(lines.ended(&format!("{n_choices} choices as the header says, found {}", found.0)));
        }
    }
    rows.dropped.say(warnings);
    Ok(rows.mdp)
}

#[derive(Default)]
struct TransitionRows {
    mdp: Mdp,
    n_states: Option<usize>,
    n_lines: usize,
    greatest: u32,
    dropped: Dropped,
}

impl TransitionRows {
    /// Continues a choice or starts the next one. `arcs` has the starts of the choices so far.
    fn begin(&mut self, state: u32, choice: u64, action: &str) -> std::result::Result<(), String> {
        let current = self.mdp.choices.len() as u32 - 1;
        let next = u64::from(self.mdp.arcs.len() as u32 - self.mdp.choices[current as usize]);
        if state == current && choice + 1 == next {
            let known = self.mdp.action_names.last().map_or("", String::as_str);
            if known != action {
                return Err(format!("found action '{action}'; the choice began with '{known}'"));
            }
            return Ok(());
        }
        if state < current || state == current && choice < next {
            return Err(format!(
                "found state {state}, choice {choice} after later ones; expected ascending order"
            ));
        }
        let next = if state == current { next } else { 0 };
        if choice != next {
            return Err(format!(
                "found choice {choice} of state {state}; expected {next}: choices have no gaps"
            ));
        }
        if state as usize >= most_states(self.n_lines) {
            return Err(format!(
                "found state {state} after {} transitions; expected more of them",
                self.n_lines
            ));
        }
        let n_choices = self.mdp.arcs.len();
        self.mdp.choices.resize(state as usize + 1, n_choices as u32);
        self.greatest = self.greatest.max(state);
        if !action.is_empty() || !self.mdp.action_names.is_empty() {
            self.mdp.action_names.resize(n_choices, String::new());
            self.mdp.action_names.push(action.to_owned());
        }
        self.mdp.arcs.push(self.mdp.targets.len() as u32);
        Ok(())
    }

    fn finish(&mut self, n_states: usize) {
        self.mdp.choices.resize(n_states + 1, self.mdp.arcs.len() as u32);
        self.mdp.arcs.push(self.mdp.targets.len() as u32);
    }
}

/// The largest number of states of a file with this many transitions. States without transitions are terminal; a file of nothing else
/// is not a model, and must not take memory.
fn most_states(n_transitions: usize) -> usize {
    1_000_000 + 100 * (n_transitions + 1)
}
