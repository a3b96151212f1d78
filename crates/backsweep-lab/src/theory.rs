//! Exact claims of the theorems and the text, checked with numbers: the score is the largest
//! deviation seen in a run.

use crate::Result;
use crate::control::{Control, Planning};
use crate::fnv1a;
use crate::setting::{RunResult, Work};
use backsweep::explore::Optimism;
use backsweep::{Next, PlannerKind, Random, Settings, State};
use backsweep_predict::{Predictor, PredictorSettings, Selection, SmallBackupPredictor};
use backsweep_worlds::circle::Circle;
use backsweep_worlds::{Law, Maze, MazeTask, PAPER_MAZE};
use serde::Deserialize;
use std::sync::Arc;

/// `[theory]`: how long the checks run.
#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct TheoryTable {
    /// Steps of prediction.
    pub steps: u32,
    /// Episodes of control, in the paper's maze.
    pub episodes: u32,
}

/// Names and titles of the tasks.
pub const TASKS: [(&str, &str); 4] = [
    ("prediction", "relation (6) after every step on a random circle: largest deviation"),
    ("full_backup", "one small backup per successor against a full backup: largest difference"),
    ("control", "relation (16) after every step in the maze: largest deviation"),
    ("memory", "memory of the planner over that of the model, after learning the maze"),
];

/// A check.
#[derive(Clone, Copy, Debug)]
pub enum Theory {
    /// Theorems 3.1 and 3.2: relation (6) of V and U.
    Prediction,
    /// Section 3.3: a small backup of every successor is a full backup.
    FullBackup,
    /// Theorems 3.3 and 3.4: relation (16) of Q and U.
    Control(PlannerKind),
    /// Section 1: the additional memory.
    Memory(PlannerKind),
}

impl Theory {
    /// All checks, each with the place of its setting.
    pub fn all() -> [(&'static str, &'static str, Self); 5] {
        let [small, reversed] = [PlannerKind::SMALL_BACKUPS, PlannerKind::REVERSED_FULL_BACKUPS];
        [
            ("prediction", "small_backup", Self::Prediction),
            ("full_backup", "small_backup", Self::FullBackup),
            ("control", "small_backups", Self::Control(small)),
            ("control", "reversed_full_backups", Self::Control(reversed)),
            ("memory", "small_backups", Self::Memory(small)),
        ]
    }
}

/// A check with its length.
#[derive(Clone, Copy, Debug)]
pub struct TheoryRun {
    /// The check.
    pub theory: Theory,
    /// For how long.
    pub table: TheoryTable,
}

impl Work for TheoryRun {
    fn run(&self, seed: u64, run: u32) -> Result<RunResult> {
        let mut random = Random::stream(seed, &[fnv1a("theory"), u64::from(run)]);
        match self.theory {
            Theory::Prediction => prediction(self.table.steps, &mut random),
            Theory::FullBackup => full_backup(self.table.steps, &mut random),
            Theory::Control(planner) => control(planner, self.table.episodes, true, &mut random),
            Theory::Memory(planner) => control(planner, self.table.episodes, false, &mut random),
        }
    }
}

/// Two small backups of random pairs follow every observation on a random circle.
fn prediction(steps: u32, random: &mut Random) -> Result<RunResult> {
    let circle = Circle::task(1, Circle::random_instance(random))?;
    let mut predictor = SmallBackupPredictor::new(PredictorSettings {
        discount: 0.95,
        selection: Selection::Random,
        iterations: 2,
        seed: random.next_u64(),
        ..PredictorSettings::default()
    })?;
    let mut result = RunResult { steps: u64::from(steps), ..RunResult::default() };
    let mut state = State(0);
    for _ in 0..steps {
        let step = circle.step(state, random);
        state = step.next;
        predictor.observe(step.state, step.reward, step.next())?;
        result.score = result.score.max(predictor.deviation());
    }
    Ok(result)
}

/// A state with leaves for successors. The leaves' values change by what is observed in them; then
/// one small backup follows per leaf, and the value of the state is compared with a full backup.
fn full_backup(steps: u32, random: &mut Random) -> Result<RunResult> {
    const LEAVES: u32 = 15;
    let discount = 0.95;
    let mut predictor = SmallBackupPredictor::new(PredictorSettings {
        discount,
        selection: Selection::RoundRobin,
        iterations: LEAVES as usize,
        ..PredictorSettings::default()
    })?;
    let mut visits = [0.0; LEAVES as usize];
    let mut reward_sum = 0.0;
    let mut result = RunResult { steps: u64::from(steps), ..RunResult::default() };
    for step in 0..steps {
        // Every leaf once, then at random.
        let leaf = if step < LEAVES { step } else { random.below(LEAVES) };
        let reward = random.unit();
        predictor.observe(State(0), reward, Next::Continue(State(1 + leaf)))?;
        visits[leaf as usize] += 1.0;
        reward_sum += reward;
        predictor.observe(State(1 + leaf), 20.0 * random.unit() - 10.0, Next::Terminated)?;
        if step >= LEAVES {
            let values = (1..=LEAVES).map(|leaf| predictor.value(State(leaf)));
            let sum: f64 = visits.iter().zip(values).map(|(visits, value)| visits * value).sum();
            let full = (reward_sum + discount * sum) / visits.iter().sum::<f64>();
            result.score = result.score.max((predictor.value(State(0)) - full).abs());
        }
    }
    Ok(result)
}

/// Learns the paper's maze with one update cycle per step, with M = 1, so that all values come from
/// the model.
fn control(planner: PlannerKind, episodes: u32, audits: bool, random: &mut Random) -> Result<RunResult> {
    let task = Arc::new(MazeTask::new(Maze::parse(PAPER_MAZE)?, Law::Fifteen, -1.0)?);
    let control = Control {
        task,
        planner,
        settings: Settings {
            optimism: Optimism { value: 0.0, min_visits: 1 },
            threshold: 1e-5,
            ..Settings::default()
        },
        planning: Planning::Cycles(1),
        freeze: false,
        epsilon: 0.05,
        episodes,
        max_steps: None,
        stream: 0,
    };
    let mut agent = control.agent()?;
    let (mut result, mut deviation) = (RunResult::default(), 0.0f64);
    for _ in 0..episodes {
        let mut check = |agent: &backsweep::Agent, _: &backsweep::Transition| {
            if audits {
                deviation = deviation.max(agent.audit().relation);
            }
        };
        control.run_episode(&mut agent, random, &mut result, &mut check)?;
    }
    let memory = || agent.planner().bytes().unwrap_or(0) as f64 / agent.model().bytes() as f64;
    result.score = if audits { deviation } else { memory() };
    Ok(result)
}
