//! The exact queue: narrow buckets, the highest one scanned when a key is popped, and split when it is crowded.
//!
//! The highest bucket holds one or two keys most of the time, since it is the one that is being emptied; so the order within
//! buckets, which a heap keeps up at every change, need not be known until a few keys are left to compare. A change of a
//! priority that stays in its bucket is one store.
//!
//! Where priorities crowd (in a known model all rewards may be equal), the highest bucket is *split* by the next six bits that
//! differ among its keys, again and again until few are left to scan. Every key has its place in a total order (priority,
//! then lowest key) whose bits never run out, so what is popped does not depend on how keys are kept. A split moves each key of
//! the bucket once; it can be done in pieces ([`Queue::prepare`]), so that a caller in a hurry waits for no more than one.
//!
//! Against a 4-ary heap, and against a heap and a sorted line for crowds: docs/PERFORMANCE.md.

use super::lists::{BucketLists, Link, NOT_QUEUED, StoredPriority, bucket_of, n_buckets};
use super::{Queue, stored_keys};
use crate::store::NONE;
use crate::{Result, Snapshot};

/// Keys that are scanned when one of their ring is popped; a ring of more is split.
const FEW: u32 = 40;
/// Rings that one is split into.
const FAN: u32 = 64;
/// Splits at any one time, at the most. Only the highest ring is ever split, so each lies within the one before or above it,
/// and a few are in use; with none left a ring is scanned however long it is.
const MAX_SPLITS: u32 = 16;

/// The priority itself; 0 if the key is not queued. A head has the number of its split plus 1, or 0.
#[derive(Clone, Copy, Debug)]
struct Fine(f64);

impl StoredPriority for Fine {
    const BITS: u32 = 6;
    const EXTRA_HEADS: u32 = FAN * MAX_SPLITS;
    const NONE: Self = Self(0.0);

    #[inline(always)]
    fn bucket(self) -> u32 {
        bucket_of::<Self>(self.0, u64::from(self.0 > 0.0))
    }

    fn upper_bound(self) -> f64 {
        self.0
    }

    #[inline(always)]
    fn is_plain_head(self) -> bool {
        self.0 == 0.0
    }
}

type Lists = BucketLists<Fine>;

/// A key's place in the total order: by priority, then the lowest key first.
fn rank(key: u32, priority: f64) -> u128 {
    u128::from(priority.to_bits()) << 32 | u128::from(!key)
}

/// A ring that was split. Its keys are in 64 rings by the six bits of their rank from `shift` on; those that are still in it
/// are yet to be moved.
#[derive(Clone, Debug)]
struct Split {
    shift: u32,
    /// What is above those six bits in the keys that were there. Others that come later go to the first or the last ring.
    prefix: u128,
    /// Bit `i` is set if ring `i` has had a key since it was last found empty.
    filled: u64,
    /// The bits that are set in the rank of any key that was put in each ring, and those that are set in all of them.
    masks: Box<[(u128, u128); FAN as usize]>,
}

/// The ring of nothing, for which no bits are set in any and all in all.
const NO_KEYS: (u128, u128) = (0, u128::MAX);

/// A priority queue in exact order.
#[derive(Clone, Debug)]
pub(crate) struct ExactQueue {
    lists: Lists,
    splits: Vec<Split>,
}

impl ExactQueue {
    pub fn new() -> Self {
        Self { lists: Lists::new(), splits: Vec::new() }
    }

    /// The number of a head's split.
    #[inline]
    fn split_of(&self, head: u32) -> Option<usize> {
        (self.lists.links[head as usize].stored.0 as usize).checked_sub(1)
    }

    /// The first of the 64 heads of a split.
    fn heads(split: usize) -> u32 {
        n_buckets::<Fine>() + FAN * split as u32
    }

