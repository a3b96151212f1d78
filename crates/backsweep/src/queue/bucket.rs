//! An approximate queue in O(1): keys with nearly the same priority share a bucket, and within it the last one in comes out first.

use super::Queue;
use super::rings::{self, Mark, PARKED, Rings, bucket_of, n_buckets, upper_bound};
use crate::{Result, Snapshot};

/// The number of the key's bucket: all that is kept of its priority.
#[derive(Clone, Copy, Debug)]
struct Coarse(u32);

impl Mark for Coarse {
    const BITS: u32 = 3;
    const NONE: Self = Self(PARKED);

    #[inline(always)]
    fn of(priority: f64) -> Self {
        Self(bucket_of::<Self>(priority, 1))
    }

    #[inline(always)]
    fn bucket(self) -> u32 {
        self.0
    }

    fn upper_bound(self) -> f64 {
        upper_bound::<Self>(self.0)
    }
}

/// A priority queue in approximate order: a popped priority is at least 1/1.125 of the highest.
#[derive(Clone, Debug)]
pub struct BucketQueue {
    rings: Rings<Coarse>,
}

impl Default for BucketQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl BucketQueue {
    /// An empty queue without keys.
    pub fn new() -> Self {
        Self { rings: Rings::new() }
    }

    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        let buckets = 1..n_buckets::<Coarse>();
        let entries = buckets.flat_map(|b| self.rings.ring(b).map(move |key| (key, lower_bound(b))));
        rings::store(snapshot, "queue", entries);
    }

    pub(crate) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (key, priority) in rings::restore(snapshot, "queue", n_keys, &queue)?.into_iter().rev() {
            queue.set(key, priority);
        }
        Ok(queue)
    }
}

/// A priority of the bucket.
fn lower_bound(bucket: u32) -> f64 {
    if bucket == 1 { f64::MIN_POSITIVE } else { upper_bound::<Coarse>(bucket - 1) }
}

impl Queue for BucketQueue {
    fn grow(&mut self, n_keys: usize) {
        self.rings.grow(n_keys);
    }

    fn len(&self) -> usize {
        self.rings.len
    }

    #[inline(always)]
    fn set(&mut self, key: u32, priority: f64) {
        let (link, mark) = (self.rings.link(key), Coarse::of(priority));
        if link.mark.0 != mark.0 {
            self.rings.relink(key, link, mark.0, mark);
        }
    }

    #[inline]
    fn promote(&mut self, key: u32, priority: f64) {
        let (link, mark) = (self.rings.link(key), Coarse::of(priority));
        if link.mark.0 < mark.0 {
            self.rings.relink(key, link, mark.0, mark);
        }
    }

    #[inline]
    fn remove(&mut self, key: u32) {
        if self.rings.link(key).mark.0 != PARKED {
            self.rings.park(key);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let bucket = self.rings.settle();
        if bucket == PARKED {
            return None;
        }
        let key = Rings::<Coarse>::key(self.rings.links[bucket as usize].next);
        self.rings.park(key);
        Some(key)
    }

    #[inline]
    fn likely(&mut self) -> u32 {
        let bucket = self.rings.settle();
        self.rings.links[bucket as usize].next.wrapping_sub(n_buckets::<Coarse>())
    }

    fn top(&self) -> Option<f64> {
        let bucket = self.rings.highest();
        (bucket != PARKED).then(|| upper_bound::<Coarse>(bucket))
    }

    fn priority(&self, key: u32) -> Option<f64> {
        self.rings.priority(key)
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    fn bytes(&self) -> usize {
        self.rings.bytes()
    }
}
