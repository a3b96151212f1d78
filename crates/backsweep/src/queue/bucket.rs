//! An approximate queue in O(1): keys with nearly the same priority share a bucket, and within it the last one in comes out
//! first.

use super::lists::{BucketLists, NOT_QUEUED, StoredPriority, bucket_of, n_buckets, upper_bound};
use super::{Queue, stored_keys};
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

impl StoredPriority for Coarse {
    const BITS: u32 = 3;
    const EXTRA_HEADS: u32 = 0;
    const NONE: Self = Self(NOT_QUEUED);

    #[inline(always)]
    fn bucket(self) -> u32 {
        self.0
    }

    fn upper_bound(self) -> f64 {
        upper_bound::<Self>(self.0)
    }

    #[inline(always)]
    fn is_plain_head(self) -> bool {
        true
    }
}

/// A priority queue in approximate order: a popped priority is at least 1/1.125 of the highest.
#[derive(Clone, Debug)]
pub(crate) struct BucketQueue {
    lists: BucketLists<Coarse>,
}

impl BucketQueue {
    pub fn new() -> Self {
        Self { lists: BucketLists::new() }
    }

    #[inline(always)]
    fn put(&mut self, key: u32, stored: Coarse) {
        if self.lists.relink(key, self.lists.link(key), stored.0, stored) {
            self.lists.note(stored.0);
        }
    }

    pub(super) fn store(&self, snapshot: &mut Snapshot) {
        // Bucket by bucket, the last one in first. Files count buckets from 0, here that is NOT_QUEUED.
        let buckets = NOT_QUEUED + 1..n_buckets::<Coarse>();
        let entries = buckets.flat_map(|bucket| self.lists.ring(bucket).map(move |key| (key, bucket - 1)));
        let (keys, buckets): (Vec<u32>, Vec<u32>) = entries.unzip();
        snapshot.put("queue.keys", keys);
        snapshot.put("queue.buckets", buckets);
    }

    pub(super) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let keys = stored_keys(snapshot, "queue.keys", n_keys)?;
        let buckets = Snapshot::sized("queue.buckets", snapshot.u32s("queue.buckets")?, keys.len())?;
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (&key, &bucket) in keys.iter().zip(buckets).rev() {
            if bucket >= n_buckets::<Coarse>() - 1 {
                return Err(Snapshot::problem("queue.buckets", "a bucket is out of range"));
            }
            queue.put(key, Coarse(bucket + 1));
        }
        Ok(queue)
    }
}

impl Queue for BucketQueue {
    fn grow(&mut self, n_keys: usize) {
        self.lists.grow(n_keys);
    }

    fn len(&self) -> usize {
        self.lists.len
    }

    #[inline(always)]
    fn set(&mut self, key: u32, priority: f64) {
        let stored = Coarse::of(priority);
        if self.lists.link(key).stored.0 != stored.0 {
            self.put(key, stored);
        }
    }

    #[inline]
    fn promote(&mut self, key: u32, priority: f64) {
        let stored = Coarse::of(priority);
        if self.lists.link(key).stored.0 < stored.0 {
            self.put(key, stored);
        }
    }

    #[inline]
    fn remove(&mut self, key: u32) {
        if self.lists.link(key).stored.0 != NOT_QUEUED {
            self.lists.take_out(key);
        }
    }

    fn first(&self) -> Option<u32> {
        self.lists.ring(self.lists.highest()).next()
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let bucket = self.lists.settle();
        if bucket == NOT_QUEUED {
            return None;
        }
        let key = BucketLists::<Coarse>::key(self.lists.links[bucket as usize].next);
        self.lists.take_out(key);
        Some(key)
    }

    #[inline]
    fn likely(&mut self) -> u32 {
        let bucket = self.lists.settle();
        BucketLists::<Coarse>::key(self.lists.links[bucket as usize].next)
    }

    fn priority(&self, key: u32) -> Option<f64> {
        self.lists.priority(key)
    }

    fn bytes(&self) -> usize {
        self.lists.bytes()
    }
}
