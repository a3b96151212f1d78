//! A hash of names that never changes: random streams, and so all results, depend on it.

/// FNV-1a with 64 bits.
pub fn fnv1a(text: &str) -> u64 {
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
