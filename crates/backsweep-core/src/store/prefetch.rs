//! Prefetching: the project's only unsafe code.
//!
//! Measurements justify it: in a model larger than the second-level cache an update cycle waits for
//! its predecessor blocks and an observation for its rows, a third of the time altogether
//! (docs/performance.md); both are known some hundred nanoseconds before they are read. Safe code
//! could only read them, and would wait just the same.

/// Prefetches item `i`, which need not exist.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = items.as_ptr().wrapping_add(i).cast();
        // SAFETY: a hint. It returns no value and changes none, and the processor ignores it for an
        // unmapped address, so any address is allowed. Nothing is dereferenced; `wrapping_add`
        // requires nothing of its result.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, i);
}

/// Prefetches four items from `first` on, which need not exist: the data of a state's pairs fits in
/// at most two cache lines.
///
/// A hint to the processor, for planners of your own that know early what they will read; it
/// changes no result.
#[inline(always)]
pub fn prefetch_run<T>(items: &[T], first: usize) {
    prefetch(items, first);
    prefetch(items, first.wrapping_add(3));
}
