//! An indexed 4-ary heap: exact order, O(log n) to change a priority.

use super::Queue;
use crate::{Error, Result, Snapshot};

const NONE: u32 = u32::MAX;
/// Children of a node. Four entries of 16 bytes are looked through in one cache line's worth of reads, and the heap is
/// half as deep as a binary one. Slower (docs/PERFORMANCE.md): eight children, and four in one line chosen among without a
/// branch: a guess that is wrong now and then lets the processor go on, a number that is not yet there does not.
const ARITY: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry {
    priority: f64,
    key: u32,
}

/// A priority queue in exact order.
///
/// ```
/// use backsweep::queue::{HeapQueue, Queue};
/// let mut queue = HeapQueue::new();
/// queue.grow(3);
/// queue.set(0, 1.0);
/// queue.set(1, 2.0);
/// queue.promote(0, 3.0);
/// queue.set(0, 0.5); // lowered again
/// assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(1), Some(0), None));
/// ```
#[derive(Clone, Debug, Default)]
pub struct HeapQueue {
    /// No entry has a higher priority than its parent, the entry at `(i - 1) / ARITY`.
    heap: Vec<Entry>,
    /// `position[k]` is the index in `heap` of the entry with key `k`, or NONE if and only if `k` is not queued.
    position: Vec<u32>,
}

impl HeapQueue {
    /// An empty queue without keys.
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    fn place(&mut self, i: usize, entry: Entry) {
        self.heap[i] = entry;
        self.position[entry.key as usize] = i as u32;
    }

    #[inline]
    fn sift_up(&mut self, mut i: usize, entry: Entry) {
        while i > 0 {
            let parent = (i - 1) / ARITY;
            let above = self.heap[parent];
            if above.priority >= entry.priority {
                break;
            }
            self.place(i, above);
            i = parent;
        }
        self.place(i, entry);
    }

    #[inline]
    fn sift_down(&mut self, mut i: usize, entry: Entry) {
        let n = self.heap.len();
        loop {
            let first = i * ARITY + 1;
            if first >= n {
                break;
            }
            let children = &self.heap[first..n.min(first + ARITY)];
            let mut best = 0;
            let mut highest = children[0].priority;
            for (j, child) in children.iter().enumerate().skip(1) {
                if child.priority > highest {
                    (best, highest) = (j, child.priority);
                }
            }
            if highest <= entry.priority {
                break;
            }
            let child = children[best];
            self.place(i, child);
            i = first + best;
        }
        self.place(i, entry);
    }

    /// Takes the entry at index `i` out.
    #[inline]
    fn take(&mut self, i: usize) {
        let last = self.heap.len() - 1;
        let entry = self.heap[last];
        self.heap.truncate(last);
        if i < last {
            if i > 0 && self.heap[(i - 1) / ARITY].priority < entry.priority {
                self.sift_up(i, entry);
            } else {
                self.sift_down(i, entry);
            }
        }
    }

    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("queue.keys", self.heap.iter().map(|e| e.key).collect::<Vec<u32>>());
        snapshot.put("queue.priorities", self.heap.iter().map(|e| e.priority).collect::<Vec<f64>>());
    }

    pub(crate) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let keys = snapshot.u32s("queue.keys")?;
        let priorities = snapshot.f64s("queue.priorities")?;
        let problem = |problem: &str| Error::Snapshot { part: "queue.keys".into(), problem: problem.into() };
        if keys.len() != priorities.len() {
            return Err(problem("there are not as many keys as priorities"));
        }
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (i, (&key, &priority)) in keys.iter().zip(priorities).enumerate() {
            if key as usize >= n_keys || queue.position[key as usize] != NONE {
                return Err(problem("a key is out of range or queued twice"));
            }
            if priority.is_nan()
                || priority <= 0.0
                || i > 0 && queue.heap[(i - 1) / ARITY].priority < priority
            {
                return Err(problem("priorities are not those of a heap"));
            }
            queue.position[key as usize] = i as u32;
            queue.heap.push(Entry { priority, key });
        }
        Ok(queue)
    }
}

impl Queue for HeapQueue {
    fn grow(&mut self, n_keys: usize) {
        if n_keys > self.position.len() {
            self.position.resize(n_keys, NONE);
            // Room for all keys at once, so that no push has to move the heap while planning.
            self.heap.reserve(n_keys - self.heap.len());
        }
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    #[inline]
    fn set(&mut self, key: u32, priority: f64) {
        let i = self.position[key as usize];
        let entry = Entry { priority, key };
        if i == NONE {
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
            return;
        }
        let before = self.heap[i as usize].priority;
        if priority > before {
            self.sift_up(i as usize, entry);
        } else if priority < before {
            self.sift_down(i as usize, entry);
        }
    }

    #[inline]
    fn promote(&mut self, key: u32, priority: f64) {
        let i = self.position[key as usize];
        let entry = Entry { priority, key };
        if i == NONE {
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
        } else if priority > self.heap[i as usize].priority {
            self.sift_up(i as usize, entry);
        }
    }

    #[inline]
    fn remove(&mut self, key: u32) {
        let i = self.position[key as usize];
        if i != NONE {
            self.position[key as usize] = NONE;
            self.take(i as usize);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let key = self.heap.first()?.key;
        self.position[key as usize] = NONE;
        self.take(0);
        Some(key)
    }

    fn top(&self) -> Option<f64> {
        self.heap.first().map(|entry| entry.priority)
    }

    fn priority(&self, key: u32) -> Option<f64> {
        let i = *self.position.get(key as usize)?;
        self.heap.get(i as usize).map(|entry| entry.priority)
    }

    fn clear(&mut self) {
        for entry in self.heap.drain(..) {
            self.position[entry.key as usize] = NONE;
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.heap[..]) + size_of_val(&self.position[..])
    }
}
