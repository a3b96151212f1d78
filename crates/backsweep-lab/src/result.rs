//! Results as plain structs, and the tidy CSV files that hold them.
//!
//! | file | holds | byte-identical for any number of threads, shards and interruptions |
//! |---|---|---|
//! | `rows.csv` | a [`Row`] for each run of each setting | yes |
//! | `summary.csv` | a [`Summary`] for each setting | yes |
//! | `timing.csv` | a [`Timing`] for each setting | no: measured times live here and nowhere else |
//!
//! The names that the built-in experiments use:
//!
//! | experiment | tasks | methods | cycles | parameter |
//! |---|---|---|---|---|
//! | `fig1` | `circle1`, `circle2` | `td_constant`, `td_decaying`, `small_backup` | | α or d; none for `small_backup` |
//! | `fig1_band` | the same, a new random instance each run | the same | | the same |
//! | `fig3` | `fifteen` | the six planners, `r_max` | 1, 3, 5, 10; none for `value_iteration`, `r_max` | |
//! | `fig3_icml` | `four_80`, `four_60` | the same | the same | |
//! | `choice_of_m` | `fifteen` | `value_iteration` | | M |
//! | `r_max` | `fifteen`, `four_60` | `r_max` | | m |
//! | `table1` | `successors`, `actions`, `predecessors`, `states` | the six planners | | the size; unit `cycle` (`sweep`) |
//! | `table1` | `maze`, `maze_four` | the planners | | unit `cycle`; `value_iteration`: the tolerance, unit `observation` |
//! | `table1` | `circle`, `step_successors`, `step_states` | `td_constant`, `small_backup` | | the size; unit `step` |
//! | `check` | `fifteen` | `value_iteration` | | the tolerance; score: largest difference from plain sweeps |
//! | `theory` | `prediction`, `full_backup`, `control`, `memory` | planners, `small_backup` | | |

use crate::method::Method;
use crate::{Error, Result};
use backsweep_worlds::{Law, Maze, MazeTask, PAPER_MAZE};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// The name of a setting: one point of one curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingKey {
    /// The experiment, such as `fig3`.
    pub experiment: String,
    /// The task within it, such as `fifteen`.
    pub task: String,
    /// The method, such as `moore_atkeson`.
    pub method: Method,
    /// Update cycles per step; `None` if the method has none, or plans until done.
    pub cycles: Option<u32>,
    /// The number on the x axis where that is not cycles: a step size, a decay rate, M, a size, a tolerance.
    pub parameter: Option<f64>,
}

impl SettingKey {
    /// The setting's name, such as `fig3/fifteen/moore_atkeson/5`.
    pub fn name(&self) -> String {
        let mut name = format!("{}/{}/{}", self.experiment, self.task, self.method);
        if let Some(cycles) = self.cycles {
            let _ = write!(name, "/{cycles}");
        }
        if let Some(parameter) = self.parameter {
            let _ = write!(name, "/{parameter}");
        }
        name
    }

    /// Returns whether a pattern matches this setting: the parts of the pattern are parts of the name, in the same order; parts may
    /// be omitted. `fig3/moore_atkeson/5` matches `fig3/fifteen/moore_atkeson/5`.
    pub fn matches(&self, pattern: &str) -> bool {
        let name = self.name();
        let mut parts = name.split('/');
        pattern.split('/').all(|wanted| parts.any(|part| part == wanted))
    }

    fn write(&self, line: &mut String) {
        let _ = write!(line, "{},{},{},", self.experiment, self.task, self.method);
        if let Some(cycles) = self.cycles {
            let _ = write!(line, "{cycles}");
        }
        line.push(',');
        if let Some(parameter) = self.parameter {
            let _ = write!(line, "{parameter}");
        }
    }
}

/// The result of one run of one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The setting.
    pub key: SettingKey,
    /// The run's number, from 0.
    pub run: u32,
    /// The plotted quantity: the mean discounted return of an episode (control), the mean normalized error (prediction), or the
    /// backups of an update cycle (cost).
    pub score: f64,
    /// Episodes done; 0 where there are none.
    pub episodes: u64,
    /// Steps taken.
    pub steps: u64,
    /// Episodes truncated by the step limit.
    pub capped: u64,
}

