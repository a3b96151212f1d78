//! The priority queue of a planner: indexed, so that it never holds more entries than there are keys.
//!
//! Two kinds serve, both behind [`PriorityQueue`]: the exact queue (default) pops the highest priority and, of equal ones, the
//! lowest key; the bucket queue pops in an order that is right within a factor of 1.125, in constant time.

mod bucket;
mod exact;
mod lists;

pub(crate) use bucket::BucketQueue;
pub(crate) use exact::ExactQueue;

use crate::{Error, Result, Snapshot};
use std::str::FromStr;

/// What a planner needs of its queue. Keys are dense and below the length last passed to [`grow`](Self::grow); priorities
/// are above 0, [`f64::INFINITY`] included.
pub(crate) trait Queue {
    /// Makes room for keys below `n_keys`.
    fn grow(&mut self, n_keys: usize);
    /// How many keys are queued.
    fn len(&self) -> usize;
    /// Gives a key this priority: inserts, raises or lowers it.
    fn set(&mut self, key: u32, priority: f64);
    /// Gives a key this priority if it is above the threshold, and takes it out if it is not.
    #[inline(always)]
    fn set_above(&mut self, threshold: f64, key: u32, priority: f64) {
        if priority > threshold {
            self.set(key, priority);
        } else {
            self.remove(key);
        }
    }
    /// Inserts a key, or raises its priority if the given one is higher; never lowers it.
    fn promote(&mut self, key: u32, priority: f64);
    /// Takes a key out, if it is queued.
    fn remove(&mut self, key: u32);
    /// Does up to `limit` pieces of the work that must be done before the next key can be popped; returns whether all is
    /// done. For those who may have to stop: [`pop`](Self::pop) does whatever is left.
    fn prepare(&mut self, _limit: usize) -> bool {
        true
    }
    /// The key that [`pop`](Self::pop) would take out.
    fn first(&self) -> Option<u32>;
    /// Takes out the key with the highest priority.
    fn pop(&mut self) -> Option<u32>;
    /// A key that is likely to be popped soon, found at little cost; any number if there is none.
    fn likely(&mut self) -> u32;
    /// The highest priority (bucket queue: a bound that none exceeds).
    fn top(&self) -> Option<f64> {
        self.first().and_then(|key| self.priority(key))
    }
    /// The priority of a key (bucket queue: a bound it does not exceed), or `None` if it is not queued.
    fn priority(&self, key: u32) -> Option<f64>;
    /// Bytes in use (filled, not reserved).
    fn bytes(&self) -> usize;
}

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
}

impl FromStr for QueueKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            // Files and commands of version 0.1 say "heap".
            "exact" | "heap" => Ok(Self::Exact),
            "bucket" => Ok(Self::Bucket),
            _ => Err(Error::Unknown { what: "queue", found: name.into(), known: "exact, bucket".into() }),
        }
    }
}

/// A priority queue of dense keys, of either kind.
///
/// ```
/// use backsweep::{PriorityQueue, QueueKind};
/// let mut queue = PriorityQueue::new(QueueKind::Exact);
/// queue.grow(3);
/// queue.set(0, 1.0);
/// queue.set(1, 2.0);
/// queue.promote(0, 3.0);
/// queue.set(0, 0.5); // lowered again
/// assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(1), Some(0), None));
/// ```
#[derive(Clone, Debug)]
pub struct PriorityQueue(pub(crate) Kind);

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Exact(ExactQueue),
    Bucket(BucketQueue),
}

/// Runs a call with whichever queue there is, so that hot loops are compiled for each kind.
macro_rules! with_queue {
    ($queue:expr, $name:ident => $call:expr) => {
        match $queue {
            crate::queue::PriorityQueue(crate::queue::Kind::Exact($name)) => $call,
            crate::queue::PriorityQueue(crate::queue::Kind::Bucket($name)) => $call,
        }
    };
}
pub(crate) use with_queue;

impl PriorityQueue {
    /// An empty queue without keys.
    pub fn new(kind: QueueKind) -> Self {
        Self(match kind {
            QueueKind::Exact => Kind::Exact(ExactQueue::new()),
            QueueKind::Bucket => Kind::Bucket(BucketQueue::new()),
        })
    }

    /// Makes room for keys below `n_keys`.
    pub fn grow(&mut self, n_keys: usize) {
        with_queue!(self, queue => queue.grow(n_keys));
    }

    /// How many keys are queued.
    pub fn len(&self) -> usize {
        with_queue!(self, queue => queue.len())
    }

    /// Whether no key is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives a key, which there is room for, this priority above 0: inserts, raises or lowers it.
    pub fn set(&mut self, key: u32, priority: f64) {
        with_queue!(self, queue => queue.set(key, priority));
    }

