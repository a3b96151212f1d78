//! An approximate queue in O(1): keys with nearly the same priority share a bucket.
//!
//! A bucket holds the priorities that agree in exponent and first three bits of the mantissa, so two keys of one bucket
//! differ by less than a factor of 1.125, and a popped key's priority is at least 1/1.125 of the highest. Priorities below
//! 2⁻⁶⁴ share the lowest bucket and those from 2⁶⁴ on the highest. Within a bucket the last one in comes out first.

use super::Queue;
use crate::{Error, Result, Snapshot};

const NONE: u32 = u32::MAX;
/// Bits of the mantissa that count.
const MANTISSA_BITS: u32 = 3;
/// The bucket of 2⁻⁶⁴, before it is made 0.
const LOWEST: u64 = (1023 - 64) << MANTISSA_BITS;
const N_BUCKETS: usize = 128 << MANTISSA_BITS;
const NOT_QUEUED: u32 = u32::MAX;

/// A doubly linked list of the keys of one bucket.
#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
    /// The bucket, or NOT_QUEUED.
    bucket: u32,
}

/// A priority queue in approximate order: a popped priority is at least 1/1.125 of the highest.
#[derive(Clone, Debug)]
pub struct BucketQueue {
    /// `links[k].bucket` is NOT_QUEUED if and only if key `k` is not queued.
    links: Vec<Link>,
    /// The first key of each bucket, or NONE.
    heads: Vec<u32>,
    /// Bit `b` is set if and only if bucket `b` has a key.
    filled: [u64; N_BUCKETS / 64],
    /// Bit `w` is set if and only if `filled[w]` is not 0.
    words: u64,
    len: usize,
}

#[inline]
fn bucket_of(priority: f64) -> u32 {
    let bits = priority.to_bits() >> (52 - MANTISSA_BITS);
    bits.saturating_sub(LOWEST).min(N_BUCKETS as u64 - 1) as u32
}

/// The priority that none in the bucket exceeds.
fn upper_bound(bucket: u32) -> f64 {
    if bucket as usize == N_BUCKETS - 1 {
        return f64::INFINITY;
    }
    f64::from_bits((u64::from(bucket) + 1 + LOWEST) << (52 - MANTISSA_BITS))
}

impl Default for BucketQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl BucketQueue {
    /// An empty queue without keys.
    pub fn new() -> Self {
        Self {
            links: Vec::new(),
            heads: vec![NONE; N_BUCKETS],
            filled: [0; N_BUCKETS / 64],
            words: 0,
            len: 0,
        }
    }

    #[inline]
    fn link(&mut self, key: u32, bucket: u32) {
        let next = self.heads[bucket as usize];
        self.links[key as usize] = Link { previous: NONE, next, bucket };
        if next == NONE {
            self.filled[bucket as usize / 64] |= 1 << (bucket % 64);
            self.words |= 1 << (bucket / 64);
        } else {
            self.links[next as usize].previous = key;
        }
        self.heads[bucket as usize] = key;
    }

    #[inline]
    fn unlink(&mut self, link: Link) {
        if link.next != NONE {
            self.links[link.next as usize].previous = link.previous;
        }
        if link.previous != NONE {
            self.links[link.previous as usize].next = link.next;
        } else {
            self.heads[link.bucket as usize] = link.next;
            if link.next == NONE {
                let word = link.bucket as usize / 64;
                self.filled[word] &= !(1 << (link.bucket % 64));
                if self.filled[word] == 0 {
                    self.words &= !(1 << word);
                }
            }
        }
    }

    #[inline]
    fn top_bucket(&self) -> Option<u32> {
        if self.words == 0 {
            return None;
        }
        let word = 63 - self.words.leading_zeros();
        Some(word * 64 + 63 - self.filled[word as usize].leading_zeros())
    }

    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
        // Bucket by bucket, the last one in first.
        let (mut keys, mut buckets) = (Vec::new(), Vec::new());
        for (bucket, &head) in self.heads.iter().enumerate() {
            let mut key = head;
            while key != NONE {
                keys.push(key);
                buckets.push(bucket as u32);
                key = self.links[key as usize].next;
            }
        }
        snapshot.put("queue.keys", keys);
        snapshot.put("queue.buckets", buckets);
    }

    pub(crate) fn restore(n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let keys = snapshot.u32s("queue.keys")?;
        let buckets = snapshot.u32s("queue.buckets")?;
        let problem = |problem: &str| Error::Snapshot { part: "queue.keys".into(), problem: problem.into() };
        if keys.len() != buckets.len() {
            return Err(problem("there are not as many keys as buckets"));
        }
        let mut queue = Self::new();
        queue.grow(n_keys);
        for (&key, &bucket) in keys.iter().zip(buckets).rev() {
            if key as usize >= n_keys || queue.links[key as usize].bucket != NOT_QUEUED {
                return Err(problem("a key is out of range or queued twice"));
            }
            if bucket as usize >= N_BUCKETS {
                return Err(problem("a bucket is out of range"));
            }
            queue.link(key, bucket);
            queue.len += 1;
        }
        Ok(queue)
    }
}

impl Queue for BucketQueue {
    fn grow(&mut self, n_keys: usize) {
        if n_keys > self.links.len() {
            self.links.resize(n_keys, Link { previous: NONE, next: NONE, bucket: NOT_QUEUED });
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn set(&mut self, key: u32, priority: f64) {
        let bucket = bucket_of(priority);
        let link = self.links[key as usize];
        if link.bucket == bucket {
            return;
        }
        if link.bucket == NOT_QUEUED {
            self.len += 1;
        } else {
            self.unlink(link);
        }
        self.link(key, bucket);
    }

    #[inline]
    fn promote(&mut self, key: u32, priority: f64) {
        let link = self.links[key as usize];
        if link.bucket == NOT_QUEUED || link.bucket < bucket_of(priority) {
            self.set(key, priority);
        }
    }

    #[inline]
    fn remove(&mut self, key: u32) {
        let link = self.links[key as usize];
        if link.bucket != NOT_QUEUED {
            self.unlink(link);
            self.links[key as usize].bucket = NOT_QUEUED;
            self.len -= 1;
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let key = self.heads[self.top_bucket()? as usize];
        self.remove(key);
        Some(key)
    }

    fn top(&self) -> Option<f64> {
        self.top_bucket().map(upper_bound)
    }

    fn priority(&self, key: u32) -> Option<f64> {
        let bucket = self.links.get(key as usize)?.bucket;
        (bucket != NOT_QUEUED).then(|| upper_bound(bucket))
    }

    fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.links[..]) + size_of_val(&self.heads[..])
    }
}
