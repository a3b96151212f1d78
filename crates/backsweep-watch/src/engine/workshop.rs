//! What the engine thread does: take the steps that are due, carry out orders, show a sample now and then.

use super::frame::{CycleReport, Frame};
use super::learner::Learner;
use super::pace::Pace;
use super::{Answer, Done, Message, Order};
use crate::scene::Scene;
use crate::world::{Brush, World};
use backsweep::{EpsilonGreedy, State};
use backsweep_lab::{Error, Result};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How long the engine works before it looks for orders.
const STRETCH: Duration = Duration::from_millis(4);
/// The work between two looks at the clock, in steps, cycles and backups: less than a millisecond.
const WORK: u64 = 4096;
/// Steps and cycles that take longer than this are answered while they are still being done. A pause waits this long for the
/// end of the step under way; what is left of it is done when the engine runs again.
const PROMPT: Duration = Duration::from_millis(25);
/// The most steps or cycles in one order.
const MAX_COUNT: u64 = 100_000;

/// What the engine thread owns.
pub(super) struct Workshop {
    scene: Arc<Scene>,
    world: World,
    learners: Vec<Learner>,
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
    /// Whether the optimum is being computed, and whether it must be computed again after that.
    is_computing: bool,
    must_compute: bool,
    messages: SyncSender<Message>,
    pace: Pace,
}

