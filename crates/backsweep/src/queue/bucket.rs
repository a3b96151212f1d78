//! An approximate queue in O(1): keys with nearly the same priority share a bucket, and within it the last one in comes out first.

use super::Queue;
use super::rings::{Mark, PARKED, Rings, bucket_of, n_buckets, stored_keys, upper_bound};
use crate::{Result, Snapshot};

/// The number of the key's bucket: all that is kept of its priority.
#[derive(Clone, Copy, Debug)]
struct Coarse(u32);

impl Coarse {
    #[inline(always)]
    fn of(priority: f64) -> Self {
        Self(bucket_of::<Self>(priority, 1))
    }
}

impl Mark for Coarse {
    const BITS: u32 = 3;
    const NONE: Self = Self(PARKED);

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
        // Bucket by bucket, the last one in first. Files count buckets from 0, here that is PARKED.
        let buckets = PARKED + 1..n_buckets::<Coarse>();
        let entries = buckets.flat_map(|bucket| self.rings.ring(bucket).map(move |key| (key, bucket - 1)));
        let (keys, buckets): (Vec<u32>, Vec<u32>) = entries.unzip();
        snapshot.put("queue.keys", keys);
        snapshot.put("queue.buckets", buckets);
    }

    pub(crate) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let keys = stored_keys(snapshot, "queue.keys", n_keys)?;
        let buckets = Snapshot::sized("queue.buckets", snapshot.u32s("queue.buckets")?, keys.len())?;
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (&key, &bucket) in keys.iter().zip(buckets).rev() {
            if bucket >= n_buckets::<Coarse>() - 1 {
                return Err(Snapshot::problem("queue.buckets", "a bucket is out of range"));
            }
            queue.rings.relink(key, queue.rings.link(key), bucket + 1, Coarse(bucket + 1));
        }
        Ok(queue)
    }
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
    fn peek(&mut self) -> Option<u32> {
        let bucket = self.rings.settle();
        (bucket != PARKED).then(|| Rings::<Coarse>::key(self.rings.links[bucket as usize].next))
    }

    fn first(&self) -> Option<u32> {
        self.rings.ring(self.rings.highest()).next()
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let key = self.peek()?;
        self.rings.park(key);
        Some(key)
    }

    #[inline]
    fn likely(&mut self) -> u32 {
        let bucket = self.rings.settle();
        self.rings.links[bucket as usize].next.wrapping_sub(n_buckets::<Coarse>())
    }

    #[inline]
    fn prefetch(&self, first: u32) {
        self.rings.prefetch(first);
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
