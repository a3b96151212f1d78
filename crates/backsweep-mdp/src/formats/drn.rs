//! Storm's direct encoding: one text file of states, their actions and their transitions.

mod write;

pub use write::write;

use super::number;
use super::text::{TextLine, TextLines, Words, count};
use crate::formats::Dropped;
use crate::{Error, INIT, Label, Mdp, ReadMdp, Result, Rewards};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

/// The name of an action without one.
const NO_LABEL: &str = "__NOLABEL__";

/// Reads a model.
pub fn read(path: &Path, input: impl BufRead) -> Result<ReadMdp> {
    let mut lines = TextLines::new(path, input);
    let mut model = DrnReader::default();
    model.header(&mut lines)?;
    loop {
        match lines.read()? {
            None => break,
            Some(line) => model.line(&line)?,
        }
    }
    model.end_state();
    model.finish(&lines)
}

#[derive(Default)]
struct DrnReader {
    mdp: Mdp,
    n_states: usize,
    n_choices: Option<u64>,
    placeholders: HashMap<String, f64>,
    /// True if each name of an action is the number of its choice within its state, as Storm writes if actions have no names.
    plain_actions: bool,
    label_ids: HashMap<String, usize>,
    in_state: bool,
    dropped: Dropped,
    warnings: Vec<String>,
}

impl DrnReader {
    fn header(&mut self, lines: &mut TextLines) -> Result<()> {
        let (mut has_type, mut has_states) = (false, false);
        loop {
            let Some(line) = lines.read()? else { return Err(lines.ended("a section @model")) };
            let text = line.text.trim();
            if text.is_empty() || text.starts_with("//") {
                continue;
            }
            let (section, rest) =
                text.split_once(':').map_or((text, ""), |(section, rest)| (section, rest.trim()));
            match section {
                "@type" => {
                    self.mdp.chain = kind(&line, rest)?;
                    has_type = true;
                }
                "@value_type" if matches!(rest, "double" | "rational") => {}
                "@value_type" => {
                    return Err(line.unexpected(rest, "double or rational: others are not supported"));
                }
                "@parameters" => {
                    let Some(line) = lines.read()? else { return Err(lines.ended("names of parameters")) };
                    if !line.text.trim().is_empty() {
                        return Err(line.unexpected(
                            line.text.trim(),
                            "no parameters: parametric models are not supported",
                        ));
                    }
                }
                "@placeholders" => self.placeholders(lines)?,
                "@reward_models" => {
                    let Some(line) = lines.read()? else { return Err(lines.ended("names of reward models")) };
                    let named = |name: &str| Rewards { name: name.to_owned(), ..Rewards::default() };
                    self.mdp.rewards = line.text.split_whitespace().map(named).collect();
                }
                "@nr_states" => {
                    let (n, line) = number_below(lines, "the number of states")?;
                    self.n_states = count(n).filter(|n| *n > 0).ok_or(line)?;
                    has_states = true;
                }
                "@nr_choices" => self.n_choices = Some(number_below(lines, "the number of choices")?.0),
                "@model" if !has_type => return Err(line.error(text, "found no section @type before @model")),
                "@model" if !has_states => {
                    return Err(line.error(text, "found no section @nr_states before @model"));
                }
                "@model" => break,
                _ => return Err(line.unexpected(text, "a section such as @type, @nr_states or @model")),
            }
        }
        self.plain_actions = true;
        Ok(())
    }

    /// Lines such as `$0 : 1/3`, as long as they begin with `$`.
    fn placeholders(&mut self, lines: &mut TextLines) -> Result<()> {
        while lines.peek()? == Some(b'$') {
            let Some(line) = lines.read()? else { break };
            let (name, value) =
                line.text.split_once(':').ok_or_else(|| line.unexpected(line.text, "'$NAME : VALUE'"))?;
            let value = value.trim();
            let value = number::parse(value).ok_or_else(|| line.unexpected(value, "a number"))?;
            self.placeholders.insert(name.trim().to_owned(), value);
        }
        Ok(())
    }

