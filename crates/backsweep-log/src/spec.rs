//! The settings with which a log is read: which columns mean what.

use crate::bins::BinnedColumn;
use crate::condition::Condition;
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::wording::{SpecField, Wording};
use std::collections::BTreeMap;

/// The settings with which a log is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The column that identifies the case. Not needed if rows name their next state.
    pub case: Option<String>,
    /// The column that orders the rows of a case, numbers or dates; without it, they are in file order.
    pub order: Option<String>,
    /// Rows are in file order: no order is guessed.
    pub file_order: bool,
    /// Rows of a case with the same order are taken in file order instead of being refused.
    pub ties_by_file: bool,
    /// The conditions that a row must meet to be read; the others are left out as if the log did not have them.
    pub conditions: Vec<Condition>,
    /// The columns that make up the state. `prev(activity)` is the value of a column in the previous row of the case, and
    /// `elapsed(hours)` the time since the case began.
    pub state: Vec<BinnedColumn>,
    /// The columns that make up the action.
    pub action: Vec<BinnedColumn>,
    /// The columns that make up the next state, if a row is a whole transition; as many as `state`, cut in the same way.
    pub next: Vec<String>,
    /// The column of rewards, after a `-` if its values are costs; without it every reward is 0. `elapsed(hours)` is the time
    /// until the next row of the case, 0 in its last.
    pub reward: Option<String>,
    /// The rule for what ends a case.
    pub end: EndRule,
    /// The column that says whether a case was cut rather than ended.
    pub truncated: Option<String>,
    /// The reward of a case at its end, by a column of its last row.
    pub final_rewards: Option<FinalRewards>,
    /// Rewards must be multiples of this; without it, any decimal number of up to 18 digits is allowed.
    pub reward_unit: Option<Decimal>,
    /// Round rewards to the nearest multiple of the unit instead of refusing them.
    pub round_rewards: bool,
    /// The column with the probability with which the logged action was taken, above 0 and at most 1.
    pub propensity: Option<String>,
    /// The column by which cases are put into folds, such as a hospital: cases with the same value are held out together. Without
    /// it, each case by itself.
    pub fold_by: Option<String>,
    /// The column by which cases are put into [`Log::cohorts`](crate::Log::cohorts); its value in the first row of a case counts.
    pub cohort: Option<String>,
    /// The name for an empty value of a state or an action; without it, such a row is bad.
    pub missing: Option<String>,
    /// Bad rows, with their cases, are skipped up to this share of all rows; 0 to 1.
    pub skip_bad: f64,
    /// Refuse a log with any of [`ReadReport::warnings`](crate::ReadReport::warnings).
    pub strict: bool,
    /// Accept a CSV file whose last line has no line break.
    pub unterminated: bool,
    /// The number of threads that read; 0 for as many as there are cores. The result is the same for any number.
    pub threads: usize,
}

/// The rule for ends of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EndRule {
    /// The last row of a case ended it.
    #[default]
    LastRow,
    /// No case ended: all were cut.
    Cut,
    /// A row ended its case if this column has the given value or, if no value is given, is true.
    Column(String, Option<String>),
}

/// The reward of a case at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct FinalRewards {
    /// The column.
    pub column: String,
    /// Its values and their rewards.
    pub rewards: Vec<(String, Decimal)>,
}

impl EndRule {
    /// Reads `died` or `event=discharge`.
    pub fn parse(text: &str) -> Self {
        match text.split_once('=') {
            Some((column, value)) => Self::Column(column.to_owned(), Some(value.to_owned())),
            None => Self::Column(text.to_owned(), None),
        }
    }
}

impl FinalRewards {
    /// Reads `outcome=survived:1,died:0`.
    ///
    /// # Errors
    /// If that is not its form, a reward is not a number, or a value is given twice.
    pub fn parse(text: &str) -> Result<Self> {
        let problem =
            |what: &str| Error::syntax(text, format!("{what}; expected the form outcome=survived:1,died:0"));
        let (column, values) = text.split_once('=').ok_or_else(|| problem("no '=' was found"))?;
        let mut rewards: Vec<(String, Decimal)> = Vec::new();
        for part in values.split(',') {
            let (value, reward) = part.rsplit_once(':').ok_or_else(|| problem("a value has no reward"))?;
            let reward =
                Decimal::parse(reward.as_bytes()).map_err(|_| problem("a reward is not a number"))?;
            if rewards.iter().any(|(known, _)| known == value) {
                return Err(problem("a value is given twice"));
            }
            rewards.push((value.to_owned(), reward));
        }
        if column.is_empty() {
            return Err(problem("the column has no name"));
        }
        Ok(Self { column: column.to_owned(), rewards })
    }
}

