//! The engine behind the server: one thread that owns the world and the agents, and one that judges their policies.
//!
//! ```text
//! commands ──▶ engine thread ──sample, at most 60 per second──▶ latest frame ──▶ any number of viewers
//!                    └── policies ──▶ evaluator thread ── findings ──▶ engine thread
//! ```
//!
//! The engine never waits for a viewer. It publishes its latest frame; a slow viewer gets a later one. It works in slices of a
//! few milliseconds, even during long planning, so that every command is answered promptly.

use crate::error::{Error, Result};
use crate::scene::Scene;
pub use backsweep_page::engine::command::{Break, Receipt, ViewerCommand};
use backsweep_page::engine::evaluator::{Evaluator, EvaluatorReport, EvaluatorTask};
use backsweep_page::engine::state::EngineState;
pub use backsweep_page::engine::{frame, history, pace, recording, report, time_to_optimum, watched_agent};
use frame::Frame;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// The number of commands that may wait.
const MAX_WAITING_COMMANDS: usize = 256;

/// The sender of a command, waiting for its result.
type ReceiptSender = oneshot::Sender<Result<Receipt>>;

enum Message {
    Command(ViewerCommand, ReceiptSender),
    /// A finding of the evaluator.
    EvaluatorReport(EvaluatorReport),
    /// A query about a cell.
    Look(u32, oneshot::Sender<Option<serde_json::Value>>),
    End,
}

/// A handle to the engine. The engine ends with [`end`](Self::end), or when its last handle is dropped.
#[derive(Clone, Debug)]
pub struct Engine {
    messages: SyncSender<Message>,
    frames: watch::Receiver<Arc<Frame>>,
}

impl Engine {
    /// Starts the engine thread. With a number of episodes, every agent stops when it has finished that many; when all have,
    /// the engine pauses.
    ///
    /// # Errors
    /// If the scene is not valid or no thread can be started.
    pub fn start(scene: Scene, running: bool, episodes: Option<u64>) -> Result<(Self, JoinHandle<()>)> {
        let (messages, received) = sync_channel(MAX_WAITING_COMMANDS);
        let mut state = EngineState::new(scene, running, episodes, clock)?;
        let (publish, frames) = watch::channel(state.frame());
        let tasks = start_evaluator(state.evaluator(), messages.clone());
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || run(&mut state, &received, &publish, &tasks))
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
        found.await.ok()?
    }

    /// Ends the engine.
    pub fn end(&self) {
        // If the thread has ended already, nothing is left to do.
        let _ = self.messages.send(Message::End);
    }
}

/// The time since the first call.
fn clock() -> Duration {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed()
}

/// The engine thread's loop.
fn run(
    state: &mut EngineState<ReceiptSender>,
    messages: &Receiver<Message>,
    publish: &watch::Sender<Arc<Frame>>,
    tasks: &Sender<EvaluatorTask>,
) {
    loop {
        // Without an evaluator, the optimum and the finish line are missing, but everything else works.
        state.to_judge().into_iter().for_each(|task| drop(tasks.send(task)));
        match messages.recv_timeout(state.time_to_work()) {
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(Message::Command(command, sender)) => state.carry_out(command, sender),
            Ok(Message::EvaluatorReport(evaluation)) => state.take_evaluation(evaluation),
            // The sender may have disconnected.
            Ok(Message::Look(cell, answer)) => drop(answer.send(state.cell(cell))),
            Err(RecvTimeoutError::Timeout) => {}
        }
        state.work();
        let shown = state.shown(true);
        shown.frame.map(|frame| publish.send_replace(frame));
        shown.answers.into_iter().for_each(|(sender, outcome)| drop(sender.send(outcome)));
    }
}

/// Starts the evaluator's thread, which ends with the engine. It takes all tasks that wait before it does the next one.
fn start_evaluator(mut evaluator: Evaluator, messages: SyncSender<Message>) -> Sender<EvaluatorTask> {
    let (tasks, received) = channel();
    let work = move || {
        loop {
            if evaluator.is_idle() {
                let Ok(task) = received.recv() else { return };
                evaluator.add(task);
            }
            received.try_iter().for_each(|task| evaluator.add(task));
            let finding = evaluator.work().map(Message::EvaluatorReport);
            if finding.is_some_and(|finding| messages.send(finding).is_err()) {
                return;
            }
        }
    };
    let _ = std::thread::Builder::new().name("evaluator".into()).spawn(work);
    tasks
}
