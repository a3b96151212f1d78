//! The output folder: rows are written as soon as a setting is done, so a killed command loses no finished setting.
//!
//! `rows.csv` and `timing.csv` are appended to; a setting left half-written by a kill is dropped when the folder is opened
//! again. When a command ends, both are in the order of the manifest, so their bytes do not depend on the order of work.

use crate::manifest::Manifest;
use crate::result::{CsvRecord, Results, Row, SettingKey, Summary, Timing, from_csv, to_csv};
use crate::statistics::summarize;
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "experiment.json";
const ROWS: &str = "rows.csv";
const TIMING: &str = "timing.csv";
const SUMMARY: &str = "summary.csv";
const REPORT: &str = "report.html";
const LOCK: &str = ".lock";
/// The files that a folder may contain before it has a manifest.
const LEFTOVERS: [&str; 2] = [LOCK, ".experiment.json.new"];

/// An output folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    manifest: Manifest,
    /// The settings that are done, by their place in the manifest.
    done: BTreeMap<usize, (Vec<Row>, Timing)>,
    /// Held while a command writes: two schedulers may start the same shard. The system releases it when the process ends,
    /// however it ends.
    lock: Option<fs::File>,
}

impl Store {
    /// Opens the folder of these experiments, creating it if necessary.
    ///
    /// # Errors
    /// If it belongs to other experiments or contains something else. Nothing is changed then.
    pub fn open(folder: &Path, manifest: Manifest) -> Result<Self> {
        Self::examine(folder, manifest.clone())?;
        fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
        // The contents are certain only once the lock is held: another command may have written in between.
        let lock = lock(folder)?;
        let mut store = Self::examine(folder, manifest)?;
        store.lock = Some(lock);
        store.prepare()?;
        if !store.is_complete() {
            store.retract()?;
        }
        Ok(store)
    }

    /// Creates the folder and waits until no other command writes to it.
    pub fn lock(&mut self) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(|error| failed("make", &self.folder, &error))?;
        self.lock = Some(lock(&self.folder)?);
        Ok(())
    }

    /// Reads the folder of these experiments, which need not exist, without changing anything.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn examine(folder: &Path, manifest: Manifest) -> Result<Self> {
        let mut store = Self::empty(folder, manifest);
        if let Some(found) = read_manifest(folder)? {
            if let Some(difference) = found.differs_from(&store.manifest) {
                let line = format!("{difference}; choose another folder");
                return Err(Error::new(line).at(folder.display()));
            }
            store.load(folder)?;
        }
        Ok(store)
    }

    fn empty(folder: &Path, manifest: Manifest) -> Self {
        Self { folder: folder.to_owned(), manifest, done: BTreeMap::new(), lock: None }
    }

    fn prepare(&self) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(|error| failed("make", &self.folder, &error))?;
        self.replace(MANIFEST, &self.manifest.to_text())?;
        self.rewrite()
    }

    /// Removes files that describe rows about to change: if the command is stopped, nothing would show that they are outdated.
    fn retract(&self) -> Result<()> {
        [REPORT, SUMMARY].iter().try_for_each(|name| remove(&self.folder.join(name)))
    }

    /// The path of the report. It exists only if every setting is done.
    pub fn report(&self) -> PathBuf {
        self.folder.join(REPORT)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether the setting at this place of the manifest is done.
    pub fn is_done(&self, place: usize) -> bool {
        self.done.contains_key(&place)
    }

    /// Returns whether all settings are done.
    pub fn is_complete(&self) -> bool {
        self.done.len() == self.manifest.settings.len()
    }

    /// The names of settings that are not done.
    pub fn missing(&self) -> Vec<String> {
        let settings = self.manifest.settings.iter().enumerate();
        settings.filter(|(place, _)| !self.is_done(*place)).map(|(_, setting)| setting.key.name()).collect()
    }

    /// Writes a finished setting.
    pub fn put(&mut self, place: usize, rows: Vec<Row>, timing: Timing) -> Result<()> {
        self.retract()?;
        if self.is_done(place) {
            self.done.insert(place, (rows, timing));
            return self.rewrite();
        }
        append(&self.folder.join(ROWS), &rows)?;
        append(&self.folder.join(TIMING), std::slice::from_ref(&timing))?;
        self.done.insert(place, (rows, timing));
        Ok(())
    }

    /// Imports the settings of another folder of the same experiments.
    ///
    /// # Errors
    /// If it belongs to other experiments, or has other rows for a setting that is done.
    pub fn merge(&mut self, folder: &Path) -> Result<()> {
        let manifest = expect_manifest(folder)?;
        if let Some(difference) = manifest.differs_from(&self.manifest) {
            return Err(Error::new(difference).at(folder.display()));
        }
        let mut other = Self::empty(folder, manifest);
        other.load(folder)?;
        for (place, (rows, timing)) in other.done {
            match self.done.get(&place) {
                Some((known, _)) if *known != rows => {
                    return Err(Error::new(format!(
                        "{}: the rows of {} differ from those in another folder; they may come from different versions",
                        folder.display(),
                        self.manifest.settings[place].key.name()
                    )));
                }
                Some(_) => {}
                None => drop(self.done.insert(place, (rows, timing))),
            }
        }
        Ok(())
    }

    /// Puts the files in order and writes the summary.
    pub fn finish(&mut self) -> Result<()> {
        self.prepare()?;
        self.replace(SUMMARY, &to_csv(&self.summaries()))
    }

    /// The statistics of all settings that are done, in order.
    pub fn summaries(&self) -> Vec<Summary> {
        self.done
            .iter()
            .map(|(&place, (rows, _))| summarize(&self.manifest.settings[place].key, rows))
            .collect()
    }

    /// Everything that figures and report read.
    pub fn results(&self) -> Results {
        Results {
            experiments: self.manifest.experiments.clone(),
            seed: self.manifest.seed,
            version: self.manifest.version.clone(),
            rows: self.done.values().flat_map(|(rows, _)| rows.clone()).collect(),
            summaries: self.summaries(),
            timings: self.done.values().map(|(_, timing)| timing.clone()).collect(),
        }
    }

    /// Reads the finished settings. A setting that lacks a row or its timing is not finished.
    fn load(&mut self, folder: &Path) -> Result<()> {
        let places: HashMap<String, usize> =
            self.manifest.settings.iter().enumerate().map(|(i, setting)| (setting.key.name(), i)).collect();
        let place = |key: &SettingKey, file: &str| {
            places.get(&key.name()).copied().ok_or_else(|| {
                let line = format!("setting {} does not belong to this experiment", key.name());
                Error::new(line).at(folder.join(file).display())
            })
        };
        let mut rows: HashMap<usize, Vec<Row>> = HashMap::new();
        for row in read_records::<Row>(&folder.join(ROWS))? {
            rows.entry(place(&row.key, ROWS)?).or_default().push(row);
        }
        let mut timings: HashMap<usize, Timing> = HashMap::new();
        for timing in read_records::<Timing>(&folder.join(TIMING))? {
            timings.insert(place(&timing.key, TIMING)?, timing);
        }
        for (place, rows) in rows {
            let Some(timing) = timings.remove(&place) else { continue };
            if rows.iter().map(|row| row.run).eq(0..self.manifest.settings[place].runs) {
                self.done.insert(place, (rows, timing));
            }
        }
        Ok(())
    }

    fn rewrite(&self) -> Result<()> {
        self.replace(ROWS, &to_csv(self.done.values().flat_map(|(rows, _)| rows)))?;
        self.replace(TIMING, &to_csv(self.done.values().map(|(_, timing)| timing)))
    }

    /// Replaces a file as a whole: a reader, or a kill, finds the old one or the new one. A file that already has this content
    /// is left alone.
    fn replace(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            return Ok(());
        }
        let new = self.folder.join(format!(".{name}.new"));
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, &path))
            .map_err(|error| failed("write", &path, &error))
    }
}

