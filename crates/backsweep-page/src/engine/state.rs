//! The work of the engine: take the steps that are due, carry out commands, show a sample now and then.

mod commands;
mod race;

use super::command::Receipt;
use super::evaluator::{Evaluator, EvaluatorTask, Gaps};
use super::frame::{Frame, MAX_CELLS_IN_FULL, Optimum, RunResults};
use super::pace::Pace;
use super::report::CycleReport;
use super::time_to_optimum::{Cause, TimeToOptimum};
use super::watched_agent::WatchedAgent;
use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep_worlds::grid_world::GridWorld;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The time since some moment; it never runs backwards.
pub type EngineClock = fn() -> Duration;

/// The time between two frames, and between two of a large world.
const FRAME_INTERVAL: Duration = Duration::from_millis(16);
const LARGE_FRAME_INTERVAL: Duration = Duration::from_millis(33);
/// The time the engine works before it checks for commands.
const WORK_SLICE: Duration = Duration::from_millis(4);
/// The work between two readings of the clock, in steps, cycles and additions: less than a millisecond.
const WORK_PER_CLOCK_READ: u64 = 4096;
/// Steps and cycles that take longer than this are answered while still in progress. A pause waits this long for the end of
/// the current step; the rest of it is done when the engine runs again.
const ANSWER_WITHIN: Duration = Duration::from_millis(25);
/// The most steps for which a cycle waits for something to do.
const MAX_STEPS_WAITED: u64 = 50_000;
/// The most steps or cycles in one command.
const MAX_COUNT: u64 = 1_000_000;

/// The engine. Whoever runs it gives it commands, lets it [work](Self::work), and takes what is [to be shown](Self::shown) and
/// the policies [to be judged](Self::to_judge). `A` is what names the sender of a command.
#[derive(Debug)]
pub struct EngineState<A> {
    clock: EngineClock,
    scene: Arc<Scene>,
    world: Arc<GridWorld>,
    /// True if there is no path to the goal.
    is_closed: bool,
    agents: Vec<WatchedAgent>,
    /// The way of each agent to the finish line.
    to_optimum: Vec<TimeToOptimum>,
    /// The computing time of each agent, in a race on equal time.
    spent: Vec<Duration>,
    /// True if nothing but steps has happened since the agents started: only such runs are points of Figure 3, and the number
    /// of steps tells all about them.
    is_undisturbed: bool,
    results: Arc<RunResults>,
    /// The mazes from before each change, and the stroke of the last one.
    earlier: Vec<String>,
    stroke: u64,
    running: bool,
    counted: Option<CountedCommand<A>>,
    /// The episodes after which an agent stops.
    last_episode: Option<u64>,
    number: u64,
    revision: u64,
    life: u64,
    touched: bool,
    problem: Option<String>,
    reports: Vec<CycleReport>,
    optimum: Option<Optimum>,
    /// The evaluator's next tasks, and its latest findings.
    to_judge: Vec<EvaluatorTask>,
    gaps: Gaps,
    /// The number of the problem that the evaluator works on.
    problem_number: u64,
    pace: Pace,
    /// True if a frame is due; and the time at which the last one was shown.
    is_frame_due: bool,
    shown: Duration,
    /// The commands that were carried out and are not yet answered.
    answers: Vec<(A, Result<()>)>,
}

/// Everything to be shown: a new frame, if there is one, then the answers to commands, which name it.
#[derive(Debug)]
pub struct Shown<A> {
    /// The frame.
    pub frame: Option<Arc<Frame>>,
    /// The senders of commands, and the results.
    pub answers: Vec<(A, Result<Receipt>)>,
}

/// A command for a number of steps or cycles, in progress.
#[derive(Debug)]
struct CountedCommand<A> {
    unit: CountedUnit,
    left: u64,
    /// True if a cycle that finds nothing to do waits; then the number of steps taken meanwhile. Only a single one waits:
    /// a request for many should show the planner finishing.
    waits: bool,
    waited: u64,
    since: Duration,
    /// The sender of the command, if not yet answered.
    sender: Option<A>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedUnit {
    Step,
    Cycle,
}

impl<A> EngineState<A> {
    /// An engine at the start of a scene. With a last episode, every agent stops when it has finished that many; when all
    /// have, the engine pauses.
    ///
    /// # Errors
    /// If the scene is not valid.
    pub fn new(scene: Scene, running: bool, last_episode: Option<u64>, clock: EngineClock) -> Result<Self> {
        let scene = scene.check()?;
        let world = Arc::new(scene.grid_world()?);
        let scene = Arc::new(Scene { maze: world.text(), ..scene });
        let agents = agents(&scene, &world)?;
        let mut state = Self {
            clock,
            to_optimum: begin_all(&agents, Cause::Start),
            spent: vec![Duration::ZERO; agents.len()],
            agents,
            scene,
            is_closed: world.is_closed(),
            world,
            is_undisturbed: true,
            results: Arc::default(),
            earlier: Vec::new(),
            stroke: 0,
            running,
            counted: None,
            last_episode,
            number: 0,
            revision: 1,
            life: 1,
            touched: false,
            problem: None,
            reports: Vec::new(),
            optimum: None,
            to_judge: Vec::new(),
            gaps: Gaps::default(),
            problem_number: 0,
            pace: Pace::from(clock()),
            is_frame_due: true,
            shown: Duration::ZERO,
            answers: Vec::new(),
        };
        state.set_problem();
        Ok(state)
    }

