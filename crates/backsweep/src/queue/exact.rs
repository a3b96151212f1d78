//! The exact queue: narrow buckets, and the highest one looked through when a key is popped.
//!
//! The highest bucket holds one or two keys most of the time, since it is the one that is being emptied; so the order within
//! buckets, which a heap keeps up at every change, need not be known until a few keys are left to compare. A change of a
//! priority that stays in its bucket is one store.
//!
//! Where priorities crowd (in a known model all rewards may be equal), the keys of the highest bucket are moved when there are more
//! than a few, each at most once for every change of its priority: to a heap, or, when they are very many, all at once to a sorted
//! line, in which pops need not wait for memory. A key in the line whose priority changes goes back to the buckets, and its place in the
//! line is passed over later. So a call takes O(log keys) amortised; and since moving to the heap can be done in pieces
//! ([`Queue::ready`]), a caller in a hurry waits for no more than one, and makes no line.
//!
//! Against the 4-ary heap that it replaced: docs/PERFORMANCE.md.

use super::Queue;
use super::heap::{Entry, Heap};
use super::rings::{Link, Mark, PARKED, Rings, bucket_of, n_buckets, stored_keys};
use crate::{Result, Snapshot};

/// Keys that are looked through when one of their bucket is popped.
const FEW: u32 = 40;
/// More keys than this in a bucket are put in line.
const MANY: u32 = 1000;
/// The `next` of a key in the heap, whose `previous` is its index there.
const IN_HEAP: u32 = u32::MAX;
/// The `next` of a key in the line. No place is as high: see [`Rings::place`].
const IN_LINE: u32 = u32::MAX - 1;

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
    /// Keys that are queued and in no ring.
    heap: Heap,
    /// Others of that kind, the highest priority last, of equal ones the lowest key; among them keys that have left, whose `next` is
    /// not IN_LINE. A new line is made only when this one has come to its end.
    line: Vec<Entry>,
    /// The bucket of the highest of heap and line; PARKED if there is none.
    outside: u32,
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
        Self { rings: Rings::new(), heap: Heap::default(), line: Vec::new(), outside: PARKED }
    }

    /// The highest of heap and line. The end of the line may have left, unless it was [trimmed](Self::trim).
    #[inline]
    fn elsewhere(&self) -> Option<Entry> {
        match (self.heap.entries().first(), self.line.last()) {
            (Some(&first), Some(&last)) => Some(if last.priority > first.priority { last } else { first }),
            (first, last) => first.or(last).copied(),
        }
    }

    #[inline]
    fn is_in_line(&self, entry: &Entry) -> bool {
        self.rings.link(entry.key).next == IN_LINE
    }

    /// Drops up to `limit` keys that have left from the end of the line. Returns whether its end is one that has not.
    #[inline]
    fn trim(&mut self, limit: usize) -> bool {
        let mut n_dropped = 0;
        while self.line.last().is_some_and(|entry| !self.is_in_line(entry)) {
            if n_dropped == limit {
                return false;
            }
            n_dropped += 1;
            self.line.pop();
            self.note_outside();
        }
        true
    }

    /// The bucket whose ring may hold the highest priority; PARKED if that is in heap or line, or nowhere.
    #[inline]
    fn contender(&mut self) -> u32 {
        let bucket = self.rings.settle();
        if bucket < self.outside { PARKED } else { bucket }
    }

    /// Takes note of a change of heap or line.
    fn note_outside(&mut self) {
        self.outside = self.elsewhere().map_or(PARKED, |entry| Fine(entry.priority).bucket());
    }

    /// Makes a line of all keys of a ring.
    #[cold]
    #[inline(never)]
    fn line_up(&mut self, bucket: u32) {
        let mut place = self.rings.links[bucket as usize].next;
        while place != bucket {
            let link = &mut self.rings.links[place as usize];
            let next = std::mem::replace(&mut link.next, IN_LINE);
            self.line.push(Entry { priority: link.mark.0, key: Rings::<Fine>::key(place) });
            place = next;
        }
        self.rings.empty(bucket);
        self.line.sort_unstable_by(order_of_line);
        self.note_outside();
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
        self.note_outside();
        !self.is_crowd(bucket, FEW)
    }

    /// Whether a ring holds more than so many keys.
    #[inline]
    fn is_crowd(&self, bucket: u32, limit: u32) -> bool {
        let mut place = self.rings.links[bucket as usize].next;
        for _ in 0..limit {
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
        if self.rings.link(key).next >= IN_LINE {
            self.leave(key);
        }
        self.rings.park(key);
    }

    /// Takes a key out of heap or line and makes it a ring of one.
    #[inline(never)]
    fn leave(&mut self, key: u32) {
        let link = self.rings.link(key);
        if link.next == IN_HEAP {
            self.heap.take(link.previous as usize, positions!(self.rings));
            self.note_outside();
        }
        let place = Rings::<Fine>::place(key);
        self.rings.links[place as usize] = Link { previous: place, next: place, mark: link.mark };
    }

    /// Gives a key that is in heap or line another priority.
    #[inline(never)]
    fn set_elsewhere(&mut self, key: u32, mark: Fine) {
        let link = &mut self.rings.links[Rings::<Fine>::place(key) as usize];
        if link.next == IN_HEAP {
            link.mark = mark;
            self.heap.set(link.previous as usize, mark.0, positions!(self.rings));
            self.note_outside();
        } else if link.mark.0 != mark.0 {
            self.leave(key);
            self.rings.relink(key, self.rings.link(key), mark.bucket(), mark);
        }
    }

    /// The key with the highest priority, given the highest bucket, if it is no crowd: the inner `None` if there is no key.
    #[inline]
    fn best(&self, bucket: u32) -> Option<Option<u32>> {
        let links = &self.rings.links[..];
        let (mut best, mut highest) = (NONE, 0.0);
        let mut place = links[bucket as usize].next;
        let mut left = FEW;
        while place != bucket {
            left = left.checked_sub(1)?;
            let link = links[place as usize];
            if link.mark.0 > highest {
                (best, highest) = (place, link.mark.0);
            }
            place = link.next;
        }
        if bucket <= self.outside
            && let Some(entry) = self.elsewhere()
            && entry.priority > highest
        {
            return Some(Some(entry.key));
        }
        Some((best != NONE).then(|| Rings::<Fine>::key(best)))
    }

    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        let keys = (1..n_buckets::<Fine>()).flat_map(|bucket| self.rings.ring(bucket));
        store_entries(snapshot, "queue", keys.map(|key| (key, self.rings.link(key).mark.0)));
        let entries = self.heap.entries().iter();
        store_entries(snapshot, "queue.crowd", entries.map(|entry| (entry.key, entry.priority)));
        let line: Vec<_> = self.line.iter().filter(|entry| self.is_in_line(entry)).collect();
        if !line.is_empty() {
            store_entries(snapshot, "queue.line", line.iter().map(|entry| (entry.key, entry.priority)));
        }
    }

    pub(crate) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (key, priority) in restore_entries(snapshot, "queue", n_keys, &queue)?.into_iter().rev() {
            queue.set(key, priority);
        }
        let crowd = queue.restore_elsewhere(snapshot, "queue.crowd", n_keys, IN_HEAP)?;
        queue.heap = Heap::from_entries(crowd)
            .ok_or_else(|| Snapshot::problem("queue.crowd.keys", "priorities are not those of a heap"))?;
        queue.line = queue.restore_elsewhere(snapshot, "queue.line", n_keys, IN_LINE)?;
        if !queue.line.is_sorted_by(|a, b| order_of_line(a, b).is_le()) {
            return Err(Snapshot::problem("queue.line.keys", "priorities do not rise"));
        }
        queue.note_outside();
        Ok(queue)
    }

    /// Restores keys that are in no ring. Files in which there are none need not say so.
    fn restore_elsewhere(
        &mut self,
        snapshot: &Snapshot,
        name: &str,
        n_keys: usize,
        next: u32,
    ) -> Result<Vec<Entry>> {
        if ["keys", "priorities"].iter().all(|part| snapshot.get(&format!("{name}.{part}")).is_none()) {
            return Ok(Vec::new());
        }
        let entries = restore_entries(snapshot, name, n_keys, self)?;
        for (i, &(key, priority)) in entries.iter().enumerate() {
            self.rings.links[Rings::<Fine>::place(key) as usize] =
                Link { previous: i as u32, next, mark: Fine(priority) };
        }
        self.rings.len += entries.len();
        Ok(entries.into_iter().map(|(key, priority)| Entry { priority, key }).collect())
    }
}