/// The manifest of a folder; `None` if there is no such folder or it is empty.
///
/// # Errors
/// If something else is in its place.
pub fn read_manifest(folder: &Path) -> Result<Option<Manifest>> {
    let not_ours = |what: &str| Error::file(folder, format!("{what}; choose another folder"));
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(not_ours("this is a file, not a folder"));
        }
        Err(error) => return Err(failed("read", folder, &error)),
    };
    let path = folder.join(MANIFEST);
    match fs::read_to_string(&path) {
        Ok(text) => Manifest::from_text(&text).map(Some).map_err(|error| error.at(path.display())),
        // A kill can come between making the folder and writing the manifest.
        Err(_)
            if entries
                .all(|entry| entry.is_ok_and(|e| LEFTOVERS.contains(&&*e.file_name().to_string_lossy()))) =>
        {
            Ok(None)
        }
        Err(_) => Err(not_ours("the folder is not empty and contains no backsweep results")),
    }
}

/// The manifest of a folder that must have one.
///
/// # Errors
/// If it has none.
pub fn expect_manifest(folder: &Path) -> Result<Manifest> {
    read_manifest(folder)?.ok_or_else(|| Error::file(folder, "contains no backsweep results; check the path"))
}

/// Waits until no other command writes to the folder.
fn lock(folder: &Path) -> Result<fs::File> {
    let path = folder.join(LOCK);
    let file = fs::OpenOptions::new().create(true).append(true).open(&path);
    let file = file.map_err(|error| failed("write", &path, &error))?;
    file.lock().map_err(|error| failed("lock", &path, &error))?;
    Ok(file)
}

fn read_records<T: CsvRecord>(path: &Path) -> Result<Vec<T>> {
    match fs::read_to_string(path) {
        Ok(text) => from_csv(&text).map_err(|error| error.at(path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("read", path, &error)),
    }
}

fn append<T: CsvRecord>(path: &Path, records: &[T]) -> Result<()> {
    let mut text = String::new();
    records.iter().for_each(|record| record.write(&mut text));
    let file = fs::OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| failed("write", path, &error))
}

/// Removes a file if it exists.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed("remove", path, &error)),
        _ => Ok(()),
    }
}

fn failed(verb: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::file(path, format!("cannot {verb} it ({error})"))
}