/// The statistics of one setting over its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The setting.
    #[serde(flatten)]
    pub key: SettingKey,
    /// The number of runs.
    pub runs: u32,
    /// The mean score.
    pub mean: f64,
    /// The standard error of the mean; 0 for one run.
    pub standard_error: f64,
    /// The lower end of the 95 % bootstrap interval of the mean.
    pub low: f64,
    /// The upper end of it.
    pub high: f64,
    /// The interquartile mean: the mean of the middle half of the runs.
    pub iqm: f64,
    /// The standard deviation from run to run; 0 for one run.
    pub deviation: f64,
    /// The score that a tenth of the runs stay below.
    pub quantile_10: f64,
    /// The score that a tenth of the runs exceed.
    pub quantile_90: f64,
    /// Steps per run, on average.
    pub steps: f64,
    /// Episodes truncated by the step limit, in all runs together.
    pub capped: u64,
}

/// The measured operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Act, environment, model and planning.
    Step,
    /// Model and planning only.
    Observation,
    /// One update cycle.
    Cycle,
    /// One sweep over all states.
    Sweep,
}

impl Unit {
    const ALL: [Self; 4] = [Self::Step, Self::Observation, Self::Cycle, Self::Sweep];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Observation => "observation",
            Self::Cycle => "cycle",
            Self::Sweep => "sweep",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The measured time of one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The setting.
    pub key: SettingKey,
    /// The measured operation.
    pub unit: Unit,
    /// Microseconds per unit: the median over runs, or, for a measurement in rounds (`table1`), the tenth percentile, since
    /// other load on the machine can only add time.
    pub microseconds: f64,
    /// The lower quartile over runs, or the fastest round.
    pub low: f64,
    /// The upper quartile over runs, or the median round.
    pub high: f64,
    /// The number of samples: runs, or rounds of a measurement.
    pub samples: u32,
}

/// The results of a command: everything that figures, report and verdict read.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Results {
    /// The experiments, in order.
    pub experiments: Vec<ExperimentInfo>,
    /// The seed.
    pub seed: u64,
    /// The version of Backsweep.
    pub version: String,
    /// Every run of every setting, in the order of the settings.
    pub rows: Vec<Row>,
    /// Every setting.
    pub summaries: Vec<Summary>,
    /// Every setting that was timed.
    pub timings: Vec<Timing>,
}

/// The name of an experiment and its settings.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ExperimentInfo {
    /// The name, such as `fig3`.
    pub name: String,
    /// A title for figures.
    pub title: String,
    /// Runs of each setting.
    pub runs: u32,
    /// The text of the file and all files it names: two experiments are the same if this, the seed and the runs are.
    pub text: String,
    /// The names and titles of tasks.
    pub tasks: Vec<(String, String)>,
    /// The mazes among the tasks.
    #[serde(default)]
    pub mazes: Vec<MazeInfo>,
    /// The worlds of a suite among the tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<WorldInfo>,
}

/// A world of a suite, as reports show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldInfo {
    /// The task's name.
    pub task: String,
    /// Its title.
    pub title: String,
    /// The meaning of the score.
    pub score: String,
    /// True if a higher score is better.
    pub more_is_better: bool,
    /// True if the median of the runs is compared with the target, not the mean.
    pub by_median: bool,
    /// The score that an agent that knows the environment can expect.
    pub ceiling: Option<f64>,
    /// The score to reach.
    pub mark: Option<f64>,
    /// Scores of others, by name.
    pub published: Vec<(String, f64)>,
}

/// A maze of an experiment, as reports draw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MazeInfo {
    /// The task's name.
    pub task: String,
    /// The maze as text; `None` for the paper's.
    pub text: Option<String>,
    /// The way actions move the agent.
    pub law: Law,
    /// The reward of a step.
    pub step_reward: f64,
}

impl MazeInfo {
    /// The task.
    ///
    /// # Errors
    /// As for [`Maze::parse`] and [`MazeTask::new`].
    pub fn task(&self) -> Result<MazeTask> {
        let maze = Maze::parse(self.text.as_deref().unwrap_or(PAPER_MAZE))?;
        Ok(MazeTask::new(maze, self.law, self.step_reward)?)
    }
}

