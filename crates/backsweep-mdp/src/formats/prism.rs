//! PRISM's explicit files: `model.tra`, and next to it `model.lab`, `model.srew`, `model.trew`, `model.sta` if they exist.
//! Several reward structures are `model1.srew`, `model2.srew` … or `model.NAME.srew`; `model.NAME.crew` has a reward per
//! choice. Storm's dialect, whose `.tra` begins with `mdp` or `dtmc`, is read too.

mod labels;
mod rewards;
mod transitions;
mod write;

pub use write::write;

use super::text::TextLines;
use crate::formats::{open, uncompressed};
use crate::{Mdp, ReadMdp, Result};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Reads a model and the files next to it.
pub fn read(path: &Path, input: impl BufRead) -> Result<ReadMdp> {
    let mut warnings = Vec::new();
    let mut mdp = transitions::read(TextLines::new(path, input), &mut warnings)?;
    // What follows looks up states and choices, which is safe only in consistent arrays.
    mdp.check().map_err(|error| error.within(path.display()))?;
    let plain = uncompressed(path);
    let path = plain.as_path();
    let beside = |extension: &str| Some(path.with_extension(extension)).filter(|path| path.is_file());
    if let Some(path) = beside("lab") {
        labels::read(TextLines::new(&path, buffered(&path)?), &mut mdp)?;
    }
    if let Some(path) = beside("sta") {
        mdp.state_names = labels::read_states(TextLines::new(&path, buffered(&path)?), mdp.n_states())?;
        warnings.extend(mdp.drop_ambiguous_state_names().map(str::to_owned));
    }
    for (name, path) in reward_files(path) {
        rewards::read(&name, TextLines::new(&path, buffered(&path)?), &path, &mut mdp)?;
    }
    Ok(ReadMdp { mdp, warnings })
}

fn buffered(path: &Path) -> Result<impl BufRead + use<>> {
    Ok(BufReader::with_capacity(1 << 18, open(path)?.0))
}

/// The reward files of a model, each with the name of its structure, in order of names.
fn reward_files(path: &Path) -> Vec<(String, PathBuf)> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let other = entry.path();
        let Some(name) = other.file_name().and_then(OsStr::to_str) else { continue };
        let Some((front, "srew" | "trew" | "crew")) = name.rsplit_once('.') else { continue };
        let named = match front.strip_prefix(stem) {
            Some("") => "",
            Some(rest) if rest.bytes().all(|c| c.is_ascii_digit()) => rest,
            Some(rest) if rest.starts_with('.') && rest.len() > 1 => &rest[1..],
            _ => continue,
        };
        found.push((named.to_owned(), other.clone()));
    }
    found.sort();
    found
}

/// The structure with this name, which is added if there is none.
fn rewards_of<'a>(mdp: &'a mut Mdp, name: &str) -> &'a mut crate::Rewards {
    let at = mdp.rewards.iter().position(|rewards| rewards.name == name).unwrap_or_else(|| {
        mdp.rewards.push(crate::Rewards { name: name.to_owned(), ..Default::default() });
        mdp.rewards.len() - 1
    });
    &mut mdp.rewards[at]
}
