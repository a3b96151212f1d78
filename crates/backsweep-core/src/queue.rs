//! The priority queue of a planner: indexed, so that it never holds more entries than there are
//! keys.
//!
//! Keys are kept in buckets of nearly equal priority: those that agree in the exponent and the
//! first bits of the mantissa. The two outermost buckets take in everything lower or higher. The
//! bucket queue has 8 buckets per octave and pops the key that entered the highest bucket last. The
//! exact queue has 128 per octave and scans the highest one, which holds one or two keys most of
//! the time, because it is the one being emptied. So the order within a bucket, which a heap
//! restores at every change, need not be known until a few keys are left to compare, and a change
//! of priority within a bucket is a single store. Where priorities crowd (in a known model all
//! rewards may be equal), `queue/splits.rs` divides the highest bucket. For a comparison with
//! heaps, see docs/performance.md.
//!
//! The keys of a bucket form a ring that includes a link of the bucket itself, its head, and a key
//! that is not queued is a ring of one, so a key moves without a single condition. With lists that
//! ended in NONE a cycle took 15 % longer, because of branches that no processor can predict.

mod snapshot;
mod splits;

use crate::{Error, Result};
use splits::Split;
use std::str::FromStr;

/// The kinds of queue, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum QueueKind {
    /// `exact`: the highest priority comes first, and of equal ones the lowest key.
    #[default]
    Exact,
    /// `bucket`: order right within a factor of 1.125, constant time.
    Bucket,
}

impl QueueKind {
    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Bucket => "bucket",
        }
    }

    /// Buckets per octave and octaves, as powers of two, and the exponent of the lowest octave.
    ///
    /// With 64 per octave instead of 128, Peng & Williams, who queue every arc, took a quarter
    /// longer on large models; with 256 they took as long, on twice the memory.
    const fn buckets(self) -> (u32, u32, i32) {
        match self {
            Self::Exact => (7, 6, -40),
            Self::Bucket => (3, 7, -64),
        }
    }
}

impl FromStr for QueueKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "exact" => Ok(Self::Exact),
            "bucket" => Ok(Self::Bucket),
            _ => Err(Error::Unknown { what: "queue", found: name.into(), known: "exact, bucket".into() }),
        }
    }
}

/// One more than the exact queue has buckets.
const MAX_BUCKETS: usize = 1 << 13;
/// The lowest bucket, where every search ends.
const LOWEST: u32 = 0;
/// The priority of a key that is not queued. The sign sets it apart from every priority, however
/// small.
const NO_PRIORITY: f64 = -1.0;

#[derive(Clone, Copy, Debug)]
struct Link {
    /// Places in `links`.
    previous: u32,
    next: u32,
    /// NO_PRIORITY if and only if the key is not queued. In a head this field holds the index of
    /// its split plus one, or NO_PRIORITY.
    priority: f64,
}

impl Link {
    /// The link of a key that is not queued, or of a ring without keys.
    fn alone(place: u32) -> Self {
        Self { previous: place, next: place, priority: NO_PRIORITY }
    }
}

/// A priority queue of dense keys, of either kind. Priorities are above 0, [`f64::INFINITY`]
/// included.
///
/// ```
/// use backsweep_core::{PriorityQueue, QueueKind};
/// let mut queue = PriorityQueue::new(QueueKind::Exact);
/// queue.grow(3);
/// queue.set(0, 1.0);
/// queue.set(1, 2.0);
/// queue.promote(0, 3.0);
/// queue.set(0, 0.5); // lowered again
/// assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(1), Some(0), None));
/// ```
#[derive(Clone, Debug)]
pub struct PriorityQueue {
    kind: QueueKind,
    n_buckets: u32,
    /// `n_buckets`, but 0 while some bucket is split: one comparison finds what is not plain.
    n_plain: u64,
    /// The first key's place in `links`.
    n_heads: u32,
    /// Bits of a priority below those that make its bucket.
    shift: u32,
    /// The high bits of the priorities in the lowest bucket; it takes in all lower ones as well.
    offset: u64,
    /// First a head for each bucket and each ring of a split, then a link for each key: in the ring
    /// of its head, or in a ring of its own if it is not queued.
    links: Vec<Link>,
    /// Bit `b` is set if bucket `b` has a key, and no bit above `top`. A bucket that has become
    /// empty is noticed when it is next looked at.
    filled: [u64; MAX_BUCKETS / 64],
    /// No bucket above this one has a key.
    top: u32,
    len: usize,
    /// Crowds that were split; none in the bucket queue.
    splits: Vec<Split>,
}

impl PriorityQueue {
    /// An empty queue without keys.
    pub fn new(kind: QueueKind) -> Self {
        let (bits, octave_bits, lowest) = kind.buckets();
        let n_buckets = (1 << (bits + octave_bits)) - 1;
        let mut queue = Self {
            kind,
            n_buckets,
            n_plain: u64::from(n_buckets),
            n_heads: n_buckets + if kind == QueueKind::Exact { Split::N_HEADS } else { 0 },
            shift: 52 - bits,
            offset: ((1023 + lowest) as u64) << bits,
            links: Vec::new(),
            filled: [0; MAX_BUCKETS / 64],
            top: LOWEST,
            len: 0,
            splits: Vec::new(),
        };
        queue.grow(0);
        queue
    }

