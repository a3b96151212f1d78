//! Unified Markov Binary, version 1: a tar archive, compressed or not, of `index.json` and flat little-endian arrays.
//!
//! No size in a file is trusted: counts are compared with the lengths of entries, lengths with the actual data, and
//! memory grows only with what has been read.

mod arrays;
mod disk;
mod index;
mod spool;
mod write;

pub use disk::{BlockRows, DiskMdp};
pub use spool::DiskWriter;
pub use write::write;

use crate::check::offsets;
use crate::{Error, Label, Mdp, ReadMdp, Result, Rewards};
use arrays::{bits, ids, names, numbers};
use index::{Annotation, Index, Item, MAX_IDS, NumberType};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::Path;

const INITIAL: &str = "state-is-initial.bin";
const CHOICES: &str = "state-to-choices.bin";
const BRANCHES: &str = "choice-to-branches.bin";
const TARGETS: &str = "branch-to-target.bin";
const PROBABILITIES: &str = "branch-to-probability.bin";
const ACTIONS: &str = "actions/choices/values.bin";
const ACTION_NAMES: &str = "actions/choices/strings.bin";
const ACTION_NAME_ENDS: &str = "actions/choices/string-mapping.bin";

/// `index.json` is small: for a model with a thousand labels it has a few hundred kilobytes.
const MAX_INDEX: u64 = 1 << 26;

/// Reads a model from an archive of this length.
pub fn read(path: &Path, mut input: impl BufRead, length: u64) -> Result<ReadMdp> {
    let magic = input.fill_buf().map_err(|error| Error::new(path.display(), error.to_string()))?;
    let unpacked: Box<dyn Read + '_> = match magic {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            Box::new(lzma_rust2::XzReader::new_mem_limit(input, true, 1 << 20))
        }
        [b'B', b'Z', b'h', ..] => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let problem = "the archive is compressed with zstd; expected gzip, xz, bzip2 or no compression";
            return Err(Error::new(path.display(), problem));
        }
        _ => Box::new(input),
    };
    Archive { length: length as usize, ..Archive::default() }
        .read(unpacked)
        .map_err(|error| error.within(path.display()))
}

/// The arrays read so far.
#[derive(Default)]
struct Archive {
    /// The length of the file, a first guess at how much memory arrays need.
    length: usize,
    index: Option<Index>,
    ids: BTreeMap<String, Vec<u32>>,
    bits: BTreeMap<String, Vec<u32>>,
    numbers: BTreeMap<String, Vec<f64>>,
    action_text: Vec<u8>,
    warnings: Vec<String>,
}