    /// A frame of the current state.
    pub fn frame(&mut self) -> Arc<Frame> {
        self.number += 1;
        let now = (self.clock)();
        self.shown = now;
        self.is_frame_due = false;
        Arc::new(Frame {
            number: self.number,
            revision: self.revision,
            life: self.life,
            scene: self.scene.clone(),
            world: self.world.clone(),
            running: self.running,
            busy: self.counted.is_some(),
            touched: self.touched,
            is_undisturbed: self.is_undisturbed,
            problem: self.problem.clone(),
            optimum: self.optimum,
            is_closed: self.is_closed,
            can_undo: !self.earlier.is_empty(),
            to_optimum: self.to_optimum_json(),
            results: self.results.clone(),
            agents: self.agents.iter_mut().map(|agent| agent.sample(now)).collect(),
            cycles: self.reports.clone(),
            text: OnceLock::new(),
        })
    }

    fn to_optimum_json(&self) -> Vec<serde_json::Value> {
        let one = |(k, to_optimum): (usize, &TimeToOptimum)| {
            let gap = self.gaps.of(self.problem_number, self.life, k);
            to_optimum.json(self.agents[k].stamp(), gap)
        };
        self.to_optimum.iter().enumerate().map(one).collect()
    }

    /// An evaluator whose latest findings this engine sees.
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(self.gaps.clone())
    }

    /// Returns the evaluator's tasks, in their order.
    pub fn to_judge(&mut self) -> Vec<EvaluatorTask> {
        std::mem::take(&mut self.to_judge)
    }

    /// Returns everything to be shown now. Without a place for a frame there is none, unless a command waits for it.
    pub fn shown(&mut self, has_place: bool) -> Shown<A> {
        let is_wanted = self.is_frame_due && (has_place || !self.answers.is_empty());
        let frame = is_wanted.then(|| self.frame());
        let receipt = Receipt { number: self.number, revision: self.revision };
        let answers = self.answers.drain(..).map(|(sender, outcome)| (sender, outcome.map(|()| receipt)));
        Shown { frame, answers: answers.collect() }
    }

