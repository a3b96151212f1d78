//! The engine: one thread that owns world, agents and random numbers, and runs them as fast as asked.
//!
//! ```text
//! orders ──▶ engine thread ──sample, at most 60 a second──▶ latest frame ──▶ any number of viewers
//! ```
//!
//! The engine never waits for a viewer. It puts its latest frame in one place; whoever is slow finds a later one there.

pub mod frame;
pub mod history;
pub mod learner;
pub mod offline;

use crate::scene::Scene;
use crate::world::{Brush, World};
use backsweep::{EpsilonGreedy, State};
use backsweep_lab::{Error, Result};
use frame::{CycleReport, Frame};
use learner::Learner;
use serde::Deserialize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// The time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How long the engine works at most before it looks for orders.
const STRETCH: Duration = Duration::from_millis(4);
/// An engine that has fallen behind by more than this does not try to catch up.
const PATIENCE: Duration = Duration::from_millis(200);
/// The most steps or cycles in one order.
const MAX_COUNT: u64 = 100_000;
/// Orders that may wait.
const WAITING_ORDERS: usize = 256;

/// What a viewer can ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Order {
    /// Go on by itself.
    Run,
    /// Stop.
    Pause,
    /// Stop and take this many steps.
    Step {
        /// How many.
        count: u64,
    },
    /// Stop and do this many update cycles.
    Cycle {
        /// How many.
        count: u64,
    },
    /// Begin anew with the same seed. The world stays as painted.
    Reset,
    /// Show another scene, or this one with other settings.
    Scene {
        /// All of it.
        scene: Box<Scene>,
        /// Whether to begin anew if anything is different, even where agents could go on: so a shared scene begins.
        #[serde(default)]
        anew: bool,
    },
    /// Change the world; the agents have to find out.
    Paint {
        /// The cell's number, row by row.
        cell: u32,
        /// What it becomes.
        brush: Brush,
    },
}

/// What an order led to: the frame that shows it.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The frame's number.
    pub number: u64,
    /// The scene's revision.
    pub revision: u64,
}

/// Whoever gave an order, waiting for what it led to.
type Answer = oneshot::Sender<Result<Done>>;

enum Message {
    Order(Order, Answer),
    /// The optimum has been computed, or could not be.
    Optimum(Option<f64>),
    End,
}

/// A handle to the engine. The engine ends with [`end`](Self::end), or when its last handle is dropped.
#[derive(Clone, Debug)]
pub struct Engine {
    messages: SyncSender<Message>,
    frames: watch::Receiver<Arc<Frame>>,
}

impl Engine {
    /// Starts the engine thread.
    ///
    /// # Errors
    /// If the scene is not valid or no thread can be started.
    pub fn start(scene: Scene, running: bool) -> Result<(Self, JoinHandle<()>)> {
        let (messages, orders) = sync_channel(WAITING_ORDERS);
        let mut workshop = Workshop::new(scene, running, messages.clone())?;
        let (publish, frames) = watch::channel(workshop.frame());
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || workshop.work(&orders, &publish))
            .map_err(|error| Error::new(format!("the engine thread cannot be started: {error}")))?;
        Ok((Self { messages, frames }, thread))
    }

    /// The latest frame.
    pub fn frame(&self) -> Arc<Frame> {
        self.frames.borrow().clone()
    }

    /// Tells of every new frame.
    pub fn frames(&self) -> watch::Receiver<Arc<Frame>> {
        self.frames.clone()
    }

    /// Gives an order and waits for what it led to.
    ///
    /// # Errors
    /// If the order cannot be carried out; nothing is changed then.
    pub async fn order(&self, order: Order) -> Result<Done> {
        let (answer, done) = oneshot::channel();
        self.messages.try_send(Message::Order(order, answer)).map_err(|error| match error {
            TrySendError::Full(_) => Error::new("too many orders at once; try again"),
            TrySendError::Disconnected(_) => Error::new("the engine has ended"),
        })?;
        done.await.unwrap_or_else(|_| Err(Error::new("the engine has ended")))
    }

    /// Ends the engine.
    pub fn end(&self) {
        // If the thread has ended already there is nobody to tell.
        let _ = self.messages.send(Message::End);
    }
}

/// What the engine thread owns.
struct Workshop {
    scene: Arc<Scene>,
    world: World,
    learners: Vec<Learner>,
    running: bool,
    number: u64,
    revision: u64,
    life: u64,
    reports: Vec<CycleReport>,
    optimum: Option<f64>,
    /// Whether the optimum is being computed, and whether it must be computed once more after that.
    is_computing: bool,
    must_compute: bool,
    messages: SyncSender<Message>,
    /// Since when steps are counted for the pace, and how many were taken since.
    pace: (Instant, u64),
    /// Steps between two looks at the clock.
    batch: u64,
}

impl Workshop {
    fn new(scene: Scene, running: bool, messages: SyncSender<Message>) -> Result<Self> {
        let scene = scene.check()?;
        let world = World::new(&scene)?;
        let scene = Arc::new(Scene { maze: world.text(), ..scene });
        let mut workshop = Self {
            learners: learners(&scene, &world)?,
            scene,
            world,
            running,
            number: 0,
            revision: 1,
            life: 1,
            reports: Vec::new(),
            optimum: None,
            is_computing: false,
            must_compute: false,
            messages,
            pace: (Instant::now(), 0),
            batch: 1,
        };
        workshop.compute_optimum();
        Ok(workshop)
    }

    fn frame(&mut self) -> Arc<Frame> {
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
    fn work(&mut self, messages: &Receiver<Message>, publish: &watch::Sender<Arc<Frame>>) {
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
        let Some(speed) = self.scene.speed else { return Duration::ZERO };
        let due = self.pace.0 + Duration::from_secs_f64((self.pace.1 + 1) as f64 / speed);
        // Frames are due even if the step is not: the last ones taken may not have been shown.
        due.saturating_duration_since(Instant::now())
    }

    /// Takes the steps that are due, for no longer than a stretch. Returns how many it took.
    fn run_a_stretch(&mut self) -> u64 {
        let began = Instant::now();
        let due = match self.scene.speed {
            None => u64::MAX,
            Some(speed) => {
                if began.duration_since(self.pace.0) > PATIENCE
                    && (began.duration_since(self.pace.0) - PATIENCE).as_secs_f64() * speed
                        > self.pace.1 as f64
                {
                    self.pace = (began - Duration::from_secs_f64((1.0 / speed).min(0.2)), 0);
                }
                let target = (began.duration_since(self.pace.0).as_secs_f64() * speed) as u64;
                target.saturating_sub(self.pace.1)
            }
        };
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
            if began.elapsed() >= STRETCH {
                break;
            }
        }
        self.pace.1 += taken;
        taken
    }

    /// Takes steps, all agents in turn.
    fn steps(&mut self, n: u64) -> Result<()> {
        self.reports.clear();
        for _ in 0..n {
            for learner in &mut self.learners {
                learner.step(&self.world, self.scene.cycles)?;
            }
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
            self.pace = (Instant::now(), 0);
        } else if !running {
            self.learners.iter_mut().for_each(Learner::rest);
        }
        self.running = running;
    }

    fn begin_anew(&mut self) -> Result<()> {
        self.learners = learners(&self.scene, &self.world)?;
        self.life += 1;
        self.reports.clear();
        self.pace = (Instant::now(), 0);
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
        self.pace = (Instant::now(), 0);
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
