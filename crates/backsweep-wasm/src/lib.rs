//! The page's engine for a browser: plain functions that a few lines of JavaScript call (`assets/worker.js`).
//!
//! Text goes in through a buffer that [`input`] makes room in, and comes out of one at [`output`]; functions that answer with a
//! text return its length. The clock is the caller's.
//!
//! The exports' names are the only `unsafe` here: a name that is not mangled could clash with another.
#![allow(unsafe_code)]

use backsweep_page::about::about;
use backsweep_page::engine::command::{Receipt, ViewerCommand};
use backsweep_page::engine::evaluator::Evaluator;
use backsweep_page::engine::frame::Frame;
use backsweep_page::engine::state::{EngineState, Shown};
use backsweep_page::error::Error;
use backsweep_page::scene::Scene;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

unsafe extern "C" {
    /// Milliseconds since some moment, by the caller's clock.
    safe fn now() -> f64;
}

fn clock() -> Duration {
    Duration::from_secs_f64(now() / 1000.0)
}

/// The time for judging policies between two slices of the engine's work, and as long.
const JUDGING: Duration = Duration::from_millis(4);

/// The running parts: the engine, whose commands have the numbers that the caller gave them, and the evaluator of its policies.
struct Page {
    engine: EngineState<u32>,
    evaluator: Evaluator,
    /// The scene and the frame that were shown last.
    revision: u64,
    last: Option<Arc<Frame>>,
}

impl Page {
    fn start(running: bool) -> Result<Self, Error> {
        let engine = EngineState::new(Scene::default(), running, None, clock)?;
        let evaluator = engine.evaluator();
        Ok(Self { engine, evaluator, revision: 0, last: None })
    }

    fn carry_out(&mut self, sender: u32, text: &[u8]) -> Value {
        match serde_json::from_slice::<ViewerCommand>(text) {
            Ok(command) => {
                self.engine.carry_out(command, sender);
                Value::Null
            }
            Err(error) => json!({ "sender": sender, "error": format!("invalid command: {error}") }),
        }
    }

    /// A slice of work, and as much of judging policies. Returns the milliseconds until there is more to do.
    fn work(&mut self) -> f64 {
        self.engine.work();
        self.engine.to_judge().into_iter().for_each(|task| self.evaluator.add(task));
        if self.engine.is_answering() {
            return 0.0;
        }
        let end = clock() + JUDGING;
        while !self.evaluator.is_idle() && clock() < end {
            self.evaluator.work().into_iter().for_each(|finding| self.engine.take_evaluation(finding));
        }
        if self.evaluator.is_idle() { self.engine.time_to_work().as_secs_f64() * 1000.0 } else { 0.0 }
    }

    /// Returns what is to be shown, as JSON; nothing if that is nothing.
    fn shown(&mut self, has_place: bool) -> String {
        let Shown { frame, answers } = self.engine.shown(has_place);
        if frame.is_none() && answers.is_empty() {
            return String::new();
        }
        let answers: Vec<Value> = answers.into_iter().map(answer_json).collect();
        let mut scene = Value::Null;
        if let Some(frame) = frame.as_ref().filter(|frame| frame.revision != self.revision) {
            self.revision = frame.revision;
            scene = frame.scene_json("");
        }
        let text = frame.as_ref().map_or("null", |frame| frame.text());
        let shown = format!("{{\"scene\":{scene},\"frame\":{text},\"answers\":{}}}", Value::from(answers));
        self.last = frame.or(self.last.take());
        shown
    }
}

fn answer_json((sender, outcome): (u32, Result<Receipt, Error>)) -> Value {
    match outcome {
        Ok(receipt) => json!({ "sender": sender, "number": receipt.number, "revision": receipt.revision }),
        Err(error) => json!({ "sender": sender, "error": error.to_string() }),
    }
}

#[derive(Default)]
struct Host {
    page: Option<Page>,
    input: Vec<u8>,
    output: String,
}

thread_local! {
    // A module of WebAssembly has one thread.
    static HOST: RefCell<Host> = RefCell::default();
}

/// Puts out a text. Returns its length.
fn put_out(text: impl FnOnce(&mut Host) -> String) -> usize {
    HOST.with_borrow_mut(|host| {
        host.output = text(host);
        host.output.len()
    })
}

/// Makes room for a text of this length, and returns where it goes.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    HOST.with_borrow_mut(|host| {
        host.input.clear();
        host.input.resize(length, 0);
        host.input.as_mut_ptr()
    })
}

/// Returns where the last text that was put out begins.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    HOST.with_borrow(|host| host.output.as_ptr())
}

/// Starts the engine, running or not. Puts out what is wrong, if anything.
#[unsafe(no_mangle)]
pub extern "C" fn start(running: u32) -> usize {
    put_out(|host| match Page::start(running != 0) {
        Ok(page) => {
            host.page = Some(page);
            String::new()
        }
        Err(error) => error.to_string(),
    })
}

/// Carries out the command in the input. Puts out an answer only if it is not a command.
#[unsafe(no_mangle)]
pub extern "C" fn command(sender: u32) -> usize {
    put_out(|host| match host.page.as_mut().map(|page| page.carry_out(sender, &host.input)) {
        None | Some(Value::Null) => String::new(),
        Some(refusal) => refusal.to_string(),
    })
}

/// Works for a few milliseconds. Returns how many until there is more to do.
#[unsafe(no_mangle)]
pub extern "C" fn work() -> f64 {
    HOST.with_borrow_mut(|host| host.page.as_mut().map_or(f64::MAX, Page::work))
}

/// Puts out what is to be shown, if anything: `{scene, frame, answers}`. Without a place for a frame, one is put out only for
/// the answer to a command.
#[unsafe(no_mangle)]
pub extern "C" fn shown(has_place: u32) -> usize {
    put_out(|host| host.page.as_mut().map_or_else(String::new, |page| page.shown(has_place != 0)))
}

/// Puts out everything about a cell; nothing if there is no such cell.
#[unsafe(no_mangle)]
pub extern "C" fn cell(index: u32) -> usize {
    put_out(|host| {
        let found = host.page.as_ref().and_then(|page| page.engine.cell(index));
        found.map_or_else(String::new, |found| found.to_string())
    })
}

/// Puts out V and Q of every agent in the last frame, exactly.
#[unsafe(no_mangle)]
pub extern "C" fn values() -> usize {
    put_out(|host| {
        let last = host.page.as_ref().and_then(|page| page.last.as_ref());
        last.map_or_else(String::new, |frame| frame.values_json().to_string())
    })
}

/// Puts out the available choices.
#[unsafe(no_mangle)]
pub extern "C" fn choices() -> usize {
    put_out(|_| about().to_string())
}

/// Puts out the recordings of the guided tour.
#[unsafe(no_mangle)]
pub extern "C" fn tour() -> usize {
    put_out(|_| {
        backsweep_page::tour::recordings().map_or_else(|error| error.to_string(), |all| all.to_string())
    })
}
