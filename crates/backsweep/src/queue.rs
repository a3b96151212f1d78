//! The priority queue of a planner: indexed, so that it never holds more entries than there are keys.
//!
//! Two kinds serve: [`ExactQueue`] (default) pops in exact order; [`BucketQueue`] pops in an order that is right within a
//! stated factor, in constant time. A planner holds an [`AnyQueue`] and chooses once a cycle.

mod bucket;
mod exact;
mod heap;
mod rings;

pub use bucket::BucketQueue;
pub use exact::ExactQueue;

use crate::{Error, Result, Snapshot};
use std::str::FromStr;

/// What a planner asks of its queue. Keys are dense and below the length last passed to [`grow`](Self::grow); priorities
/// are above 0 and finite, but [`f64::INFINITY`] is accepted and comes first.
pub trait Queue {
    /// Makes room for keys below `n_keys`.
    fn grow(&mut self, n_keys: usize);
    /// How many keys are queued.
    fn len(&self) -> usize;
    /// Whether no key is queued.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
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
    /// Does up to `limit` pieces of the work that must be done before the next key can be popped; returns whether all is done. For
    /// those who may have to stop: [`pop`](Self::pop) does whatever is left.
    fn ready(&mut self, _limit: usize) -> bool {
        true
    }
    /// The key that [`pop`](Self::pop) would take out.
    fn peek(&mut self) -> Option<u32>;
    /// The key that [`pop`](Self::pop) would take out, found without moving anything.
    fn first(&self) -> Option<u32>;
    /// Takes out the key with the highest priority.
    fn pop(&mut self) -> Option<u32>;
    /// A key that is likely to be popped soon, found without much looking; any number if there is none.
    fn likely(&mut self) -> u32;
    /// Asks the processor to bring near what is kept of a key, which need not exist, and of the six after it.
    fn prefetch(&self, key: u32);
    /// The highest priority (for an approximate queue: a bound that none exceeds).
    fn top(&self) -> Option<f64>;
    /// The priority of a key (for an approximate queue: a bound it does not exceed), or `None` if it is not queued.
    fn priority(&self, key: u32) -> Option<f64>;
    /// Takes all keys out.
    fn clear(&mut self);
    /// Bytes in use (filled, not reserved).
    fn bytes(&self) -> usize;
}

/// The kinds of queue, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum QueueKind {
    /// `exact`: exact order.
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

/// Either kind of queue.
#[derive(Clone, Debug)]
pub enum AnyQueue {
    /// Exact order.
    Exact(ExactQueue),
    /// Approximate order.
    Bucket(BucketQueue),
}

macro_rules! either {
    ($self:ident, $queue:ident => $call:expr) => {
        match $self {
            AnyQueue::Exact($queue) => $call,
            AnyQueue::Bucket($queue) => $call,
        }
    };
}

impl AnyQueue {
    /// An empty queue.
    pub fn new(kind: QueueKind) -> Self {
        match kind {
            QueueKind::Exact => Self::Exact(ExactQueue::new()),
            QueueKind::Bucket => Self::Bucket(BucketQueue::new()),
        }
    }

    /// The order of entries to the last detail: what is stored of the queue.
    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        either!(self, queue => queue.store(snapshot));
    }

    pub(crate) fn restore(kind: QueueKind, n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        Ok(match kind {
            QueueKind::Exact => Self::Exact(ExactQueue::restore(n_keys, snapshot)?),
            QueueKind::Bucket => Self::Bucket(BucketQueue::restore(n_keys, snapshot)?),
        })
    }
}

impl Queue for AnyQueue {
    fn grow(&mut self, n_keys: usize) {
        either!(self, queue => queue.grow(n_keys));
    }
    fn len(&self) -> usize {
        either!(self, queue => queue.len())
    }
    fn set(&mut self, key: u32, priority: f64) {
        either!(self, queue => queue.set(key, priority));
    }
    fn promote(&mut self, key: u32, priority: f64) {
        either!(self, queue => queue.promote(key, priority));
    }
    fn remove(&mut self, key: u32) {
        either!(self, queue => queue.remove(key));
    }
    fn ready(&mut self, limit: usize) -> bool {
        either!(self, queue => queue.ready(limit))
    }
    fn peek(&mut self) -> Option<u32> {
        either!(self, queue => queue.peek())
    }
    fn first(&self) -> Option<u32> {
        either!(self, queue => queue.first())
    }
    fn pop(&mut self) -> Option<u32> {
        either!(self, queue => queue.pop())
    }
    fn prefetch(&self, key: u32) {
        either!(self, queue => queue.prefetch(key));
    }
    fn likely(&mut self) -> u32 {
        either!(self, queue => queue.likely())
    }
    fn top(&self) -> Option<f64> {
        either!(self, queue => queue.top())
    }
    fn priority(&self, key: u32) -> Option<f64> {
        either!(self, queue => queue.priority(key))
    }
    fn clear(&mut self) {
        either!(self, queue => queue.clear());
    }
    fn bytes(&self) -> usize {
        either!(self, queue => queue.bytes())
    }
}