/// A struct that is one line of a CSV file.
pub trait CsvRecord: Sized {
    /// The first line of the file.
    const HEADER: &'static str;
    /// The contents of the file, for messages.
    const NAME: &'static str;
    /// Appends the record and a line end.
    fn write(&self, text: &mut String);
    /// Reads the fields of a line.
    fn read(fields: &mut CsvFields<'_>) -> Result<Self>;
}

/// The text of a CSV file.
pub fn to_csv<'a, T: CsvRecord + 'a>(records: impl IntoIterator<Item = &'a T>) -> String {
    let mut text = format!("{}\n", T::HEADER);
    records.into_iter().for_each(|record| record.write(&mut text));
    text
}

/// Reads a CSV file. A last line without a line break was left by a killed writer, and is skipped.
///
/// # Errors
/// Names the line, what was found and what is expected.
pub fn from_csv<T: CsvRecord>(text: &str) -> Result<Vec<T>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.split('\n').enumerate();
    match lines.next() {
        Some((_, header)) if header == T::HEADER => {}
        Some((_, "")) if text.is_empty() => return Ok(Vec::new()),
        _ => return Err(Error::new(format!("line 1: expected the header '{}' of {}", T::HEADER, T::NAME))),
    }
    lines
        .map(|(i, line)| {
            let mut fields = CsvFields { rest: Some(line) };
            let record = T::read(&mut fields).map_err(|error| error.at(format!("line {}", i + 1)))?;
            match fields.rest {
                None => Ok(record),
                Some(rest) => {
                    Err(Error::new(format!("line {}: found more fields than expected: '{rest}'", i + 1)))
                }
            }
        })
        .collect()
}

/// The fields of a line, from left to right.
pub struct CsvFields<'a> {
    rest: Option<&'a str>,
}

impl<'a> CsvFields<'a> {
    fn text(&mut self, name: &'static str) -> Result<&'a str> {
        let rest = self.rest.ok_or_else(|| Error::new(format!("no field '{name}'")))?;
        let (field, rest) = rest.split_once(',').map_or((rest, None), |(field, rest)| (field, Some(rest)));
        self.rest = rest;
        Ok(field)
    }

    fn number<T: std::str::FromStr>(&mut self, name: &'static str) -> Result<T> {
        let field = self.text(name)?;
        field.parse().map_err(|_| Error::new(format!("{name} is '{field}'; expected a number")))
    }

    /// A number that is neither NaN nor infinite.
    fn finite(&mut self, name: &'static str) -> Result<f64> {
        let number: f64 = self.number(name)?;
        if number.is_finite() {
            return Ok(number);
        }
        Err(Error::new(format!(
            "{name} is '{number}'; expected a finite number; delete the rows of this setting to run it again"
        )))
    }

    fn perhaps<T: std::str::FromStr>(&mut self, name: &'static str) -> Result<Option<T>> {
        let before = self.rest;
        if self.text(name)?.is_empty() {
            return Ok(None);
        }
        self.rest = before;
        self.number(name).map(Some)
    }

    fn unit(&mut self, name: &'static str) -> Result<Unit> {
        let field = self.text(name)?;
        Unit::ALL.into_iter().find(|unit| unit.name() == field).ok_or_else(|| {
            let known = Unit::ALL.map(Unit::name).join(", ");
            Error::new(format!("{name} is '{field}'; expected one of: {known}"))
        })
    }

    fn key(&mut self) -> Result<SettingKey> {
        Ok(SettingKey {
            experiment: self.text("experiment")?.to_owned(),
            task: self.text("task")?.to_owned(),
            method: self.text("method")?.into(),
            cycles: self.perhaps("cycles")?,
            parameter: self.perhaps("parameter")?,
        })
    }
}

/// Makes a struct a record: the columns of its setting, then these fields, each with the method of [`CsvFields`] that reads
/// it and the format in which it is written.
macro_rules! csv_record {
    ($record:ident is $name:literal: $($field:ident by $read:ident as $format:literal),+) => {
        impl CsvRecord for $record {
            const HEADER: &'static str =
                concat!("experiment,task,method,cycles,parameter" $(, ",", stringify!($field))+);
            const NAME: &'static str = $name;

            fn write(&self, text: &mut String) {
                self.key.write(text);
                $(let _ = write!(text, concat!(",", $format), self.$field);)+
                text.push('\n');
            }

            fn read(fields: &mut CsvFields<'_>) -> Result<Self> {
                Ok(Self { key: fields.key()?, $($field: fields.$read(stringify!($field))?),+ })
            }
        }
    };
}

csv_record!(Row is "rows": run by number as "{}", score by finite as "{}", episodes by number as "{}",
    steps by number as "{}", capped by number as "{}");

csv_record!(Summary is "the summary": runs by number as "{}", mean by number as "{}",
    standard_error by number as "{}", low by number as "{}", high by number as "{}", iqm by number as "{}",
    deviation by number as "{}", quantile_10 by number as "{}", quantile_90 by number as "{}",
    steps by number as "{}", capped by number as "{}");

csv_record!(Timing is "timings": unit by unit as "{}", microseconds by number as "{:.4}", low by number as "{:.4}",
    high by number as "{:.4}", samples by number as "{}");
