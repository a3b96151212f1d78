//! The exact queue: narrow buckets, and the highest one looked through when a key is popped.
//!
//! The highest bucket holds one or two keys most of the time, since it is the one that is being emptied; so the order within
//! buckets, which a heap keeps up at every change, need not be known until a few keys are left to compare. A change of a
//! priority that stays in its bucket is one store.
//!
//! Where priorities crowd (in a known model all rewards may be equal), the keys of a bucket are moved to a heap when their turn comes,
//! or when they become many, and newcomers to the bucket join them there until it is empty. One heap serves all such buckets. So a
//! call takes O(log keys) at worst, plus at most `MOST` moves.
//!
//! Against the 4-ary heap that it replaced: docs/PERFORMANCE.md.

use super::Queue;
use super::heap::{Entry, Heap};
use super::rings::{self, Link, Mark, PARKED, Rings, bucket_of, n_buckets};
use crate::{Result, Snapshot};

/// Keys that are looked through when one of their bucket is popped; a bucket with more is moved to the heap then.
const FEW: u32 = 40;
/// A bucket that comes to hold so many keys is moved to the heap at once, so that there is a bound on what one call does.
const MOST: u32 = 1024;
/// The `next` of a key in the heap, whose `previous` is its index there, and of a bucket whose keys are there.
const IN_HEAP: u32 = u32::MAX;

/// The priority itself; 0 if the key is not queued.
#[derive(Clone, Copy, Debug)]
struct Fine(f64);

impl Mark for Fine {
    const BITS: u32 = 6;
    const NONE: Self = Self(0.0);

    #[inline(always)]
    fn of(priority: f64) -> Self {
        Self(priority)
    }

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
    /// How many keys each bucket holds, in its ring or in the heap. The number for PARKED is of no meaning.
    counts: Vec<u32>,
    /// The keys of exactly those buckets whose link says IN_HEAP.
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
        let counts = vec![0; n_buckets::<Fine>() as usize];
        Self { rings: Rings::new(), counts, heap: Heap::default() }
    }

    #[inline(always)]
    fn is_in_heap(&self, bucket: u32) -> bool {
        self.rings.links[bucket as usize].next == IN_HEAP
    }

    /// Counts a key from one bucket to another.
    #[inline(always)]
    fn count(&mut self, from: u32, to: u32) {
        let from = &mut self.counts[from as usize];
        *from = from.wrapping_sub(1);
        let to = &mut self.counts[to as usize];
        *to = to.wrapping_add(1);
    }

    /// Moves the keys of a bucket to the heap.
    #[cold]
    #[inline(never)]
    fn gather(&mut self, bucket: u32) {
        let mut place = self.rings.links[bucket as usize].next;
        self.rings.links[bucket as usize] = Link { previous: bucket, next: IN_HEAP, mark: Fine::NONE };
        while place != bucket {
            let next = self.rings.links[place as usize].next;
            self.enter(Rings::<Fine>::key(place));
            place = next;
        }
    }

    /// Puts a key into the heap that has its priority and is in no ring any more.
    fn enter(&mut self, key: u32) {
        let link = &mut self.rings.links[Rings::<Fine>::place(key) as usize];
        link.next = IN_HEAP;
        let entry = Entry { priority: link.mark.0, key };
        self.heap.push(entry, positions!(self.rings));
    }

    /// Takes a key that is queued out.
    #[inline]
    fn park(&mut self, key: u32, link: Link<Fine>) {
        self.count(link.mark.bucket(), PARKED);
        if link.next == IN_HEAP {
            self.leave(key, link);
        }
        self.rings.park(key);
    }

    /// Takes a key out of the heap and makes it a ring of one. It is not counted any more.
    #[inline(never)]
    fn leave(&mut self, key: u32, link: Link<Fine>) {
        self.heap.take(link.previous as usize, positions!(self.rings));
        let place = Rings::<Fine>::place(key);
        self.rings.links[place as usize] = Link { previous: place, next: place, mark: link.mark };
        let bucket = link.mark.bucket();
        if self.counts[bucket as usize] == 0 {
            self.rings.links[bucket as usize].next = bucket;
        }
    }

    /// Gives a key a priority where the heap has a part in it.
    #[inline(never)]
    fn set_by_heap(&mut self, key: u32, link: Link<Fine>, bucket: u32, priority: f64) {
        let place = Rings::<Fine>::place(key) as usize;
        if link.next == IN_HEAP && link.mark.bucket() == bucket {
            self.rings.links[place].mark = Fine(priority);
            self.heap.set(link.previous as usize, priority, positions!(self.rings));
            return;
        }
        if link.mark.0 > 0.0 {
            self.park(key, link);
        }
        self.count(PARKED, bucket);
        if self.is_in_heap(bucket) {
            self.rings.links[place].mark = Fine(priority);
            self.rings.len += 1;
            self.rings.note(bucket);
            self.enter(key);
        } else {
            self.rings.relink(key, self.rings.link(key), bucket, Fine(priority));
        }
    }

    /// The key with the highest priority of the highest bucket.
    #[inline]
    fn best_of(&self, bucket: u32) -> u32 {
        let links = &self.rings.links[..];
        let mut best = links[bucket as usize].next;
        if best == IN_HEAP {
            return self.heap.entries()[0].key;
        }
        let mut highest = links[best as usize].mark.0;
        let mut place = links[best as usize].next;
        while place != bucket {
            let link = links[place as usize];
            if link.mark.0 > highest {
                (best, highest) = (place, link.mark.0);
            }
            place = link.next;
        }
        Rings::<Fine>::key(best)
    }

    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        let buckets = (1..n_buckets::<Fine>()).filter(|&bucket| !self.is_in_heap(bucket));
        let keys = buckets.flat_map(|bucket| self.rings.ring(bucket));
        rings::store(snapshot, "queue", keys.map(|key| (key, self.rings.link(key).mark.0)));
        let entries = self.heap.entries().iter();
        rings::store(snapshot, "queue.crowd", entries.map(|entry| (entry.key, entry.priority)));
    }

    pub(crate) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (key, priority) in rings::restore(snapshot, "queue", n_keys, &queue)?.into_iter().rev() {
            queue.set(key, priority);
        }
        let problem = |problem| Err(Snapshot::problem("queue.crowd.keys", problem));
        let crowd = rings::restore(snapshot, "queue.crowd", n_keys, &queue)?;
        for (i, &(key, priority)) in crowd.iter().enumerate() {
            let mark = Fine(priority);
            let bucket = mark.bucket();
            if is_ring(&queue, bucket) {
                return problem("a bucket is partly in the heap and partly not");
            }
            queue.rings.links[bucket as usize].next = IN_HEAP;
            let link = Link { previous: i as u32, next: IN_HEAP, mark };
            queue.rings.links[Rings::<Fine>::place(key) as usize] = link;
            queue.rings.len += 1;
            queue.rings.note(bucket);
            queue.count(PARKED, bucket);
        }
        let entries = crowd.iter().map(|&(key, priority)| Entry { priority, key }).collect();
        match Heap::from_entries(entries) {
            Some(heap) => queue.heap = heap,
            None => return problem("priorities are not those of a heap"),
        }
        Ok(queue)
    }
}