    /// Makes room for keys below `n_keys`.
    pub fn grow(&mut self, n_keys: usize) {
        for place in self.links.len()..n_keys + self.n_heads as usize {
            self.links.push(Link::alone(place as u32));
        }
    }

    /// The number of queued keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no key is queued.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The priority of a key, or `None` if it is not queued.
    pub fn priority(&self, key: u32) -> Option<f64> {
        let link = self.links.get(key as usize + self.n_heads as usize)?;
        (link.priority > 0.0).then_some(link.priority)
    }

    /// Sets the priority of a key that there is room for: inserts, raises or lowers it.
    #[inline(always)]
    pub fn set(&mut self, key: u32, priority: f64) {
        debug_assert!(priority > 0.0, "the priority of key {key} is {priority}");
        let bits = priority.to_bits();
        let bucket = (bits >> self.shift).wrapping_sub(self.offset);
        if bucket >= self.n_plain {
            return self.set_elsewhere(key, priority);
        }
        let place = key + self.n_heads;
        let link = self.links[place as usize];
        let before = link.priority.to_bits();
        if (bits ^ before) >> self.shift == 0 {
            self.links[place as usize].priority = priority; // it stays in its bucket
            return;
        }
        self.len += (before >> 63) as usize; // the sign of NO_PRIORITY
        self.put_in_bucket(place, link, bucket as u32, priority);
    }

    /// Sets the priority of a key if it is above the threshold, and removes the key if it is not.
    #[inline(always)]
    pub fn set_above(&mut self, threshold: f64, key: u32, priority: f64) {
        if priority > threshold {
            self.set(key, priority);
        } else {
            self.remove(key);
        }
    }

    /// Inserts a key, or raises its priority if the given one is higher; never lowers it.
    #[inline]
    pub fn promote(&mut self, key: u32, priority: f64) {
        if priority > self.links[(key + self.n_heads) as usize].priority {
            self.set(key, priority);
        }
    }

    /// Removes a key, if it is queued.
    #[inline]
    pub fn remove(&mut self, key: u32) {
        let place = key + self.n_heads;
        if self.links[place as usize].priority > 0.0 {
            self.take(place);
        }
    }

    /// Removes the key at a place, which is queued.
    #[inline(always)]
    fn take(&mut self, place: u32) {
        let link = self.links[place as usize];
        unlink(&mut self.links, link);
        self.links[place as usize] = Link::alone(place);
        self.len -= 1;
    }

