//! Changes to a model as lines of a table: outcomes and rewards of actions, actions added or removed.
//!
//! The rows of an action are gathered until their probabilities sum to 1; together they make one change. A refused line
//! leaves everything as it was, including the rows gathered so far.

use super::report;
use backsweep_mdp::{ChoiceRow, MAX_REWARD, OutcomeProblem, SUM_SLACK, SourceOutcome, StateNames};
use csv::StringRecord;

/// The largest accepted distance of an action's probabilities from 1: tables are printed with few digits.
const TABLE_SLACK: f64 = 1e-6;

/// One change, with actions by name.
pub struct TableEdit {
    pub state: u32,
    pub action: String,
    pub what: What,
    /// Its place in the file.
    pub place: String,
}

/// The change of an action.
pub enum What {
    Remove,
    Reward(f64),
    /// New outcomes, and whether they come with a reward.
    Outcomes(ChoiceRow, bool),
}

/// Where the columns are.
struct ChangeColumns {
    n: usize,
    state: usize,
    action: usize,
    next_state: Option<usize>,
    probability: Option<usize>,
    reward: Option<usize>,
    terminated: Option<usize>,
    remove: Option<usize>,
}

const COLUMNS: &str = "state,action,next_state,probability,reward,terminated,remove";

impl ChangeColumns {
    fn new(header: &StringRecord) -> Result<Self, String> {
        let name = |column: &str| match column.trim().trim_start_matches('\u{feff}').to_ascii_lowercase() {
            prob if prob == "prob" => "probability".to_owned(),
            name => name,
        };
        let names: Vec<String> = header.iter().map(name).collect();
        let known: Vec<&str> = COLUMNS.split(',').collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("found column '{unknown}'; expected some of {COLUMNS} in the first line"));
        }
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        let need = |wanted: &str| {
            find(wanted).ok_or_else(|| {
                format!("found no column '{wanted}'; expected state, action and some of {COLUMNS} in the first line")
            })
        };
        Ok(Self {
            n: names.len(),
            state: need("state")?,
            action: need("action")?,
            next_state: find("next_state"),
            probability: find("probability"),
            reward: find("reward"),
            terminated: find("terminated"),
            remove: find("remove"),
        })
    }
}

/// The rows of an action so far.
struct Open {
    state: u32,
    action: String,
    first_line: u64,
    /// Rewards are 0 unless rows have rewards.
    outcomes: Vec<SourceOutcome>,
    has_rewards: bool,
}

impl Open {
    fn sum(&self) -> f64 {
        self.outcomes.iter().map(|outcome| outcome.probability).sum()
    }
}

/// Reads changes line by line.
pub struct Parser {
    /// The name of the file or stream.
    name: String,
    columns: Option<ChangeColumns>,
    line: u64,
    open: Option<Open>,
}

impl Parser {
    pub fn new(name: String) -> Self {
        Self { name, columns: None, line: 0, open: None }
    }

    /// Reads a line. Returns a change if the line completes one.
    ///
    /// # Errors
    /// If the line is refused, or ends a change that is incomplete; the message names the place. Nothing else changes.
    pub fn line(&mut self, text: &str, names: &StateNames) -> Result<Option<TableEdit>, String> {
        self.line += 1;
        if text.trim().is_empty() {
            return self.finish().map(|()| None);
        }
        let record = one_record(text).map_err(|problem| self.at(1, &problem))?;
        let Some(columns) = &self.columns else {
            self.columns = Some(ChangeColumns::new(&record).map_err(|problem| self.at(1, &problem))?);
            return Ok(None);
        };
        if record.len() != columns.n {
            let problem = format!(
                "found {}; expected {} as in the first line",
                report::count(record.len(), "field"),
                columns.n
            );
            return Err(self.at(1, &problem));
        }
        self.row(&record, names)
    }

