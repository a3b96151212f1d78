//! What was counted in a log: integers, so that summaries add up, and subtract, to the same bits in any order.

use crate::decimal::{Decimal, power};
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// The number of folds into which cases fall: the first hexadecimal digit of the md5 of a case's name.
pub const FOLDS: usize = 16;

/// The counts of a log: how often each state and action led where, and the sum of its rewards.
///
/// One log has one summary: names are sorted, rows are sorted, and [`decimals`](Self::decimals) is as small as the sums allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The names of the states, sorted; a state is named by its position here.
    pub states: Vec<String>,
    /// The names of the actions, sorted; an action is named by its position here.
    pub actions: Vec<String>,
    /// One row per distinct (state, action, next, fold), sorted by that key; an end comes before any state.
    pub rows: Vec<CountRow>,
    /// How many cases started in each state, sorted by (state, fold).
    pub starts: Vec<Start>,
    /// A reward sum of 1 stands for 10^-`decimals`.
    pub decimals: u8,
    /// How the log was read: columns with their bins, the rule for ends; see docs/COUNTS.md.
    pub how: BTreeMap<String, String>,
}

/// How often one state and action led to one next state, within one fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountRow {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// Position in [`Counts::actions`].
    pub action: u32,
    /// Position in [`Counts::states`], or `None` where the case ended.
    pub next: Option<u32>,
    /// The fold of the cases counted here, below [`FOLDS`].
    pub fold: u8,
    /// How many steps.
    pub n: i64,
    /// The sum of their rewards, in units of 10^-[`decimals`](Counts::decimals).
    pub reward_sum: i64,
}

/// How many cases of one fold started in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Start {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// The fold of the cases counted here.
    pub fold: u8,
    /// How many cases.
    pub n: i64,
}

/// One case in full, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The fold of this case.
    pub fold: u8,
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// How the case ended.
    pub end: End,
}

/// One decision of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// Position in [`Counts::actions`].
    pub action: u32,
    /// The reward, in units of 10^-[`decimals`](Counts::decimals).
    pub reward: i64,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It terminated: nothing follows.
    Terminated,
    /// It was cut after its last step, which led to this state.
    Truncated(u32),
}

impl Counts {
    /// What a reward, or a sum of rewards, is worth.
    pub fn reward(&self, sum: i64) -> f64 {
        Decimal { mantissa: sum, decimals: self.decimals }.to_f64()
    }

    /// The unit of rewards as text, such as `0.01`.
    pub fn reward_unit(&self) -> String {
        Decimal { mantissa: 1, decimals: self.decimals }.to_string()
    }

    /// How many steps were counted.
    pub fn n_steps(&self) -> i64 {
        self.rows.iter().map(|row| row.n).sum()
    }

    /// How many cases were counted.
    pub fn n_cases(&self) -> i64 {
        self.starts.iter().map(|start| start.n).sum()
    }

    /// The counts of some folds. States and actions keep their numbers, so that what is left out can be compared with the rest.
    #[must_use]
    pub fn folds(&self, keep: impl Fn(u8) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| keep(row.fold)).copied().collect();
        let starts = self.starts.iter().filter(|start| keep(start.fold)).copied().collect();
        Self { rows, starts, ..self.clone() }
    }

    /// The counts of two logs together.
    ///
    /// # Errors
    /// If they were read differently (other bins, another rule for ends), or a sum is too large for 64 bits.
    pub fn merge(&self, other: &Self) -> Result<Self> {
        self.combine(other, 1)
    }

    /// The counts without those of a part, as if it had never been counted.
    ///
    /// # Errors
    /// If the part is not in these counts, or was read differently.
    pub fn subtract(&self, part: &Self) -> Result<Self> {
        self.combine(part, -1)
    }

    fn combine(&self, other: &Self, sign: i64) -> Result<Self> {
        let how = same_how(&self.how, &other.how)?;
        let mut sheet = Sheet { how, ..Sheet::default() };
        sheet.add(self, 1)?;
        sheet.add(other, sign)?;
        sheet.finish()
    }
}