    fn line(&mut self, line: &TextLine) -> Result<()> {
        let mut words = line.words();
        match words.clone().word() {
            "" => Ok(()),
            comment if comment.starts_with("//") => Ok(()),
            "state" => {
                words.word();
                self.state(line, words)
            }
            "action" => {
                words.word();
                self.action(line, words)
            }
            _ => self.transition(line, words),
        }
    }

    fn end_state(&mut self) {
        if self.in_state {
            self.end_choice();
            self.mdp.choices.push(self.mdp.arcs.len() as u32 - 1);
        }
    }

    /// Choices end where the next begins; the first transition of a state without an action begins one too.
    fn end_choice(&mut self) {
        if self.mdp.action_names.len() == self.mdp.arcs.len() {
            self.mdp.arcs.push(self.mdp.targets.len() as u32);
        }
    }

    fn state(&mut self, line: &TextLine, mut words: Words) -> Result<()> {
        self.end_state();
        self.in_state = true;
        let state = self.mdp.choices.len() - 1;
        let word = words.word();
        if word.parse() != Ok(state) {
            return Err(
                line.unexpected(word, &format!("state {state}: states are numbered from 0 without gaps"))
            );
        }
        if state >= self.n_states {
            return Err(line.error(word, format!("found state {state}; @nr_states says {}", self.n_states)));
        }
        let mut rest = words.rest();
        if let Some(bad) = ['!', '{'].into_iter().find(|&bad| rest.starts_with(bad)) {
            let what = if bad == '!' { "exit rates (CTMCs, MAs)" } else { "observations (POMDPs)" };
            return Err(line.error(rest, format!("found '{bad}'; {what} are not supported")));
        }
        if rest.starts_with('[') {
            let (values, after) = self.rewards(line, rest)?;
            for (i, value) in values.into_iter().enumerate() {
                if value != 0.0 {
                    let states = &mut self.rewards_at(i).states;
                    states.resize(state, 0.0);
                    states.push(value);
                }
            }
            rest = after;
        }
        self.labels(line, rest, state as u32)
    }

