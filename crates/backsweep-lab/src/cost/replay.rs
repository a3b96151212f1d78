//! The cost of planning on a run in the paper's maze: the same observations are replayed to every planner.
//!
//! Value iteration at every observation takes too long for the whole run, so it is timed in windows of consecutive observations
//! that are spread evenly over the run. In a window it sweeps after every observation, starting from the previous values; the
//! first observations of a window, which catch up on what happened since the last one, are not timed.

use super::{backups_of, clock_cost};
use crate::control::{Control, Planning};
use crate::setting::RunResult;
use crate::{Result, fnv1a};
use backsweep::explore::Optimism;
use backsweep::planner::{Model, plan};
use backsweep::{Budget, PlannerKind, Settings, Transition};
use backsweep_worlds::{Law, Maze, MazeTask, PAPER_MAZE};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Update cycles after every observation: several, so that the clock is read rarely.
const CYCLES: u64 = 5;
/// Windows in which value iteration is timed.
const WINDOWS: usize = 20;
/// Observations at the start of a window that are not timed.
const CATCH_UP: usize = 10;
/// Replays of the same observations for fast planners.
const REPLAYS: usize = 5;

/// A planner on the observations of a run.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The way actions move the agent.
    pub law: Law,
    /// The planner.
    pub planner: PlannerKind,
    /// `None`: the cost of an update cycle. With a tolerance: the cost of planning until it is reached, at every
    /// observation.
    pub tolerance: Option<f64>,
    /// The number of observations that are timed with a tolerance.
    pub timed: u64,
}

impl Replay {
    pub(super) fn measure(&self, seed: u64, run: u32) -> Result<RunResult> {
        let task = Arc::new(MazeTask::new(Maze::parse(PAPER_MAZE)?, self.law, -1.0)?);
        let optimism = Optimism { value: 0.0, min_visits: 4 };
        let settings = Settings { optimism, threshold: 1e-5, ..Settings::default() };
        let transitions = observations(&task, settings, seed, run)?;
        let clock = clock_cost();
        let mut result = RunResult { steps: transitions.len() as u64, ..RunResult::default() };
        let n_replays = if self.tolerance.is_some() { 1 } else { REPLAYS };
        let window = transitions.len() / WINDOWS;
        let timed = (self.timed as usize / WINDOWS).clamp(1, window.saturating_sub(CATCH_UP).max(1));
        for _ in 0..n_replays {
            let mut model = Model::with_states((0..task.n_states()).map(|_| 4))?;
            let threshold = self.tolerance.unwrap_or(settings.threshold);
            let mut planner = self.planner.build(Settings { threshold, ..settings })?;
            let mut timings: Vec<(Duration, u64)> = Vec::with_capacity(transitions.len());
            let mut n_backups = 0;
            for (i, transition) in transitions.iter().enumerate() {
                if let Some(change) = model.record(transition)? {
                    planner.observe(&model, &change);
                }
                if self.tolerance.is_none() {
                    let begin = Instant::now();
                    let planned = plan(&mut *planner, &model, Budget::Cycles(CYCLES));
                    timings.push((begin.elapsed().saturating_sub(clock), planned.cycles));
                    continue;
                }
                let place = i % window;
                if place < CATCH_UP + timed {
                    let backups = backups_of(&*planner);
                    let begin = Instant::now();
                    plan(&mut *planner, &model, Budget::UNTIL_IDLE);
                    if place >= CATCH_UP {
                        timings.push((begin.elapsed().saturating_sub(clock), 1));
                        n_backups += backups_of(&*planner) - backups;
                    }
                }
            }
            if self.tolerance.is_none() {
                n_backups = backups_of(&*planner);
            }
            let n_units: u64 = timings.iter().map(|(_, units)| units).sum();
            result.score = n_backups as f64 / n_units.max(1) as f64;
            result.samples.push(microseconds_a_unit(&mut timings));
        }
        Ok(result)
    }
}

/// The mean cost of a unit. Observations that took at least twenty times the median are omitted: the system had given the
/// core to another process.
fn microseconds_a_unit(timings: &mut Vec<(Duration, u64)>) -> f64 {
    timings.sort();
    let median = timings.get(timings.len() / 2).map_or(Duration::ZERO, |(elapsed, _)| *elapsed);
    timings.retain(|(elapsed, _)| *elapsed < median * 20);
    let elapsed: Duration = timings.iter().map(|(elapsed, _)| elapsed).sum();
    let n_units: u64 = timings.iter().map(|(_, units)| units).sum();
    elapsed.as_secs_f64() * 1e6 / n_units.max(1) as f64
}

/// The observations of an agent that learns with one cycle of reversed full backups per step.
fn observations(task: &Arc<MazeTask>, settings: Settings, seed: u64, run: u32) -> Result<Vec<Transition>> {
    let control = Control {
        task: Arc::clone(task),
        planner: PlannerKind::REVERSED_FULL_BACKUPS,
        settings,
        planning: Planning::Cycles(1),
        freeze: false,
        epsilon: 0.05,
        episodes: 200,
        max_steps: None,
        stream: fnv1a("table1/maze"),
    };
    let mut random = control.random(seed, run);
    let mut agent = control.agent()?;
    let mut transitions = Vec::new();
    for _ in 0..control.episodes {
        let mut keep = |_: &backsweep::Agent, transition: &Transition| transitions.push(*transition);
        control.run_episode(&mut agent, &mut random, &mut RunResult::default(), &mut keep)?;
    }
    Ok(transitions)
}
