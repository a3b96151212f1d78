//! Work over ranges on several threads; results do not depend on how many.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The result of one range.
pub(crate) struct Part<T> {
    /// Its place in the order of the ranges.
    pub number: usize,
    pub found: T,
}

/// Splits `0..n` into ranges of `size`, works on them and returns the results in order.
pub(crate) fn in_parts<T: Send>(
    n: usize,
    size: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<Part<T>> {
    let n_parts = n.div_ceil(size);
    let next = AtomicUsize::new(0);
    let some = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= n_parts {
                return done;
            }
            done.push(Part { number, found: work(number * size..n.min((number + 1) * size)) });
        }
    };
    let mut parts = Vec::with_capacity(n_parts);
    std::thread::scope(|scope| {
        let running: Vec<_> = (1..threads.min(n_parts)).map(|_| scope.spawn(some)).collect();
        parts.extend(some());
        for task in running {
            match task.join() {
                Ok(done) => parts.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    parts.sort_unstable_by_key(|part| part.number);
    parts
}

/// Fills a slice in pieces of `size`: `work` gets the place of the piece's first item, and the piece.
pub(crate) fn fill<T: Send>(
    items: &mut [T],
    size: usize,
    threads: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let pieces = std::sync::Mutex::new(items.chunks_mut(size.max(1)).enumerate());
    let some = || {
        while let Some((i, piece)) = {
            let mut pieces = pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            pieces.next()
        } {
            work(i * size.max(1), piece);
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(some)));
        some();
    });
}
