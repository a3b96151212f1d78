//! Writes archives. The same model gives the same bytes.

use super::{ACTION_NAME_ENDS, ACTION_NAMES, ACTIONS, BRANCHES, CHOICES, INITIAL, PROBABILITIES, TARGETS};
use crate::formats::replace;
use crate::{Compression, Label, Mdp, Result};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};
use std::path::Path;

/// Writes a model.
pub fn write(path: &Path, mdp: &Mdp, compression: Compression) -> Result<Vec<String>> {
    let (mdp, mut warnings) = mdp.completed();
    if !mdp.state_names.is_empty() {
        warnings.push(
            "the names of states were left out: UMB has no place for them that other tools read".to_owned(),
        );
    }
    replace(path, |output| match compression {
        Compression::None => archive(&mdp, output),
        Compression::Gzip => {
            let mut packed = flate2::write::GzEncoder::new(output, flate2::Compression::fast());
            archive(&mdp, &mut packed)?;
            packed.finish().map(drop)
        }
    })?;
    Ok(warnings)
}

fn archive(mdp: &Mdp, output: &mut dyn Write) -> io::Result<()> {
    let actions = Actions::new(&mdp.action_names);
    let mut archive = tar::Builder::new(output);
    let label_ids = ids(mdp.labels.iter().map(|label| &label.name), "label");
    let reward_ids = ids(mdp.rewards.iter().map(|rewards| &rewards.name), "reward");
    let index = index(mdp, &actions, &label_ids, &reward_ids);
    let archive = &mut archive;
    add(archive, "index.json", serde_json::to_string_pretty(&index)?.as_bytes())?;
    add_wide(archive, CHOICES, &mdp.choices)?;
    if !mdp.initial.is_empty() {
        add(archive, INITIAL, &bits(&mdp.initial, mdp.n_states()))?;
    }
    add_wide(archive, BRANCHES, &mdp.arcs)?;
    if mdp.n_arcs() > 0 {
        add_wide(archive, TARGETS, &mdp.targets)?;
        add_doubles(archive, PROBABILITIES, &mdp.probabilities)?;
    }
    if actions.n > 0 {
        add(archive, ACTIONS, &actions.of_choices)?;
        if let Some((ends, text)) = &actions.names {
            add_wide(archive, ACTION_NAME_ENDS, ends)?;
            add(archive, ACTION_NAMES, text.as_bytes())?;
        }
    }
    for (Label { states, .. }, id) in mdp.labels.iter().zip(&label_ids) {
        add(archive, &format!("annotations/aps/{id}/states/values.bin"), &bits(states, mdp.n_states()))?;
    }
    for (rewards, id) in mdp.rewards.iter().zip(&reward_ids) {
        for (part, values) in parts(rewards, mdp.n_choices()) {
            add_doubles(archive, &format!("annotations/rewards/{id}/{part}/values.bin"), &values)?;
        }
    }
    archive.finish()
}

pub type ArchiveWriter<'a> = tar::Builder<&'a mut dyn Write>;

/// Appends an entry.
pub fn add(archive: &mut ArchiveWriter, name: &str, bytes: &[u8]) -> io::Result<()> {
    append(archive, name, bytes.len() as u64, bytes)
}

/// Appends an entry of this size as it is read.
pub fn append(archive: &mut ArchiveWriter, name: &str, size: u64, input: impl Read) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_size(size);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, input)
}

fn add_wide(archive: &mut ArchiveWriter, name: &str, ids: &[u32]) -> io::Result<()> {
    append(archive, name, 8 * ids.len() as u64, WordBytes(ids.iter().map(|&id| u64::from(id).to_le_bytes())))
}

fn add_doubles(archive: &mut ArchiveWriter, name: &str, values: &[f64]) -> io::Result<()> {
    append(archive, name, 8 * values.len() as u64, WordBytes(values.iter().map(|value| value.to_le_bytes())))
}

/// The bytes of numbers, made as they are read: a second copy of the arcs would cost as much memory as the model.
struct WordBytes<I>(I);

impl<I: Iterator<Item = [u8; 8]>> Read for WordBytes<I> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let (places, rest) = to.as_chunks_mut();
        if places.is_empty() && !rest.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let written = places.iter_mut().zip(&mut self.0).map(|(place, word)| *place = word);
        Ok(8 * written.count())
    }
}

