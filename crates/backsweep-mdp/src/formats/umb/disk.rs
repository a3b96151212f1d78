//! A model whose rows stay in their file: only what is needed to find them is in memory.
//!
//! The file must be a plain archive, since rows are found by their place. Rows are read in blocks of consecutive states, in any
//! order, and checked each time they are read.

mod rows;

pub use rows::BlockRows;

use super::arrays::{bits, ids, names};
use super::index::{Index, Item, NumberType};
use super::{
    ACTION_NAME_ENDS, ACTION_NAMES, ACTIONS, BRANCHES, CHOICES, INITIAL, PROBABILITIES, TARGETS, missing,
    read_index,
};
use crate::check::offset_fits;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Counts of choices and arcs are exact as doubles, too.
const MAX_ROWS: u64 = 1 << 53;

/// The number of numbers that are read at a time while offsets are scanned.
const PIECE: usize = 1 << 14;

/// A model in an uncompressed UMB file.
///
/// Memory grows with the number of blocks and of names of actions, not with states, choices or arcs.
#[derive(Debug)]
pub struct DiskMdp {
    path: PathBuf,
    n_states: usize,
    n_choices: u64,
    n_arcs: u64,
    /// Where each entry begins in the file.
    entries: BTreeMap<String, u64>,
    rewards: Vec<DiskRewards>,
    initial: Vec<u32>,
    action_names: Vec<String>,
    n_actions: usize,
    blocks: Vec<StateBlock>,
}

/// One reward structure: the entries that it has.
#[derive(Clone, Debug, Default)]
struct DiskRewards {
    name: String,
    states: Option<u64>,
    choices: Option<u64>,
    arcs: Option<u64>,
}

/// Consecutive states with their choices and arcs.
#[derive(Clone, Debug, PartialEq)]
struct StateBlock {
    states: Range<usize>,
    choices: Range<u64>,
    arcs: Range<u64>,
}

impl DiskMdp {
    /// Opens a model, and cuts it into blocks of about `arcs_per_block` arcs. Reads the offsets of all rows once.
    ///
    /// # Errors
    /// If the system refuses, the file is compressed or malformed, or its numbers are not doubles.
    pub fn open(path: impl AsRef<Path>, arcs_per_block: u64) -> Result<Self> {
        let path = path.as_ref();
        Self::opened(path, arcs_per_block.max(1)).map_err(|error| match error {
            Error::System { .. } => error,
            error => error.within(path.display()),
        })
    }

