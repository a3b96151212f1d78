//! Keys in buckets of nearly the same priority: the structure of both queues.
//!
//! A bucket holds the priorities that agree in exponent and first bits of the mantissa. Priorities below 2⁻⁶⁴ share the lowest
//! bucket and those from 2⁶³ on the highest.
//!
//! The keys of a bucket form a ring that includes a link of the bucket itself, its head, and a key that is not queued is a
//! ring of one: so a key is moved without a single condition. With lists that end in NONE a cycle took 15 % longer, for the
//! branches that no processor can guess.
//!
//! In the exact queue buckets are narrow, and the highest one, which holds one or two keys most of the time, since it is the
//! one that is being emptied, is scanned when a key is popped: so the order within buckets, which a heap keeps up at every
//! change, need not be known until a few keys are left to compare, and a change of a priority that stays in its bucket is one
//! store. Where priorities crowd, `splits.rs` divides the highest bucket. Against heaps: docs/PERFORMANCE.md.

use super::splits::Split;
use crate::store::NONE;
use std::fmt::Debug;

/// The bucket of the keys that are not queued. It has no ring.
pub(super) const NOT_QUEUED: u32 = 0;

/// What is kept of a key's priority, and with it the order in which keys are popped.
pub trait Order: Copy + Debug + PartialOrd {
    /// Bits of the mantissa that count: buckets per octave, as a power of two.
    const BITS: u32;
    /// Whether the highest priority comes first, and of equal ones the lowest key; otherwise the last one in, of its bucket.
    const IS_EXACT: bool;
    /// What a key that is not queued has, below all others; its bucket is NOT_QUEUED. Heads start with it too.
    const NONE: Self;
    fn of(priority: f64) -> Self;
    fn bucket(self) -> u32;
    /// The priority, or a bound that it does not exceed.
    fn priority(self) -> f64;
}

/// The order of the exact queue: the priority itself. A head has the number of its split plus 1, or 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Exact(f64);

impl Order for Exact {
    const BITS: u32 = 6;
    const IS_EXACT: bool = true;
    const NONE: Self = Self(0.0);

    #[inline(always)]
    fn of(priority: f64) -> Self {
        Self(priority)
    }

    #[inline(always)]
    fn bucket(self) -> u32 {
        bucket_of::<Self>(self.0, u64::from(self.0 > 0.0))
    }

    #[inline(always)]
    fn priority(self) -> f64 {
        self.0
    }
}

/// The order of the bucket queue: the number of the key's bucket.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Coarse(pub(super) u32);

impl Order for Coarse {
    const BITS: u32 = 3;
    const IS_EXACT: bool = false;
    const NONE: Self = Self(NOT_QUEUED);

    #[inline(always)]
    fn of(priority: f64) -> Self {
        Self(bucket_of::<Self>(priority, 1))
    }

    #[inline(always)]
    fn bucket(self) -> u32 {
        self.0
    }

    fn priority(self) -> f64 {
        if self.0 == n_buckets::<Self>() - 1 {
            return f64::INFINITY;
        }
        f64::from_bits((u64::from(self.0) + lowest::<Self>()) << (52 - Self::BITS))
    }
}

/// How many buckets there are.
pub(super) const fn n_buckets<O: Order>() -> u32 {
    128 << O::BITS
}

/// The bucket of 2⁻⁶⁴, before it is made 1.
const fn lowest<O: Order>() -> u64 {
    (1023 - 64) << O::BITS
}

/// The bucket of a priority, which is not below `least`: 1, or NOT_QUEUED if the priority may be 0.
#[inline(always)]
fn bucket_of<O: Order>(priority: f64, least: u64) -> u32 {
    let number = (priority.to_bits() >> (52 - O::BITS)).saturating_sub(lowest::<O>() - 1);
    number.clamp(least, u64::from(n_buckets::<O>() - 1)) as u32
}

