//! Counts under construction: lines in any order, each key any number of times.

use crate::counts::{CaseStart, CountRow, Counts};
use crate::decimal::power;
use crate::error::{Error, Result};
use crate::names::{END, NameTable};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct CountsBuilder {
    pub states: NameTable,
    pub actions: NameTable,
    pub how: BTreeMap<String, String>,
    /// Sums of rewards are in units of 10^-`decimals`.
    decimals: u8,
    lines: Vec<CountLine>,
}

/// Some steps, or some starts where the action is `END`.
#[derive(Clone, Copy)]
pub(crate) struct CountLine {
    pub state: u32,
    pub action: u32,
    /// The next state, or `END`.
    pub next: u32,
    pub fold: u8,
    pub n: i64,
    /// Wider than counts, so that whether sums overflow does not depend on the order of lines.
    pub sum: i128,
}

/// Numbers from 1, so that a missing one sorts first.
fn place(places: &[u32], id: u32) -> u32 {
    if id == END { 0 } else { places[id as usize] + 1 }
}

impl CountsBuilder {
    /// A builder with these names and decimals, and room for some lines.
    pub fn new(states: NameTable, actions: NameTable, decimals: u8, n_lines: usize) -> Self {
        Self { states, actions, decimals, lines: Vec::with_capacity(n_lines), ..Self::default() }
    }

    /// Adds a line, with ids of this builder's names.
    pub fn push(&mut self, line: CountLine) {
        self.lines.push(line);
    }

    /// Adds lines, with ids of this builder's names.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = CountLine>) {
        self.lines.extend(lines);
    }

    /// Makes room for rewards with this many decimals; returns the factor by which to multiply sums with fewer.
    pub fn in_decimals(&mut self, decimals: u8) -> i128 {
        if decimals > self.decimals {
            let scale = i128::from(power(decimals - self.decimals));
            self.lines.iter_mut().for_each(|line| line.sum *= scale);
            self.decimals = decimals;
        }
        i128::from(power(self.decimals - decimals))
    }

    /// Adds counts, `sign` times.
    pub fn add(&mut self, counts: &Counts, sign: i64) {
        let scale = i128::from(sign) * self.in_decimals(counts.decimals);
        let states = self.states.ids(counts.states.iter().map(String::as_bytes));
        let actions = self.actions.ids(counts.actions.iter().map(String::as_bytes));
        let state = |id: u32| states[id as usize];
        self.lines.extend(counts.rows.iter().map(|row| CountLine {
            state: state(row.state),
            action: actions[row.action as usize],
            next: row.next.map_or(END, state),
            fold: row.fold,
            n: sign * row.n,
            sum: i128::from(row.reward_sum) * scale,
        }));
        self.lines.extend(counts.starts.iter().map(|start| CountLine {
            state: state(start.state),
            action: END,
            next: END,
            fold: start.fold,
            n: sign * start.n,
            sum: 0,
        }));
    }

    /// The counts in canonical form, and the new ids of states and actions; ids that no line uses have no meaning.
    ///
    /// # Errors
    /// If a count is not above 0, or a sum does not fit in 64 bits.
    pub fn finish(self) -> Result<(Counts, Vec<u32>, Vec<u32>)> {
        let Self { states, actions, how, mut decimals, mut lines } = self;
        let large = "a sum of rewards does not fit in 64 bits; use a coarser reward unit";
        // No partial sum below can overflow, in whatever order.
        let (mut n, mut sum) = (0_u128, 0_u128);
        for line in &lines {
            n += u128::from(line.n.unsigned_abs());
            sum = sum.saturating_add(line.sum.unsigned_abs());
        }
        if n > i64::MAX as u128 || sum > i128::MAX as u128 {
            let many = "the counts together do not fit in 64 bits";
            return Err(Error::Overflow(if n > i64::MAX as u128 { many } else { large }.into()));
        }
        let (mut state_names, mut state_places) = states.sorted();
        let (mut action_names, mut action_places) = actions.sorted();
        for line in &mut lines {
            line.state = state_places[line.state as usize];
            (line.action, line.next) = (place(&action_places, line.action), place(&state_places, line.next));
        }
        sort(&mut lines, std::thread::available_parallelism().map_or(1, usize::from));
        lines.dedup_by(|line, kept| {
            let is_same = key(line) == key(kept);
            if is_same {
                (kept.n, kept.sum) = (kept.n + line.n, kept.sum + line.sum);
            }
            is_same
        });
        lines.retain(|line| line.n != 0 || line.sum != 0);
        if let Some(line) = lines.iter().find(|line| line.n <= 0 || line.action == 0 && line.sum != 0) {
            let action = line.action.checked_sub(1).map(|action| &action_names[action as usize]);
            let action = action.map_or("starts".to_owned(), |action| format!("action '{action}'"));
            let (state, n, sum) = (&state_names[line.state as usize], line.n, line.sum);
            return Err(Error::NotPart(format!(
                "state '{state}', {action}: {n} steps with a reward sum of {sum} units would remain; the subtracted counts are \
                 not part of these"
            )));
        }
        while decimals > 0 && lines.iter().all(|line| line.sum % 10 == 0) {
            lines.iter_mut().for_each(|line| line.sum /= 10);
            decimals -= 1;
        }
        // A name that no line uses is dropped; the order of the others stays.
        let used = lines.iter().flat_map(|line| [line.state + 1, line.next]).filter(|&place| place > 0);
        let new_states = keep_used(&mut state_names, used.map(|place| place - 1));
        let new_actions =
            keep_used(&mut action_names, lines.iter().filter_map(|line| line.action.checked_sub(1)));
        state_places.iter_mut().for_each(|place| *place = new_states[*place as usize]);
        action_places.iter_mut().for_each(|place| *place = new_actions[*place as usize]);
        let mut counts =
            Counts { states: state_names, actions: action_names, decimals, how, ..Counts::default() };
        counts.rows.reserve_exact(lines.iter().filter(|line| line.action > 0).count());
        for CountLine { state, action, next, fold, n, sum } in lines {
            let state = new_states[state as usize];
            let Some(action) = action.checked_sub(1) else {
                counts.starts.push(CaseStart { state, fold, n });
                continue;
            };
            let next = next.checked_sub(1).map(|next| new_states[next as usize]);
            let reward_sum = sum.try_into().map_err(|_| Error::Overflow(large.into()))?;
            counts.rows.push(CountRow {
                state,
                action: new_actions[action as usize],
                next,
                fold,
                n,
                reward_sum,
            });
        }
        Ok((counts, state_places, action_places))
    }
}

