//! The mazes and methods of an experiment file, as settings.

use super::file::{File, MazeTable, MethodTable, OneOrMany};
use super::{Changes, Experiment, check_name, read_text};
use crate::check::SweepComparison;
use crate::control::{Control, Planning};
use crate::result::{MazeInfo, Unit};
use crate::{Error, Result, fnv1a};
use backsweep::explore::Optimism;
use backsweep::{PlannerKind, Settings};
use backsweep_worlds::{Law, MazeTask};
use std::path::Path;
use std::sync::Arc;

/// The largest change of a value that value iteration leaves where the file says cycles.
const SWEEP_TOLERANCE: f64 = 1e-6;

impl Experiment {
    pub(super) fn add_control(&mut self, file: &File, folder: &Path, changes: &Changes) -> Result<()> {
        if file.mazes.is_empty() != file.methods.is_empty() {
            return Err(Error::new("expected both [[mazes]] and [[methods]], found only one of them"));
        }
        if !file.mazes.is_empty() && file.learning.episodes == 0 {
            return Err(Error::new("learning.episodes is 0; expected a number above 0"));
        }
        for maze in &file.mazes {
            check_name("mazes.name", &maze.name)?;
            self.info
                .tasks
                .push((maze.name.clone(), maze.title.clone().unwrap_or_else(|| maze.name.clone())));
            let task = Arc::new(self.read_maze(maze, folder)?);
            for method in &file.methods {
                let planner = changes.planner(&method.planner);
                planner
                    .and_then(|planner| self.add_method(file, maze, &task, method, planner))
                    .map_err(|error| error.at(format!("method {}", method_name(method))))?;
            }
        }
        Ok(())
    }

    fn read_maze(&mut self, table: &MazeTable, folder: &Path) -> Result<MazeTask> {
        let law = match (table.law.as_str(), table.intended) {
            ("fifteen", None) => Ok(Law::Fifteen),
            ("four", Some(intended)) => Ok(Law::Four { intended }),
            ("fifteen", Some(_)) => Err("the law 'fifteen' has no probability; remove 'intended'".to_owned()),
            ("four", None) => Err("the law 'four' needs a probability, as in 'intended = 0.8'".to_owned()),
            (found, _) => Err(format!("law is '{found}'; expected 'fifteen' or 'four'")),
        };
        let law = law.map_err(|problem| Error::new(problem).at(format!("maze {}", table.name)))?;
        let (place, text) = if table.maze == "paper" {
            ("the paper's maze".to_owned(), None)
        } else {
            let path = folder.join(&table.maze);
            let text = read_text(&path)?;
            // A changed maze makes it a different experiment, so its text is part of this one's.
            self.info.text += &format!("\n# {}\n{text}", table.maze);
            (path.display().to_string(), Some(text))
        };
        let info = MazeInfo { task: table.name.clone(), text, law, step_reward: table.step_reward };
        let task = info.task().map_err(|error| error.at(place))?;
        self.info.mazes.push(info);
        Ok(task)
    }

    fn add_method(
        &mut self,
        file: &File,
        maze: &MazeTable,
        task: &Arc<MazeTask>,
        method: &MethodTable,
        planner: PlannerKind,
    ) -> Result<()> {
        let name = method_name(method);
        check_name("name", name)?;
        let plannings: Vec<Planning> = match (&method.cycles, method.until) {
            (Some(cycles), None) => cycles.list().iter().copied().map(Planning::Cycles).collect(),
            (None, Some(_)) if file.learning.discount >= 1.0 => {
                // Values that grow without bound would keep planning busy forever.
                return Err(Error::new(
                    "until with learning.discount 1 may never end; expected a discount below 1, or 'cycles' instead of 'until'",
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
                Planning::Cycles(cycles) => (Some(cycles), None),
                Planning::Until(tolerance) => (None, Some(tolerance)),
            };
            // Sweeps stop at the tolerance, which takes the place of a threshold.
            let sweeps = planner == backsweep_baselines::VALUE_ITERATION;
            let threshold = match tolerance {
                _ if !sweeps => method.threshold.unwrap_or(learning.threshold),
                Some(tolerance) => tolerance,
                None => SWEEP_TOLERANCE,
            };
            for &m in min_visits {
                let parameter = is_curve.then_some(f64::from(m));
                let key = self.key(&maze.name, name.into(), cycles, parameter);
                let control = Control {
                    task: Arc::clone(task),
                    planner,
                    settings: Settings {
                        discount: learning.discount,
                        optimism: Optimism { value: learning.optimism, min_visits: m },
                        threshold,
                        queue: learning.queue.parse().map_err(Error::from)?,
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
                control.agent()?; // checks all numbers before anything runs
                let seconds = expected_seconds(&control);
                if method.compare_with_sweeps {
                    let key = self.key(&maze.name, name.into(), cycles, tolerance);
                    self.add(key, Unit::Step, false, 2.0 * seconds, Box::new(SweepComparison { control }))?;
                } else {
                    self.add(key, Unit::Step, false, seconds, Box::new(control))?;
                }
            }
        }
        Ok(())
    }
}

fn method_name(method: &MethodTable) -> &str {
    method.name.as_deref().unwrap_or(&method.planner)
}

/// Roughly how long a run takes, from measurements in the paper's maze; used only to estimate the remaining time.
fn expected_seconds(control: &Control) -> f64 {
    let is_slow = control.planner == backsweep_baselines::WIERING_SCHMIDHUBER;
    let microseconds = match control.planning {
        Planning::Cycles(n) if is_slow => 0.2 + 1.2 * f64::from(n),
        Planning::Cycles(n) => 0.2 + 0.25 * f64::from(n),
        Planning::Until(_) if control.freeze => 1.0,
        Planning::Until(tolerance) => 0.12 / tolerance,
    };
    f64::from(control.episodes) * 130.0 * microseconds * 1e-6
}