/// An order of a number of steps or cycles, being carried out.
struct Counted {
    unit: Unit,
    left: u64,
    since: Instant,
    /// Whoever gave the order and has not been answered.
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
        let world = World::new(&scene)?;
        let scene = Arc::new(Scene { maze: world.text(), ..scene });
        let mut workshop = Self {
            learners: learners(&scene, &world)?,
            scene,
            world,
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
            is_computing: false,
            must_compute: false,
            messages,
            pace: Pace::from(Instant::now()),
        };
        workshop.compute_optimum();
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
            running: self.running,
            busy: self.counted.is_some(),
            touched: self.touched,
            problem: self.problem.clone(),
            optimum: self.optimum,
            agents: self.learners.iter_mut().map(Learner::sample).collect(),
            cycles: self.reports.clone(),
            event: OnceLock::new(),
        })
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
                Ok(Message::Optimum(optimum)) => {
                    self.is_computing = false;
                    self.optimum = optimum;
                    if std::mem::take(&mut self.must_compute) {
                        self.compute_optimum();
                    }
                    publish.send_replace(self.frame());
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

    /// How long there is nothing to do.
    fn time_to_work(&self) -> Duration {
        let is_planning = self.learners.iter().any(Learner::is_planning);
        match (self.counted.is_some(), self.running, self.scene.speed) {
            (true, ..) | (_, true, None) => Duration::ZERO,
            (_, true, Some(_)) if is_planning => Duration::ZERO,
            (_, true, Some(speed)) => self.pace.time_to_next(speed, Instant::now()),
            (_, false, _) => Duration::from_secs(3600),
        }
    }

    /// Works for no longer than a stretch, if there is anything to do. Returns whether there was.
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

    /// The smallest piece of work that is to be done next: some cycles of the steps under way, else a step that is due, else
    /// one that was ordered. Returns how much it was; `None` if there is nothing to do.
    fn work_once(&mut self, due: &mut u64) -> Result<Option<u64>> {
        if self.learners.iter().any(Learner::is_planning) {
            let planning = self.learners.iter_mut().filter(|learner| learner.is_planning());
            return Ok(Some(planning.map(Learner::plan_slice).sum()));
        }
        if self.running {
            if self.is_after_last_episode() {
                self.set_running(false);
            } else if *due > 0 {
                *due -= 1;
                self.pace.take(1);
                return self.begin_step().map(Some);
            }
            return Ok(None);
        }
        match &mut self.counted {
            Some(Counted { left, unit, .. }) if *left > 0 => {
                *left -= 1;
                if *unit == Unit::Step {
                    return self.begin_step().map(Some);
                }
                self.reports = self.learners.iter_mut().map(Learner::cycle).collect();
                Ok(Some(WORK))
            }
            _ => Ok(None),
        }
    }

    /// Lets every agent act that has not finished its last episode.
    fn begin_step(&mut self) -> Result<u64> {
        self.reports.clear();
        let last = self.last_episode.unwrap_or(u64::MAX);
        let mut work = 1;
        for learner in self.learners.iter_mut().filter(|learner| learner.episodes() < last) {
            work += learner.act(&self.world, self.scene.cycles)?;
        }
        Ok(work)
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

    /// Answers an order of steps or cycles when it is done or takes long. Returns whether a frame was shown.
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

    /// Tells whoever gave an order, if still there, in which frame its result is seen.
    fn answer(&self, answer: Option<Answer>, outcome: Result<()>) {
        let done = Done { number: self.number, revision: self.revision };
        if let Some(answer) = answer {
            let _ = answer.send(outcome.map(|()| done));
        }
    }

    fn carry_out(&mut self, order: Order, answer: Answer, publish: &watch::Sender<Arc<Frame>>) {
        // A new order ends the steps or cycles of an earlier one.
        let earlier = self.counted.take().and_then(|counted| counted.answer);
        let outcome = self.obey(order);
        if outcome.is_ok() {
            self.touched = true;
            self.problem = None;
        }
        if self.counted.is_none() || earlier.is_some() {
            publish.send_replace(self.frame());
        }
        self.answer(earlier, Ok(()));
        match &mut self.counted {
            Some(counted) => counted.answer = Some(answer),
            None => self.answer(Some(answer), outcome),
        }
    }

    fn obey(&mut self, order: Order) -> Result<()> {
        match order {
            Order::Run {} => self.set_running(true),
            Order::Pause {} => {
                self.finish_step();
                self.set_running(false);
            }
            Order::Step { count } => self.count(Unit::Step, count),
            Order::Cycle { count } => self.count(Unit::Cycle, count),
            Order::Reset {} => self.restart()?,
            Order::Scene { scene, restart } => self.show(*scene, restart)?,
            Order::Change { settings } => self.show(self.scene.with(&settings)?, false)?,
            Order::Paint { cell, brush } => self.paint(State(cell), brush)?,
        }
        Ok(())
    }

    fn count(&mut self, unit: Unit, count: u64) {
        self.set_running(false);
        self.counted =
            Some(Counted { unit, left: count.min(MAX_COUNT), since: Instant::now(), answer: None });
    }

    /// Does the cycles that the step under way still owes, if that does not take long: agents in a race then stop after the
    /// same step.
    fn finish_step(&mut self) {
        let began = Instant::now();
        while self.learners.iter().any(Learner::is_planning) && began.elapsed() < PROMPT {
            self.learners.iter_mut().filter(|learner| learner.is_planning()).for_each(|learner| {
                learner.plan_slice();
            });
        }
    }

    fn set_running(&mut self, running: bool) {
        if running && !self.running {
            self.pace = Pace::from(Instant::now());
        } else if !running {
            self.learners.iter_mut().for_each(Learner::rest);
        }
        self.running = running;
    }

    fn restart(&mut self) -> Result<()> {
        self.learners = learners(&self.scene, &self.world)?;
        self.life += 1;
        self.reports.clear();
        self.pace = Pace::from(Instant::now());
        Ok(())
    }

    fn show(&mut self, scene: Scene, restart: bool) -> Result<()> {
        let scene = scene.check()?;
        let is_same_world =
            |a: &Scene, b: &Scene| (&a.maze, &a.law, a.intended) == (&b.maze, &b.law, b.intended);
        let world = if is_same_world(&scene, &self.scene) { self.world.clone() } else { World::new(&scene)? };
        let scene = Scene { maze: world.text(), ..scene };
        if scene == *self.scene {
            return Ok(());
        }
        if restart || self.scene.must_restart_for(&scene) {
            self.learners = learners(&scene, &world)?;
            self.life += 1;
            self.world = world;
        } else {
            for learner in &mut self.learners {
                learner.adopt(&scene)?;
            }
        }
        let optimum_of = |scene: &Scene| (scene.discount, scene.epsilon, scene.law.clone(), scene.intended);
        let is_same_problem = scene.maze == self.scene.maze && optimum_of(&scene) == optimum_of(&self.scene);
        self.scene = Arc::new(scene);
        self.revision += 1;
        self.reports.clear();
        self.pace = Pace::from(Instant::now());
        if !is_same_problem {
            self.compute_optimum();
        }
        Ok(())
    }

    fn paint(&mut self, state: State, brush: Brush) -> Result<()> {
        let world = self.world.painted(state, brush, &self.scene)?;
        if world.text() == self.world.text() {
            return Ok(());
        }
        self.world = world;
        self.scene = Arc::new(Scene { maze: self.world.text(), ..(*self.scene).clone() });
        self.revision += 1;
        self.reports.clear();
        for learner in &mut self.learners {
            learner.look_around(&self.world);
        }
        self.compute_optimum();
        Ok(())
    }

    /// Computes the optimum on a thread of its own, since the engine must not wait for it; one computation at a time.
    fn compute_optimum(&mut self) {
        self.optimum = None;
        if std::mem::replace(&mut self.is_computing, true) {
            self.must_compute = true;
            return;
        }
        let (world, settings, messages) = (self.world.clone(), self.scene.settings(), self.messages.clone());
        let epsilon = self.scene.epsilon;
        let compute = move || {
            let optimum = EpsilonGreedy::new(epsilon)
                .map_err(Error::from)
                .and_then(|policy| world.optimum(&settings, policy));
            // The engine may have ended.
            let _ = messages.send(Message::Optimum(optimum.ok()));
        };
        if std::thread::Builder::new().name("optimum".into()).spawn(compute).is_err() {
            self.is_computing = false; // The line is missing; everything else works.
        }
    }
}

fn learners(scene: &Scene, world: &World) -> Result<Vec<Learner>> {
    scene.planners().map(|planner| Learner::new(planner, scene, world)).collect()
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