    /// Returns whether a command was carried out that is not yet answered.
    pub fn is_answering(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Everything about one cell: the latest frame's number and life, and what each agent knows about the cell. `None` if
    /// there is no such cell.
    pub fn cell(&self, cell: u32) -> Option<serde_json::Value> {
        let agents: Option<Vec<_>> = self.agents.iter().map(|agent| agent.cell(cell)).collect();
        Some(serde_json::json!({ "number": self.number, "life": self.life, "cell": cell, "agents": agents? }))
    }

    /// Works for at most one slice, unless a command was just carried out: its answer comes first.
    pub fn work(&mut self) {
        if self.is_answering() {
            return;
        }
        let was_running = self.running;
        let has_worked = self.work_a_stretch();
        self.finish_counted();
        self.is_frame_due |= was_running != self.running
            || has_worked && (self.clock)().saturating_sub(self.shown) >= self.frame_interval();
    }

    fn frame_interval(&self) -> Duration {
        let is_large = self.world.n_rows() * self.world.n_columns() > MAX_CELLS_IN_FULL;
        if is_large { LARGE_FRAME_INTERVAL } else { FRAME_INTERVAL }
    }

    /// Returns the time until there is something to do.
    pub fn time_to_work(&self) -> Duration {
        let is_planning = self.agents.iter().any(WatchedAgent::is_planning);
        match (self.counted.is_some(), self.running, self.scene.speed) {
            (true, ..) | (_, true, None) => Duration::ZERO,
            (_, true, Some(_)) if is_planning => Duration::ZERO,
            (_, true, Some(speed)) => self.pace.time_to_next(speed, (self.clock)()),
            (_, false, _) => Duration::from_secs(3600),
        }
    }

    /// Works for at most one slice, if there is anything to do. Returns whether there was.
    fn work_a_stretch(&mut self) -> bool {
        if !self.running && self.counted.is_none() {
            return false;
        }
        let began = (self.clock)();
        let mut due = match self.scene.speed {
            _ if !self.running => 0,
            None => u64::MAX,
            Some(speed) => self.pace.due(speed, began),
        };
        let (mut work, mut has_worked) = (0, false);
        loop {
            match self.work_once(&mut due) {
                Ok(None) => return has_worked,
                Ok(Some(more)) => work += more,
                Err(problem) => {
                    self.stop_for(&problem);
                    return true;
                }
            }
            has_worked = true;
            if work >= WORK_PER_CLOCK_READ {
                work = 0;
                if (self.clock)().saturating_sub(began) >= WORK_SLICE {
                    return true;
                }
            }
        }
    }

    /// Does the next small piece of work: some cycles of the current steps, otherwise a step that is due, otherwise a
    /// requested one. Returns the amount; `None` if there is nothing to do.
    fn work_once(&mut self, due: &mut u64) -> Result<Option<u64>> {
        if let Some(work) = self.plan_a_slice() {
            return Ok(Some(work));
        }
        if self.running {
            if self.is_after_last_episode() {
                self.set_running(false);
            } else if *due > 0 {
                *due -= 1;
                self.pace.take(1);
                return self.begin_step(self.scene.cycles).map(Some);
            }
            return Ok(None);
        }
        match &mut self.counted {
            Some(CountedCommand { left, unit: CountedUnit::Step, .. }) if *left > 0 => {
                *left -= 1;
                self.begin_step(self.scene.cycles).map(Some)
            }
            Some(CountedCommand { left, unit: CountedUnit::Cycle, .. }) if *left > 0 => {
                self.cycle_or_wait().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// One update cycle of each agent. If none of them had anything to do, the agents take a step instead, and the cycle
    /// remains to be done.
    fn cycle_or_wait(&mut self) -> Result<u64> {
        let Some(CountedCommand { left, waited, waits, .. }) = &mut self.counted else { return Ok(0) };
        let mut reports: Vec<CycleReport> = self.agents.iter_mut().map(WatchedAgent::cycle).collect();
        let has_done = reports.iter().any(|report| !report.backups.is_empty());
        reports.iter_mut().for_each(|report| report.waited = *waited);
        if has_done || !*waits || *waited >= MAX_STEPS_WAITED {
            *left -= 1;
            *waited = 0;
            self.reports = reports;
            return Ok(WORK_PER_CLOCK_READ);
        }
        *waited += 1;
        self.begin_step(0)?;
        Ok(WORK_PER_CLOCK_READ / 16)
    }

    /// Does some cycles of the current steps; `None` if there are none to do now.
    fn plan_a_slice(&mut self) -> Option<u64> {
        let Some(next) = self.whose_turn() else {
            let mut planning = self.agents.iter_mut().filter(|agent| agent.is_planning()).peekable();
            planning.peek()?;
            return Some(planning.map(WatchedAgent::plan_slice).sum());
        };
        let agent = &mut self.agents[next];
        if !agent.is_planning() {
            return None;
        }
        let began = (self.clock)();
        let work = agent.plan_slice();
        self.spent[next] += (self.clock)().saturating_sub(began);
        Some(work)
    }

    fn is_after_last_episode(&self) -> bool {
        let last = self.last_episode.unwrap_or(u64::MAX);
        self.agents.iter().all(|agent| agent.episodes() >= last)
    }

    /// Stops because something cannot be learned, and says why.
    fn stop_for(&mut self, problem: &Error) {
        self.set_running(false);
        self.problem = Some(format!("Stopped: {problem}"));
        if let Some(CountedCommand { sender: Some(sender), .. }) = self.counted.take() {
            self.answers.push((sender, Err(problem.clone())));
        }
    }

    /// Answers a command for steps or cycles when it is done or takes long.
    fn finish_counted(&mut self) {
        let is_planning = self.agents.iter().any(WatchedAgent::is_planning);
        let Some(counted) = &mut self.counted else { return };
        let is_done = counted.left == 0 && !is_planning;
        if !is_done
            && (counted.sender.is_none() || (self.clock)().saturating_sub(counted.since) < ANSWER_WITHIN)
        {
            return;
        }
        let sender = counted.sender.take();
        if is_done {
            self.counted = None;
        }
        self.is_frame_due = true;
        self.answers.extend(sender.map(|sender| (sender, Ok(()))));
    }
}

fn begin_all(agents: &[WatchedAgent], cause: Cause) -> Vec<TimeToOptimum> {
    agents.iter().map(|agent| TimeToOptimum::begin(cause, agent.stamp())).collect()
}

fn agents(scene: &Scene, world: &GridWorld) -> Result<Vec<WatchedAgent>> {
    scene.agent_specs().map(|spec| WatchedAgent::new(spec, scene, world)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_that_nobody_ordered_says_why() {
        let mut state = EngineState::<u32>::new(Scene::default(), true, None, || Duration::ZERO).unwrap();
        state.stop_for(&Error::new("the model is full"));
        let frame = state.frame();
        assert!(!frame.running);
        assert_eq!(frame.problem.as_deref(), Some("Stopped: the model is full"));
    }
}