/// Whether a bucket has keys in its ring.
fn is_ring(queue: &ExactQueue, bucket: u32) -> bool {
    queue.counts[bucket as usize] > 0 && !queue.is_in_heap(bucket)
}

impl Queue for ExactQueue {
    fn grow(&mut self, n_keys: usize) {
        self.rings.grow(n_keys);
    }

    fn len(&self) -> usize {
        self.rings.len
    }

    #[inline(always)]
    fn set(&mut self, key: u32, priority: f64) {
        let (link, mark) = (self.rings.link(key), Fine(priority));
        let (from, to) = (link.mark.bucket(), mark.bucket());
        if link.next == IN_HEAP || from != to && self.is_in_heap(to) {
            self.set_by_heap(key, link, to, priority);
        } else if from == to {
            self.rings.links[Rings::<Fine>::place(key) as usize].mark = mark;
        } else {
            self.rings.relink(key, link, to, mark);
            self.count(from, to);
            if self.counts[to as usize] >= MOST {
                self.gather(to);
            }
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
            self.park(key, link);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let bucket = self.rings.settle();
        if bucket == PARKED {
            return None;
        }
        if self.counts[bucket as usize] > FEW && !self.is_in_heap(bucket) {
            self.gather(bucket);
        }
        let key = self.best_of(bucket);
        self.park(key, self.rings.link(key));
        Some(key)
    }

    #[inline]
    fn likely(&mut self) -> u32 {
        let bucket = self.rings.settle();
        let place = self.rings.links[bucket as usize].next;
        if place == IN_HEAP { self.heap.entries()[0].key } else { place.wrapping_sub(n_buckets::<Fine>()) }
    }

    fn top(&self) -> Option<f64> {
        let bucket = self.rings.highest();
        if bucket == PARKED { None } else { self.rings.priority(self.best_of(bucket)) }
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
