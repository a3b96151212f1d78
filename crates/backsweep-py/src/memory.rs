//! Refuses models that would not fit into memory before anything is allocated: a failed allocation would abort the process.

use crate::errors;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::fs;

/// Roughly what the engine and the names take for a state without actions, an action of a state, a successor of an action: in
/// the core's model, which learns, and in the flat arrays of a known one, with what solving it takes.
const LEARNED_BYTES: [u64; 3] = [120, 80, 60];
const FLAT_BYTES: [u64; 3] = [120, 24, 16];
/// Less than this is not checked.
const MAX_UNCHECKED_BYTES: u64 = 64 << 20;

/// # Errors
/// `MemoryError` if a model of this size would need more memory than is available.
pub fn check(what: &str, n_states: u64, n_pairs: u64, n_arcs: u64) -> PyResult<()> {
    check_bytes(what, [n_states, n_pairs, n_arcs], LEARNED_BYTES)
}

/// As [`check`], for the flat arrays of a known model.
pub fn check_flat(what: &str, n_states: u64, n_pairs: u64, n_arcs: u64) -> PyResult<()> {
    check_bytes(what, [n_states, n_pairs, n_arcs], FLAT_BYTES)
}

fn check_bytes(what: &str, counts: [u64; 3], each: [u64; 3]) -> PyResult<()> {
    let [n_states, n_pairs, n_arcs] = counts;
    let bytes = counts.into_iter().zip(each).map(|(n, bytes)| n.saturating_mul(bytes));
    let bytes = bytes.fold(0, u64::saturating_add);
    if bytes <= MAX_UNCHECKED_BYTES {
        return Ok(());
    }
    match available() {
        Some(available) if bytes > available => Err(PyMemoryError::new_err(format!(
            "{what} would take about {} of memory ({n_states} states, {n_pairs} actions of states, {n_arcs} successors), but only {} \
             are available; expected a smaller model",
            errors::size(bytes),
            errors::size(available)
        ))),
        _ => Ok(()),
    }
}

/// Available memory: the smallest of what the system has left and what the limits of the control group and of the process
/// allow. `None` where none of these is known, as on systems other than Linux.
fn available() -> Option<u64> {
    /// The number in the first line of a file that begins with a word.
    fn number(path: &str, word: &str) -> Option<u64> {
        let text = fs::read_to_string(path).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(word))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    }
    let system = number("/proc/meminfo", "MemAvailable:").map(|kilobytes| kilobytes * 1024);
    let used = number("/sys/fs/cgroup/memory.current", "").unwrap_or(0);
    let group = number("/sys/fs/cgroup/memory.max", "").map(|limit| limit.saturating_sub(used));
    let mapped = number("/proc/self/status", "VmSize:").unwrap_or(0) * 1024;
    let process = number("/proc/self/limits", "Max address space").map(|limit| limit.saturating_sub(mapped));
    [system, group, process].into_iter().flatten().min()
}