    fn opened(path: &Path, arcs_per_block: u64) -> Result<Self> {
        let (mut file, _) = crate::formats::open(path)?;
        let mut magic = [0; 6];
        let n = file.read(&mut magic).map_err(|error| Error::system(path.display(), "read", &error))?;
        if matches!(
            magic[..n],
            [0x1f, 0x8b, ..] | [0xfd, b'7', ..] | [b'B', b'Z', b'h', ..] | [0x28, 0xb5, 0x2f, 0xfd, ..]
        ) {
            return Err(Error::new(
                "archive",
                "it is compressed; expected a plain archive, since rows are found by their place (backsweep convert \
                 --uncompressed writes one)",
            ));
        }
        let (entries, index) = contents(path)?;
        let at = |name: &str| entries.get(name).map(|(at, _)| *at);
        let sized = |name: &str, n: u64, width: u64| match entries.get(name) {
            Some((_, size)) if *size != n * width => Err(Error::new(
                name,
                format!("found {size} bytes; expected {}: {n} items of {width} bytes", n * width),
            )),
            _ => Ok(()),
        };
        let (n_states, n_choices, n_arcs) = (index.n_states, index.n_choices as u64, index.n_branches as u64);
        sized(CHOICES, n_states as u64 + 1, 8)?;
        sized(BRANCHES, n_choices + 1, 8)?;
        sized(TARGETS, n_arcs, 8)?;
        sized(PROBABILITIES, n_arcs, 8)?;
        sized(ACTIONS, n_choices, 4)?;
        match (index.probabilities, at(PROBABILITIES)) {
            (None, _) | (Some(NumberType::Double), Some(_)) => {}
            (Some(NumberType::Double), None) => {
                return Err(missing(PROBABILITIES, "the index gives their type"));
            }
            _ => {
                return Err(Error::new(
                    PROBABILITIES,
                    "found numbers that are not doubles; expected doubles",
                ));
            }
        }
        if n_arcs > 0 && at(TARGETS).is_none() {
            return Err(missing(TARGETS, "the model has branches"));
        }
        let mut rewards = Vec::new();
        for annotation in index.annotations.iter().filter(|annotation| annotation.group == "rewards") {
            let mut own = DiskRewards { name: annotation.name.clone(), ..DiskRewards::default() };
            for part in &annotation.parts {
                let entry = annotation.path(part);
                if annotation.item != Item::Number(NumberType::Double) {
                    return Err(Error::new(&entry, "found rewards that are not doubles; expected doubles"));
                }
                sized(&entry, index.n(part) as u64, 8)?;
                let place = at(&entry).ok_or_else(|| missing(&entry, "the index lists it"))?;
                match *part {
                    "states" => own.states = Some(place),
                    "choices" => own.choices = Some(place),
                    _ => own.arcs = Some(place),
                }
            }
            rewards.push(own);
        }
        let mut model = Self {
            path: path.to_owned(),
            n_states,
            n_choices,
            n_arcs,
            rewards,
            initial: Vec::new(),
            action_names: Vec::new(),
            n_actions: index.n_choice_actions,
            blocks: Vec::new(),
            entries: entries.iter().map(|(name, (at, _))| (name.clone(), *at)).collect(),
        };
        let part = |name: &str| -> Result<Option<(File, u64)>> {
            let Some(&(at, size)) = entries.get(name) else { return Ok(None) };
            Ok(Some((file_at(path, at)?, size)))
        };
        if let Some((mut file, size)) = part(INITIAL)? {
            model.initial = bits(INITIAL, size, &mut file, n_states)?;
        }
        if let (Some((mut ends, ends_size)), Some((text, size))) =
            (part(ACTION_NAME_ENDS)?, part(ACTION_NAMES)?)
        {
            let ends = ids(ACTION_NAME_ENDS, ends_size, &mut ends, index.n_choice_actions + 1, 1 << 16, 8)?;
            let mut bytes = Vec::new();
            let read = text.take(size).read_to_end(&mut bytes);
            read.map_err(|error| Error::new(ACTION_NAMES, error.to_string()))?;
            model.action_names = names(ACTION_NAMES, &bytes, &ends)?;
        }
        model.blocks = model.cut(arcs_per_block)?;
        Ok(model)
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.n_states
    }

    /// The number of choices.
    pub fn n_choices(&self) -> u64 {
        self.n_choices
    }

    /// The number of arcs.
    pub fn n_arcs(&self) -> u64 {
        self.n_arcs
    }

    /// The number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The states in which episodes begin.
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// The number of bytes that one pass over all blocks reads.
    pub fn bytes_per_pass(&self, rewards: usize) -> u64 {
        let rewards = &self.rewards[rewards];
        let has = |name: &str| u64::from(self.entries.contains_key(name));
        let per_state = has(CHOICES) + u64::from(rewards.states.is_some());
        let per_choice = has(BRANCHES) + u64::from(rewards.choices.is_some());
        let per_arc = has(TARGETS) + has(PROBABILITIES) + u64::from(rewards.arcs.is_some());
        8 * (per_state * self.n_states as u64 + per_choice * self.n_choices + per_arc * self.n_arcs)
    }

    /// The number of the rewards with this name. `None` stands for the only reward structure.
    ///
    /// # Errors
    /// As [`Mdp::rewards`](crate::Mdp::rewards).
    pub fn rewards(&self, name: Option<&str>) -> Result<usize> {
        match name {
            None if self.rewards.len() == 1 => Some(0),
            None => None,
            Some(name) => self.rewards.iter().position(|rewards| rewards.name == name),
        }
        .ok_or_else(|| Error::UnknownRewards {
            found: name.map(str::to_owned),
            known: self.rewards.iter().map(|rewards| rewards.name.clone()).collect(),
        })
    }

    /// Opens the file, for [`read_block`](Self::read_block).
    ///
    /// # Errors
    /// If the system refuses.
    pub fn file(&self) -> Result<File> {
        file_at(&self.path, 0)
    }

    /// The states of a block.
    pub fn states_of(&self, block: usize) -> Range<usize> {
        self.blocks[block].states.clone()
    }

    /// The block of a state.
    pub fn block_of(&self, state: usize) -> usize {
        self.blocks.partition_point(|block| block.states.end <= state)
    }

