//! What the engine thread does: take the steps that are due, carry out orders, show a sample now and then.

use super::frame::{CycleReport, Frame};
use super::learner::Learner;
use super::pace::Pace;
use super::{Done, Message, Order};
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
/// How long the engine works at most before it looks for orders.
const STRETCH: Duration = Duration::from_millis(4);
/// The most steps or cycles in one order.
const MAX_COUNT: u64 = 100_000;

/// What the engine thread owns.
pub(super) struct Workshop {
    scene: Arc<Scene>,
    world: World,
    learners: Vec<Learner>,
    running: bool,
    /// The episodes after which an agent stops.
    last_episode: Option<u64>,
    number: u64,
    revision: u64,
    life: u64,
    reports: Vec<CycleReport>,
    optimum: Option<f64>,
    /// Whether the optimum is being computed, and whether it must be computed once more after that.
    is_computing: bool,
    must_compute: bool,
    messages: SyncSender<Message>,
    pace: Pace,
    /// Steps between two looks at the clock.
    batch: u64,
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
            last_episode,
            number: 0,
            revision: 1,
            life: 1,
            reports: Vec::new(),
            optimum: None,
            is_computing: false,
            must_compute: false,
            messages,
            pace: Pace::from(Instant::now()),
            batch: 1,
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
            let wait = if self.running { self.time_to_next_step() } else { Duration::from_secs(3600) };
            match messages.recv_timeout(wait) {
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Message::Order(order, answer)) => {
                    let outcome = self.carry_out(order);
                    publish.send_replace(self.frame());
                    published = Instant::now();
                    let done = Done { number: self.number, revision: self.revision };
                    // Whoever asked may have gone.
                    let _ = answer.send(outcome.map(|()| done));
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
            if self.running {
                let taken = self.run_a_stretch();
                if taken > 0 && published.elapsed() >= FRAME || !self.running {
                    publish.send_replace(self.frame());
                    published = Instant::now();
                }
            }
        }
    }

    fn time_to_next_step(&self) -> Duration {
        self.scene.speed.map_or(Duration::ZERO, |speed| self.pace.time_to_next(speed, Instant::now()))
    }

    /// Takes the steps that are due, for no longer than a stretch. Returns how many it took.
    fn run_a_stretch(&mut self) -> u64 {
        let began = Instant::now();
        let due = self.scene.speed.map_or(u64::MAX, |speed| self.pace.due(speed, began));
        let mut taken = 0;
        while taken < due {
            let batch = self.batch.min(due - taken);
            let batch_began = Instant::now();
            if let Err(_problem) = self.steps(batch) {
                // The model is full, after 2⁵³ visits of one pair: nothing more can be learned.
                self.running = false;
                break;
            }
            taken += batch;
            let spent = batch_began.elapsed();
            if spent < STRETCH / 8 {
                self.batch = (self.batch * 2).min(65_536);
            } else if spent > STRETCH / 2 {
                self.batch = (self.batch / 2).max(1);
            }
            if !self.running || began.elapsed() >= STRETCH {
                break;
            }
        }
        self.pace.take(taken);
        taken
    }

    /// Takes steps, all agents in turn, until they have done the episodes that they were to do.
    fn steps(&mut self, n: u64) -> Result<()> {
        self.reports.clear();
        let last = self.last_episode.unwrap_or(u64::MAX);
        for _ in 0..n {
            for learner in self.learners.iter_mut().filter(|learner| learner.episodes() < last) {
                learner.step(&self.world, self.scene.cycles)?;
            }
        }
        if self.learners.iter().all(|learner| learner.episodes() >= last) {
            self.set_running(false);
        }
        Ok(())
    }

    fn carry_out(&mut self, order: Order) -> Result<()> {
        match order {
            Order::Run => self.set_running(true),
            Order::Pause => self.set_running(false),
            Order::Step { count } => {
                self.set_running(false);
                self.steps(count.min(MAX_COUNT))?;
            }
            Order::Cycle { count } => {
                self.set_running(false);
                for _ in 0..count.min(MAX_COUNT) {
                    self.reports = self.learners.iter_mut().map(Learner::cycle).collect();
                }
            }
            Order::Reset => self.begin_anew()?,
            Order::Scene { scene, anew } => self.show(*scene, anew)?,
            Order::Paint { cell, brush } => self.paint(State(cell), brush)?,
        }
        Ok(())
    }

    fn set_running(&mut self, running: bool) {
        if running && !self.running {
            self.pace = Pace::from(Instant::now());
        } else if !running {
            self.learners.iter_mut().for_each(Learner::rest);
        }
        self.running = running;
    }

    fn begin_anew(&mut self) -> Result<()> {
        self.learners = learners(&self.scene, &self.world)?;
        self.life += 1;
        self.reports.clear();
        self.pace = Pace::from(Instant::now());
        Ok(())
    }

    fn show(&mut self, scene: Scene, anew: bool) -> Result<()> {
        let scene = scene.check()?;
        let world = World::new(&scene)?;
        let scene = Scene { maze: world.text(), ..scene };
        if scene == *self.scene {
            return Ok(());
        }
        if anew || self.scene.must_restart_for(&scene) {
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

    /// Computes the optimum beside the engine, which must not wait for it; one computation at a time.
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
