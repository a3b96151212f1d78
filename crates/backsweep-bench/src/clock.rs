//! The cost of a run: processor time of this thread, and the peak memory of the process.

use std::time::Duration;

/// Processor time of this thread where the system provides it, so that other work on the machine counts less; otherwise the
/// clock.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time since the first call.
#[cfg(not(unix))]
pub fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Resets the peak memory, where the system can (Linux); elsewhere the peak keeps growing.
pub fn reset_peak_memory() {
    // The result does not matter: without it, a later row reports the peak of all rows so far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that the process has held since the last reset, in bytes, as Linux reports it; `None` elsewhere.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