impl Archive {
    fn read(mut self, input: impl Read) -> Result<ReadMdp> {
        let refused = |error: std::io::Error| {
            Error::new(
                "archive",
                format!("{error}; expected a tar archive, plain or compressed with gzip, xz or bzip2"),
            )
        };
        let mut archive = tar::Archive::new(input);
        let mut early: Vec<(String, Vec<u8>)> = Vec::new();
        for entry in archive.entries().map_err(refused)? {
            let mut entry = entry.map_err(refused)?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let name = String::from_utf8_lossy(&entry.path_bytes()).trim_start_matches("./").to_owned();
            let size = entry.size();
            if name == "index.json" {
                self.index = Some(read_index(&mut entry, size, MAX_IDS, &mut self.warnings)?);
                for (name, bytes) in std::mem::take(&mut early) {
                    self.entry(&name, bytes.len() as u64, &mut &bytes[..])?;
                }
            } else if self.index.is_some() {
                self.entry(&name, size, &mut entry)?;
            } else {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).map_err(refused)?;
                early.push((name, bytes));
            }
        }
        self.build()
    }

    /// Reads one entry.
    fn entry(&mut self, name: &str, size: u64, input: &mut dyn Read) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let mut keep_ids = |n: usize, width: usize| {
            let found = ids(name, size, &mut *input, n, self.length, width)?;
            self.ids.insert(name.to_owned(), found);
            Ok(())
        };
        match (name, index.probabilities) {
            (CHOICES, _) => keep_ids(index.n_states + 1, 8),
            (BRANCHES, _) => keep_ids(index.n_choices + 1, 8),
            (TARGETS, _) => keep_ids(index.n_branches, 8),
            (ACTIONS, _) if index.n_choice_actions > 0 => keep_ids(index.n_choices, 4),
            (ACTION_NAME_ENDS, _) => keep_ids(index.n_choice_actions + 1, 8),
            (ACTION_NAMES, _) => {
                self.action_text.clear();
                let read = input.read_to_end(&mut self.action_text);
                read.map(drop).map_err(|error| Error::new(name, error.to_string()))
            }
            (INITIAL, _) => self.item(name, size, input, index.n_states, Item::Bool),
            (PROBABILITIES, Some(kind)) => self.item(name, size, input, index.n_branches, Item::Number(kind)),
            (PROBABILITIES, None) => Ok(()),
            _ => self.annotation(name, size, input),
        }
    }

    /// Reads the bits or numbers of `n` things.
    fn item(&mut self, name: &str, size: u64, input: &mut dyn Read, n: usize, item: Item) -> Result<()> {
        match item {
            Item::Bool => drop(self.bits.insert(name.to_owned(), bits(name, size, input, n)?)),
            Item::Number(kind) => {
                let found = numbers(name, size, input, n, self.length, kind)?;
                self.numbers.insert(name.to_owned(), found);
            }
        }
        Ok(())
    }

    fn annotation(&mut self, name: &str, size: u64, input: &mut dyn Read) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let wanted = index.annotations.iter().find_map(|annotation| {
            annotation.parts.iter().find(|part| annotation.path(part) == name).map(|part| (annotation, part))
        });
        let Some((annotation, part)) = wanted else {
            let known = ["annotations/", "valuations/", "actions/branches/"]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            if !known {
                self.warnings.push(format!("entry {name} was left out: it is not part of an MDP"));
            }
            return Ok(());
        };
        let (n, item) = (index.n(part), annotation.item);
        self.item(name, size, input, n, item)
    }

    fn build(mut self) -> Result<ReadMdp> {
        let index = self.index.take().ok_or_else(|| Error::new("archive", "found no entry index.json"))?;
        let mut mdp = Mdp { chain: index.chain, ..Mdp::default() };
        // Targets first: omitted offsets follow from their number, and must not be made up for a file without targets.
        mdp.targets = match self.ids.remove(TARGETS) {
            Some(targets) => targets,
            None if index.n_branches == 0 => Vec::new(),
            None => return Err(missing(TARGETS, "the model has branches")),
        };
        mdp.arcs = match self.ids.remove(BRANCHES) {
            Some(offsets) => offsets,
            None if index.n_branches == index.n_choices => (0..=index.n_choices as u32).collect(),
            None => return Err(missing(BRANCHES, "the numbers of choices and branches differ")),
        };
        mdp.choices = match self.ids.remove(CHOICES) {
            Some(offsets) => offsets,
            None if index.n_states == index.n_choices => (0..=index.n_states as u32).collect(),
            None => return Err(missing(CHOICES, "the numbers of states and choices differ")),
        };
        mdp.probabilities = match (self.numbers.remove(PROBABILITIES), index.probabilities) {
            (Some(values), _) => values,
            (None, Some(_)) => return Err(missing(PROBABILITIES, "the index gives their type")),
            (None, None) => vec![1.0; index.n_branches],
        };
        mdp.initial = match self.bits.remove(INITIAL) {
            Some(states) => states,
            None if index.n_initial == 0 => Vec::new(),
            None => return Err(missing(INITIAL, "the index counts initial states")),
        };
        self.offsets_fit(&mdp)?;
        if index.n_choice_actions > 0 {
            mdp.action_names = self.action_names(&index)?;
        }
        for annotation in &index.annotations {
            self.annotate(&mut mdp, annotation)?;
        }
        let n_zero = mdp.drop_zero_arcs();
        if n_zero > 0 {
            self.warnings.push(format!("{n_zero} branches of probability 0 were left out"));
        }
        Ok(ReadMdp { mdp, warnings: self.warnings })
    }

    /// Checks what [`Mdp::check`] checks too, but with the names of entries, and before anything relies on it.
    fn offsets_fit(&self, mdp: &Mdp) -> Result<()> {
        offsets(CHOICES, &mdp.choices, mdp.n_choices())?;
        offsets(BRANCHES, &mdp.arcs, mdp.n_arcs())?;
        for (i, (&target, &p)) in mdp.targets.iter().zip(&mdp.probabilities).enumerate() {
            if target as usize >= mdp.n_states() {
                let problem = format!("found state {target}; expected one from 0 to {}", mdp.n_states() - 1);
                return Err(Error::new(format!("{TARGETS}[{i}]"), problem));
            }
            if !(0.0..=1.0 + crate::SUM_SLACK).contains(&p) {
                return Err(Error::new(
                    format!("{PROBABILITIES}[{i}]"),
                    format!("found {p}; expected 0 to 1"),
                ));
            }
        }
        Ok(())
    }

    fn action_names(&mut self, index: &Index) -> Result<Vec<String>> {
        let actions = self.ids.remove(ACTIONS).unwrap_or_else(|| vec![0; index.n_choices]);
        let ends = self.ids.remove(ACTION_NAME_ENDS);
        let names = ends.map(|ends| names(ACTION_NAMES, &self.action_text, &ends)).transpose()?;
        let name = |(i, &action): (usize, &u32)| {
            if action as usize >= index.n_choice_actions {
                let problem =
                    format!("found action {action}; expected one from 0 to {}", index.n_choice_actions - 1);
                return Err(Error::new(format!("{ACTIONS}[{i}]"), problem));
            }
            Ok(names.as_ref().map_or_else(|| action.to_string(), |names| names[action as usize].clone()))
        };
        actions.iter().enumerate().map(name).collect()
    }

    fn annotate(&mut self, mdp: &mut Mdp, annotation: &Annotation) -> Result<()> {
        let mut rewards = Rewards { name: annotation.name.clone(), ..Rewards::default() };
        for part in &annotation.parts {
            let path = annotation.path(part);
            match annotation.item {
                Item::Bool => {
                    let states =
                        self.bits.remove(&path).ok_or_else(|| missing(&path, "the index lists it"))?;
                    mdp.labels.push(Label { name: annotation.name.clone(), states });
                }
                Item::Number(_) => {
                    let values =
                        self.numbers.remove(&path).ok_or_else(|| missing(&path, "the index lists it"))?;
                    match *part {
                        "states" => rewards.states = values,
                        "choices" => rewards.choices = values,
                        _ => rewards.arcs = values,
                    }
                }
            }
        }
        if matches!(annotation.item, Item::Number(_)) {
            mdp.rewards.push(rewards);
        }
        Ok(())
    }
}

fn missing(entry: &str, because: &str) -> Error {
    Error::new(entry, format!("the archive has no such entry; expected one because {because}"))
}

fn read_index(input: &mut dyn Read, size: u64, most: u64, warnings: &mut Vec<String>) -> Result<Index> {
    if size > MAX_INDEX {
        return Err(Error::new("index.json", format!("found {size} bytes; expected at most {MAX_INDEX}")));
    }
    let mut bytes = Vec::new();
    input
        .take(MAX_INDEX)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::new("index.json", error.to_string()))?;
    let json = serde_json::from_slice(&bytes).map_err(|error| {
        Error::new(
            format!("index.json:{}:{}", error.line(), error.column()),
            format!("{error}; expected JSON"),
        )
    })?;
    Index::new(&json, most, warnings)
}
