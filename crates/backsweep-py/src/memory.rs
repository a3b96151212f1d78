//! Refusing what would not fit into memory before any of it is allocated: a failed allocation would end the whole process.

use crate::errors;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::fs;

/// What the engine and the names take, roughly: a state without actions, an action of a state, a successor of an action.
const STATE_BYTES: u64 = 120;
const PAIR_BYTES: u64 = 80;
const ARC_BYTES: u64 = 60;
/// Less than this is not looked at.
const SMALL: u64 = 64 << 20;

/// # Errors
/// `MemoryError` if a model of this size would need more memory than is available.
pub fn check(what: &str, n_states: u64, n_pairs: u64, n_arcs: u64) -> PyResult<()> {
    let bytes = n_states
        .saturating_mul(STATE_BYTES)
        .saturating_add(n_pairs.saturating_mul(PAIR_BYTES))
        .saturating_add(n_arcs.saturating_mul(ARC_BYTES));
    if bytes <= SMALL {
        return Ok(());
    }
    match available() {
        Some(available) if bytes > available => Err(PyMemoryError::new_err(format!(
            "{what} would take about {} of memory ({n_states} states, {n_pairs} actions of states, {n_arcs} successors), and {} \
             are available; expected a smaller model",
            errors::size(bytes),
            errors::size(available)
        ))),
        _ => Ok(()),
    }
}

/// Memory that can still be had: what the system says, or what is left of the control group's limit. `None` where neither is
/// known.
fn available() -> Option<u64> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        Some(line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
    });
    let limit = number("/sys/fs/cgroup/memory.max");
    let group = limit.map(|limit| limit.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    match (system, group) {
        (Some(system), Some(group)) => Some(system.min(group)),
        (system, group) => system.or(group),
    }
}
