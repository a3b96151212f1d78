//! The work of the engine thread: take the steps that are due, carry out commands, publish a sample now and then.

mod obey;
mod race;

use super::course::{Cause, Course};
use super::frame::{Frame, Results};
use super::judge::Judge;
use super::learner::Learner;
use super::pace::Pace;
use super::report::CycleReport;
use super::{Answer, Done, Message};
use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep_worlds::grid_world::GridWorld;
use race::timed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How long the engine works before it checks for commands.
const STRETCH: Duration = Duration::from_millis(4);
/// The work between two readings of the clock, in steps, cycles and backups: less than a millisecond.
const WORK: u64 = 4096;
/// Steps and cycles that take longer than this are answered while still in progress. A pause waits this long for the end of
/// the current step; the rest of it is done when the engine runs again.
const PROMPT: Duration = Duration::from_millis(25);
/// How many steps a cycle waits for something to do.
const MAX_WAIT: u64 = 50_000;
/// The most steps or cycles in one command.
const MAX_COUNT: u64 = 100_000;

/// What the engine thread owns.
pub(super) struct Workshop {
    scene: Arc<Scene>,
    world: Arc<GridWorld>,
    /// Whether there is no path to the goal.
    is_closed: bool,
    learners: Vec<Learner>,
    /// The course of each agent to the finish line.
    courses: Vec<Course>,
    /// The computing time of each agent, in a race on equal time.
    spent: Vec<Duration>,
    /// Whether nothing has changed since the agents started: only such runs are points of Figure 3.
    is_undisturbed: bool,
    results: Arc<Results>,
    /// The mazes from before each change, and the stroke of the last one.
    earlier: Vec<String>,
    stroke: u64,
    running: bool,
    counted: Option<Counted>,
    /// The episodes after which an agent stops.
    last_episode: Option<u64>,
    number: u64,
    revision: u64,
    life: u64,
    touched: bool,
    problem: Option<String>,
    reports: Vec<CycleReport>,
    optimum: Option<f64>,
    judge: Judge,
    /// The number of the problem that the judge works on.
    problem_number: u64,
    pace: Pace,
}

/// A command for a number of steps or cycles, in progress.
struct Counted {
    unit: Unit,
    left: u64,
    /// Whether a cycle that finds nothing to do waits, and how many steps were taken meanwhile. Only a single one waits:
    /// a request for many should show the planner finishing.
    waits: bool,
    waited: u64,
    since: Instant,
    /// The sender of the command, if not yet answered.
    answer: Option<Answer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Step,
    Cycle,
}

impl Workshop {
    pub fn new(
        scene: Scene,
        running: bool,
        last_episode: Option<u64>,
        messages: SyncSender<Message>,
    ) -> Result<Self> {
        let scene = scene.check()?;
        let world = Arc::new(scene.grid_world()?);
        let scene = Arc::new(Scene { maze: world.text(), ..scene });
        let learners = learners(&scene, &world)?;
        let mut workshop = Self {
            courses: courses(&learners, Cause::Start),
            spent: vec![Duration::ZERO; learners.len()],
            learners,
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
            judge: Judge::start(messages),
            problem_number: 0,
            pace: Pace::from(Instant::now()),
        };
        workshop.set_problem();
        Ok(workshop)
    }

    /// What is seen now.
    pub fn frame(&mut self) -> Arc<Frame> {
        self.number += 1;
        Arc::new(Frame {
            number: self.number,
            revision: self.revision,
            life: self.life,
            scene: self.scene.clone(),
            world: self.world.clone(),
            running: self.running,
            busy: self.counted.is_some(),
            touched: self.touched,
            problem: self.problem.clone(),
            optimum: self.optimum,
            is_closed: self.is_closed,
            can_undo: !self.earlier.is_empty(),
            courses: self.courses_json(),
            results: self.results.clone(),
            agents: self.learners.iter_mut().map(Learner::sample).collect(),
            cycles: self.reports.clone(),
            event: OnceLock::new(),
        })
    }

    fn courses_json(&self) -> Vec<serde_json::Value> {
        let one = |(k, course): (usize, &Course)| {
            let gap = self.judge.gap(self.problem_number, self.life, k);
            course.json(self.learners[k].stamp(), gap)
        };
        self.courses.iter().enumerate().map(one).collect()
    }