    fn labels(&mut self, line: &TextLine, mut rest: &str, state: u32) -> Result<()> {
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return Ok(());
            }
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => {
                    quoted.split_once('"').ok_or_else(|| line.unexpected(rest, "a second quotation mark"))?
                }
                None => rest.split_at(rest.find([' ', '\t']).unwrap_or(rest.len())),
            };
            rest = after;
            if name == INIT {
                self.mdp.initial.push(state);
                continue;
            }
            let labels = &mut self.mdp.labels;
            let id = match self.label_ids.get(name) {
                Some(&id) => id,
                None => {
                    self.label_ids.insert(name.to_owned(), labels.len());
                    labels.push(Label { name: name.to_owned(), states: Vec::new() });
                    labels.len() - 1
                }
            };
            if labels[id].states.last() != Some(&state) {
                labels[id].states.push(state);
            }
        }
    }

    fn action(&mut self, line: &TextLine, words: Words) -> Result<()> {
        if !self.in_state {
            return Err(line.error(line.text, "found an action before the first state"));
        }
        // Storm writes names with spaces as they are: what is not in the last brackets is the name.
        let text = words.rest();
        let bracket = text.ends_with(']').then(|| text.rfind('[')).flatten();
        let (name, rest) = text.split_at(bracket.unwrap_or(text.len()));
        let name = name.trim_end();
        self.begin_choice(line, if name == NO_LABEL { "" } else { name })?;
        let choice = self.mdp.action_names.len() - 1;
        if rest.is_empty() {
            return Ok(());
        }
        let (values, _) = self.rewards(line, rest)?;
        for (i, value) in values.into_iter().enumerate() {
            if value != 0.0 {
                let choices = &mut self.rewards_at(i).choices;
                choices.resize(choice, 0.0);
                choices.push(value);
            }
        }
        Ok(())
    }

    fn begin_choice(&mut self, line: &TextLine, name: &str) -> Result<()> {
        self.end_choice();
        let within = self.mdp.arcs.len() as u32 - 1 - self.mdp.choices[self.mdp.choices.len() - 1];
        if self.mdp.chain && within > 0 {
            return Err(line.error(line.text, "found a second action of a state; expected one in a DTMC"));
        }
        self.plain_actions &= name.parse() == Ok(within);
        self.mdp.action_names.push(name.to_owned());
        Ok(())
    }

    fn transition(&mut self, line: &TextLine, mut words: Words) -> Result<()> {
        if !self.in_state {
            return Err(line.unexpected(line.text.trim(), "'state 0'"));
        }
        if self.mdp.action_names.len() < self.mdp.arcs.len() {
            self.begin_choice(line, "0")?;
        }
        let target = words.index("a state", self.n_states)?;
        let colon = words.word();
        if colon != ":" {
            return Err(line.unexpected(colon, "':' between the state and its probability"));
        }
        let p = self.value(line, words.rest(), "a probability from 0 to 1")?;
        if !(0.0..=1.0 + crate::SUM_SLACK).contains(&p) {
            return Err(line.unexpected(words.rest(), "a probability from 0 to 1"));
        }
        if p == 0.0 {
            self.dropped.zero_arc();
            return Ok(());
        }
        if self.mdp.targets.len() >= u32::MAX as usize {
            return Err(line.error(line.text, format!("found more than {} transitions", u32::MAX)));
        }
        self.mdp.targets.push(target);
        self.mdp.probabilities.push(p);
        Ok(())
    }

    fn value(&self, line: &TextLine, text: &str, expected: &str) -> Result<f64> {
        if text.starts_with('$') {
            return self
                .placeholders
                .get(text)
                .copied()
                .ok_or_else(|| line.unexpected(text, "a known placeholder"));
        }
        number::parse(text).ok_or_else(|| line.unexpected(text, expected))
    }

    /// The values within brackets, and what follows.
    fn rewards<'a>(&self, line: &TextLine, text: &'a str) -> Result<(Vec<f64>, &'a str)> {
        let (within, after) =
            text[1..].split_once(']').ok_or_else(|| line.unexpected(text, "rewards up to ']'"))?;
        let values = within.split(',').map(|value| self.value(line, value.trim(), "a reward"));
        Ok((values.collect::<Result<_>>()?, after))
    }

    fn rewards_at(&mut self, i: usize) -> &mut Rewards {
        while self.mdp.rewards.len() <= i {
            let name = format!("rew{}", self.mdp.rewards.len());
            self.mdp.rewards.push(Rewards { name, ..Rewards::default() });
        }
        &mut self.mdp.rewards[i]
    }

    fn finish(mut self, lines: &TextLines) -> Result<ReadMdp> {
        let (n_states, n_choices) = (self.mdp.n_states(), self.mdp.n_choices());
        if n_states != self.n_states {
            return Err(
                lines.ended(&format!("{} states as @nr_states says, found {n_states}", self.n_states))
            );
        }
        if let Some(expected) = self.n_choices.filter(|n| *n != n_choices as u64) {
            // Storm counts a state without actions as one choice.
            let n_terminal = self.mdp.choices.windows(2).filter(|pair| pair[0] == pair[1]).count();
            if expected != (n_choices + n_terminal) as u64 {
                return Err(
                    lines.ended(&format!("{expected} choices as @nr_choices says, found {n_choices}"))
                );
            }
        }
        if self.plain_actions {
            self.mdp.action_names.clear();
        }
        for rewards in &mut self.mdp.rewards {
            if !rewards.states.is_empty() {
                rewards.states.resize(n_states, 0.0);
            }
            if !rewards.choices.is_empty() {
                rewards.choices.resize(n_choices, 0.0);
            }
        }
        self.dropped.say(&mut self.warnings);
        Ok(ReadMdp { mdp: self.mdp, warnings: self.warnings })
    }
}

/// Returns whether the type is a Markov chain.
fn kind(line: &TextLine, name: &str) -> Result<bool> {
    match name {
        "DTMC" => Ok(true),
        "MDP" => Ok(false),
        _ => Err(line.unexpected(name, "MDP or DTMC: others are not supported")),
    }
}

/// The number in the next line, and the error if it is too large.
fn number_below(lines: &mut TextLines, what: &str) -> Result<(u64, Error)> {
    let Some(line) = lines.read()? else { return Err(lines.ended(what)) };
    let mut words = line.words();
    let n = words.whole(what)?;
    words.end()?;
    Ok((n, line.unexpected(line.text, &format!("{what}, 1 to {}", u32::MAX - 1))))
}
