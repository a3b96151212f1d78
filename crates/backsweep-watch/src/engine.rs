//! The engine: one thread that owns the world, the agents and their random numbers, and runs them at the requested speed.
//!
//! ```text
//! commands ──▶ engine thread ──sample, at most 60 per second──▶ latest frame ──▶ any number of viewers
//! ```
//!
//! The engine never waits for a viewer. It publishes its latest frame; a slow viewer gets a later one. It works in slices of a
//! few milliseconds, even during long planning, so that every command is answered promptly.

mod evaluator;
pub mod frame;
pub mod history;
mod message;
pub mod pace;
pub mod recording;
pub mod report;
mod state;
pub mod time_to_optimum;
pub mod watched_agent;

use crate::error::{Error, Result};
use crate::scene::Scene;
use frame::Frame;
use message::Message;
pub use message::{Break, Receipt, ViewerCommand};
use state::EngineState;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use tokio::sync::{oneshot, watch};

/// How many commands may wait.
const MAX_WAITING_COMMANDS: usize = 256;

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
        let (messages, received) = sync_channel(MAX_WAITING_COMMANDS);
        let mut state = EngineState::new(scene, running, episodes, messages.clone())?;
        let (publish, frames) = watch::channel(state.frame());
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || state.work(&received, &publish))
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
    pub async fn send(&self, command: ViewerCommand) -> Result<Receipt> {
        let (answer, done) = oneshot::channel();
        self.messages.try_send(Message::Command(command, answer)).map_err(|error| match error {
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
