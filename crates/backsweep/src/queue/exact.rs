//! The exact queue: narrow buckets, and the highest one looked through when a key is popped.
//!
//! The highest bucket holds one or two keys most of the time, since it is the one that is being emptied; so the order within
//! buckets, which a heap keeps up at every change, need not be known until a few keys are left to compare. A change of a
//! priority that stays in its bucket is one store.
//!
//! Where priorities crowd (in a known model all rewards may be equal), the keys of the highest bucket are moved to a heap when there
//! are more than a few, each at most once for every change of its priority. So a call takes O(log keys) amortised; and since the
//! moving can be done in pieces ([`Queue::ready`]), a caller in a hurry waits for no more than one.
//!
//! Against the 4-ary heap that it replaced: docs/PERFORMANCE.md.

use super::Queue;
use super::heap::{Entry, Heap};
use super::rings::{Link, Mark, PARKED, Rings, bucket_of, n_buckets, stored_keys};
use crate::{Result, Snapshot};

/// Keys that are looked through when one of their bucket is popped.
const FEW: u32 = 40;
/// The `next` of a key in the heap, whose `previous` is its index there.
const IN_HEAP: u32 = u32::MAX;

/// No place.
const NONE: u32 = u32::MAX;

/// The priority itself; 0 if the key is not queued.
#[derive(Clone, Copy, Debug)]
struct Fine(f64);

impl Mark for Fine {
    const BITS: u32 = 6;
    const NONE: Self = Self(0.0);

    #[inline(always)]
    fn bucket(self) -> u32 {
        bucket_of::<Self>(self.0, u64::from(self.0 > 0.0))
    }

    fn upper_bound(self) -> f64 {
        self.0
    }
}

/// A priority queue in exact order. Which of several equal ones comes first depends on what was done before, and on nothing else.
///
/// ```
/// use backsweep::queue::{ExactQueue, Queue};
/// let mut queue = ExactQueue::new();
/// queue.grow(3);
/// queue.set(0, 1.0);
/// queue.set(1, 2.0);
/// queue.promote(0, 3.0);
/// queue.set(0, 0.5); // lowered again
/// assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(1), Some(0), None));
/// ```
#[derive(Clone, Debug)]
pub struct ExactQueue {
    rings: Rings<Fine>,
    /// The keys that are queued and in no ring.
    heap: Heap,
}

impl Default for ExactQueue {
    fn default() -> Self {
        Self::new()
    }
}

/// What the heap is to be told of keys that it moves.
macro_rules! positions {
    ($rings:expr) => {
        &mut |key, i| $rings.links[Rings::<Fine>::place(key) as usize].previous = i as u32
    };
}

impl ExactQueue {
    /// An empty queue without keys.
    pub fn new() -> Self {
        Self { rings: Rings::new(), heap: Heap::default() }
    }

    /// The bucket whose ring may hold the highest priority; PARKED if that is in the heap, or nowhere.
    #[inline]
    fn contender(&mut self) -> u32 {
        let bucket = self.rings.settle();
        match self.heap.entries().first() {
            Some(entry) if bucket < Fine(entry.priority).bucket() => PARKED,
            _ => bucket,
        }
    }

    /// Moves up to `limit` keys of a ring to the heap. Returns whether few are left.
    #[cold]
    #[inline(never)]
    fn gather(&mut self, bucket: u32, limit: usize) -> bool {
        for _ in 0..limit {
            let place = self.rings.links[bucket as usize].next;
            if place == bucket {
                break;
            }
            let key = Rings::<Fine>::key(place);
            let mark = self.rings.link(key).mark;
            self.park(key);
            self.rings.len += 1;
            self.rings.links[place as usize] = Link { previous: NONE, next: IN_HEAP, mark };
            self.heap.push(Entry { priority: mark.0, key }, positions!(self.rings));
        }
        !self.is_crowd(bucket)
    }

    /// Whether a ring holds more than a few keys.
    #[inline]
    fn is_crowd(&self, bucket: u32) -> bool {
        let mut place = self.rings.links[bucket as usize].next;
        for _ in 0..FEW {
            if place == bucket {
                return false;
            }
            place = self.rings.links[place as usize].next;
        }
        place != bucket
    }

    /// Takes a key that is queued out.
    #[inline]
    fn park(&mut self, key: u32) {
        if self.rings.link(key).next == IN_HEAP {
            self.leave(key);
        }
        self.rings.park(key);
    }

    /// Takes a key out of the heap and makes it a ring of one.
    #[inline(never)]
    fn leave(&mut self, key: u32) {
        let link = self.rings.link(key);
        self.heap.take(link.previous as usize, positions!(self.rings));
        let place = Rings::<Fine>::place(key);
        self.rings.links[place as usize] = Link { previous: place, next: place, mark: link.mark };
    }

    /// Gives a key that is in the heap another priority.
    #[inline(never)]
    fn set_in_heap(&mut self, key: u32, mark: Fine) {
        let link = &mut self.rings.links[Rings::<Fine>::place(key) as usize];
        link.mark = mark;
        self.heap.set(link.previous as usize, mark.0, positions!(self.rings));
    }

