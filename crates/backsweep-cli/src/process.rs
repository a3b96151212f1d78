//! The memory of this process.

/// The most memory that the process has held, in bytes, as Linux reports it; `None` elsewhere.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The peak memory as text.
pub fn peak_memory_text() -> String {
    peak_memory().map_or("unknown on this system".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6))
}
