//! The priority queue of a planner: indexed, so that it never holds more entries than there are keys.
//!
//! Two kinds serve, both behind [`PriorityQueue`]: the exact queue (default) pops the highest priority and, of equal ones, the
//! lowest key; the bucket queue pops in an order that is right within a factor of 1.125, in constant time.

mod buckets;
mod splits;

pub(crate) use buckets::{Order, Queue};

use crate::{Error, Result, Snapshot};
use buckets::{Coarse, Exact, NOT_QUEUED, n_buckets};
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

/// A priority queue of dense keys, of either kind. Priorities are above 0, [`f64::INFINITY`] included.
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
    Exact(Queue<Exact>),
    Bucket(Queue<Coarse>),
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

/// Methods that the queue inside has under the same name.
macro_rules! forward {
    ($($(#[$doc:meta])* $name:ident(&self $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {
        $($(#[$doc])* pub fn $name(&self $(, $arg: $type)*) -> $result {
            with_queue!(self, queue => queue.$name($($arg),*))
        })*
    };
    (mut $($(#[$doc:meta])* $name:ident(&mut self $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {
        $($(#[$doc])* pub fn $name(&mut self $(, $arg: $type)*) -> $result {
            with_queue!(self, queue => queue.$name($($arg),*))
        })*
    };
}

impl PriorityQueue {
    /// An empty queue without keys.
    pub fn new(kind: QueueKind) -> Self {
        Self(match kind {
            QueueKind::Exact => Kind::Exact(Queue::new()),
            QueueKind::Bucket => Kind::Bucket(Queue::new()),
        })
    }

    forward! { mut
        /// Makes room for keys below `n_keys`.
        grow(&mut self, n_keys: usize) -> ();
        /// Gives a key, which there is room for, this priority: inserts, raises or lowers it.
        set(&mut self, key: u32, priority: f64) -> ();
        /// Inserts a key, or raises its priority if the given one is higher; never lowers it.
        promote(&mut self, key: u32, priority: f64) -> ();
        /// Takes a key out, if it is queued.
        remove(&mut self, key: u32) -> ();
        /// Takes out the key with the highest priority.
        pop(&mut self) -> Option<u32>;
        /// Does up to `limit` pieces of the work that must be done before the next key can be popped; returns whether all is
        /// done. For those who may have to stop: [`pop`](Self::pop) does whatever is left.
        prepare(&mut self, limit: usize) -> bool;
    }

    forward! {
        /// How many keys are queued.
        len(&self) -> usize;
        /// The key that [`pop`](Self::pop) would take out.
        first(&self) -> Option<u32>;
        /// The highest priority (bucket queue: a bound that none exceeds).
        top(&self) -> Option<f64>;
        /// The priority of a key (bucket queue: a bound it does not exceed), or `None` if it is not queued.
        priority(&self, key: u32) -> Option<f64>;
        /// Bytes in use (filled, not reserved).
        bytes(&self) -> usize;
    }

    /// Whether no key is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all keys out.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// Stores the keys and what decides their order.
    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        let keys: Vec<u32> = match &self.0 {
            Kind::Exact(queue) => {
                let (keys, priorities): (_, Vec<_>) =
                    queue.queued().map(|(key, stored)| (key, stored.priority())).unzip();
                snapshot.put("queue.priorities", priorities);
                keys
            }
            Kind::Bucket(queue) => {
                // Bucket by bucket, the last one in first. Files count buckets from 0, here that is NOT_QUEUED.
                let buckets = NOT_QUEUED + 1..n_buckets::<Coarse>();
                let (keys, buckets): (_, Vec<_>) =
                    buckets.flat_map(|bucket| queue.ring(bucket).map(move |key| (key, bucket - 1))).unzip();
                snapshot.put("queue.buckets", buckets);
                keys
            }
        };
        snapshot.put("queue.keys", keys);
    }

    pub(crate) fn restore(kind: QueueKind, n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new(kind);
        queue.grow(n_keys);
        match &mut queue.0 {
            Kind::Exact(queue) => {
                // Version 0.1 stored crowds in two parts of their own.
                for name in ["queue", "queue.crowd", "queue.line"] {
                    let (part, priorities) = (format!("{name}.keys"), format!("{name}.priorities"));
                    if name != "queue" && snapshot.get(&part).is_none() && snapshot.get(&priorities).is_none()
                    {
                        continue;
                    }
                    let keys = snapshot.u32s(&part)?;
                    let priorities = Snapshot::sized(&priorities, snapshot.f64s(&priorities)?, keys.len())?;
                    for (&key, &priority) in keys.iter().zip(priorities) {
                        check_key(queue, n_keys, key, &part)?;
                        if priority.is_nan() || priority <= 0.0 {
                            let problem =
                                format!("the priority of key {key} is {priority}; expected one above 0");
                            return Err(Snapshot::problem(&part, &problem));
                        }
                        queue.set(key, priority);
                    }
                }
            }
            Kind::Bucket(queue) => {
                let keys = snapshot.u32s("queue.keys")?;
                let buckets = Snapshot::sized("queue.buckets", snapshot.u32s("queue.buckets")?, keys.len())?;
                for (&key, &bucket) in keys.iter().zip(buckets).rev() {
                    check_key(queue, n_keys, key, "queue.keys")?;
                    if bucket >= n_buckets::<Coarse>() - 1 {
                        return Err(Snapshot::problem("queue.buckets", "a bucket is out of range"));
                    }
                    queue.put(key, Coarse(bucket + 1));
                }
            }
        }
        Ok(queue)
    }
}

/// A stored key must be in range and stored once.
fn check_key(queue: &Queue<impl Order>, n_keys: usize, key: u32, part: &str) -> Result<()> {
    if (key as usize) < n_keys && queue.priority(key).is_none() {
        return Ok(());
    }
    Err(Snapshot::problem(part, &format!("key {key} is out of range or queued twice")))
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