/// The bits of a word that are lower than that of a bucket.
#[inline(always)]
fn below(bucket: u32) -> u64 {
    (1 << (bucket % 64)) - 1
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Link<O> {
    /// Places in `links`.
    pub previous: u32,
    pub next: u32,
    /// `O::NONE` if and only if the key is not queued.
    pub stored: O,
}

/// A priority queue of dense keys, below the number last passed to [`grow`](Self::grow). What its methods do is said at
/// [`super::PriorityQueue`].
#[derive(Clone, Debug)]
pub struct Queue<O> {
    /// First a head for each bucket, then for each ring of a split, then a link for each key, in the ring of its head; in a ring
    /// of its own if it is not queued.
    pub(super) links: Vec<Link<O>>,
    /// Bit `b` is set if bucket `b` has a key, and no bit above `top`; a bucket that has become empty is noticed when it is
    /// next looked at.
    filled: Vec<u64>,
    /// Bit `w` is set if `filled[w]` is not 0: Moore & Atkeson's priorities jump from infinity down to P̂|ΔV|, and a walk
    /// through the words between took a tenth of their instructions.
    words: [u64; 2],
    /// No bucket above this one has a key.
    top: u32,
    len: usize,
    /// Crowds that were split; none in the bucket queue.
    pub(super) splits: Vec<Split>,
}

impl<O: Order> Queue<O> {
    const N_HEADS: u32 = n_buckets::<O>() + if O::IS_EXACT { Split::N_HEADS } else { 0 };

    pub fn new() -> Self {
        let filled = vec![0; n_buckets::<O>() as usize / 64];
        let mut queue =
            Self { links: Vec::new(), filled, words: [0; 2], top: NOT_QUEUED, len: 0, splits: Vec::new() };
        queue.grow(0);
        queue
    }

    pub fn grow(&mut self, n_keys: usize) {
        for place in self.links.len()..n_keys + Self::N_HEADS as usize {
            self.links.push(Link { previous: place as u32, next: place as u32, stored: O::NONE });
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The place of a key in `links`.
    #[inline(always)]
    fn place(key: u32) -> u32 {
        key + Self::N_HEADS
    }

    /// The key at a place; any number for a head.
    #[inline(always)]
    pub(super) fn key(place: u32) -> u32 {
        place.wrapping_sub(Self::N_HEADS)
    }

    #[inline(always)]
    fn link(&self, key: u32) -> Link<O> {
        self.links[Self::place(key) as usize]
    }

    pub fn priority(&self, key: u32) -> Option<f64> {
        let stored = self.links.get(key as usize + Self::N_HEADS as usize)?.stored;
        (stored > O::NONE).then(|| stored.priority())
    }

    #[inline(always)]
    pub fn set(&mut self, key: u32, priority: f64) {
        self.put(key, O::of(priority));
    }

    #[inline(always)]
    pub(super) fn put(&mut self, key: u32, stored: O) {
        let (link, bucket) = (self.link(key), stored.bucket());
        self.len += usize::from(link.stored == O::NONE);
        if O::IS_EXACT && !self.splits.is_empty() && self.split_of(bucket).is_some() {
            self.put_in_split(Self::place(key), stored, bucket);
        } else if link.stored.bucket() == bucket {
            self.links[Self::place(key) as usize].stored = stored;
        } else if self.relink(Self::place(key), link, bucket, stored) {
            self.note(bucket);
        }
    }

    /// Gives a key this priority if it is above the threshold, and takes it out if it is not.
    #[inline(always)]
    pub fn set_above(&mut self, threshold: f64, key: u32, priority: f64) {
        if priority > threshold {
            self.set(key, priority);
        } else {
            self.remove(key);
        }
    }

    #[inline]
    pub fn promote(&mut self, key: u32, priority: f64) {
        let stored = O::of(priority);
        if stored > self.link(key).stored {
            self.put(key, stored);
        }
    }

    #[inline]
    pub fn remove(&mut self, key: u32) {
        let (place, link) = (Self::place(key), self.link(key));
        if link.stored > O::NONE {
            self.unlink(link);
            self.links[place as usize] = Link { previous: place, next: place, stored: O::NONE };
            self.len -= 1;
        }
    }

    #[inline]
    pub fn prepare(&mut self, limit: usize) -> bool {
        self.best(limit).is_some()
    }

    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        let place = self.best(usize::MAX)?;
        let key = (place != NONE).then(|| Self::key(place))?;
        self.remove(key);
        Some(key)
    }

    /// The place of the key to be popped, after up to `limit` keys of a crowd were moved to find it; `None` if more are to be
    /// moved, NONE if no key is queued.
    #[inline]
    fn best(&mut self, limit: usize) -> Option<u32> {
        let bucket = self.settle();
        let head = self.links[bucket as usize];
        if !O::IS_EXACT {
            return Some(if bucket == NOT_QUEUED { NONE } else { head.next });
        }
        let best = if head.stored == O::NONE { self.scan(bucket, Split::FEW) } else { None };
        best.or_else(|| self.best_of_crowd(limit))
    }

    /// The place of the highest key of a ring, if it has no more than so many; NONE if it is empty.
    #[inline]
    pub(super) fn scan(&self, head: u32, most: u32) -> Option<u32> {
        let (mut best, mut highest, mut left) = (NONE, O::NONE, most);
        let mut place = self.links[head as usize].next;
        while place != head {
            left = left.checked_sub(1)?;
            let Link { next, stored, .. } = self.links[place as usize];
            if stored > highest || stored == highest && place < best {
                (best, highest) = (place, stored);
            }
            place = next;
        }
        Some(best)
    }

    pub fn first(&self) -> Option<u32> {
        let mut bucket = self.top;
        while bucket != NOT_QUEUED {
            if !self.is_empty(bucket) {
                let last_in = self.links[bucket as usize].next;
                let place = if O::IS_EXACT { self.best_below(bucket) } else { last_in };
                if place != NONE {
                    return Some(Self::key(place));
                }
            }
            bucket = self.noted_below(bucket);
        }
        None
    }

    pub fn top(&self) -> Option<f64> {
        self.first().and_then(|key| self.priority(key))
    }

    /// A key that is likely to be popped soon, found at little cost; any number if there is none.
    #[inline]
    pub fn likely(&mut self) -> u32 {
        let bucket = self.settle();
        let ring = if self.splits.is_empty() { bucket } else { self.likely_ring(bucket) };
        Self::key(self.links[ring as usize].next)
    }

    #[inline(always)]
    fn unlink(&mut self, link: Link<O>) {
        self.links[link.previous as usize].next = link.next;
        self.links[link.next as usize].previous = link.previous;
    }

    /// Moves the key at a place, whose link is given, to a head's ring, in front. Returns whether the ring was empty.
    #[inline(always)]
    pub(super) fn relink(&mut self, place: u32, link: Link<O>, head: u32, stored: O) -> bool {
        self.unlink(link);
        let first = self.links[head as usize].next;
        self.links[head as usize].next = place;
        self.links[first as usize].previous = place;
        self.links[place as usize] = Link { previous: head, next: first, stored };
        first == head
    }

    /// Takes note that a bucket is not empty.
    #[inline(always)]
    fn note(&mut self, bucket: u32) {
        let word = bucket / 64;
        self.filled[word as usize] |= 1 << (bucket % 64);
        self.words[word as usize / 64] |= 1 << (word % 64);
        self.top = self.top.max(bucket);
    }

    /// Whether a ring is empty and was not split.
    #[inline(always)]
    pub(super) fn is_empty(&self, head: u32) -> bool {
        let link = &self.links[head as usize];
        link.next == head && (!O::IS_EXACT || link.stored == O::NONE)
    }

    /// The highest bucket below one that was noted and may have become empty since; NOT_QUEUED if there is none.
    #[inline]
    fn noted_below(&self, bucket: u32) -> u32 {
        let mut word = bucket / 64;
        let mut bits = self.filled[word as usize] & below(bucket);
        if bits == 0 {
            let words = self.words[word as usize / 64] & below(word);
            word = if words != 0 {
                word / 64 * 64 + 63 - words.leading_zeros()
            } else if word >= 64 && self.words[0] != 0 {
                63 - self.words[0].leading_zeros()
            } else {
                return NOT_QUEUED;
            };
            bits = self.filled[word as usize];
        }
        word * 64 + 63 - bits.leading_zeros()
    }

    /// The highest bucket that is not empty, NOT_QUEUED if there is none. Forgets what was noted of those above.
    #[inline]
    pub(super) fn settle(&mut self) -> u32 {
        while self.top != NOT_QUEUED && self.is_empty(self.top) {
            let word = self.top / 64;
            self.filled[word as usize] ^= 1 << (self.top % 64);
            if self.filled[word as usize] == 0 {
                self.words[word as usize / 64] ^= 1 << (word % 64);
            }
            self.top = self.noted_below(self.top);
        }
        self.top
    }

    /// All keys that are queued, in the order of their numbers.
    pub(super) fn queued(&self) -> impl Iterator<Item = (u32, O)> {
        let keys = self.links[Self::N_HEADS as usize..].iter().enumerate();
        keys.map(|(key, link)| (key as u32, link.stored)).filter(|&(_, stored)| stored > O::NONE)
    }

    /// The keys of a bucket that is not split, the last one in first.
    pub(super) fn ring(&self, head: u32) -> impl Iterator<Item = u32> {
        let mut place = head;
        std::iter::from_fn(move || {
            place = self.links[place as usize].next;
            (place != head).then(|| Self::key(place))
        })
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.links[..]) + self.splits.len() * Split::BYTES
    }
}