    /// Ends the lines, or a change.
    ///
    /// # Errors
    /// If the probabilities of an action do not sum to 1 yet. Its rows are dropped.
    pub fn finish(&mut self) -> Result<(), String> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let (name, line, action, sum) = (&self.name, open.first_line, &open.action, open.sum());
        Err(format!(
            "{name}:{line}:1: the probabilities of action '{action}' sum to {sum}; expected 1; its rows were dropped"
        ))
    }

    fn at(&self, column: usize, problem: &str) -> String {
        format!("{}:{}:{column}: {problem}", self.name, self.line)
    }

    fn row(&mut self, record: &StringRecord, names: &StateNames) -> Result<Option<TableEdit>, String> {
        let Some(columns) = &self.columns else { return Ok(None) };
        let cell = |column: Option<usize>| column.map_or("", |column| record[column].trim());
        let refused = |column: Option<usize>, problem: String| {
            let before = record.iter().take(column.unwrap_or(0));
            self.at(before.map(|field| field.chars().count() + 1).sum::<usize>() + 1, &problem)
        };
        let wrong = |column: Option<usize>, expected: &str| {
            let found = match cell(column) {
                "" => "nothing".to_owned(),
                text => format!("'{text}'"),
            };
            refused(column, format!("found {found}; expected {expected}"))
        };
        let flag = |column: Option<usize>| match cell(column).to_ascii_lowercase().as_str() {
            "" | "0" | "false" => Ok(false),
            "1" | "true" => Ok(true),
            _ => Err(wrong(column, "true, false, 1 or 0")),
        };
        let (state_name, action) = (cell(Some(columns.state)), cell(Some(columns.action)));
        if state_name.is_empty() || action.is_empty() {
            let column = if state_name.is_empty() { columns.state } else { columns.action };
            return Err(wrong(Some(column), "a name"));
        }
        let state =
            names.state(state_name).map_err(|error| refused(Some(columns.state), error.to_string()))?;
        let reward = match cell(columns.reward) {
            "" => None,
            text => {
                let number = text.parse().ok().filter(|reward: &f64| reward.abs() <= MAX_REWARD);
                Some(number.ok_or_else(|| wrong(columns.reward, "a reward from -1e150 to 1e150"))?)
            }
        };
        let (terminated, remove) = (flag(columns.terminated)?, flag(columns.remove)?);
        let (next, probability) = (cell(columns.next_state), cell(columns.probability));
        let complete = |what: What| TableEdit {
            state,
            action: action.to_owned(),
            what,
            place: format!("{}:{}:1", self.name, self.line),
        };
        let belongs = |open: &Open| open.state == state && open.action == action;
        if let Some(open) = self.open.as_ref().filter(|open| !belongs(open)) {
            let (line, action, sum) = (open.first_line, &open.action, open.sum());
            return Err(refused(
                None,
                format!(
                    "action '{action}' from line {line} on is unfinished: its probabilities sum to {sum}; expected its \
                     remaining rows, or an empty line to drop it"
                ),
            ));
        }
        if remove || (next.is_empty() && probability.is_empty() && !terminated) {
            if remove && !(next.is_empty() && probability.is_empty() && reward.is_none() && !terminated) {
                return Err(refused(
                    columns.remove,
                    "found outcomes in a row that removes its action; expected only state, action and remove; to remove one \
                     outcome, give the rows that remain"
                        .to_owned(),
                ));
            }
            if self.open.is_some() {
                return Err(refused(
                    None,
                    "found no outcome; expected the remaining rows of the action".to_owned(),
                ));
            }
            let what = match reward {
                _ if remove => What::Remove,
                Some(reward) => What::Reward(reward),
                None => return Err(wrong(columns.next_state, "a next state, a reward, or remove")),
            };
            return Ok(Some(complete(what)));
        }
        let p = match probability {
            "" => 1.0,
            text => text
                .parse()
                .ok()
                .filter(|p| (0.0..=1.0 + TABLE_SLACK).contains(p))
                .ok_or_else(|| wrong(columns.probability, "a probability from 0 to 1"))?,
        };
        let target = match next {
            _ if terminated => None,
            "" => return Err(wrong(columns.next_state, "a name: the row is not terminated")),
            next => Some(names.state(next).map_err(|error| refused(columns.next_state, error.to_string()))?),
        };
        let before = self.open.as_ref().map_or(0.0, Open::sum);
        if before + p > 1.0 + TABLE_SLACK {
            let problem = format!("the probabilities of the action would sum to {}; expected 1", before + p);
            return Err(refused(columns.probability, problem));
        }
        if self.open.as_ref().is_some_and(|open| open.has_rewards != reward.is_some()) {
            return Err(wrong(columns.reward, "a reward in every row of an action, or in none"));
        }
        let line = self.line;
        let mut open = self.open.take().unwrap_or_else(|| Open {
            state,
            action: action.to_owned(),
            first_line: line,
            outcomes: Vec::new(),
            has_rewards: reward.is_some(),
        });
        let reward = reward.unwrap_or(0.0);
        open.outcomes.push(SourceOutcome { probability: p, next: target, reward });
        if before + p < 1.0 - TABLE_SLACK {
            self.open = Some(open);
            return Ok(None);
        }
        let place = format!("{}:{}:1", self.name, open.first_line);
        let what = open.complete().map_err(|problem| self.at(1, &problem.to_string()))?;
        Ok(Some(TableEdit { state, action: action.to_owned(), what, place }))
    }
}

impl Open {
    /// The change that the rows make; they must be complete.
    fn complete(&mut self) -> Result<What, OutcomeProblem> {
        let sum = self.sum();
        let divisor = if (sum - 1.0).abs() > SUM_SLACK { sum } else { 1.0 };
        Ok(What::Outcomes(ChoiceRow::new(&mut self.outcomes, divisor)?, self.has_rewards))
    }
}

fn one_record(text: &str) -> Result<StringRecord, String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => Ok(record),
        Ok(false) => Err("found nothing; expected fields separated by commas".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
