//! Experiments are data: a file says what to run, this turns it into settings.

mod file;
mod message;

use crate::check::Comparison;
use crate::control::{Control, OwnPlanner, PlannerChoice, Planning};
use crate::cost;
use crate::prediction::{Method, Prediction};
use crate::result::{ExperimentInfo, MazeInfo, SettingKey};
use crate::setting::{Setting, Work};
use crate::{Error, Law, MazeTask, Result, fnv1a};
use backsweep::predict::StepSize;
use backsweep::{Optimism, PlannerKind, Settings};
use file::{File, MazeTable, MethodTable, OneOrMany};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// The experiments of the paper, in the order in which they are run: names and files.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("fig1", include_str!("../experiments/fig1.toml")),
    ("fig1_band", include_str!("../experiments/fig1_band.toml")),
    ("fig3", include_str!("../experiments/fig3.toml")),
    ("fig3_icml", include_str!("../experiments/fig3_icml.toml")),
    ("choice_of_m", include_str!("../experiments/choice_of_m.toml")),
    ("check", include_str!("../experiments/check.toml")),
    ("table1", include_str!("../experiments/table1.toml")),
];

/// Every setting is a point of a figure; nobody could tell more of them apart.
const MOST_SETTINGS: usize = 10_000;
/// The most runs of all settings of an experiment. Their rows are kept in memory, about 300 bytes each.
const MOST_ROWS: u64 = 1_000_000;

/// Characters of a name. A figure's file is called after the experiment and the task, and file systems allow 255 bytes.
const LONGEST_NAME: usize = 80;

/// What the caller changes of an experiment.
#[derive(Clone, Copy, Default)]
pub struct Changes {
    /// The seed.
    pub seed: Option<u64>,
    /// Runs of each setting.
    pub runs: Option<u32>,
    /// Whether to do fewer runs, as the file says.
    pub quick: bool,
    /// Planners that experiments may name besides those of the core.
    pub planners: &'static [OwnPlanner],
}

impl Changes {
    /// The planner with this name.
    fn planner(&self, name: &str) -> Result<PlannerChoice> {
        match self.planners.iter().find(|own| own.name == name) {
            Some(own) => Ok(PlannerChoice::Own(own)),
            None => Ok(PlannerChoice::Library(name.parse()?)),
        }
    }
}

/// An experiment, checked and ready to be run.
#[derive(Debug)]
pub struct Experiment {
    /// Its name: the first part of its settings' names.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The seed.
    pub seed: u64,
    /// Runs of each setting.
    pub runs: u32,
    /// The file and all files it names: two experiments are the same if this, the seed and the runs are.
    pub text: String,
    /// Names and titles of its tasks.
    pub tasks: Vec<(String, String)>,
    /// The mazes among them.
    pub mazes: Vec<MazeInfo>,
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