    /// Moves a key to the ring below a head that was split.
    #[inline(never)]
    fn put_in_split(&mut self, key: u32, link: Link<Fine>, mut head: u32, stored: Fine) {
        let rank = rank(key, stored.0);
        while let Some(number) = self.split_of(head) {
            let split = &mut self.splits[number];
            let i = match (rank >> split.shift >> 6).cmp(&split.prefix) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => (rank >> split.shift) as u32 % FAN,
                std::cmp::Ordering::Greater => FAN - 1,
            };
            split.filled |= 1 << i;
            let (any, all) = &mut split.masks[i as usize];
            (*any, *all) = (*any | rank, *all & rank);
            head = Self::heads(number) + i;
        }
        self.lists.relink(key, link, head, stored);
        self.lists.note(stored.bucket());
    }

    /// The highest ring of a split that is not empty or was split itself.
    fn highest_in(&self, split: usize) -> Option<u32> {
        let mut filled = self.splits[split].filled;
        while filled != 0 {
            let i = 63 - filled.leading_zeros();
            let head = Self::heads(split) + i;
            if !self.lists.is_ring_empty(head) || self.split_of(head).is_some() {
                return Some(head);
            }
            filled ^= 1 << i;
        }
        None
    }

    /// The head of the ring with the highest key, which is short, after up to `limit` keys were moved for it; `None` if more
    /// are to be moved. NOT_QUEUED if no key is queued.
    #[cold]
    #[inline(never)]
    fn top_ring(&mut self, mut limit: usize) -> Option<u32> {
        'again: loop {
            let mut head = self.lists.settle();
            while let Some(split) = self.split_of(head) {
                while !self.lists.is_ring_empty(head) {
                    limit = limit.checked_sub(1)?;
                    let key = Lists::key(self.lists.links[head as usize].next);
                    let link = self.lists.link(key);
                    self.put_in_split(key, link, head, link.stored);
                }
                match self.highest_in(split) {
                    Some(highest) => {
                        self.splits[split].filled &= u64::MAX >> (63 - (highest - Self::heads(split)));
                        head = highest;
                    }
                    None => {
                        // It is the last one: all others lie below it.
                        self.splits.truncate(split);
                        self.lists.links[head as usize].stored = Fine::NONE;
                        continue 'again;
                    }
                }
            }
            if self.best(head, FEW).is_some() || self.splits.len() == MAX_SPLITS as usize {
                return Some(head);
            }
            self.split(head);
        }
    }

    #[cold]
    fn likely_ring(&self, head: u32) -> u32 {
        self.split_of(head).and_then(|split| self.highest_in(split)).unwrap_or(head)
    }

    /// Splits a ring by the highest six bits in which its keys differ. Moves none of them yet.
    fn split(&mut self, head: u32) {
        let (any, all) = match head.checked_sub(n_buckets::<Fine>()) {
            Some(i) => self.splits[(i / FAN) as usize].masks[(i % FAN) as usize],
            // Of the keys of a bucket it is known that they agree in what makes it one; those of the outermost need not.
            None if head == 1 || head == n_buckets::<Fine>() - 1 => (u128::MAX >> 33, 0),
            None => (u128::MAX >> (128 - 78), 0),
        };
        let shift = (127 - (any ^ all).leading_zeros()).saturating_sub(5);
        let Some(first) = self.lists.ring(head).next() else { return };
        let prefix = rank(first, self.lists.link(first).stored.0) >> shift >> 6;
        let masks = Box::new([NO_KEYS; FAN as usize]);
        self.splits.push(Split { shift, prefix, filled: 0, masks });
        self.lists.links[head as usize].stored = Fine(self.splits.len() as f64);
    }

    /// The place of the highest key of a ring, and its priority, if it has no more than so many; NONE if it is empty.
    #[inline]
    fn best(&self, head: u32, most: u32) -> Option<(u32, f64)> {
        let links = &self.lists.links[..];
        let (mut best, mut highest, mut left) = (NONE, 0.0, most);
        let mut place = links[head as usize].next;
        while place != head {
            left = left.checked_sub(1)?;
            let Link { next, stored, .. } = links[place as usize];
            if stored.0 > highest || stored.0 == highest && place < best {
                (best, highest) = (place, stored.0);
            }
            place = next;
        }
        Some((best, highest))
    }

    /// The same for the bucket with the highest key, if that is not split and has few.
    #[inline]
    fn best_of_few(&mut self) -> Option<(u32, f64)> {
        let bucket = self.lists.settle();
        if self.lists.links[bucket as usize].stored.is_plain_head() { self.best(bucket, FEW) } else { None }
    }

    /// The place of the highest key of a ring and of what was split off it.
    fn best_below(&self, head: u32) -> (u32, f64) {
        let mut best = self.best(head, u32::MAX).unwrap_or((NONE, 0.0));
        if let Some(split) = self.split_of(head) {
            let rings = (0..FAN).rev().filter(|i| self.splits[split].filled >> i & 1 == 1);
            let found =
                rings.map(|i| self.best_below(Self::heads(split) + i)).find(|&(place, _)| place != NONE);
            if let Some((place, highest)) = found
                && (highest > best.1 || highest == best.1 && place < best.0)
            {
                best = (place, highest);
            }
        }
        best
    }

    pub(super) fn store(&self, snapshot: &mut Snapshot) {
        let entries = self.lists.queued().map(|(key, stored)| (key, stored.0));
        let (keys, priorities): (Vec<u32>, Vec<f64>) = entries.unzip();
        snapshot.put("queue.keys", keys);
        snapshot.put("queue.priorities", priorities);
    }

    pub(super) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new();
        queue.grow(n_keys);
        // Version 0.1 stored crowds in two parts of their own.
        for name in ["queue", "queue.crowd", "queue.line"] {
            let (part, priorities) = (format!("{name}.keys"), format!("{name}.priorities"));
            if name != "queue" && snapshot.get(&part).is_none() && snapshot.get(&priorities).is_none() {
                continue;
            }
            let keys = stored_keys(snapshot, &part, n_keys)?;
            let priorities = Snapshot::sized(&priorities, snapshot.f64s(&priorities)?, keys.len())?;
            for (&key, &priority) in keys.iter().zip(priorities) {
                if queue.priority(key).is_some() {
                    return Err(Snapshot::problem(&part, &format!("key {key} is queued twice")));
                }
                if priority.is_nan() || priority <= 0.0 {
                    let problem = format!("the priority of key {key} is {priority}; expected one above 0");
                    return Err(Snapshot::problem(&part, &problem));
                }
                queue.set(key, priority);
            }
        }
        Ok(queue)
    }
}