    /// Inserts a key, or raises its priority if the given one is higher; never lowers it.
    pub fn promote(&mut self, key: u32, priority: f64) {
        with_queue!(self, queue => queue.promote(key, priority));
    }

    /// Takes a key out, if it is queued.
    pub fn remove(&mut self, key: u32) {
        with_queue!(self, queue => queue.remove(key));
    }

    /// The key that [`pop`](Self::pop) would take out.
    pub fn first(&self) -> Option<u32> {
        with_queue!(self, queue => queue.first())
    }

    /// Takes out the key with the highest priority.
    pub fn pop(&mut self) -> Option<u32> {
        with_queue!(self, queue => queue.pop())
    }

    /// Does up to `limit` pieces of the work that must be done before the next key can be popped; returns whether all is
    /// done. For those who may have to stop: [`pop`](Self::pop) does whatever is left.
    pub fn prepare(&mut self, limit: usize) -> bool {
        with_queue!(self, queue => queue.prepare(limit))
    }

    /// The highest priority (bucket queue: a bound that none exceeds).
    pub fn top(&self) -> Option<f64> {
        with_queue!(self, queue => queue.top())
    }

    /// The priority of a key (bucket queue: a bound it does not exceed), or `None` if it is not queued.
    pub fn priority(&self, key: u32) -> Option<f64> {
        with_queue!(self, queue => queue.priority(key))
    }

    /// Takes all keys out.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// Bytes in use (filled, not reserved).
    pub fn bytes(&self) -> usize {
        with_queue!(self, queue => queue.bytes())
    }

    /// Stores the keys and what decides their order.
    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        with_queue!(self, queue => queue.store(snapshot));
    }

    pub(crate) fn restore(kind: QueueKind, n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        Ok(Self(match kind {
            QueueKind::Exact => Kind::Exact(ExactQueue::restore(n_keys, snapshot)?),
            QueueKind::Bucket => Kind::Bucket(BucketQueue::restore(n_keys, snapshot)?),
        }))
    }
}

/// The keys that were stored under a name: each in range and once.
fn stored_keys<'a>(snapshot: &'a Snapshot, name: &str, n_keys: usize) -> Result<&'a [u32]> {
    let keys = snapshot.u32s(name)?;
    let mut is_queued = vec![false; n_keys];
    for &key in keys {
        let place = is_queued.get_mut(key as usize);
        if place.is_none_or(|place| std::mem::replace(place, true)) {
            return Err(Snapshot::problem(name, &format!("key {key} is out of range or queued twice")));
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// A queue restored from what was stored at any moment pops what the one that was stored pops, crowds included.
    #[test]
    fn a_restored_queue_pops_the_same_keys() {
        const N: u32 = 5000;
        for kind in [QueueKind::Exact, QueueKind::Bucket] {
            let mut random = Random::from_seed(3);
            let mut queue = PriorityQueue::new(kind);
            queue.grow(N as usize);
            for round in 0..40 {
                for _ in 0..2000 {
                    queue.set(random.below(N), 1.0 + 1e-4 * f64::from(random.below(50)));
                }
                let mut snapshot = Snapshot::new();
                queue.store(&mut snapshot);
                let mut restored = PriorityQueue::restore(kind, N as usize, &snapshot).unwrap();
                assert_eq!((restored.len(), restored.top()), (queue.len(), queue.top()));
                for step in 0..1500 {
                    let (key, priority) = (random.below(N), 1.0 + 1e-4 * f64::from(random.below(50)));
                    match random.below(12) {
                        0 => [&mut queue, &mut restored].map(|queue| queue.set(key, priority)).len(),
                        1 => [&mut queue, &mut restored].map(|queue| queue.remove(key)).len(),
                        2 => [&mut queue, &mut restored].map(|queue| queue.prepare(8)).len(),
                        _ => {
                            let popped =
                                [&mut queue, &mut restored].map(|queue| (queue.first(), queue.pop()));
                            assert_eq!(popped[0], popped[1], "{kind:?}, round {round}, step {step}");
                            assert_eq!(popped[0].0, popped[0].1, "{kind:?}, round {round}, step {step}");
                            2
                        }
                    };
                }
            }
        }
    }

    #[test]
    fn a_priority_that_is_none_is_refused() {
        for (priority, key) in [(0.0, 1), (-1.0, 1), (f64::NAN, 1), (1.0, 0), (1.0, 7)] {
            let mut snapshot = Snapshot::new();
            snapshot.put("queue.keys", vec![0u32, key]);
            snapshot.put("queue.priorities", vec![1.0, priority]);
            assert!(PriorityQueue::restore(QueueKind::Exact, 3, &snapshot).is_err(), "{priority} {key}");
        }
    }
}