    /// Reads an experiment file.
    ///
    /// # Errors
    /// Names the file, the place in it, what was found and what is expected.
    pub fn read(path: &Path, changes: &Changes) -> Result<Self> {
        let text = read_text(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let experiment = Self::parse(&text, folder, changes).map_err(|error| error.at(path.display()))?;
        // The pictures of built-in experiments show published points, which belong to no other.
        if BUILT_IN.iter().any(|(name, own)| *name == experiment.name && *own != text) {
            let line =
                format!("'{}' is the name of a built-in experiment; choose another name", experiment.name);
            return Err(Error::new(line).at(path.display()));
        }
        Ok(experiment)
    }

    /// Reads the text of an experiment file; files it names are looked for in `folder`.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for the name of the file.
    pub fn parse(text: &str, folder: &Path, changes: &Changes) -> Result<Self> {
        let file: File = toml::from_str(text).map_err(|error| message::one_line(text, &error))?;
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
        let mut experiment = Self {
            title: file.title.clone().unwrap_or_else(|| file.name.clone()),
            seed: changes.seed.unwrap_or(file.seed),
            runs,
            text: text.to_owned(),
            tasks: Vec::new(),
            mazes: Vec::new(),
            settings: Vec::new(),
            name: file.name.clone(),
        };
        experiment.add_control(&file, folder, changes)?;
        experiment.add_prediction(&file)?;
        if let Some(table) = &file.cost {
            let timed = if changes.quick { table.quick_observations } else { table.observations };
            // With fewer observations it is another experiment.
            experiment.text += &format!("\n# timed: {timed}\n");
            experiment.tasks.extend(cost::TASKS.map(|(name, title)| (name.to_owned(), title.to_owned())));
            for (task, method, parameter, measurement) in cost::measurements(table, timed)? {
                let seconds = measurement.seconds();
                let unit = measurement.unit();
                let key = experiment.key(task, &method, None, parameter);
                experiment.add(key, unit, true, seconds, Box::new(measurement))?;
            }
        }
        if experiment.settings.is_empty() {
            return Err(Error::new(
                "nothing to run; expected at least one table [[mazes]] and one [[methods]] (or [[circles]] and [[predictors]])",
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
        let (n_settings, runs) = (self.settings.len(), self.runs);
        let n_rows = n_settings as u64 * u64::from(runs);
        if n_rows > MOST_ROWS {
            return Err(Error::new(format!(
                "runs is {runs}, which makes {n_rows} runs of {n_settings} settings; expected at most {MOST_ROWS} in all, since \
                 their rows are kept in memory; lower runs"
            )));
        }
        Ok(())
    }

    /// What reports say about the experiment.
    pub fn info(&self) -> ExperimentInfo {
        ExperimentInfo {
            name: self.name.clone(),
            title: self.title.clone(),
            runs: self.runs,
            text: self.text.clone(),
            tasks: self.tasks.clone(),
            mazes: self.mazes.clone(),
        }
    }

    fn key(&self, task: &str, method: &str, cycles: Option<u32>, parameter: Option<f64>) -> SettingKey {
        SettingKey {
            experiment: self.name.clone(),
            task: task.to_owned(),
            method: method.to_owned(),
            cycles,
            parameter,
        }
    }

    fn add(
        &mut self,
        key: SettingKey,
        unit: &'static str,
        alone: bool,
        seconds: f64,
        work: Box<dyn Work>,
    ) -> Result<()> {
        if self.settings.len() == MOST_SETTINGS {
            return Err(Error::new(format!(
                "the experiment has more than {MOST_SETTINGS} settings, each a point of a figure; expected no more; shorten the \
                 lists"
            )));
        }
        self.settings.push(Setting { key, runs: self.runs, unit, alone, seconds, work });
        Ok(())
    }

    fn add_control(&mut self, file: &File, folder: &Path, changes: &Changes) -> Result<()> {
        if file.mazes.is_empty() != file.methods.is_empty() {
            return Err(Error::new("expected both [[mazes]] and [[methods]], found only one of them"));
        }
        if !file.mazes.is_empty() && file.learning.episodes == 0 {
            return Err(Error::new("learning.episodes is 0; expected a number above 0"));
        }
        for maze in &file.mazes {
            check_name("mazes.name", &maze.name)?;
            self.tasks.push((maze.name.clone(), maze.title.clone().unwrap_or_else(|| maze.name.clone())));
            let task = Arc::new(self.read_maze(maze, file.learning.discount, folder)?);
            for method in &file.methods {
                let planner = changes.planner(&method.planner);
                planner
                    .and_then(|planner| self.add_method(file, maze, &task, method, planner))
                    .map_err(|error| error.at(format!("method {}", method_name(method))))?;
            }
        }
        Ok(())
    }

    fn read_maze(&mut self, table: &MazeTable, discount: f64, folder: &Path) -> Result<MazeTask> {
        let law = match (table.law.as_str(), table.intended) {
            ("fifteen", None) => Law::Fifteen,
            ("four", Some(intended)) => Law::Four { intended },
            ("fifteen", Some(_)) => {
                return Err(Error::new(format!(
                    "maze {}: the law 'fifteen' has no probability; remove 'intended'",
                    table.name
                )));
            }
            ("four", None) => {
                return Err(Error::new(format!(
                    "maze {}: the law 'four' needs a probability, as in 'intended = 0.8'",
                    table.name
                )));
            }
            (found, _) => {
                return Err(Error::new(format!(
                    "maze {}: law is '{found}'; expected 'fifteen' or 'four'",
                    table.name
                )));
            }
        };
        let (place, text) = if table.maze == "paper" {
            ("the paper's maze".to_owned(), None)
        } else {
            let path = folder.join(&table.maze);
            let text = read_text(&path)?;
            // A changed maze is another experiment, so its text belongs to this one's.
            self.text += &format!("\n# {}\n{text}", table.maze);
            (path.display().to_string(), Some(text))
        };
        let info = MazeInfo { task: table.name.clone(), text, law, step_reward: table.step_reward, discount };
        let task = info.task().map_err(|error| error.at(place))?;
        self.mazes.push(info);
        Ok(task)
    }

    fn add_method(
        &mut self,
        file: &File,
        maze: &MazeTable,
        task: &Arc<MazeTask>,
        method: &MethodTable,
        planner: PlannerChoice,
    ) -> Result<()> {
        let name = method_name(method);
        check_name("name", name)?;
        let plannings: Vec<Planning> = match (&method.cycles, method.until) {
            (Some(cycles), None) => cycles.list().iter().copied().map(Planning::Cycles).collect(),
            (None, Some(_)) if file.learning.discount >= 1.0 => {
                // Values that grow without bound would keep planning busy forever.
                return Err(Error::new(
                    "until with learning.discount 1 may never end; expected a discount below 1, or 'cycles' in place of 'until'",
                ));
            }
            (None, Some(tolerance)) if tolerance > 0.0 && tolerance.is_finite() => {
                vec![Planning::Until(tolerance)]
            }
            (None, Some(tolerance)) => {
                return Err(Error::new(format!("until is {tolerance}; expected a finite number above 0")));
            }
            (cycles, _) => {
                let found = if cycles.is_some() { "both" } else { "neither" };
                return Err(Error::new(format!(
                    "found {found} of 'cycles' and 'until'; expected 'cycles' (a number or a list) or 'until' (a tolerance)"
                )));
            }
        };
        let min_visits =
            method.min_visits.as_ref().map_or(std::slice::from_ref(&maze.min_visits), OneOrMany::list);
        let is_curve = matches!(method.min_visits, Some(OneOrMany::Many(_)));
        for (name, is_empty) in [("cycles", plannings.is_empty()), ("min_visits", min_visits.is_empty())] {
            if is_empty {
                return Err(Error::new(format!(
                    "{name} is an empty list; expected at least one number in it"
                )));
            }
        }
        if method.compare_with_sweeps && method.until.is_none() {
            return Err(Error::new(
                "compare_with_sweeps is true without 'until'; expected a tolerance to compare at",
            ));
        }
        let learning = &file.learning;
        for &planning in &plannings {
            let (cycles, tolerance) = match planning {
                Planning::Cycles(0) => return Err(Error::new("cycles is 0; expected a number above 0")),
                Planning::Cycles(cycles) => (Some(cycles), Settings::default().tolerance),
                Planning::Until(tolerance) => (None, tolerance),
            };
            for &m in min_visits {
                let parameter = is_curve.then_some(f64::from(m));
                let key = self.key(&maze.name, name, cycles, parameter);
                let control = Control {
                    task: Arc::clone(task),
                    planner,
                    settings: Settings {
                        discount: learning.discount,
                        optimism: Optimism { value: learning.optimism, min_visits: m },
                        threshold: method.threshold.unwrap_or(learning.threshold),
                        queue: learning.queue.parse().map_err(Error::from)?,
                        tolerance,
                    },
                    planning,
                    freeze: method.freeze,
                    epsilon: method.epsilon.unwrap_or(learning.epsilon),
                    episodes: learning.episodes,
                    max_steps: Some(method.max_steps.unwrap_or(learning.max_steps)),
                    stream: fnv1a(&key.name()),
                };
                if control.max_steps == Some(0) {
                    return Err(Error::new("max_steps is 0; expected a number above 0"));
                }
                control.agent()?; // checks all numbers before anything is run
                let seconds = expected_seconds(&control);
                if method.compare_with_sweeps {
                    let parameter = Some(tolerance);
                    let key = self.key(&maze.name, name, cycles, parameter);
                    self.add(key, "step", false, 2.0 * seconds, Box::new(Comparison { control }))?;
                } else {
                    self.add(key, "step", false, seconds, Box::new(control))?;
                }
            }
        }
        Ok(())
    }

    fn add_prediction(&mut self, file: &File) -> Result<()> {
        if file.circles.is_empty() != file.predictors.is_empty() {
            return Err(Error::new("expected both [[circles]] and [[predictors]], found only one of them"));
        }
        if !file.circles.is_empty() && file.prediction.steps == 0 {
            return Err(Error::new("prediction.steps is 0; expected a number above 0"));
        }
        let discount = file.prediction.discount;
        if !file.circles.is_empty() && !(0.0..1.0).contains(&discount) {
            // A circle has no end, so without discount it has no values.
            return Err(Error::new(format!(
                "prediction.discount is {discount}; expected a number from 0 to below 1"
            )));
        }
        for circle in &file.circles {
            check_name("circles.name", &circle.name)?;
            self.tasks
                .push((circle.name.clone(), circle.title.clone().unwrap_or_else(|| circle.name.clone())));
            let random_instance = match circle.instance.as_str() {
                "fixed" => false,
                "random" => true,
                found => {
                    let name = &circle.name;
                    let line = format!("circle {name}: instance is '{found}'; expected 'fixed' or 'random'");
                    return Err(Error::new(line));
                }
            };
            // Common random numbers: the stream is that of the instance kind, so that tasks and methods can be compared
            // run by run.
            let stream = fnv1a(&format!("{}/{}", self.name, circle.name));
            for predictor in &file.predictors {
                for (method, parameter) in predictor_points(predictor)? {
                    let key = self.key(&circle.name, &predictor.method, None, parameter);
                    let work = Prediction {
                        task: circle.task,
                        random_instance,
                        method,
                        discount,
                        steps: file.prediction.steps,
                        stream,
                    };
                    work.circle(0, 0).map_err(|error| error.at(format!("circle {}", circle.name)))?;
                    method.predictor(work.discount)?;
                    let seconds = 4e-8 * f64::from(work.steps);
                    self.add(key, "step", false, seconds, Box::new(work))?;
                }
            }
        }
        Ok(())
    }
}

fn predictor_points(table: &file::PredictorTable) -> Result<Vec<(Method, Option<f64>)>> {
    let step_size: fn(f64) -> StepSize = match (table.method.as_str(), table.points) {
        ("small_backup", None) => return Ok(vec![(Method::SmallBackup, None)]),
        ("small_backup", Some(_)) => {
            return Err(Error::new("predictor small_backup: this method has no parameter; remove 'points'"));
        }
        ("td_constant", _) => StepSize::Constant,
        ("td_decaying", _) => StepSize::Decaying,
        (found, _) => {
            return Err(Error::new(format!(
                "no predictor is called '{found}'; expected one of: td_constant, td_decaying, small_backup"
            )));
        }
    };
    match table.points {
        Some(points) if (2..=MOST_SETTINGS as u32).contains(&points) => Ok((0..points)
            .map(|i| f64::from(i) / f64::from(points - 1))
            .map(|x| (Method::Td(step_size(x)), Some(x)))
            .collect()),
        found => {
            let found = found.map_or("missing".to_owned(), |points| points.to_string());
            Err(Error::new(format!(
                "predictor {}: points is {found}; expected a whole number from 2 to {MOST_SETTINGS}",
                table.method
            )))
        }
    }
}

fn method_name(method: &MethodTable) -> &str {
    method.name.as_deref().unwrap_or(&method.planner)
}

/// About how long a run takes, from measurements in the paper's maze; only to estimate the remaining time.
fn expected_seconds(control: &Control) -> f64 {
    let is_slow = matches!(control.planner, PlannerChoice::Library(PlannerKind::WieringSchmidhuber));
    let microseconds = match control.planning {
        Planning::Cycles(n) if is_slow => 0.2 + 1.2 * f64::from(n),
        Planning::Cycles(n) => 0.2 + 0.25 * f64::from(n),
        Planning::Until(_) if control.freeze => 1.0,
        Planning::Until(tolerance) => 0.12 / tolerance,
    };
    f64::from(control.episodes) * 130.0 * microseconds * 1e-6
}

/// Names are parts of settings' names, fields of CSV files and parts of file names.
fn check_name(what: &str, name: &str) -> Result<()> {
    if name.len() > LONGEST_NAME {
        let start: String = name.chars().take(20).collect();
        return Err(Error::new(format!(
            "{what} is '{start}…' with {} characters; expected at most {LONGEST_NAME}: figures are files of that name",
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
        Error::new(format!("{}: {reason}; check the path", path.display()))
    })
}