impl Queue for ExactQueue {
    fn grow(&mut self, n_keys: usize) {
        self.lists.grow(n_keys);
    }

    fn len(&self) -> usize {
        self.lists.len
    }

    #[inline(always)]
    fn set(&mut self, key: u32, priority: f64) {
        let (link, stored) = (self.lists.link(key), Fine(priority));
        let bucket = stored.bucket();
        let is_split = !self.splits.is_empty() && self.split_of(bucket).is_some();
        if is_split {
            self.put_in_split(key, link, bucket, stored);
        } else if link.stored.bucket() == bucket {
            self.lists.links[Lists::place(key) as usize].stored = stored;
        } else if self.lists.relink(key, link, bucket, stored) {
            self.lists.note(bucket);
        }
    }

    #[inline]
    fn promote(&mut self, key: u32, priority: f64) {
        if priority > self.lists.link(key).stored.0 {
            self.set(key, priority);
        }
    }

    #[inline]
    fn remove(&mut self, key: u32) {
        if self.lists.link(key).stored.0 > 0.0 {
            self.lists.take_out(key);
        }
    }

    #[inline]
    fn prepare(&mut self, limit: usize) -> bool {
        self.best_of_few().is_some() || self.top_ring(limit).is_some()
    }

    fn first(&self) -> Option<u32> {
        let mut bucket = self.lists.highest();
        while bucket != NOT_QUEUED {
            let (place, _) = self.best_below(bucket);
            if place != NONE {
                return Some(Lists::key(place));
            }
            bucket = self.lists.highest_below(bucket);
        }
        None
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let best = self.best_of_few().or_else(|| {
            let head = self.top_ring(usize::MAX)?;
            self.best(head, u32::MAX)
        });
        let key = best.and_then(|(place, _)| (place != NONE).then(|| Lists::key(place)))?;
        self.lists.take_out(key);
        Some(key)
    }

    #[inline]
    fn likely(&mut self) -> u32 {
        let bucket = self.lists.settle();
        let ring = if self.splits.is_empty() { bucket } else { self.likely_ring(bucket) };
        Lists::key(self.lists.links[ring as usize].next)
    }

    fn priority(&self, key: u32) -> Option<f64> {
        self.lists.priority(key)
    }

    fn bytes(&self) -> usize {
        self.lists.bytes()
            + self.splits.len() * (size_of::<Split>() + FAN as usize * size_of::<(u128, u128)>())
    }
}