    /// The thread's loop.
    pub fn work(&mut self, messages: &Receiver<Message>, publish: &watch::Sender<Arc<Frame>>) {
        let mut published = Instant::now();
        loop {
            match messages.recv_timeout(self.time_to_work()) {
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Message::Order(order, answer)) => {
                    self.carry_out(order, answer, publish);
                    published = Instant::now();
                }
                Ok(Message::Verdict(verdict)) => {
                    self.take_verdict(verdict);
                    publish.send_replace(self.frame());
                }
                Ok(Message::Look(cell, answer)) => {
                    let found = self.learners.iter().map(|learner| learner.cell(cell)).collect();
                    // The sender may have disconnected.
                    let _ = answer.send((self.number, self.life, found));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let was_running = self.running;
            let has_worked = self.work_a_stretch();
            if self.finish_counted(publish) {
                published = Instant::now();
            } else if was_running != self.running || has_worked && published.elapsed() >= FRAME {
                publish.send_replace(self.frame());
                published = Instant::now();
            }
        }
    }

    /// How long until there is something to do.
    fn time_to_work(&self) -> Duration {
        let is_planning = self.learners.iter().any(Learner::is_planning);
        match (self.counted.is_some(), self.running, self.scene.speed) {
            (true, ..) | (_, true, None) => Duration::ZERO,
            (_, true, Some(_)) if is_planning => Duration::ZERO,
            (_, true, Some(speed)) => self.pace.time_to_next(speed, Instant::now()),
            (_, false, _) => Duration::from_secs(3600),
        }
    }

    /// Works for at most one slice, if there is anything to do. Returns whether there was.
    fn work_a_stretch(&mut self) -> bool {
        if !self.running && self.counted.is_none() {
            return false;
        }
        let began = Instant::now();
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
            if work >= WORK {
                work = 0;
                if began.elapsed() >= STRETCH {
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
            Some(Counted { left, unit: Unit::Step, .. }) if *left > 0 => {
                *left -= 1;
                self.begin_step(self.scene.cycles).map(Some)
            }
            Some(Counted { left, unit: Unit::Cycle, .. }) if *left > 0 => self.cycle_or_wait().map(Some),
            _ => Ok(None),
        }
    }

    /// One update cycle of each agent. If none of them had anything to do, the agents take a step instead, and the cycle
    /// remains to be done.
    fn cycle_or_wait(&mut self) -> Result<u64> {
        let Some(Counted { left, waited, waits, .. }) = &mut self.counted else { return Ok(0) };
        let mut reports: Vec<CycleReport> = self.learners.iter_mut().map(Learner::cycle).collect();
        let has_done = reports.iter().any(|report| !report.backups.is_empty());
        reports.iter_mut().for_each(|report| report.waited = *waited);
        if has_done || !*waits || *waited >= MAX_WAIT {
            *left -= 1;
            *waited = 0;
            self.reports = reports;
            return Ok(WORK);
        }
        *waited += 1;
        self.begin_step(0)?;
        Ok(WORK / 16)
    }

    /// Does some cycles of the current steps; `None` if there are none to do now.
    fn plan_a_slice(&mut self) -> Option<u64> {
        let Some(next) = self.whose_turn() else {
            let mut planning = self.learners.iter_mut().filter(|learner| learner.is_planning()).peekable();
            planning.peek()?;
            return Some(planning.map(Learner::plan_slice).sum());
        };
        let learner = &mut self.learners[next];
        learner.is_planning().then(|| timed(&mut self.spent[next], || learner.plan_slice()))
    }

    fn is_after_last_episode(&self) -> bool {
        let last = self.last_episode.unwrap_or(u64::MAX);
        self.learners.iter().all(|learner| learner.episodes() >= last)
    }

    /// Stops because something cannot be learned, and says why.
    fn stop_for(&mut self, problem: &Error) {
        self.set_running(false);
        self.problem = Some(format!("Stopped: {problem}"));
        if let Some(Counted { answer: Some(answer), .. }) = self.counted.take() {
            let _ = answer.send(Err(problem.clone()));
        }
    }

    /// Answers a command for steps or cycles when it is done or takes long. Returns whether a frame was published.
    fn finish_counted(&mut self, publish: &watch::Sender<Arc<Frame>>) -> bool {
        let is_planning = self.learners.iter().any(Learner::is_planning);
        let Some(counted) = &mut self.counted else { return false };
        let is_done = counted.left == 0 && !is_planning;
        if !is_done && (counted.answer.is_none() || counted.since.elapsed() < PROMPT) {
            return false;
        }
        let answer = counted.answer.take();
        if is_done {
            self.counted = None;
        }
        publish.send_replace(self.frame());
        self.answer(answer, Ok(()));
        true
    }

    /// Tells the sender of a command, if still connected, which frame shows its result.
    fn answer(&self, answer: Option<Answer>, outcome: Result<()>) {
        let done = Done { number: self.number, revision: self.revision };
        if let Some(answer) = answer {
            let _ = answer.send(outcome.map(|()| done));
        }
    }
}

fn courses(learners: &[Learner], cause: Cause) -> Vec<Course> {
    learners.iter().map(|learner| Course::begin(cause, learner.stamp())).collect()
}

fn learners(scene: &Scene, world: &GridWorld) -> Result<Vec<Learner>> {
    scene.racers().map(|racer| Learner::new(racer, scene, world)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_that_nobody_ordered_says_why() {
        let (messages, _orders) = std::sync::mpsc::sync_channel(1);
        let mut workshop = Workshop::new(Scene::default(), true, None, messages).unwrap();
        workshop.stop_for(&Error::new("the model is full"));
        let frame = workshop.frame();
        assert!(!frame.running);
        assert_eq!(frame.problem.as_deref(), Some("Stopped: the model is full"));
    }
}
