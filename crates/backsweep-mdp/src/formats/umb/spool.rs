//! Writes an archive row by row, without ever holding the model.
//!
//! An archive has one array after another, and the rows of a state belong to several of them. Each array grows in a file of its
//! own beside the target; at the end they are copied into the archive and removed.

use super::write::{ArchiveCounts, ArchiveWriter, add, append, archive_index, bits, rewards_about};
use super::{ACTION_NAME_ENDS, ACTION_NAMES, ACTIONS, BRANCHES, CHOICES, INITIAL, PROBABILITIES, TARGETS};
use crate::formats::{create_temporary, replace};
use crate::{ChoicePlace, Error, MAX_REWARD, Result, check_row};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The reward structure of the model.
const REWARDS: &str = "annotations/rewards/reward/choices/values.bin";

/// A model that is written row by row: the choices of a state, then its end.
///
/// Memory does not grow with the model. A file that is not [finished](Self::finish) is never there.
#[derive(Debug)]
pub struct DiskWriter {
    path: PathBuf,
    choices: Spool,
    branches: Spool,
    targets: Spool,
    probabilities: Spool,
    actions: Spool,
    rewards: Spool,
    n_states: u64,
    n_choices: u64,
    n_arcs: u64,
    choices_of_state: usize,
    largest_target: Option<u32>,
    n_actions: u32,
}

/// An array that grows in a file, which goes when the array does.
#[derive(Debug)]
struct Spool {
    path: PathBuf,
    output: BufWriter<File>,
    n_bytes: u64,
}

impl Spool {
    fn new(path: &Path) -> Result<Self> {
        let (path, file) =
            create_temporary(path).map_err(|error| Error::system(path.display(), "write", &error))?;
        Ok(Self { path, output: BufWriter::with_capacity(1 << 18, file), n_bytes: 0 })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.n_bytes += bytes.len() as u64;
        self.output.write_all(bytes).map_err(|error| Error::system(self.path.display(), "write", &error))
    }

    /// The file from its beginning.
    fn rewind(&mut self) -> io::Result<&mut File> {
        self.output.flush()?;
        // Created for writing only, so it is opened again.
        *self.output.get_mut() = File::open(&self.path)?;
        Ok(self.output.get_mut())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // A leftover is useless; failing to remove it harms nobody.
        let _ = fs::remove_file(&self.path);
    }
}