    /// The key with the highest priority, given the highest bucket, if it is no crowd: the inner `None` if there is no key.
    #[inline]
    fn best(&self, bucket: u32, limit: u32) -> Option<Option<u32>> {
        let links = &self.rings.links[..];
        let (mut best, mut highest) = (NONE, 0.0);
        let mut place = links[bucket as usize].next;
        let mut left = limit;
        while place != bucket {
            left = left.checked_sub(1)?;
            let link = links[place as usize];
            if link.mark.0 > highest {
                (best, highest) = (place, link.mark.0);
            }
            place = link.next;
        }
        Some(match self.heap.entries().first() {
            Some(entry) if entry.priority > highest => Some(entry.key),
            _ => (best != NONE).then(|| Rings::<Fine>::key(best)),
        })
    }

    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        let keys = (1..n_buckets::<Fine>()).flat_map(|bucket| self.rings.ring(bucket));
        store_entries(snapshot, "queue", keys.map(|key| (key, self.rings.link(key).mark.0)));
        let entries = self.heap.entries().iter();
        store_entries(snapshot, "queue.crowd", entries.map(|entry| (entry.key, entry.priority)));
    }

    pub(crate) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (key, priority) in restore_entries(snapshot, "queue", n_keys, &queue)?.into_iter().rev() {
            queue.set(key, priority);
        }
        // Files from before there were crowds have none.
        let has_crowd =
            ["keys", "priorities"].iter().any(|part| snapshot.get(&format!("queue.crowd.{part}")).is_some());
        let crowd =
            if has_crowd { restore_entries(snapshot, "queue.crowd", n_keys, &queue)? } else { vec![] };
        for (i, &(key, priority)) in crowd.iter().enumerate() {
            let link = Link { previous: i as u32, next: IN_HEAP, mark: Fine(priority) };
            queue.rings.links[Rings::<Fine>::place(key) as usize] = link;
            queue.rings.len += 1;
        }
        let entries = crowd.iter().map(|&(key, priority)| Entry { priority, key }).collect();
        queue.heap = Heap::from_entries(entries)
            .ok_or_else(|| Snapshot::problem("queue.crowd.keys", "priorities are not those of a heap"))?;
        Ok(queue)
    }
}

/// Stores keys and their priorities under names that begin alike.
fn store_entries(snapshot: &mut Snapshot, name: &str, entries: impl Iterator<Item = (u32, f64)>) {
    let (keys, priorities): (Vec<u32>, Vec<f64>) = entries.unzip();
    snapshot.put(&format!("{name}.keys"), keys);
    snapshot.put(&format!("{name}.priorities"), priorities);
}

/// Reads what was [stored](store_entries): no key is queued already, every priority is above 0.
fn restore_entries(
    snapshot: &Snapshot,
    name: &str,
    n_keys: usize,
    queue: &ExactQueue,
) -> Result<Vec<(u32, f64)>> {
    let (part, priorities) = (format!("{name}.keys"), format!("{name}.priorities"));
    let keys = stored_keys(snapshot, &part, n_keys)?;
    let priorities = Snapshot::sized(&priorities, snapshot.f64s(&priorities)?, keys.len())?;
    if let Some(key) = keys.iter().find(|&&key| queue.priority(key).is_some()) {
        return Err(Snapshot::problem(&part, &format!("key {key} is queued twice")));
    }
    if let Some(priority) = priorities.iter().find(|priority| priority.is_nan() || **priority <= 0.0) {
        return Err(Snapshot::problem(&part, &format!("a priority is {priority}; expected one above 0")));
    }
    Ok(keys.iter().copied().zip(priorities.iter().copied()).collect())
}

impl Queue for ExactQueue {
    fn grow(&mut self, n_keys: usize) {
        self.rings.grow(n_keys);
        // Room for all keys at once, so that no push has to move the heap while planning. Memory that is not used is not taken.
        self.heap.reserve(n_keys);
    }

    fn len(&self) -> usize {
        self.rings.len
    }

    #[inline(always)]
    fn set(&mut self, key: u32, priority: f64) {
        let (link, mark) = (self.rings.link(key), Fine(priority));
        let (from, to) = (link.mark.bucket(), mark.bucket());
        if link.next == IN_HEAP {
            self.set_in_heap(key, mark);
        } else if from == to {
            self.rings.links[Rings::<Fine>::place(key) as usize].mark = mark;
        } else {
            self.rings.relink(key, link, to, mark);
        }
    }

    #[inline]
    fn promote(&mut self, key: u32, priority: f64) {
        if priority > self.rings.link(key).mark.0 {
            self.set(key, priority);
        }
    }

    #[inline]
    fn remove(&mut self, key: u32) {
        let link = self.rings.link(key);
        if link.mark.0 > 0.0 {
            self.park(key);
        }
    }

    #[inline]
    fn ready(&mut self, limit: usize) -> bool {
        let bucket = self.contender();
        !self.is_crowd(bucket) || self.gather(bucket, limit)
    }

    #[inline]
    fn peek(&mut self) -> Option<u32> {
        let bucket = self.contender();
        self.best(bucket, FEW).unwrap_or_else(|| {
            self.gather(bucket, usize::MAX);
            self.heap.entries().first().map(|entry| entry.key)
        })
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let key = self.peek()?;
        self.park(key);
        Some(key)
    }

    #[inline]
    fn likely(&mut self) -> u32 {
        let bucket = self.contender();
        match self.heap.entries().first() {
            Some(entry) if bucket == PARKED => entry.key,
            _ => self.rings.links[bucket as usize].next.wrapping_sub(n_buckets::<Fine>()),
        }
    }

    #[inline]
    fn prefetch(&self, first: u32) {
        self.rings.prefetch(first);
    }

    fn top(&self) -> Option<f64> {
        let bucket = self.rings.highest();
        match self.heap.entries().first() {
            // A ring that is too low to matter may be long.
            Some(entry) if bucket < Fine(entry.priority).bucket() => Some(entry.priority),
            _ => self.rings.priority(self.best(bucket, u32::MAX)??),
        }
    }

    fn priority(&self, key: u32) -> Option<f64> {
        self.rings.priority(key)
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    fn bytes(&self) -> usize {
        self.rings.bytes() + size_of_val(self.heap.entries())
    }
}