/// The order of keys in the line.
fn order_of_line(a: &Entry, b: &Entry) -> std::cmp::Ordering {
    a.priority.total_cmp(&b.priority).then(b.key.cmp(&a.key))
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
        if link.next >= IN_LINE {
            self.set_elsewhere(key, mark);
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
        if !self.trim(limit) {
            return false;
        }
        let bucket = self.contender();
        !self.is_crowd(bucket, FEW) || self.gather(bucket, limit)
    }

    #[inline]
    fn peek(&mut self) -> Option<u32> {
        self.trim(usize::MAX);
        let bucket = self.contender();
        self.best(bucket).unwrap_or_else(|| {
            if self.line.is_empty() && self.is_crowd(bucket, MANY) {
                self.line_up(bucket);
            } else {
                self.gather(bucket, usize::MAX);
            }
            self.elsewhere().map(|entry| entry.key)
        })
    }

    fn first(&self) -> Option<u32> {
        self.clone().peek()
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let key = self.peek()?;
        self.park(key);
        if let [.., entry, _, _, _] = &self.line[..] {
            // Three pops ahead.
            self.rings.prefetch(entry.key);
        }
        Some(key)
    }

    #[inline]
    fn likely(&mut self) -> u32 {
        match self.contender() {
            PARKED => self.elsewhere().map_or(NONE, |entry| entry.key),
            bucket => self.rings.links[bucket as usize].next.wrapping_sub(n_buckets::<Fine>()),
        }
    }

    #[inline]
    fn prefetch(&self, first: u32) {
        self.rings.prefetch(first);
    }

    fn top(&self) -> Option<f64> {
        let bucket = self.rings.highest();
        let first = self.heap.entries().first();
        let last = self.line.iter().rev().find(|entry| self.is_in_line(entry));
        let elsewhere = first.into_iter().chain(last).map(|entry| entry.priority).reduce(f64::max);
        // A ring that is too low to matter may be long.
        if elsewhere.is_some_and(|priority| bucket < Fine(priority).bucket()) {
            return elsewhere;
        }
        let ring = self.rings.ring(bucket).map(|key| self.rings.link(key).mark.0);
        ring.chain(elsewhere).reduce(f64::max)
    }

    fn priority(&self, key: u32) -> Option<f64> {
        self.rings.priority(key)
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    fn bytes(&self) -> usize {
        self.rings.bytes() + size_of_val(self.heap.entries()) + size_of_val(&self.line[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Keys so near to each other that there is always a line: a queue restored from what was stored at any moment goes on as the one
    /// that was stored, to the choice among equals; and both pop in order.
    #[test]
    fn a_restored_line_goes_on() {
        const N: u32 = 5000;
        let mut random = Random::from_seed(3);
        let mut queue = ExactQueue::new();
        queue.grow(N as usize);
        let (mut lines, mut left) = (0, 0);
        for round in 0..60 {
            for _ in 0..2000 {
                queue.set(random.below(N), 1.0 + 1e-4 * f64::from(random.below(50)));
            }
            let mut snapshot = Snapshot::new();
            queue.store(&mut snapshot);
            lines += usize::from(snapshot.get("queue.line.keys").is_some());
            left += queue.line.iter().filter(|entry| !queue.is_in_line(entry)).count();
            let mut restored = ExactQueue::restore(N as usize, &snapshot).unwrap();
            assert_eq!((restored.len(), restored.top()), (queue.len(), queue.top()));
            for step in 0..1500 {
                let place = format!("round {round}, step {step}");
                let (key, priority) = (random.below(N), 1.0 + 1e-4 * f64::from(random.below(50)));
                match random.below(12) {
                    0 => {
                        queue.set(key, priority);
                        restored.set(key, priority);
                    }
                    1 => {
                        queue.remove(key);
                        restored.remove(key);
                    }
                    2 if round % 4 == 3 => {
                        while !queue.ready(8) {}
                        while !restored.ready(8) {}
                    }
                    _ => {
                        let highest = queue.top();
                        let key = queue.peek();
                        assert_eq!(key.and_then(|key| queue.priority(key)), highest, "{place}");
                        assert_eq!(queue.pop(), key, "{place}");
                        assert_eq!(restored.pop(), key, "{place}");
                    }
                }
            }
        }
        assert!(lines > 30 && left > 1000, "{lines} lines were stored, {left} keys had left them");
    }

    #[test]
    fn a_line_that_is_none_is_refused() {
        let mut queue = ExactQueue::new();
        queue.grow(3000);
        for key in 0..3000 {
            queue.set(key, 1.0 + 1e-9 * f64::from(key));
        }
        queue.peek();
        let mut snapshot = Snapshot::new();
        queue.store(&mut snapshot);
        assert!(ExactQueue::restore(3000, &snapshot).is_ok());
        let mut priorities = snapshot.f64s("queue.line.priorities").unwrap().to_vec();
        priorities.swap(10, 20);
        snapshot.put("queue.line.priorities", priorities);
        let error = ExactQueue::restore(3000, &snapshot).unwrap_err().to_string();
        assert!(error.contains("priorities do not rise"), "{error}");
    }
}
