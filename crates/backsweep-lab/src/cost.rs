//! Table 1, measured: what one update cycle costs.
//!
//! Times are the samples of an outcome and go to `timing.csv`; the score is the number of backups
//! of a cycle, which is the same on every machine.

mod replay;
mod shape;

pub use replay::Replay;
pub use shape::ModelShape;

use crate::Result;
use crate::method::Method;
use crate::prediction::PredictorChoice;
use crate::result::Unit;
use crate::setting::{RunResult, Work};
use backsweep::planner::Planner;
use backsweep::{Next, PlannerKind, Random, State};
use backsweep_baselines::VALUE_ITERATION;
use backsweep_predict::StepSize;
use backsweep_worlds::Law;
use serde::Deserialize;
use std::time::{Duration, Instant};

/// `[cost]`: the measurements of Table 1.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct CostTable {
    pub planners: Vec<String>,
    pub successors: Vec<u32>,
    pub actions: Vec<u32>,
    pub predecessors: Vec<u32>,
    pub states: Vec<u32>,
    /// Numbers of successors, and of states, for a step of prediction.
    #[serde(default)]
    pub step_successors: Vec<u32>,
    #[serde(default)]
    pub step_states: Vec<u32>,
    /// Tolerances of value iteration on the maze.
    pub tolerances: Vec<f64>,
    /// The number of observations of a run in the maze at which value iteration is timed.
    pub observations: u64,
    /// The same with `--quick`.
    pub quick_observations: u64,
}

/// Names and titles of the tasks.
pub const TASKS: [(&str, &str); 9] = [
    ("successors", "number of successors per pair"),
    ("actions", "number of actions per state"),
    ("predecessors", "number of predecessors per state"),
    ("states", "number of states"),
    ("maze", "the paper's maze, 15 successors"),
    ("maze_four", "the paper's maze, 4 successors at 0.6"),
    ("circle", "a step of prediction on the circle"),
    ("step_successors", "a step of prediction: number of successors"),
    ("step_states", "a step of prediction: number of states"),
];

/// A shape in which the backups of the top element count, not those of its predecessors; with as
/// few states as a measurement changes, since a pair or a state has up to 1,024 successors or
/// actions.
fn top_of(shape: ModelShape) -> ModelShape {
    ModelShape { predecessors: 4, states: 100, ..shape }
}

/// The minimum time for which each point is measured.
const MEASURED_FOR: Duration = Duration::from_millis(40);

/// Something to time.
#[derive(Clone, Debug)]
pub enum Measurement {
    /// An update cycle of a planner on a made-up model of a given shape.
    Cycle(PlannerKind, ModelShape),
    /// An update cycle, or the whole planning, of a planner on a run in the maze.
    Replay(Replay),
    /// A step of a predictor on a walk.
    Walk(PredictorChoice, Walk),
}

impl Measurement {
    /// The measured operation.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Cycle(planner, _) if *planner == VALUE_ITERATION => Unit::Sweep,
            Self::Cycle(..) => Unit::Cycle,
            Self::Replay(replay) if replay.tolerance.is_some() => Unit::Observation,
            Self::Replay(_) => Unit::Cycle,
            Self::Walk(..) => Unit::Step,
        }
    }

    /// Roughly how long it takes, used only to estimate the remaining time.
    pub fn seconds(&self) -> f64 {
        match self {
            Self::Replay(Replay { tolerance: Some(tolerance), timed, .. }) => {
                *timed as f64 * if *tolerance < 1e-4 { 5e-4 } else { 1.2e-4 }
            }
            _ => 0.3,
        }
    }
}

impl Work for Measurement {
    fn run(&self, seed: u64, run: u32) -> Result<RunResult> {
        match self {
            Self::Cycle(planner, shape) => shape.measure(*planner),
            Self::Replay(replay) => replay.measure(seed, run),
            Self::Walk(predictor, walk) => walk.measure(*predictor, seed),
        }
    }
}

