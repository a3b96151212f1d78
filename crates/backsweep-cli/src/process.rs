//! The memory of this process.

pub use backsweep_bench::peak_memory;

/// The peak memory as text.
pub fn peak_memory_text() -> String {
    peak_memory().map_or("unknown on this system".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6))
}