impl Counts {
    /// The counts of two logs together.
    ///
    /// # Errors
    /// If they were read differently (with other bins or another rule for ends), or a sum is too large for 64 bits.
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
        let mut builder = CountsBuilder { how, ..CountsBuilder::default() };
        builder.add(self, 1);
        builder.add(other, sign);
        builder.finish().map(|(counts, ..)| counts)
    }
}

/// The settings with which two logs were read, if they agree on every key that both have.
fn same_how(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>> {
    for (key, value) in a {
        if let Some(other) = b.get(key).filter(|other| *other != value) {
            let (key, left, right) = (key.clone(), value.clone(), other.clone());
            return Err(Error::Incompatible { key, left, right });
        }
    }
    Ok(a.iter().chain(b).map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// The sort key of lines: state, action, next state and fold, in one number.
#[inline]
fn key(line: &CountLine) -> u128 {
    let CountLine { state, action, next, fold, .. } = *line;
    u128::from(state) << 72 | u128::from(action) << 40 | u128::from(next) << 8 | u128::from(fold)
}

/// Sorts lines with some threads. Lines with the same key add up, so that their order does not matter.
fn sort(lines: &mut [CountLine], n_threads: usize) {
    if n_threads < 2 || lines.len() < 1 << 14 {
        return lines.sort_unstable_by_key(key);
    }
    let middle = lines.len() / 2;
    lines.select_nth_unstable_by_key(middle, key);
    let (low, high) = lines.split_at_mut(middle);
    std::thread::scope(|scope| {
        scope.spawn(move || sort(low, n_threads / 2));
        sort(high, n_threads - n_threads / 2);
    });
}

/// Removes unused names; returns the new place of each of the others.
fn keep_used(names: &mut Vec<String>, used: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut is_used = vec![false; names.len()];
    used.for_each(|place| is_used[place as usize] = true);
    let mut kept = is_used.iter();
    names.retain(|_| kept.next().copied().unwrap_or(false));
    let mut n = 0;
    let new = |&used: &bool| {
        let place = n;
        n += u32::from(used);
        place
    };
    is_used.iter().map(new).collect()
}
