//! Reads models from files, with a progress bar.

use crate::error::{Error, Result};
use crate::{interrupt, output, progress};
use backsweep::save::{Name, SavedAgent};
use backsweep_mdp::{Format, Mdp, ReadMdp, printable, read};
use backsweep_solve::{action_names, learned_mdp};
use std::path::Path;

/// Reads a model. Anything in the file that had to be left out is reported on standard error.
pub fn load(path: &Path, format: Option<Format>) -> Result<Mdp> {
    interrupt::note_on_ctrl_c(format!("{} was being read", path.display()));
    let bar = progress::bar(1000);
    bar.set_message(format!("reading {}", path.display()));
    let found = match format.map_or_else(|| Format::of(path), Ok) {
        Ok(Format::Learner) => learned(path),
        _ => {
            read(path, format, &|fraction| bar.set_position((fraction * 1000.0) as u64)).map_err(Error::from)
        }
    };
    bar.finish_and_clear();
    let found = found?;
    found.warnings.iter().for_each(|warning| warn(path, warning));
    Ok(found.mdp)
}

/// The model that a saved agent has learned, with its names.
fn learned(path: &Path) -> Result<ReadMdp> {
    let learner = SavedAgent::load_among(path, &backsweep_baselines::PLANNERS)?;
    let model = learner.agent.model();
    let mut mdp = learned_mdp(model).map_err(|error| Error::at(path.display(), error))?;
    if let Some(names) = &learner.names {
        mdp.state_names = names.states.iter().map(Name::text).collect();
        mdp.action_names = action_names(model, |state, action| names.action_text(state, action));
    }
    // The texts of different names, such as 1 and '1', may be the same.
    let warnings = mdp.drop_ambiguous_state_names().into_iter().map(str::to_owned).collect();
    Ok(ReadMdp { mdp, warnings })
}

/// Reports what was left out of a file or added to it.
pub fn warn(path: &Path, warning: &str) {
    let line = format!("backsweep: {}: note: {warning}", path.display());
    output::note(printable(&line));
}

/// A format by its name, for `--format` and `--to`.
pub fn format(name: &str) -> std::result::Result<Format, String> {
    let known: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
    Format::named(name).ok_or_else(|| format!("expected one of: {}", known.join(", ")))
}
