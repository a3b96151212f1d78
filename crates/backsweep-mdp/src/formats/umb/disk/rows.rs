//! The rows of a block of states, read from the file and checked.

use super::super::{ACTIONS, BRANCHES, CHOICES, PROBABILITIES, TARGETS};
use super::{DiskMdp, DiskRewards, StateBlock, unreadable};
use crate::{ChoicePlace, Error, MAX_REWARD, Result, RowProblem, SUM_SLACK};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// The rows of a block. States, choices and arcs are numbered within the block; targets are numbers of the whole model.
#[derive(Debug, Default)]
pub struct BlockRows {
    /// The first state of the block.
    pub first_state: usize,
    /// The choices of the block's state `s` are `choices[s]..choices[s + 1]`.
    pub choices: Vec<u32>,
    /// The arcs of choice `c` are `arcs[c]..arcs[c + 1]`.
    pub arcs: Vec<u32>,
    /// The state that each arc leads to.
    pub targets: Vec<u32>,
    /// The probability of each arc.
    pub probabilities: Vec<f64>,
    /// The expected reward of each choice.
    pub rewards: Vec<f64>,
    /// The largest distance of such a reward from its exact sum; 0 if none was rounded.
    pub reward_error: f64,
    bytes: Vec<u8>,
}

impl BlockRows {
    /// A block without states.
    pub const EMPTY: Self = Self {
        first_state: 0,
        choices: Vec::new(),
        arcs: Vec::new(),
        targets: Vec::new(),
        probabilities: Vec::new(),
        rewards: Vec::new(),
        reward_error: 0.0,
        bytes: Vec::new(),
    };
}

impl DiskMdp {
    /// Reads a block. `rows` keeps its memory.
    ///
    /// # Errors
    /// If the file cannot be read or a row is malformed.
    pub fn read_block(
        &self,
        file: &mut File,
        block: usize,
        rewards: usize,
        rows: &mut BlockRows,
    ) -> Result<()> {
        self.fill(file, &self.blocks[block], &self.rewards[rewards], rows)
            .map_err(|error| error.within(self.path.display()))
    }