/// Usual names of columns, tried in this order if none is given.
const CASES: &[&str] = &[
    "case",
    "case_id",
    "caseid",
    "episode",
    "episode_id",
    "stay",
    "stay_id",
    "icustay_id",
    "trajectory",
    "traj_id",
    "case:concept:name",
];
const ORDERS: &[&str] = &[
    "order",
    "t",
    "step",
    "time",
    "timestamp",
    "time_step",
    "timestep",
    "date",
    "charttime",
    "time:timestamp",
];
const STATES: &[&str] = &["state", "s", "observation", "obs"];
const ACTIONS: &[&str] = &["action", "a", "decision", "activity", "concept:name"];
/// Actions of event logs: without a column for the state, the previous one is guessed to be it.
const ACTIVITIES: &[&str] = &["activity", "concept:name"];
const REWARDS: &[&str] = &["reward", "r"];
const NEXTS: &[&str] = &["next_state", "s_next", "next", "next_observation", "next_obs"];
const TERMINATED: &[&str] = &["terminated", "terminal", "done"];
const TRUNCATED: &[&str] = &["truncated", "timeout"];

impl Spec {
    /// Guesses the settings that were not given from the names of a log's columns, and returns the guesses.
    ///
    /// # Errors
    /// If state, action or case are neither given nor found.
    pub fn fill_in(&mut self, columns: &[String]) -> Result<Vec<Wording>> {
        let find = |names: &[&str]| {
            let mut found =
                names.iter().flat_map(|name| columns.iter().filter(move |c| c.eq_ignore_ascii_case(name)));
            found.next().cloned()
        };
        let mut guessed: Vec<Wording> = Vec::new();
        let mut guess = |role: &str, names: &[&str]| {
            let column = find(names);
            guessed
                .extend(column.iter().map(|column| format!("{role} = column '{column}' (guessed)").into()));
            column
        };
        let unknown = |role: &str, setting: SpecField| {
            let problem = Wording::from(format!("no column for the {role} was given or found"));
            let known = format!(" (columns: {})", columns.join(", "));
            Err(Error::Spec(problem.offer("; name it with ", setting, "").and(known)))
        };
        if self.state.is_empty() {
            self.state.extend(guess("state", STATES).map(BinnedColumn::plain));
        }
        if self.action.is_empty() {
            self.action.extend(guess("action", ACTIONS).map(BinnedColumn::plain));
        }
        let previous = self.action.first().filter(|action| {
            self.state.is_empty() && ACTIVITIES.iter().any(|name| action.name.eq_ignore_ascii_case(name))
        });
        let previous = previous.map(|action| format!("prev({})", action.name));
        let plain_state = self.state.len() == 1 && self.state[0].bins == crate::bins::Bins::None;
        if self.next.is_empty() && plain_state {
            self.next.extend(guess("next state", NEXTS));
        }
        if self.case.is_none() {
            self.case = guess("case", CASES);
        }
        let order =
            if self.order.is_none() && self.case.is_some() && !self.file_order { find(ORDERS) } else { None };
        if self.reward.is_none() && self.final_rewards.is_none() {
            self.reward = guess("reward", REWARDS);
        }
        if self.end == EndRule::LastRow
            && let Some(column) = guess("end of a case", TERMINATED)
        {
            self.end = EndRule::Column(column, None);
        }
        if self.truncated.is_none() && self.end != EndRule::Cut {
            self.truncated = guess("cut", TRUNCATED);
        }
        if let Some(column) = order {
            let guess = Wording::from(format!("order = column '{column}' (guessed"));
            guessed.push(guess.offer("; ", SpecField::FileOrder, " keeps file order").and(")"));
            self.order = Some(column);
        }
        if let Some(previous) = previous {
            guessed.push(format!("state = {previous} (guessed)").into());
            self.state.push(BinnedColumn::plain(previous));
        }
        if self.state.is_empty() {
            return unknown("state", SpecField::State);
        }
        if self.action.is_empty() {
            return unknown("action", SpecField::Action);
        }
        if self.case.is_none() && self.next.is_empty() {
            return unknown("case", SpecField::Case);
        }
        if self.reward.is_none() && self.final_rewards.is_none() {
            let guess = Wording::from("reward = 0 in every row (no column was given or found");
            let guess =
                guess.offer("; see ", SpecField::Reward, "").offer(" and ", SpecField::FinalRewards, "");
            guessed.push(guess.and(")"));
        }
        self.check()?;
        Ok(guessed)
    }

    /// Checks what can be checked without a log.
    ///
    /// # Errors
    /// Settings that contradict each other.
    pub fn check(&self) -> Result<()> {
        let (n_state, n_next) = (self.state.len(), self.next.len());
        let problem: Wording = if !(0.0..=1.0).contains(&self.skip_bad) {
            let found = format!(" is {}; expected a share from 0 to 1", self.skip_bad);
            Wording::from(SpecField::SkipBad).and(found)
        } else if self.reward_unit.is_some_and(|unit| unit.mantissa <= 0) {
            "the reward unit is not above 0; expected a number such as 0.01".into()
        } else if self.round_rewards && self.reward_unit.is_none() {
            let needs = Wording::from(SpecField::RoundRewards).and(" needs ");
            needs.and(SpecField::RewardUnit).and(", such as 0.01, to round to")
        } else if n_next > 0 && n_next != n_state {
            format!("the state has {n_state} columns and the next state {n_next}; expected the same number")
                .into()
        } else if n_next > 0 && self.end == EndRule::LastRow && self.case.is_none() {
            Wording::from(
                "rows without a case do not say which of them ended; name the column that does with ",
            )
            .and(SpecField::EndColumn)
            .and(", or pass ")
            .and(SpecField::Cut)
            .and(" if none did")
        } else if self.file_order && self.order.is_some() {
            let both = Wording::from("an order is given along with ").and(SpecField::FileOrder);
            both.and("; expected one of them")
        } else if self.missing.as_deref() == Some("") {
            Wording::from(SpecField::Missing).and(" is empty; expected a name such as unknown")
        } else {
            return Ok(());
        };
        Err(Error::Spec(problem))
    }

