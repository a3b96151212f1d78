//! Models in files of other tools, with names.

use crate::errors;
use crate::known::named_mdp::NamedMdp;
use crate::names::{self, Key, Names};
use backsweep::save::{Name, SavedAgent};
use backsweep_mdp::{self as mdp, Compression, Format, Mdp, ReadMdp};
use backsweep_solve::{Session, action_names, learned_mdp};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Reads a model on another thread, so that Ctrl-C works; `progress` receives the fraction that has been read.
pub fn read(
    py: Python<'_>,
    path: &Path,
    format: Option<Format>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(NamedMdp, Vec<String>)> {
    let fraction = Arc::new(AtomicU32::new(0));
    let (sender, receiver) = mpsc::channel();
    let (shared, file) = (Arc::clone(&fraction), path.to_owned());
    std::thread::spawn(move || {
        let report = |fraction: f64| shared.store((fraction * 1000.0) as u32, Ordering::Relaxed);
        // After Ctrl-C nobody receives it.
        let _ = sender.send(match format.map_or_else(|| Format::of(&file), Ok) {
            Ok(Format::Learner) => learned(&file),
            _ => mdp::read(file, format, &report).map_err(Unreadable::Model),
        });
    });
    let receiver = std::sync::Mutex::new(receiver);
    let ReadMdp { mdp, mut warnings } = loop {
        let received = py.detach(|| match receiver.lock() {
            Ok(receiver) => receiver.recv_timeout(Duration::from_millis(20)),
            Err(_) => Err(mpsc::RecvTimeoutError::Disconnected),
        });
        match received {
            Ok(Err(Unreadable::Learner(error))) => return Err(errors::from_io(py, error)),
            Ok(Err(Unreadable::Model(error))) => return Err(from_mdp(py, path, &error)),
            Ok(Ok(read)) => break read,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(errors::file(py, format!("{}: cannot read the file", path.display())));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                if let Some(progress) = progress {
                    progress.call1((fraction.load(Ordering::Relaxed),))?;
                }
            }
        }
    };
    Ok((named(py, mdp, &mut warnings)?, warnings))
}

/// Why a model could not be read.
enum Unreadable {
    Model(mdp::Error),
    Learner(backsweep::save::Error),
}

/// The model that a saved agent has learned, with its names as text.
fn learned(path: &Path) -> Result<ReadMdp, Unreadable> {
    let learner =
        SavedAgent::load_among(path, &backsweep_baselines::PLANNERS).map_err(Unreadable::Learner)?;
    let model = learner.agent.model();
    let mut mdp = learned_mdp(model).map_err(|error| Unreadable::Model(error.within(path.display())))?;
    if let Some(names) = &learner.names {
        mdp.state_names = names.states.iter().map(Name::text).collect();
        mdp.action_names = action_names(model, |state, action| names.action_text(state, action));
    }
    Ok(ReadMdp { mdp, warnings: Vec::new() })
}

/// Writes a model in a format of other tools; returns notes on what it cannot hold.
pub fn write(
    py: Python<'_>,
    solved: &mut NamedMdp,
    path: &Path,
    format: Option<Format>,
    compression: Compression,
) -> PyResult<Vec<String>> {
    solved.flatten()?;
    let state_names = texts(py, &solved.states, "state")?;
    let action_names = texts(py, &solved.actions, "action")?;
    let (mdp, action_of) = (solved.session.model().mdp(), solved.session.model().action_of());
    let in_order = |state| {
        let mut choices = mdp.choices_of(state).enumerate();
        choices.all(|(place, choice)| action_of[choice] == place as u32)
    };
    let mut of_choices = Vec::new();
    if action_names.is_some() || !(0..mdp.n_states()).all(in_order) {
        let text = |&id: &u32| match &action_names {
            Some(names) => names[id as usize].clone(),
            None => id.to_string(),
        };
        of_choices = action_of.iter().map(text).collect();
    }
    let session = &mut solved.session;
    let written = py.detach(|| {
        let write = |mdp: &Mdp| mdp::write(path, mdp, format, compression);
        session.with_names(state_names.unwrap_or_default(), of_choices, write)
    });
    written.map_err(|error| from_mdp(py, path, &error))
}

/// An error of reading or writing: what the system says as `OSError`, anything else as `FileError`.
fn from_mdp(py: Python<'_>, path: &Path, error: &mdp::Error) -> PyErr {
    match error {
        mdp::Error::System { code: Some(code), .. } => errors::system(*code, path),
        _ => errors::file(py, error.to_string()),
    }
}

/// The names as text, all different; `None` if they are the numbers from 0 on.
fn texts(py: Python<'_>, names: &Names, role: names::Role) -> PyResult<Option<Vec<String>>> {
    if names.are_numbers() {
        return Ok(None);
    }
    let mut seen = rustc_hash::FxHashMap::default();
    let mut texts = Vec::with_capacity(names.len());
    for id in 0..names.len() as u32 {
        let text = names.object(py, id)?.str()?.to_string_lossy().into_owned();
        if let Some(other) = seen.insert(text.clone(), id) {
            return Err(errors::value(format!(
                "{role}s {} and {} have the same text; expected names that differ as text, since files hold text",
                names.show(py, other),
                names.show(py, id)
            )));
        }
        texts.push(text);
    }
    Ok(Some(texts))
}

/// A model from a file with Python's names: whole numbers where all names are, text otherwise.
fn named(py: Python<'_>, mut mdp: Mdp, warnings: &mut Vec<String>) -> PyResult<NamedMdp> {
    let state_names = std::mem::take(&mut mdp.state_names);
    let action_names = std::mem::take(&mut mdp.action_names);
    let mut states = Names::default();
    let whole = all_whole(&state_names);
    for name in &state_names {
        states.id_or_insert(py, key(py, name, whole), "state")?;
    }
    if states.len() != mdp.n_states() {
        if !state_names.is_empty() {
            warnings.push("some state names occur twice, so states are numbered instead".to_owned());
        }
        states = Names::numbers(mdp.n_states());
    }
    let whole = all_whole(&action_names);
    let mut actions = Names::default();
    let mut action_of: Vec<u32> = Vec::with_capacity(mdp.n_choices());
    for state in 0..mdp.n_states() {
        let choices = mdp.choices_of(state);
        for (place, choice) in choices.clone().enumerate() {
            let number = Key::Int(place as i64, None);
            let name = action_names.get(choice).filter(|name| !name.is_empty());
            let name = name.map_or(number, |name| key(py, name, whole));
            let mut id = actions.id_or_insert(py, name, "action")?.0;
            // A name that the state already has is replaced by a number: its place, or the next free one.
            let mut number = place as i64;
            while action_of[choices.start..].contains(&id) {
                id = actions.id_or_insert(py, Key::Int(number, None), "action")?.0;
                number += 1;
            }
            action_of.push(id);
        }
    }
    Ok(NamedMdp::new(states, actions, Session::new(mdp, action_of, 0.0)))
}

fn all_whole(names: &[String]) -> bool {
    names.iter().all(|name| name.parse::<i64>().is_ok_and(|number| number.to_string() == *name))
}

fn key<'py>(py: Python<'py>, name: &str, whole: bool) -> Key<'py> {
    match name.parse() {
        Ok(number) if whole => Key::Int(number, None),
        _ => Key::Object(PyString::new(py, name).into_any()),
    }
}
