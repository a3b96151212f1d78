//! Keys in buckets of nearly the same priority: what both queues are built on.
//!
//! A bucket holds the priorities that agree in exponent and first bits of the mantissa. Priorities below 2⁻⁶⁴ share the lowest
//! bucket and those from 2⁶³ on the highest.
//!
//! The keys of a bucket form a ring that includes a link of the bucket itself, and a key that is not queued is a ring of
//! one: so a key is moved without a single condition. With lists that end in NONE a cycle took 15 % longer, for the branches
//! that no processor can guess.

use crate::prefetch::prefetch;
use crate::{Result, Snapshot};

/// The bucket of the keys that are not queued. It has no ring.
pub(super) const PARKED: u32 = 0;

/// What is kept of a key's priority.
pub(super) trait Mark: Copy + std::fmt::Debug {
    /// Bits of the mantissa that count: buckets an octave, as a power of two.
    const BITS: u32;
    /// The mark of a key that is not queued; it has bucket PARKED.
    const NONE: Self;
    /// The bucket of the priority.
    fn bucket(self) -> u32;
    /// A priority that the key's does not exceed.
    fn upper_bound(self) -> f64;
}

/// How many buckets there are.
pub(super) const fn n_buckets<M: Mark>() -> u32 {
    128 << M::BITS
}

/// The bucket of 2⁻⁶⁴, before it is made 1.
const fn lowest<M: Mark>() -> u64 {
    (1023 - 64) << M::BITS
}

/// The bucket of a priority, which is not below `least`: 1, or PARKED if the priority may be 0.
#[inline(always)]
pub(super) fn bucket_of<M: Mark>(priority: f64, least: u64) -> u32 {
    let number = (priority.to_bits() >> (52 - M::BITS)).saturating_sub(lowest::<M>() - 1);
    number.clamp(least, u64::from(n_buckets::<M>() - 1)) as u32
}