    /// Removes and returns the key with the highest priority.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<u32> {
        let place = self.best(usize::MAX)?;
        let key = place.checked_sub(self.n_heads)?;
        self.take(place);
        Some(key)
    }

    /// Does up to `limit` pieces of the work needed before the next key can be popped; returns
    /// whether it is finished. For callers with a deadline: [`pop`](Self::pop) does whatever is
    /// left.
    pub fn prepare(&mut self, limit: usize) -> bool {
        self.best(limit).is_some()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// The key that [`pop`](Self::pop) would return.
    pub fn first(&self) -> Option<u32> {
        let mut bucket = self.top;
        loop {
            let place = match self.kind {
                QueueKind::Exact => self.best_below(bucket),
                QueueKind::Bucket => self.links[bucket as usize].next,
            };
            if bucket == LOWEST || place >= self.n_heads {
                return place.checked_sub(self.n_heads);
            }
            bucket = self.noted_below(bucket);
        }
    }

    /// The highest priority (bucket queue: a bound that none exceeds).
    pub fn top(&self) -> Option<f64> {
        let highest = self.priority(self.first()?)?;
        match self.kind {
            QueueKind::Exact => Some(highest),
            QueueKind::Bucket => Some(self.lowest_of(self.bucket(highest) + 1)),
        }
    }

    /// A cheap guess at the next key to pop, for prefetching; arbitrary if the queue is empty.
    #[inline(always)]
    pub fn likely_next(&mut self) -> u32 {
        let bucket = self.settle();
        let ring = self.split_of(bucket).and_then(|split| self.highest_in(split)).unwrap_or(bucket);
        self.links[ring as usize].next.wrapping_sub(self.n_heads)
    }

    /// A guess at the keys to pop next, in order, as far as one look at each ring tells.
    #[inline(always)]
    pub(crate) fn upcoming(&self) -> Upcoming<'_> {
        let mut ring = self.top;
        while let Some(highest) = self.split_of(ring).and_then(|split| self.highest_in(split)) {
            ring = highest;
        }
        Upcoming { queue: self, ring, place: ring }
    }

    /// Bytes in use (filled, not reserved).
    pub fn bytes(&self) -> usize {
        size_of_val(&self.links[..]) + self.splits.len() * Split::BYTES
    }

    /// The bucket of a priority.
    fn bucket(&self, priority: f64) -> u32 {
        let number = priority.to_bits() >> self.shift;
        // The lowest and the highest take in what lies outside.
        number.saturating_sub(self.offset).min(u64::from(self.n_buckets - 1)) as u32
    }

    /// The lowest priority of a bucket: no lower bucket has one that is as high.
    fn lowest_of(&self, bucket: u32) -> f64 {
        if bucket >= self.n_buckets {
            return f64::INFINITY;
        }
        f64::from_bits((u64::from(bucket) + self.offset) << self.shift)
    }

    /// The place of the key to be popped, or of a head if no key is queued. Moves up to `limit`
    /// keys of a crowd to find it; `None` if more must be moved.
    #[inline]
    fn best(&mut self, limit: usize) -> Option<u32> {
        let bucket = self.settle();
        if self.kind == QueueKind::Bucket {
            return Some(self.links[bucket as usize].next);
        }
        let best =
            if self.split_of(bucket).is_some() { None } else { self.scan(bucket, Split::MAX_SCANNED_KEYS) };
        best.or_else(|| self.best_of_crowd(limit))
    }

    /// The place of the highest key of a ring if it has no more than `most`; that of the head if it
    /// is empty.
    #[inline]
    fn scan(&self, head: u32, most: u32) -> Option<u32> {
        let (mut best, mut highest, mut left) = (head, 0.0, most);
        let mut place = self.links[head as usize].next;
        while place != head {
            left = left.checked_sub(1)?;
            let Link { next, priority, .. } = self.links[place as usize];
            if priority > highest || priority == highest && place < best {
                (best, highest) = (place, priority);
            }
            place = next;
        }
        Some(best)
    }

    /// Moves the key at a place, with this link, to the front of a bucket that is not split.
    #[inline(always)]
    fn put_in_bucket(&mut self, place: u32, link: Link, bucket: u32, priority: f64) {
        relink(&mut self.links, place, link, bucket, priority);
        // The bit may be set already: to ask whether the ring was empty, which no processor can
        // predict, took 6 % of the time with the exact queue.
        self.filled[word_of(bucket)] |= 1 << (bucket % 64);
        if bucket > self.top {
            self.top = bucket;
        }
    }

    /// Returns whether a ring is empty and was not split.
    #[inline(always)]
    fn is_empty_ring(&self, head: u32) -> bool {
        self.links[head as usize].next == head && self.split_of(head).is_none()
    }

    /// The highest bucket that is not empty, LOWEST if there is none. Clears the bits of those
    /// above.
    #[inline(always)]
    fn settle(&mut self) -> u32 {
        while self.top != LOWEST && self.is_empty_ring(self.top) {
            self.filled[word_of(self.top)] ^= 1 << (self.top % 64);
            self.top = self.noted_below(self.top);
        }
        self.top
    }

    /// The highest bucket below this one whose bit is set, although it may be empty by now;
    /// LOWEST if there is none.
    #[inline]
    fn noted_below(&self, bucket: u32) -> u32 {
        let mut word = word_of(bucket);
        let mut bits = self.filled[word] & ((1 << (bucket % 64)) - 1);
        while bits == 0 {
            if word == 0 {
                return LOWEST;
            }
            word -= 1;
            bits = self.filled[word];
        }
        word as u32 * 64 + 63 - bits.leading_zeros()
    }
}

/// The word of `filled` with the bit of a bucket.
#[inline(always)]
fn word_of(bucket: u32) -> usize {
    bucket as usize / 64 % (MAX_BUCKETS / 64) // the remainder saves a check
}

#[inline(always)]
fn unlink(links: &mut [Link], link: Link) {
    links[link.previous as usize].next = link.next;
    links[link.next as usize].previous = link.previous;
}

/// Moves the key at a place, with this link, to the front of a head's ring.
#[inline(always)]
fn relink(links: &mut [Link], place: u32, link: Link, head: u32, priority: f64) {
    unlink(links, link);
    let first = std::mem::replace(&mut links[head as usize].next, place);
    links[first as usize].previous = place;
    links[place as usize] = Link { previous: head, next: first, priority };
}

/// The keys to pop next: those of the highest ring, then those of the next few.
pub(crate) struct Upcoming<'q> {
    queue: &'q PriorityQueue,
    ring: u32,
    /// The place of the last key, or of the ring's head.
    place: u32,
}

impl Iterator for Upcoming<'_> {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        // Rings that have become empty unnoticed are passed, but not many.
        for _ in 0..4 {
            self.place = self.queue.links[self.place as usize].next;
            if let Some(key) = self.place.checked_sub(self.queue.n_heads) {
                return Some(key);
            }
            self.ring = match self.ring {
                LOWEST => return None,
                bucket if bucket < self.queue.n_buckets => self.queue.noted_below(bucket),
                ring => self.queue.ring_below(ring)?,
            };
            self.place = self.ring;
        }
        None
    }
}