impl DiskWriter {
    /// Begins a model.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let spool = || Spool::new(path);
        let mut writer = Self {
            path: path.to_owned(),
            choices: spool()?,
            branches: spool()?,
            targets: spool()?,
            probabilities: spool()?,
            actions: spool()?,
            rewards: spool()?,
            n_states: 0,
            n_choices: 0,
            n_arcs: 0,
            choices_of_state: 0,
            largest_target: None,
            n_actions: 0,
        };
        writer.choices.put(&0_u64.to_le_bytes())?;
        writer.branches.put(&0_u64.to_le_bytes())?;
        Ok(writer)
    }

    /// Adds a choice to the state that is being written: the number of its action, its expected reward and its arcs, which may
    /// lead to states that are written later.
    ///
    /// # Errors
    /// If a number is out of range, or the system refuses. Nothing was added if a number is out of range.
    pub fn add_choice(
        &mut self,
        action: u32,
        reward: f64,
        targets: &[u32],
        probabilities: &[f64],
    ) -> Result<()> {
        let place = || ChoicePlace { state: self.n_states.to_string(), choice: self.choices_of_state };
        let arcs = targets.iter().copied().zip(probabilities.iter().copied());
        check_row(arcs, u32::MAX as usize).map_err(|problem| Error::Row { place: place(), problem })?;
        if reward.is_nan() || reward.abs() > MAX_REWARD {
            return Err(Error::Reward { place: place().to_string(), rewards: String::new(), found: reward });
        }
        self.n_choices += 1;
        self.choices_of_state += 1;
        self.n_arcs += targets.len() as u64;
        self.n_actions = self.n_actions.max(action.saturating_add(1));
        self.largest_target = self.largest_target.max(targets.iter().max().copied());
        self.actions.put(&action.to_le_bytes())?;
        self.rewards.put(&reward.to_le_bytes())?;
        self.branches.put(&self.n_arcs.to_le_bytes())?;
        for &target in targets {
            self.targets.put(&u64::from(target).to_le_bytes())?;
        }
        for &p in probabilities {
            self.probabilities.put(&p.to_le_bytes())?;
        }
        Ok(())
    }

    /// Ends the state that is being written; one without choices is terminal.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn end_state(&mut self) -> Result<()> {
        self.n_states += 1;
        self.choices_of_state = 0;
        self.choices.put(&self.n_choices.to_le_bytes())
    }

    /// Writes the archive. `action_names` may be empty: actions then have only numbers.
    ///
    /// # Errors
    /// If an arc or an initial state leads to no state, a name is missing, or the system refuses. The file is as it was then.
    pub fn finish(mut self, initial: &[u32], action_names: &[String]) -> Result<()> {
        let n_states = self.n_states;
        let exists = |state: u32| u64::from(state) < n_states;
        if n_states == 0 || n_states >= u64::from(u32::MAX) {
            return Err(Error::new(
                "model",
                format!("it has {n_states} states; expected 1 to {}", u32::MAX - 1),
            ));
        }
        if let Some(state) =
            self.largest_target.into_iter().chain(initial.iter().copied()).find(|state| !exists(*state))
        {
            return Err(Error::UnknownState { found: state.to_string(), n_states: n_states as usize });
        }
        if !action_names.is_empty() && action_names.len() < self.n_actions as usize {
            let problem =
                format!("found {} names; expected one per action, {}", action_names.len(), self.n_actions);
            return Err(Error::new("action names", problem));
        }
        let path = self.path.clone();
        replace(&path, |output| self.archive(output, initial, action_names))
    }

    fn archive(
        &mut self,
        output: &mut dyn Write,
        initial: &[u32],
        action_names: &[String],
    ) -> io::Result<()> {
        let n_actions = if action_names.is_empty() { self.n_actions as usize } else { action_names.len() };
        let counts = ArchiveCounts {
            n_states: self.n_states,
            n_initial: initial.len(),
            n_choices: self.n_choices,
            n_actions,
            n_arcs: self.n_arcs,
            chain: false,
        };
        let annotations = serde_json::json!({"rewards": {"reward": rewards_about("", &["choices"])}});
        let index = serde_json::to_string_pretty(&archive_index(&counts, annotations))?;
        let mut archive = tar::Builder::new(output);
        add(&mut archive, "index.json", index.as_bytes())?;
        let spool = |archive: &mut ArchiveWriter, name: &str, spool: &mut Spool| {
            let size = spool.n_bytes;
            append(archive, name, size, spool.rewind()?)
        };
        spool(&mut archive, CHOICES, &mut self.choices)?;
        if !initial.is_empty() {
            add(&mut archive, INITIAL, &bits(initial, self.n_states as usize))?;
        }
        spool(&mut archive, BRANCHES, &mut self.branches)?;
        if self.n_arcs > 0 {
            spool(&mut archive, TARGETS, &mut self.targets)?;
            spool(&mut archive, PROBABILITIES, &mut self.probabilities)?;
        }
        if n_actions > 0 {
            spool(&mut archive, ACTIONS, &mut self.actions)?;
        }
        if !action_names.is_empty() {
            let ends = std::iter::once(0).chain(action_names.iter().scan(0_u64, |end, name| {
                *end += name.len() as u64;
                Some(*end)
            }));
            let ends: Vec<u8> = ends.flat_map(u64::to_le_bytes).collect();
            add(&mut archive, ACTION_NAME_ENDS, &ends)?;
            add(&mut archive, ACTION_NAMES, action_names.concat().as_bytes())?;
        }
        spool(&mut archive, REWARDS, &mut self.rewards)?;
        archive.into_inner().map(drop)
    }
}
