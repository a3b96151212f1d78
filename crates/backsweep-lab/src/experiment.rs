//! Experiments are data: a file says what to run; this module turns it into settings.

mod control;
mod exploration;
mod file;
mod message;
mod prediction;

use crate::cost;
use crate::method::Method;
use crate::result::{ExperimentInfo, SettingKey, Unit};
use crate::setting::{Setting, Work};
use crate::theory::{self, Theory, TheoryRun};
use crate::{Error, Result};
use backsweep::PlannerKind;
use file::File;
use std::collections::HashSet;
use std::path::Path;

/// The experiments of the paper, in the order in which they are run: names and files.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("fig1", include_str!("../experiments/fig1.toml")),
    ("fig1_band", include_str!("../experiments/fig1_band.toml")),
    ("fig3", include_str!("../experiments/fig3.toml")),
    ("fig3_icml", include_str!("../experiments/fig3_icml.toml")),
    ("choice_of_m", include_str!("../experiments/choice_of_m.toml")),
    ("r_max", include_str!("../experiments/r_max.toml")),
    ("check", include_str!("../experiments/check.toml")),
    ("theory", include_str!("../experiments/theory.toml")),
    ("table1", include_str!("../experiments/table1.toml")),
];

/// The most settings of an experiment. Each is a point of a figure, and more could not be distinguished.
const MOST_SETTINGS: usize = 10_000;
/// The most runs of all settings of an experiment. Their rows are kept in memory, about 300 bytes each.
const MOST_ROWS: u64 = 1_000_000;

/// The longest name, in characters. A figure's file is named after the experiment and the task, and file systems allow
/// 255 bytes.
const LONGEST_NAME: usize = 80;

/// The caller's changes to an experiment.
#[derive(Clone, Copy, Default)]
pub struct Changes {
    /// The seed.
    pub seed: Option<u64>,
    /// Runs of each setting.
    pub runs: Option<u32>,
    /// True if to do fewer runs, as the file says.
    pub quick: bool,
    /// Planners of your own, which experiments may name besides those of the library.
    pub planners: &'static [PlannerKind],
}

impl Changes {
    /// The planner with this name.
    fn planner(&self, name: &str) -> Result<PlannerKind> {
        let all = [self.planners, &backsweep_baselines::PLANNERS].concat();
        Ok(PlannerKind::named(name, &all)?)
    }
}

/// An experiment, checked and ready to be run.
#[derive(Debug)]
pub struct Experiment {
    /// Its name and what reports show of it.
    pub info: ExperimentInfo,
    /// The seed.
    pub seed: u64,
    /// Its settings, in order.
    pub settings: Vec<Setting>,
}