    /// The names of the actions that a policy takes in the states of a block: `choices` are numbers within each state.
    ///
    /// # Errors
    /// As [`read_block`](Self::read_block).
    pub fn actions(
        &self,
        file: &mut File,
        block: usize,
        choices: &[u32],
        rows: &mut BlockRows,
    ) -> Result<Vec<Option<String>>> {
        let block = &self.blocks[block];
        self.choices_of(file, block, rows)?;
        let mut actions = Vec::new();
        if let Some(&at) = self.entries.get(ACTIONS).filter(|_| self.n_actions > 0) {
            let n = (block.choices.end - block.choices.start) as usize;
            read_at(file, at + 4 * block.choices.start, 4 * n, &mut rows.bytes)
                .map_err(|error| unreadable(ACTIONS, &error))?;
            actions.extend(rows.bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        }
        let name = |(state, &choice): (usize, &u32)| {
            (choice != crate::NO_CHOICE).then(|| {
                let action =
                    actions.get(rows.choices[state] as usize + choice as usize).copied().unwrap_or(choice);
                self.action_names.get(action as usize).cloned().unwrap_or_else(|| action.to_string())
            })
        };
        Ok(choices.iter().enumerate().map(name).collect())
    }

    fn choices_of(&self, file: &mut File, block: &StateBlock, rows: &mut BlockRows) -> Result<()> {
        rows.first_state = block.states.start;
        let states = block.states.start as u64..block.states.end as u64;
        self.starts(file, CHOICES, states, &block.choices, &mut rows.bytes, &mut rows.choices)
    }

    fn fill(
        &self,
        file: &mut File,
        block: &StateBlock,
        rewards: &DiskRewards,
        rows: &mut BlockRows,
    ) -> Result<()> {
        self.choices_of(file, block, rows)?;
        self.starts(file, BRANCHES, block.choices.clone(), &block.arcs, &mut rows.bytes, &mut rows.arcs)?;
        let n_arcs = (block.arcs.end - block.arcs.start) as usize;
        rows.targets.clear();
        if let Some(&at) = self.entries.get(TARGETS) {
            read_at(file, at + 8 * block.arcs.start, 8 * n_arcs, &mut rows.bytes)
                .map_err(|error| unreadable(TARGETS, &error))?;
            // One pass without branches; targets out of range show in their maximum.
            let wide = rows.bytes.as_chunks::<8>().0;
            let most = wide.iter().fold(0, |most, bytes| u64::from_le_bytes(*bytes).max(most));
            if most >= self.n_states as u64 {
                let bad = wide.iter().position(|bytes| u64::from_le_bytes(*bytes) == most).unwrap_or(0);
                let problem = format!("found state {most}; expected one from 0 to {}", self.n_states - 1);
                return Err(Error::new(format!("{TARGETS}[{}]", block.arcs.start + bad as u64), problem));
            }
            rows.targets.extend(wide.iter().map(|bytes| u64::from_le_bytes(*bytes) as u32));
        }
        rows.probabilities.clear();
        match self.entries.get(PROBABILITIES) {
            Some(&at) => {
                doubles(file, at, &block.arcs, PROBABILITIES, &mut rows.bytes, &mut rows.probabilities)?
            }
            None => rows.probabilities.resize(n_arcs, 1.0),
        }
        for choice in 0..rows.arcs.len() - 1 {
            let row = rows.arcs[choice] as usize..rows.arcs[choice + 1] as usize;
            let (mut sum, mut least) = (0.0, 0.0_f64);
            for &p in &rows.probabilities[row.clone()] {
                sum += p;
                least = if p >= least { least } else { p };
            }
            if !(sum <= 1.0 + SUM_SLACK && least == 0.0) {
                return Err(self.bad_row(block, rows, choice, row));
            }
        }
        self.expected(file, block, rewards, rows)
    }

    /// Adds up the rewards of every choice.
    fn expected(
        &self,
        file: &mut File,
        block: &StateBlock,
        parts: &DiskRewards,
        rows: &mut BlockRows,
    ) -> Result<()> {
        let n_choices = rows.arcs.len() - 1;
        rows.rewards.clear();
        match parts.choices {
            Some(at) => {
                doubles(file, at, &block.choices, "rewards of choices", &mut rows.bytes, &mut rows.rewards)?
            }
            None => rows.rewards.resize(n_choices, 0.0),
        }
        rows.reward_error = 0.0;
        let (mut of_states, mut of_arcs) = (Vec::new(), Vec::new());
        if let Some(at) = parts.states {
            let states = block.states.start as u64..block.states.end as u64;
            doubles(file, at, &states, "rewards of states", &mut rows.bytes, &mut of_states)?;
        }
        if let Some(at) = parts.arcs {
            doubles(file, at, &block.arcs, "rewards of arcs", &mut rows.bytes, &mut of_arcs)?;
        }
        let in_range = |reward: &f64| reward.abs() <= MAX_REWARD;
        if let Some(found) =
            [&rows.rewards, &of_states, &of_arcs].into_iter().flatten().find(|reward| !in_range(reward))
        {
            let place = format!("states {} to {}", block.states.start, block.states.end - 1);
            return Err(Error::Reward { place, rewards: parts.name.clone(), found: *found });
        }
        if of_states.is_empty() && of_arcs.is_empty() {
            return Ok(());
        }
        for state in 0..rows.choices.len() - 1 {
            let of_state = of_states.get(state).copied().unwrap_or(0.0);
            for choice in rows.choices[state] as usize..rows.choices[state + 1] as usize {
                let row = rows.arcs[choice] as usize..rows.arcs[choice + 1] as usize;
                let own = rows.rewards[choice];
                let (mut on_arcs, mut size) = (0.0, 0.0);
                if !of_arcs.is_empty() {
                    for (p, reward) in rows.probabilities[row.clone()].iter().zip(&of_arcs[row.clone()]) {
                        on_arcs += p * reward;
                        size += p * reward.abs();
                    }
                }
                rows.rewards[choice] = own + of_state + on_arcs;
                let error = crate::reward_sum_error(of_state.abs(), own.abs(), size, row.len());
                rows.reward_error = rows.reward_error.max(error);
            }
        }
        Ok(())
    }

    /// The first problem of a row that has one.
    fn bad_row(&self, block: &StateBlock, rows: &BlockRows, choice: usize, row: Range<usize>) -> Error {
        let bad = row.clone().find(|&arc| !(0.0..=1.0 + SUM_SLACK).contains(&rows.probabilities[arc]));
        let problem = match bad {
            Some(arc) => {
                RowProblem::Probability { target: rows.targets[arc], found: rows.probabilities[arc] }
            }
            None => RowProblem::Sum { found: rows.probabilities[row].iter().sum() },
        };
        let state = rows.choices.partition_point(|&first| first as usize <= choice) - 1;
        let place = ChoicePlace {
            state: (block.states.start + state).to_string(),
            choice: choice - rows.choices[state] as usize,
        };
        Error::Row { place, problem }
    }

    /// Reads the offsets of a range of rows, and numbers what they point at from the block's first.
    fn starts(
        &self,
        file: &mut File,
        name: &str,
        rows: Range<u64>,
        within: &Range<u64>,
        bytes: &mut Vec<u8>,
        starts: &mut Vec<u32>,
    ) -> Result<()> {
        starts.clear();
        let n = (rows.end - rows.start) as usize + 1;
        let Some(&at) = self.entries.get(name) else {
            starts.extend(0..n as u32);
            return Ok(());
        };
        read_at(file, at + 8 * rows.start, 8 * n, bytes).map_err(|error| unreadable(name, &error))?;
        let mut before = within.start;
        for (i, bytes) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let offset = u64::from_le_bytes(*bytes);
            let expected = if i + 1 == n { within.end..=within.end } else { before..=within.end };
            if !expected.contains(&offset) {
                return Err(Error::new(
                    format!("{name}[{}]", rows.start + i as u64),
                    "the file changed while it was read",
                ));
            }
            before = offset;
            starts.push((offset - within.start) as u32);
        }
        Ok(())
    }
}

/// Reads `n` bytes at a place, in one large read.
fn read_at(file: &mut File, at: u64, n: usize, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    bytes.resize(n, 0);
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Reads the doubles of a range of items.
fn doubles(
    file: &mut File,
    at: u64,
    range: &Range<u64>,
    name: &str,
    bytes: &mut Vec<u8>,
    into: &mut Vec<f64>,
) -> Result<()> {
    let n = (range.end - range.start) as usize;
    read_at(file, at + 8 * range.start, 8 * n, bytes).map_err(|error| unreadable(name, &error))?;
    into.extend(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
    Ok(())
}