    /// The number of threads that read.
    pub(crate) fn n_threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        if self.threads == 0 { cores() } else { self.threads }
    }

    /// Takes settings that were not given from how another log was read: columns, edges of bins, the rule for ends.
    ///
    /// # Errors
    /// If the description is not one that [`describe`](Self::describe) makes.
    pub fn reuse(&mut self, how: &BTreeMap<String, String>) -> Result<()> {
        let text = |key: &str| how.get(key).cloned();
        let list = |key: &str| {
            how.get(key)
                .map_or(Ok(Vec::new()), |columns| columns.split(',').map(BinnedColumn::parse).collect())
        };
        for (key, columns) in [("state", &mut self.state), ("action", &mut self.action)] {
            let known: Vec<BinnedColumn> = list(key)?;
            for column in columns.iter_mut().filter(|column| column.is_open()) {
                if let Some(same) = known.iter().find(|same| same.name == column.name) {
                    column.bins.clone_from(&same.bins);
                }
            }
            if columns.is_empty() {
                *columns = known;
            }
        }
        self.case = self.case.take().or_else(|| text("case"));
        if !self.file_order {
            self.order = self.order.take().or_else(|| text("order"));
        }
        self.ties_by_file |= text("ties").is_some();
        self.reward = self.reward.take().or_else(|| text("reward"));
        self.truncated = self.truncated.take().or_else(|| text("truncated"));
        self.missing = self.missing.take().or_else(|| text("missing"));
        if self.next.is_empty() {
            self.next.extend(text("next").iter().flat_map(|next| next.split(',')).map(str::to_owned));
        }
        if self.final_rewards.is_none() {
            self.final_rewards = text("final").map(|rule| FinalRewards::parse(&rule)).transpose()?;
        }
        if self.end == EndRule::LastRow {
            match how.get("end").map(String::as_str) {
                Some("cut") => self.end = EndRule::Cut,
                Some(rule) if rule.starts_with("column ") => self.end = EndRule::parse(&rule[7..]),
                _ => {}
            }
        }
        Ok(())
    }

    /// The name of the state that a row is in, with `value` giving the text of a column.
    ///
    /// # Errors
    /// If a value is missing or cannot be binned, or one of several has a `|`.
    pub fn state_of(&self, value: impl Fn(&str) -> Option<String>) -> Result<String> {
        let part = |column: &BinnedColumn| {
            let value = value(&column.name).unwrap_or_default();
            let name = column.name_of(&value, self.missing.as_deref())?;
            if self.state.len() > 1 && name.contains('|') {
                let problem = "has a value with '|', which joins the columns of a state";
                return Err(Error::column("", &column.name, problem));
            }
            Ok(name)
        };
        Ok(self.state.iter().map(part).collect::<Result<Vec<_>>>()?.join("|"))
    }

    /// The settings in words, for people and for the metadata of counts. Quantiles must have become edges.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let list = |columns: &[BinnedColumn]| {
            columns.iter().map(BinnedColumn::to_string).collect::<Vec<_>>().join(",")
        };
        let mut how = BTreeMap::new();
        let mut put =
            |key: &str, value: Option<String>| how.extend(value.map(|value| (key.to_owned(), value)));
        put("case", self.case.clone());
        put("order", self.order.clone());
        put("ties", self.ties_by_file.then(|| "file".to_owned()));
        let conditions: Vec<String> = self.conditions.iter().map(Condition::to_string).collect();
        put("where", (!conditions.is_empty()).then(|| conditions.join(" and ")));
        put("state", Some(list(&self.state)));
        put("action", Some(list(&self.action)));
        put("reward", self.reward.clone());
        put("round", self.reward_unit.filter(|_| self.round_rewards).map(|unit| unit.to_string()));
        put("next", (!self.next.is_empty()).then(|| self.next.join(",")));
        put(
            "end",
            Some(match &self.end {
                EndRule::LastRow => "last row".to_owned(),
                EndRule::Cut => "cut".to_owned(),
                EndRule::Column(column, None) => format!("column {column}"),
                EndRule::Column(column, Some(value)) => format!("column {column}={value}"),
            }),
        );
        put("truncated", self.truncated.clone());
        put("fold", self.fold_by.clone());
        put("missing", self.missing.clone());
        put(
            "final",
            self.final_rewards.as_ref().map(|outcome| {
                let rewards: Vec<String> = outcome.rewards.iter().map(|(v, r)| format!("{v}:{r}")).collect();
                format!("{}={}", outcome.column, rewards.join(","))
            }),
        );
        how
    }
}