impl Experiment {
    /// The built-in experiment of this name.
    ///
    /// # Errors
    /// Lists the names that exist.
    pub fn built_in(name: &str, changes: &Changes) -> Result<Self> {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name).ok_or_else(|| {
            let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            Error::new(format!("no experiment is called '{name}'; expected one of: {}", known.join(", ")))
        })?;
        Self::parse(text, Path::new(""), changes).map_err(|error| error.at(format!("experiment {name}")))
    }

    /// All built-in experiments.
    ///
    /// # Errors
    /// If a change does not fit one of them.
    pub fn all_built_in(changes: &Changes) -> Result<Vec<Self>> {
        BUILT_IN.iter().map(|(name, _)| Self::built_in(name, changes)).collect()
    }

    /// Reads an experiment file.
    ///
    /// # Errors
    /// Names the file, the place in it, what was found and what is expected.
    pub fn read(path: &Path, changes: &Changes) -> Result<Self> {
        let text = read_text(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let experiment = Self::parse(&text, folder, changes).map_err(|error| error.at(path.display()))?;
        // The figures of built-in experiments show published points, which must not appear in any other.
        if BUILT_IN.iter().any(|(name, own)| *name == experiment.info.name && *own != text) {
            let line = format!(
                "'{}' is the name of a built-in experiment; choose another name",
                experiment.info.name
            );
            return Err(Error::new(line).at(path.display()));
        }
        Ok(experiment)
    }

    /// Reads the text of an experiment file; files it names are relative to `folder`.
    ///
    /// # Errors
    /// As [`read`](Self::read), without the name of the file.
    pub fn parse(text: &str, folder: &Path, changes: &Changes) -> Result<Self> {
        Self::of_file(&Self::file(text)?, text, folder, changes)
    }

    fn file(text: &str) -> Result<File> {
        toml::from_str(text).map_err(|error| message::one_line(text, &error))
    }

    fn of_file(file: &File, text: &str, folder: &Path, changes: &Changes) -> Result<Self> {
        let has_circles =
            file.prediction.is_some() || !file.circles.is_empty() || !file.predictors.is_empty();
        if (has_circles || file.cost.is_some() || file.theory.is_some())
            && !BUILT_IN.iter().any(|(_, own)| *own == text)
        {
            return Err(Error::new(
                "circles, predictors, cost and theory are for built-in experiments; expected [[mazes]] and [[methods]], or \
                 [[worlds]] and [[agents]]",
            ));
        }
        let mut runs = file.runs;
        if changes.quick {
            runs = file.quick_runs.unwrap_or(runs);
        }
        if let (Some(changed), None) = (changes.runs, &file.cost) {
            runs = changed;
        }
        if runs == 0 {
            return Err(Error::new("runs is 0; expected a number above 0"));
        }
        check_name("name", &file.name)?;
        let info = ExperimentInfo {
            title: file.title.clone().unwrap_or_else(|| file.name.clone()),
            name: file.name.clone(),
            runs,
            text: text.to_owned(),
            ..ExperimentInfo::default()
        };
        let mut experiment = Self { info, seed: changes.seed.unwrap_or(file.seed), settings: Vec::new() };
        experiment.add_control(file, folder, changes)?;
        experiment.add_prediction(file)?;
        experiment.add_exploration(file)?;
        if let Some(table) = file.theory {
            experiment
                .info
                .tasks
                .extend(theory::TASKS.map(|(name, title)| (name.to_owned(), title.to_owned())));
            for (task, method, theory) in Theory::all() {
                let key = experiment.key(task, method.into(), None, None);
                experiment.add(key, Unit::Step, false, 1.0, Box::new(TheoryRun { theory, table }))?;
            }
        }
        if let Some(table) = &file.cost {
            let timed = if changes.quick { table.quick_observations } else { table.observations };
            // With fewer observations it is a different experiment.
            experiment.info.text += &format!("\n# timed: {timed}\n");
            experiment
                .info
                .tasks
                .extend(cost::TASKS.map(|(name, title)| (name.to_owned(), title.to_owned())));
            for (task, method, parameter, measurement) in cost::measurements(table, timed)? {
                let seconds = measurement.seconds();
                let unit = measurement.unit();
                let key = experiment.key(task, method, None, parameter);
                experiment.add(key, unit, true, seconds, Box::new(measurement))?;
            }
        }
        if experiment.settings.is_empty() {
            return Err(Error::new(
                "nothing to run; expected at least one table [[mazes]] and one [[methods]] (or [[worlds]] and [[agents]])",
            ));
        }
        experiment.check_settings()?;
        Ok(experiment)
    }

    /// Refuses settings of the same name, and more runs than can be kept.
    fn check_settings(&self) -> Result<()> {
        let mut names = HashSet::new();
        if let Some(twice) = self.settings.iter().find(|setting| !names.insert(setting.key.name())) {
            return Err(Error::new(format!(
                "setting {} occurs twice; give one of the two methods another name (name = \"…\")",
                twice.key.name()
            )));
        }
        let (n_settings, runs) = (self.settings.len(), self.info.runs);
        let n_rows = n_settings as u64 * u64::from(runs);
        if n_rows > MOST_ROWS {
            return Err(Error::new(format!(
                "runs is {runs}, which makes {n_rows} runs of {n_settings} settings; expected at most {MOST_ROWS} in all, since \
                 their rows are kept in memory; lower runs"
            )));
        }
        Ok(())
    }

    fn key(&self, task: &str, method: Method, cycles: Option<u32>, parameter: Option<f64>) -> SettingKey {
        SettingKey { experiment: self.info.name.clone(), task: task.to_owned(), method, cycles, parameter }
    }

    fn add(
        &mut self,
        key: SettingKey,
        unit: Unit,
        alone: bool,
        seconds: f64,
        work: Box<dyn Work>,
    ) -> Result<()> {
        if self.settings.len() == MOST_SETTINGS {
            return Err(Error::new(format!(
                "the experiment has more than {MOST_SETTINGS} settings, each a point of a figure; expected fewer; shorten the \
                 lists"
            )));
        }
        self.settings.push(Setting { key, runs: self.info.runs, unit, alone, seconds, work });
        Ok(())
    }
}

/// Names are parts of settings' names, fields of CSV files and parts of file names.
fn check_name(what: &str, name: &str) -> Result<()> {
    if name.len() > LONGEST_NAME {
        let start: String = name.chars().take(20).collect();
        return Err(Error::new(format!(
            "{what} is '{start}…' with {} characters; expected at most {LONGEST_NAME}: figures use it as a file name",
            name.chars().count()
        )));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.chars().all(fits) {
        return Ok(());
    }
    Err(Error::new(format!("{what} is '{name}'; expected letters, digits, '_', '-' and '.' only")))
}

fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            std::io::ErrorKind::IsADirectory => "a folder, not a file".to_owned(),
            std::io::ErrorKind::InvalidData => "not a text file".to_owned(),
            _ => error.to_string(),
        };
        Error::file(path, format!("{reason}; check the path"))
    })
}
