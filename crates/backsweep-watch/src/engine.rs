//! The engine: one thread that owns the world, the agents and their random numbers, and runs them at the requested speed.
//!
//! ```text
//! commands ──▶ engine thread ──sample, at most 60 per second──▶ latest frame ──▶ any number of viewers
//! ```
//!
//! The engine never waits for a viewer. It publishes its latest frame; a slow viewer gets a later one. It works in slices of a
//! few milliseconds, even during long planning, so that every command is answered promptly.

pub mod course;
pub mod frame;
pub mod history;
mod judge;
pub mod learner;
pub mod offline;
mod pace;
pub mod recording;
pub mod report;
mod workshop;

use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep_worlds::grid_world::Brush;
use frame::Frame;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use tokio::sync::{oneshot, watch};
use workshop::Workshop;

/// How many commands may wait.
const WAITING_ORDERS: usize = 256;

/// A command from a viewer.
// Commands without fields have braces: only then does serde refuse unknown fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Order {
    /// Run continuously.
    Run {},
    /// Stop.
    Pause {},
    /// Stop, then take this many steps.
    Step {
        /// How many.
        count: u64,
    },
    /// Stop, then do this many update cycles.
    Cycle {
        /// How many.
        count: u64,
    },
    /// Forget what was learned and restart with the same seed. The world stays as painted.
    Reset {},
    /// Show another scene.
    Scene {
        /// All of it.
        scene: Box<Scene>,
        /// Whether to restart if anything differs, even where agents could continue, as for a shared scene.
        #[serde(default)]
        restart: bool,
    },
    /// Change some settings of the scene and leave the others alone, so that two viewers can change different ones at
    /// the same time.
    Change {
        /// The settings by name.
        settings: serde_json::Map<String, serde_json::Value>,
    },
    /// Change the world; the agents have to find out.
    Paint {
        /// The cell's number, row by row.
        cell: u32,
        /// What it becomes.
        brush: Brush,
        /// Changes of one stroke (a number other than 0) are undone together.
        #[serde(default)]
        stroke: u64,
    },
    /// Change the world where it hurts; the agents have to find out.
    Break {
        /// How.
        what: Break,
    },
    /// Undo the last change to the world. What was learned meanwhile stays.
    Undo {},
}

/// How the world is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Break {
    /// A wall on the path that the first agent takes.
    Wall,
    /// Opens the wall whose removal shortens the path most.
    Shortcut,
}

/// The result of a command: the frame that shows it. Steps and cycles that take long are answered while still in
/// progress; the frame then says that the engine is [busy](Frame::busy).
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The frame's number.
    pub number: u64,
    /// The scene's revision.
    pub revision: u64,
}

/// The sender of a command, waiting for its result.
type Answer = oneshot::Sender<Result<Done>>;

/// Everything about a cell: the latest frame's number and life, and what each agent knows about the cell.
type Found = (u64, u64, Option<Vec<serde_json::Value>>);

enum Message {
    Order(Order, Answer),
    /// What the judge found.
    Verdict(judge::Verdict),
    /// A query about a cell.
    Look(u32, oneshot::Sender<Found>),
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
        Self::start_until(scene, running, None)
    }

    /// As [`start`](Self::start), but every agent stops when it has finished this many episodes. When all have, the engine
    /// pauses.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_until(scene: Scene, running: bool, episodes: Option<u64>) -> Result<(Self, JoinHandle<()>)> {
        let (messages, orders) = sync_channel(WAITING_ORDERS);
        let mut workshop = Workshop::new(scene, running, episodes, messages.clone())?;
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

    /// A receiver that is notified of every new frame.
    pub fn frames(&self) -> watch::Receiver<Arc<Frame>> {
        self.frames.clone()
    }

    /// Sends a command and waits for its result.
    ///
    /// # Errors
    /// If the command cannot be carried out; nothing is changed then.
    pub async fn order(&self, order: Order) -> Result<Done> {
        let (answer, done) = oneshot::channel();
        self.messages.try_send(Message::Order(order, answer)).map_err(|error| match error {
            TrySendError::Full(_) => Error::new("too many commands at once; wait a moment and try again"),
            TrySendError::Disconnected(_) => Error::new("the engine has ended"),
        })?;
        done.await.unwrap_or_else(|_| Err(Error::new("the engine has ended")))
    }

    /// Everything about one cell, exactly: for the card of the cell under the pointer. `None` if there is no such cell, or the
    /// engine is too busy to answer.
    pub async fn cell(&self, cell: u32) -> Option<serde_json::Value> {
        let (answer, found) = oneshot::channel();
        self.messages.try_send(Message::Look(cell, answer)).ok()?;
        let (number, life, agents) = found.await.ok()?;
        Some(serde_json::json!({ "number": number, "life": life, "cell": cell, "agents": agents? }))
    }

    /// Ends the engine.
    pub fn end(&self) {
        // If the thread has ended already, nothing is left to do.
        let _ = self.messages.send(Message::End);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn agents_stop_at_the_step_that_ends_their_last_episode() {
        let steps = || {
            let scene =
                Scene { rival: Some(backsweep::PlannerKind::MooreAtkeson), speed: None, ..Scene::default() };
            let (engine, thread) = Engine::start_until(scene, true, Some(7)).unwrap();
            let begin = Instant::now();
            while engine.frame().running {
                assert!(begin.elapsed() < Duration::from_secs(60), "the engine is still running");
                std::thread::sleep(Duration::from_millis(1));
            }
            let frame = engine.frame();
            engine.end();
            thread.join().unwrap();
            assert!(frame.agents.iter().all(|agent| agent.episodes == 7), "{:?}", frame.agents);
            frame.agents.iter().map(|agent| agent.steps).collect::<Vec<_>>()
        };
        assert_eq!(steps(), steps(), "however fast the machine is");
    }
}
