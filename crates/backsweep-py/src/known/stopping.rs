//! When a solver has to stop: a time limit, or Ctrl-C. Either way it returns what it has reached.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// The time between checks of Python's signals.
const PAUSE: Duration = Duration::from_millis(20);

pub struct Stopping {
    began: Instant,
    limit: Option<Duration>,
    /// Python delivers signals to its main thread only; the solver's own threads need not check.
    thread: ThreadId,
    asked: Mutex<(Instant, Option<PyErr>)>,
}

impl Stopping {
    pub fn new(limit: Option<Duration>) -> Self {
        let began = Instant::now();
        Self { began, limit, thread: std::thread::current().id(), asked: Mutex::new((began, None)) }
    }

    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn in_time(&self) -> bool {
        self.limit.is_none_or(|limit| self.began.elapsed() < limit)
    }

    /// Returns whether to stop. Called without the interpreter.
    pub fn stop(&self) -> bool {
        if !self.in_time() {
            return true;
        }
        let Ok(mut asked) = self.asked.lock() else { return true };
        if asked.1.is_none() && asked.0.elapsed() >= PAUSE && std::thread::current().id() == self.thread {
            asked.1 = Python::attach(|py| py.check_signals()).err();
            asked.0 = Instant::now();
        }
        asked.1.is_some()
    }

    /// The exception that a signal handler raised, if one did.
    pub fn raised(&self) -> Option<PyErr> {
        self.asked.lock().ok().and_then(|mut asked| asked.1.take())
    }

    /// Returns the reason why the work was stopped, if it was.
    ///
    /// # Errors
    /// The exception that a signal handler raised, unless it was Ctrl-C.
    pub fn reason(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        match self.raised() {
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(Some("Ctrl-C")),
            Some(error) => Err(error),
            None if !self.in_time() => Ok(Some("the time limit")),
            None => Ok(None),
        }
    }
}
