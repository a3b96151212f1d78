//! The manifest of an output folder: the experiments, with all they depend on, and the list of their settings.

use crate::experiment::Experiment;
use crate::result::{ExperimentInfo, SettingKey};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The version of the format of output folders.
const FORM: u32 = 1;
/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The identity of an output folder. Two commands may share a folder, and two folders may be merged, if and only if their
/// manifests are equal. Threads, shards and filters are not part of it. The version of the program is: another version may
/// give other numbers, and a folder with both would not show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    form: u32,
    /// The version of the program that made the results.
    pub version: String,
    /// The seed.
    pub seed: u64,
    /// The experiments, in order.
    pub experiments: Vec<ExperimentInfo>,
    /// All settings, in order, which is the order of the result files.
    pub settings: Vec<ManifestSetting>,
}

/// A setting of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestSetting {
    /// The setting.
    #[serde(flatten)]
    pub key: SettingKey,
    /// Its runs.
    pub runs: u32,
}

impl Manifest {
    /// The manifest of these experiments.
    ///
    /// # Errors
    /// If there are none, or two have the same name or different seeds.
    pub fn new(experiments: &[Experiment]) -> Result<Self> {
        let Some(first) = experiments.first() else {
            return Err(Error::new("no experiment to run; name one"));
        };
        for (i, experiment) in experiments.iter().enumerate() {
            if experiments[..i].iter().any(|earlier| earlier.info.name == experiment.info.name) {
                return Err(Error::new(format!(
                    "experiment {} is given twice; name each once",
                    experiment.info.name
                )));
            }
            if experiment.seed != first.seed {
                return Err(Error::new(format!(
                    "experiments {} and {} have different seeds; give them one",
                    first.info.name, experiment.info.name
                )));
            }
        }
        let settings = experiments.iter().flat_map(|experiment| &experiment.settings);
        Ok(Self {
            form: FORM,
            version: VERSION.to_owned(),
            seed: first.seed,
            experiments: experiments.iter().map(|experiment| experiment.info.clone()).collect(),
            settings: settings.map(|s| ManifestSetting { key: s.key.clone(), runs: s.runs }).collect(),
        })
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        // Structs of strings and numbers always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// If it is not a manifest of this format.
    pub fn from_text(text: &str) -> Result<Self> {
        let manifest: Self = serde_json::from_str(text)
            .map_err(|error| Error::new(format!("not a backsweep list of settings: {error}")))?;
        if manifest.form != FORM {
            let found = manifest.form;
            return Err(Error::new(format!(
                "results of format {found}; expected format {FORM}; use the version of backsweep that wrote them"
            )));
        }
        Ok(manifest)
    }

    /// Why results of this manifest, found in a folder, cannot be combined with those of the expected one; `None` if they can.
    pub fn differs_from(&self, expected: &Self) -> Option<String> {
        let with_version = |version: &str| Self { version: version.to_owned(), ..self.clone() };
        if self == expected {
            return None;
        }
        if with_version(&expected.version) == *expected {
            return Some(format!(
                "the folder holds the results of backsweep {}; expected those of backsweep {}, as numbers may differ",
                self.version, expected.version
            ));
        }
        let (found, wanted) = (self.describe(), expected.describe());
        let hint = if found == wanted { " with other settings" } else { "" };
        Some(format!("the folder holds the results of another experiment, {found}{hint}; expected {wanted}"))
    }

    /// The manifest in a few words: `fig3 (100 runs), seed 1`.
    pub fn describe(&self) -> String {
        let named: Vec<String> =
            self.experiments.iter().map(|info| format!("{} ({} runs)", info.name, info.runs)).collect();
        format!("{}, seed {}", named.join(", "), self.seed)
    }
}
