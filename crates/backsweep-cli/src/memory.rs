//! The peak memory of this process.

/// In megabytes (10⁶ bytes), as Linux reports it; `None` elsewhere.
pub fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

/// The peak memory in words.
pub fn describe() -> String {
    peak_megabytes().map_or("not known on this system".to_owned(), |megabytes| format!("{megabytes:.0} MB"))
}
