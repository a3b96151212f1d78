//! The cost of planning on a run in the paper's maze: the same observations are replayed to every planner.

use super::clock_cost;
use crate::control::{Control, Planning};
use crate::setting::Outcome;
use crate::{Law, Maze, MazeTask, PAPER_MAZE, Result, fnv1a};
use backsweep::planner::build_planner;
use backsweep::{Budget, Model, Optimism, Settings, Transition, plan, run_episode};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Update cycles after every observation: several, so that the clock is read rarely.
const CYCLES: u64 = 5;
/// Replays of the same observations for planners that are fast.
const REPLAYS: usize = 5;

/// A planner on the observations of a run.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The planner.
    pub planner: String,
    /// `None`: the cost of an update cycle. With a tolerance: the cost of planning until it is reached, at every observation.
    pub tolerance: Option<f64>,
    /// How many observations; all of the run's 200 episodes if `None`.
    pub replayed: Option<u64>,
}

impl Replay {
    pub(super) fn measure(&self, seed: u64, run: u32) -> Result<Outcome> {
        let task = Arc::new(MazeTask::new(Maze::parse(PAPER_MAZE)?, Law::Fifteen, -1.0)?);
        let tolerance = self.tolerance.unwrap_or(1e-3);
        let optimism = Optimism { value: 0.0, min_visits: 4 };
        let settings = Settings { optimism, threshold: 1e-5, tolerance, ..Settings::default() };
        let transitions = observations(&task, settings, seed, run, self.replayed)?;
        let clock = clock_cost();
        let mut outcome = Outcome { steps: transitions.len() as u64, ..Outcome::default() };
        let n_replays = if self.tolerance.is_some() { 1 } else { REPLAYS };
        for _ in 0..n_replays {
            let mut model = Model::with_states((0..task_states(&task)).map(|_| 4));
            let mut planner = build_planner(&self.planner, settings)?;
            let (mut elapsed, mut n_cycles) = (Duration::ZERO, 0);
            for transition in &transitions {
                if let Some(change) = model.record(transition)? {
                    planner.observe(&model, &change);
                }
                let mut budget =
                    if self.tolerance.is_some() { Budget::exhaust() } else { Budget::Cycles(CYCLES) };
                let begin = Instant::now();
                let planned = plan(&mut *planner, &model, &mut budget);
                elapsed += begin.elapsed().saturating_sub(clock);
                n_cycles += planned.cycles;
            }
            let n_units = if self.tolerance.is_some() { transitions.len() as u64 } else { n_cycles };
            outcome.samples.push(elapsed.as_secs_f64() * 1e6 / n_units.max(1) as f64);
            outcome.score = planner.counters().backups() as f64 / n_units.max(1) as f64;
        }
        Ok(outcome)
    }
}

fn task_states(task: &MazeTask) -> usize {
    backsweep::Environment::n_states(task)
}

/// What an agent sees that learns with one cycle of reversed full backups a step.
fn observations(
    task: &Arc<MazeTask>,
    settings: Settings,
    seed: u64,
    run: u32,
    limit: Option<u64>,
) -> Result<Vec<Transition>> {
    let control = Control {
        task: Arc::clone(task),
        planner: "reversed_full_backups".into(),
        settings,
        planning: Planning::Cycles(1),
        freeze: false,
        epsilon: 0.05,
        episodes: 200,
        max_steps: None,
        stream: fnv1a("table1/maze"),
    };
    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
    let mut random = control.random(seed, run);
    let mut agent = control.agent()?;
    let mut transitions = Vec::new();
    for _ in 0..control.episodes {
        let mut keep = |_: &backsweep::Agent, transition: &Transition| transitions.push(*transition);
        run_episode(&**task, &mut agent, &mut control.budget(), None, &mut random, &mut keep)?;
        if transitions.len() >= limit {
            transitions.truncate(limit);
            break;
        }
    }
    Ok(transitions)
}
