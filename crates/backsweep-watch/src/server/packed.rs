//! Compressed streams: each frame is compressed once, for any number of viewers.
//!
//! A part of a stream is compressed on its own and ends at a byte, so parts can follow each other in any order after the
//! [`HEADER`]. The stream has no end, and so no checksum.

use axum::http::{HeaderMap, header};
use flate2::{Compress, Compression, FlushCompress};
use std::sync::{Mutex, PoisonError};

/// The beginning of a stream in gzip's format: no name, no time, any system.
pub const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Faster levels leave a third more bytes.
const LEVEL: Compression = Compression::new(3);

/// Returns whether a client takes gzip.
pub fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

/// A part of a stream, compressed.
pub fn pack(text: &str) -> Vec<u8> {
    let mut packed = Vec::with_capacity(text.len() / 2 + 64);
    if text.is_empty() {
        return packed;
    }
    let mut deflate = Compress::new(LEVEL, false);
    loop {
        let taken = deflate.total_in() as usize;
        // It cannot fail: no state is wrong before the end, and the end is never asked for.
        let _ = deflate.compress_vec(&text.as_bytes()[taken..], &mut packed, FlushCompress::Sync);
        if deflate.total_in() as usize == text.len() && packed.len() < packed.capacity() {
            return packed;
        }
        packed.reserve(text.len() / 2 + 64);
    }
}

/// The latest frame, compressed.
#[derive(Debug, Default)]
pub struct PackedFrames(Mutex<(u64, Vec<u8>)>);

impl PackedFrames {
    /// The frame of this number; `text` is what it says.
    pub fn of(&self, number: u64, text: impl FnOnce() -> String) -> Vec<u8> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.0 != number {
            *latest = (number, pack(&text()));
        }
        latest.1.clone()
    }
}