    /// Checks all offsets, and cuts the states into blocks.
    fn cut(&self, arcs_per_block: u64) -> Result<Vec<StateBlock>> {
        let mut choices = self.offsets(CHOICES, self.n_states as u64, self.n_choices)?;
        let mut arcs = self.offsets(BRANCHES, self.n_choices, self.n_arcs)?;
        let mut blocks = Vec::new();
        let mut block = StateBlock { states: 0..0, choices: 0..0, arcs: 0..0 };
        let (mut choice, mut arc) = (choices.next()?, arcs.next()?);
        for state in 0..self.n_states {
            let end = choices.next()?;
            while choice < end {
                arc = arcs.next()?;
                choice += 1;
            }
            let is_full =
                arc - block.arcs.start > arcs_per_block || choice - block.choices.start > arcs_per_block;
            if is_full && !block.states.is_empty() {
                let (states, choices, arcs) = (block.states.end, block.choices.end, block.arcs.end);
                blocks.push(block);
                block = StateBlock { states: states..states, choices: choices..choices, arcs: arcs..arcs };
            }
            block = StateBlock {
                states: block.states.start..state + 1,
                choices: block.choices.start..choice,
                arcs: block.arcs.start..arc,
            };
            // Rows are numbered within their block in 32 bits.
            if arc - block.arcs.start >= u64::from(u32::MAX)
                || choice - block.choices.start >= u64::from(u32::MAX)
            {
                return Err(Error::new(
                    format!("state {state}"),
                    "it has more than 2^32 arcs; expected fewer",
                ));
            }
        }
        blocks.push(block);
        Ok(blocks)
    }

    fn offsets(&self, name: &'static str, n: u64, last: u64) -> Result<Offsets> {
        let file = self.entries.get(name).map(|&at| file_at(&self.path, at)).transpose()?;
        if file.is_none() && n != last {
            return Err(missing(name, "the numbers of rows differ"));
        }
        let input = file.map(|file| BufReader::with_capacity(8 * PIECE, file));
        Ok(Offsets { name, input, n, last, at: 0, before: 0 })
    }
}

/// Offsets in ascending order, read one by one; omitted ones count up.
struct Offsets {
    name: &'static str,
    input: Option<BufReader<File>>,
    n: u64,
    last: u64,
    at: u64,
    before: u64,
}

impl Offsets {
    fn next(&mut self) -> Result<u64> {
        let offset = match &mut self.input {
            None => self.at,
            Some(input) => {
                let mut bytes = [0; 8];
                input.read_exact(&mut bytes).map_err(|error| unreadable(self.name, &error))?;
                u64::from_le_bytes(bytes)
            }
        };
        offset_fits(self.name, (self.at, self.n), self.before, offset, self.last)?;
        self.at += 1;
        self.before = offset;
        Ok(offset)
    }
}

/// The place and the size of each entry.
type Entries = BTreeMap<String, (u64, u64)>;

/// The entries of an archive, and its index.
fn contents(path: &Path) -> Result<(Entries, Index)> {
    let refused =
        |error: std::io::Error| Error::new("archive", format!("{error}; expected a plain tar archive"));
    let file = File::open(path).map_err(|error| Error::system(path.display(), "open", &error))?;
    let length = file.metadata().map_err(refused)?.len();
    let mut archive = tar::Archive::new(file);
    let (mut entries, mut index) = (BTreeMap::new(), None);
    for entry in archive.entries_with_seek().map_err(refused)? {
        let mut entry = entry.map_err(refused)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).trim_start_matches("./").to_owned();
        let (at, size) = (entry.raw_file_position(), entry.size());
        if at.checked_add(size).is_none_or(|end| end > length) {
            let problem =
                format!("it needs bytes {at} to {}; the file has {length}", at.saturating_add(size));
            return Err(Error::new(name, problem));
        }
        if name == "index.json" {
            index = Some(read_index(&mut entry, size, MAX_ROWS, &mut Vec::new())?);
        }
        entries.insert(name, (at, size));
    }
    let index = index.ok_or_else(|| Error::new("archive", "found no entry index.json"))?;
    Ok((entries, index))
}

/// Opens a file at a place.
fn file_at(path: &Path, at: u64) -> Result<File> {
    let mut file = File::open(path).map_err(|error| Error::system(path.display(), "open", &error))?;
    file.seek(SeekFrom::Start(at)).map_err(|error| Error::system(path.display(), "read", &error))?;
    Ok(file)
}

fn unreadable(name: &str, error: &std::io::Error) -> Error {
    Error::new(name, format!("the archive ends or is damaged ({error})"))
}