/// How two logs were read, if it is the same where both say it.
fn same_how(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>> {
    for (key, value) in a {
        if let Some(other) = b.get(key).filter(|other| *other != value) {
            return Err(Error::new(format!(
                "the counts do not fit together: {key} is '{value}' in one and '{other}' in the other; count both with the same settings \
                 (--bins-from reuses bins)"
            )));
        }
    }
    Ok(a.iter().chain(b).map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// One line of a table of counts, by names: a step, or a start where there is no action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key<'a> {
    pub state: &'a str,
    pub action: Option<&'a str>,
    pub next: Option<&'a str>,
    pub fold: u8,
}

/// Counts in the making: lines in any order, each key any number of times.
#[derive(Default)]
pub(crate) struct Sheet<'a> {
    pub how: BTreeMap<String, String>,
    /// Sums are kept in 128 bits until all is known, so that no order of lines can overflow where another does not.
    lines: BTreeMap<Key<'a>, (i128, i128)>,
    decimals: u8,
}

impl<'a> Sheet<'a> {
    fn add(&mut self, counts: &'a Counts, sign: i64) -> Result<()> {
        let scale = self.in_decimals(counts.decimals)?;
        let state = |id: u32| counts.states[id as usize].as_str();
        for row in &counts.rows {
            let (action, next) = (Some(counts.actions[row.action as usize].as_str()), row.next.map(state));
            let key = Key { state: state(row.state), action, next, fold: row.fold };
            self.add_line(key, sign * row.n, i128::from(sign) * i128::from(row.reward_sum) * scale);
        }
        for start in &counts.starts {
            let key = Key { state: state(start.state), action: None, next: None, fold: start.fold };
            self.add_line(key, sign * start.n, 0);
        }
        Ok(())
    }

    /// Makes room for rewards with this many decimals; returns what sums in them are to be multiplied by.
    pub fn in_decimals(&mut self, decimals: u8) -> Result<i128> {
        if decimals > self.decimals {
            let scale = i128::from(power(decimals - self.decimals));
            self.lines.values_mut().for_each(|(_, sum)| *sum *= scale);
            self.decimals = decimals;
        }
        Ok(i128::from(power(self.decimals - decimals)))
    }

    /// Adds a line; the sum of rewards is in the decimals of the sheet.
    pub fn add_line(&mut self, key: Key<'a>, n: i64, sum: i128) {
        let line = self.lines.entry(key).or_default();
        *line = (line.0 + i128::from(n), line.1 + sum);
    }

    /// The counts, in their one form.
    pub fn finish(self) -> Result<Counts> {
        let Self { how, mut lines, mut decimals } = self;
        lines.retain(|_, line| *line != (0, 0));
        for (key, &(n, sum)) in &lines {
            if n <= 0 || (key.action.is_none() && sum != 0) {
                let Key { state, action, .. } = key;
                let place = action.map_or("its starts".to_owned(), |action| format!("action '{action}'"));
                return Err(Error::new(format!(
                    "state '{state}', {place}: {n} steps with a reward sum of {sum} units would be left; what is subtracted was not counted here"
                )));
            }
        }
        while decimals > 0 && lines.values().all(|(_, sum)| sum % 10 == 0) {
            lines.values_mut().for_each(|(_, sum)| *sum /= 10);
            decimals -= 1;
        }
        let mut counts = Counts { decimals, how, ..Counts::default() };
        let mut states: Vec<&str> =
            lines.keys().flat_map(|key| key.next.into_iter().chain([key.state])).collect();
        let mut actions: Vec<&str> = lines.keys().filter_map(|key| key.action).collect();
        for names in [&mut states, &mut actions] {
            names.sort_unstable();
            names.dedup();
        }
        // Found by position in the sorted lists, which hold every name of the lines.
        let id = |names: &[&str], name: &str| names.binary_search(&name).map_or(0, |i| i as u32);
        for (key, &(n, sum)) in &lines {
            let too_large = |_| Error::new(format!("state '{}': a sum does not fit in 64 bits", key.state));
            let (n, reward_sum) = (n.try_into().map_err(too_large)?, sum.try_into().map_err(too_large)?);
            let (state, fold) = (id(&states, key.state), key.fold);
            match key.action {
                None => counts.starts.push(Start { state, fold, n }),
                Some(action) => {
                    let (action, next) = (id(&actions, action), key.next.map(|next| id(&states, next)));
                    counts.rows.push(CountRow { state, action, next, fold, n, reward_sum });
                }
            }
        }
        counts.states = states.into_iter().map(str::to_owned).collect();
        counts.actions = actions.into_iter().map(str::to_owned).collect();
        Ok(counts)
    }
}