/// A measurement and its place: task, method, parameter.
type CostPoint = (&'static str, Method, Option<f64>, Measurement);

/// All measurements of a table.
pub fn measurements(table: &CostTable, timed: u64) -> Result<Vec<CostPoint>> {
    let mut all = Vec::new();
    type Reshape = fn(ModelShape, u32) -> ModelShape;
    let axes: [(&'static str, &[u32], Reshape); 4] = [
        ("successors", &table.successors, |shape, successors| ModelShape { successors, ..top_of(shape) }),
        ("actions", &table.actions, |shape, actions| ModelShape { actions, successors: 2, ..top_of(shape) }),
        ("predecessors", &table.predecessors, |shape, predecessors| ModelShape { predecessors, ..shape }),
        ("states", &table.states, |shape, states| ModelShape { states, ..shape }),
    ];
    let planners: Vec<PlannerKind> = table
        .planners
        .iter()
        .map(|name| backsweep_baselines::named(name))
        .collect::<backsweep::Result<_>>()?;
    for (task, sizes, reshape) in axes {
        for &planner in &planners {
            for &size in sizes {
                let measurement = Measurement::Cycle(planner, reshape(ModelShape::BASE, size));
                all.push((task, planner.name().into(), Some(f64::from(size)), measurement));
            }
        }
    }
    for planner in planners.into_iter().filter(|&planner| planner != VALUE_ITERATION) {
        let replay = Replay { law: Law::Fifteen, planner, tolerance: None, timed };
        all.push(("maze", planner.name().into(), None, Measurement::Replay(replay.clone())));
        if planner == PlannerKind::SMALL_BACKUPS {
            let replay = Replay { law: Law::Four { intended: 0.6 }, ..replay };
            all.push(("maze_four", planner.name().into(), None, Measurement::Replay(replay)));
        }
    }
    for &tolerance in &table.tolerances {
        let planner = VALUE_ITERATION;
        let replay = Replay { law: Law::Fifteen, planner, tolerance: Some(tolerance), timed };
        all.push(("maze", planner.name().into(), Some(tolerance), Measurement::Replay(replay)));
    }
    let td = PredictorChoice::Td(StepSize::Constant(0.1));
    for (method, predictor) in
        [(Method::TD_CONSTANT, td), (Method::SMALL_BACKUP, PredictorChoice::SmallBackup)]
    {
        all.push(("circle", method.clone(), None, Measurement::Walk(predictor, Walk::Ring(10))));
        let successors = table.step_successors.iter().map(|&n| ("step_successors", n, Walk::Star(n)));
        let states = table.step_states.iter().map(|&n| ("step_states", n, Walk::Ring(n)));
        for (task, n, walk) in successors.chain(states) {
            all.push((task, method.clone(), Some(f64::from(n)), Measurement::Walk(predictor, walk)));
        }
    }
    Ok(all)
}

/// A random walk that predictors observe.
#[derive(Clone, Copy, Debug)]
pub enum Walk {
    /// From a state to one of its many successors and back.
    Star(u32),
    /// To one of two neighbors on a circle of many states.
    Ring(u32),
}

impl Walk {
    /// The time of a step once every state and successor has been met.
    fn measure(self, choice: PredictorChoice, seed: u64) -> Result<RunResult> {
        let mut random = Random::stream(seed, &[1]);
        let mut state = 0;
        let steps: Vec<(State, f64, State)> = (0..10_000)
            .map(|_| {
                let from = state;
                state = match self {
                    Self::Star(successors) if from == 0 => 1 + random.below(successors),
                    Self::Star(_) => 0,
                    Self::Ring(states) => (from + if random.below(2) == 0 { 1 } else { states - 1 }) % states,
                };
                (State(from), random.unit(), State(state))
            })
            .collect();
        let mut predictor = choice.build(0.95)?;
        let mut samples = Vec::new();
        let begin = Instant::now();
        while samples.len() < 6 || begin.elapsed() < MEASURED_FOR {
            let begin = Instant::now();
            for &(state, reward, next) in &steps {
                predictor.observe(state, reward, Next::Continue(next))?;
            }
            samples.push(begin.elapsed().as_secs_f64() * 1e6 / steps.len() as f64);
        }
        samples.remove(0); // meets states and successors for the first time
        Ok(RunResult { score: 1.0, steps: steps.len() as u64, samples, ..RunResult::default() })
    }
}

/// The backups that a planner has counted.
fn backups_of(planner: &dyn Planner) -> u64 {
    planner.counters().map_or(0, |counters| counters.backups())
}

/// The cost of reading the clock twice, which is subtracted.
fn clock_cost() -> Duration {
    let mut costs: Vec<Duration> = (0..201).map(|_| Instant::now().elapsed()).collect();
    costs.sort();
    costs[costs.len() / 2]
}