/// The priority that none in the bucket exceeds.
pub(super) fn upper_bound<M: Mark>(bucket: u32) -> f64 {
    if bucket == n_buckets::<M>() - 1 {
        return f64::INFINITY;
    }
    f64::from_bits((u64::from(bucket) + lowest::<M>()) << (52 - M::BITS))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Link<M> {
    /// Places in `links`.
    pub previous: u32,
    pub next: u32,
    /// `M::NONE` if and only if the key is not queued. Of no meaning for a bucket.
    pub mark: M,
}

#[derive(Clone, Debug)]
pub(super) struct Rings<M> {
    /// First a link for each bucket, then one for each key, in the ring of its bucket; in a ring of its own if it is not queued.
    pub links: Vec<Link<M>>,
    /// Bit `b` is set if bucket `b` has a key, and no bit above `top`; a bucket that has become empty is noticed when it is next
    /// looked at.
    filled: Vec<u64>,
    /// Bit `w` is set if `filled[w]` is not 0.
    words: u128,
    /// No bucket above this one has a key.
    top: u32,
    pub len: usize,
}

impl<M: Mark> Rings<M> {
    pub fn new() -> Self {
        let n = n_buckets::<M>() as usize;
        let mut rings = Self { links: Vec::new(), filled: vec![0; n / 64], words: 0, top: PARKED, len: 0 };
        rings.grow(0);
        rings
    }

    pub fn grow(&mut self, n_keys: usize) {
        for place in self.links.len()..n_keys + n_buckets::<M>() as usize {
            self.links.push(Link { previous: place as u32, next: place as u32, mark: M::NONE });
        }
    }

    /// The place of a key in `links`.
    #[inline(always)]
    pub fn place(key: u32) -> u32 {
        key + n_buckets::<M>()
    }

    /// The key at a place.
    #[inline(always)]
    pub fn key(place: u32) -> u32 {
        place - n_buckets::<M>()
    }

    /// Asks for the links of a key and of the six after it.
    #[inline(always)]
    pub fn prefetch(&self, key: u32) {
        let place = key as usize + n_buckets::<M>() as usize;
        prefetch(&self.links, place);
        prefetch(&self.links, place + 6);
    }

    #[inline(always)]
    pub fn link(&self, key: u32) -> Link<M> {
        self.links[Self::place(key) as usize]
    }

    /// The priority of a key, as far as it is known; `None` if it is not queued.
    pub fn priority(&self, key: u32) -> Option<f64> {
        let mark = self.links.get(key as usize + n_buckets::<M>() as usize)?.mark;
        (mark.bucket() != PARKED).then(|| mark.upper_bound())
    }

    #[inline(always)]
    fn unlink(&mut self, link: Link<M>) {
        self.links[link.previous as usize].next = link.next;
        self.links[link.next as usize].previous = link.previous;
    }

    /// Moves a key whose link is given to a bucket's ring, in front.
    #[inline(always)]
    pub fn relink(&mut self, key: u32, link: Link<M>, bucket: u32, mark: M) {
        let place = Self::place(key);
        self.len += usize::from(link.mark.bucket() == PARKED);
        self.unlink(link);
        let first = self.links[bucket as usize].next;
        self.links[bucket as usize].next = place;
        self.links[first as usize].previous = place;
        self.links[place as usize] = Link { previous: bucket, next: first, mark };
        if first == bucket {
            self.note(bucket);
        }
    }

    /// Takes a key that is queued out of its ring.
    #[inline]
    pub fn park(&mut self, key: u32) {
        let place = Self::place(key);
        let link = self.links[place as usize];
        self.unlink(link);
        self.links[place as usize] = Link { previous: place, next: place, mark: M::NONE };
        self.len -= 1;
    }

    /// Forgets the keys of a ring: others hold them now.
    pub fn empty(&mut self, bucket: u32) {
        let link = &mut self.links[bucket as usize];
        (link.previous, link.next) = (bucket, bucket);
    }

    /// Takes note that a bucket is not empty.
    #[inline(always)]
    pub fn note(&mut self, bucket: u32) {
        let word = bucket as usize / 64;
        self.filled[word] |= 1 << (bucket % 64);
        self.words |= 1 << word;
        self.top = self.top.max(bucket);
    }

    #[inline(always)]
    fn is_empty(&self, bucket: u32) -> bool {
        self.links[bucket as usize].next == bucket
    }

    /// The highest bucket whose ring is not empty; PARKED if there is none.
    #[inline]
    pub fn highest(&self) -> u32 {
        if self.is_empty(self.top) { self.search() } else { self.top }
    }

    /// Looks for the highest bucket below the top.
    #[cold]
    #[inline(never)]
    fn search(&self) -> u32 {
        let mut words = self.words;
        while words != 0 {
            let word = 127 - words.leading_zeros();
            let mut bits = self.filled[word as usize];
            while bits != 0 {
                let bit = 63 - bits.leading_zeros();
                let bucket = word * 64 + bit;
                if !self.is_empty(bucket) {
                    return bucket;
                }
                bits ^= 1 << bit;
            }
            words ^= 1 << word;
        }
        PARKED
    }

    /// The same as [`Self::highest`], and forgets what was noted of the buckets above, which are empty.
    #[inline]
    pub fn settle(&mut self) -> u32 {
        if self.is_empty(self.top) {
            let bucket = self.search();
            let word = bucket / 64;
            self.filled[word as usize] &= u64::MAX >> (63 - bucket % 64);
            self.words &= u128::MAX >> (127 - word);
            self.top = bucket;
        }
        self.top
    }

    /// The keys of a ring, the last one in first.
    pub fn ring(&self, bucket: u32) -> impl Iterator<Item = u32> {
        let mut place = bucket;
        std::iter::from_fn(move || {
            place = self.links[place as usize].next;
            (place != bucket).then(|| Self::key(place))
        })
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.links[..])
    }
}

/// The keys that were stored under a name: each in range and once.
pub(super) fn stored_keys<'a>(snapshot: &'a Snapshot, name: &str, n_keys: usize) -> Result<&'a [u32]> {
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