fn index(mdp: &Mdp, actions: &Actions, label_ids: &[String], reward_ids: &[String]) -> Value {
    let mut aps = Map::new();
    for (label, id) in mdp.labels.iter().zip(label_ids) {
        let about =
            json!({"alias": label.name, "applies-to": ["states"], "type": {"type": "bool", "size": 1}});
        aps.insert(id.clone(), about);
    }
    let mut all_rewards = Map::new();
    for (rewards, id) in mdp.rewards.iter().zip(reward_ids) {
        let applies_to: Vec<&str> =
            parts(rewards, mdp.n_choices()).into_iter().map(|(part, _)| part).collect();
        all_rewards.insert(id.clone(), rewards_about(&rewards.name, &applies_to));
    }
    let mut annotations = Map::new();
    if !aps.is_empty() {
        annotations.insert("aps".to_owned(), Value::Object(aps));
    }
    if !all_rewards.is_empty() {
        annotations.insert("rewards".to_owned(), Value::Object(all_rewards));
    }
    let counts = ArchiveCounts {
        n_states: mdp.n_states() as u64,
        n_initial: mdp.initial.len(),
        n_choices: mdp.n_choices() as u64,
        n_actions: actions.n,
        n_arcs: mdp.n_arcs() as u64,
        chain: mdp.chain,
    };
    archive_index(&counts, Value::Object(annotations))
}

/// The entry of rewards in the index of an archive.
pub fn rewards_about(name: &str, applies_to: &[&str]) -> Value {
    json!({"alias": name, "applies-to": applies_to, "type": {"type": "double", "size": 64}})
}

/// The numbers that the index of an archive gives.
pub struct ArchiveCounts {
    pub n_states: u64,
    pub n_initial: usize,
    pub n_choices: u64,
    pub n_actions: usize,
    pub n_arcs: u64,
    pub chain: bool,
}

/// The index of an archive.
pub fn archive_index(counts: &ArchiveCounts, annotations: Value) -> Value {
    let mut system = json!({
        "time": "discrete",
        "#players": i32::from(!counts.chain),
        "#states": counts.n_states,
        "#initial-states": counts.n_initial,
        "#choices": counts.n_choices,
        "#choice-actions": counts.n_actions,
        "#branches": counts.n_arcs,
        "#branch-actions": 0,
        "#observations": 0,
    });
    if counts.n_arcs > 0 {
        system["branch-probability-type"] = json!({"type": "double", "size": 64});
    }
    json!({
        "format-version": 1,
        "format-revision": 0,
        "file-data": {"tool": "Backsweep", "tool-version": env!("CARGO_PKG_VERSION")},
        "transition-system": system,
        "annotations": annotations,
    })
}

/// The parts of a reward structure; one without any is 0 for every choice, because UMB has no empty annotations.
fn parts(rewards: &crate::Rewards, n_choices: usize) -> Vec<(&'static str, std::borrow::Cow<'_, [f64]>)> {
    let all = [("states", &rewards.states), ("choices", &rewards.choices), ("branches", &rewards.arcs)];
    let mut kept: Vec<_> =
        all.into_iter().filter(|(_, v)| !v.is_empty()).map(|(part, v)| (part, v.as_slice().into())).collect();
    if kept.is_empty() {
        kept.push(("choices", vec![0.0; n_choices].into()));
    }
    kept
}

/// Actions by number, and their names.
struct Actions {
    n: usize,
    of_choices: Vec<u8>,
    names: Option<(Vec<u32>, String)>,
}

impl Actions {
    fn new(names: &[String]) -> Self {
        let number =
            |name: &String| name.parse::<u32>().ok().filter(|n| n.to_string() == *name && *n < 1 << 24);
        if let Some(numbers) = names.iter().map(number).collect::<Option<Vec<u32>>>() {
            let n = numbers.iter().max().map_or(0, |most| *most as usize + 1);
            return Self {
                n,
                of_choices: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
                names: None,
            };
        }
        let (mut known, mut ends, mut text) = (HashMap::new(), vec![0], String::new());
        let mut of_choices = Vec::with_capacity(4 * names.len());
        for name in names {
            let n = known.len() as u32;
            let id = *known.entry(name.as_str()).or_insert_with(|| {
                text.push_str(name);
                ends.push(text.len() as u32);
                n
            });
            of_choices.extend_from_slice(&id.to_le_bytes());
        }
        Self { n: known.len(), of_choices, names: Some((ends, text)) }
    }
}

/// Names that are valid in paths; others are replaced by numbers. `alias` has the full name.
fn ids<'a>(names: impl Iterator<Item = &'a String>, word: &str) -> Vec<String> {
    let plain = |name: &str| {
        let word = name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
        word && !name.is_empty() && name.len() <= 60
    };
    let names: Vec<&String> = names.collect();
    let mut used: BTreeSet<String> =
        names.iter().filter(|name| plain(name)).map(|name| (*name).clone()).collect();
    let id = |name: &&String| {
        if plain(name) {
            return (*name).clone();
        }
        let mut n = 0;
        while !used.insert(format!("{word}{n}")) {
            n += 1;
        }
        format!("{word}{n}")
    };
    names.iter().map(id).collect()
}

/// The bits of a set, padded to 8 bytes.
pub fn bits(set: &[u32], n: usize) -> Vec<u8> {
    let mut bytes = vec![0; n.div_ceil(64) * 8];
    for &at in set {
        bytes[at as usize / 8] |= 1 << (at % 8);
    }
    bytes
}
