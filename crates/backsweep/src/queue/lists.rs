//! Keys in buckets of nearly the same priority: what both queues are built on.
//!
//! A bucket holds the priorities that agree in exponent and first bits of the mantissa. Priorities below 2⁻⁶⁴ share the lowest
//! bucket and those from 2⁶³ on the highest.
//!
//! The keys of a bucket form a ring that includes a link of the bucket itself, its head, and a key that is not queued is a
//! ring of one: so a key is moved without a single condition. With lists that end in NONE a cycle took 15 % longer, for the
//! branches that no processor can guess.

/// The bucket of the keys that are not queued. It has no ring.
pub(super) const NOT_QUEUED: u32 = 0;

/// What is kept of a key's priority.
pub(super) trait StoredPriority: Copy + std::fmt::Debug {
    /// Bits of the mantissa that count: buckets per octave, as a power of two.
    const BITS: u32;
    /// Heads besides those of the buckets, for the queue's own use.
    const EXTRA_HEADS: u32;
    /// What a key that is not queued has; its bucket is NOT_QUEUED. Heads start with it too.
    const NONE: Self;
    /// The bucket of the priority.
    fn bucket(self) -> u32;
    /// A priority that the key's does not exceed.
    fn upper_bound(self) -> f64;
    /// Whether a bucket whose head has this counts as empty while its ring is.
    fn is_plain_head(self) -> bool;
}

/// How many buckets there are.
pub(super) const fn n_buckets<P: StoredPriority>() -> u32 {
    128 << P::BITS
}

/// The bucket of 2⁻⁶⁴, before it is made 1.
const fn lowest<P: StoredPriority>() -> u64 {
    (1023 - 64) << P::BITS
}

/// The bucket of a priority, which is not below `least`: 1, or NOT_QUEUED if the priority may be 0.
#[inline(always)]
pub(super) fn bucket_of<P: StoredPriority>(priority: f64, least: u64) -> u32 {
    let number = (priority.to_bits() >> (52 - P::BITS)).saturating_sub(lowest::<P>() - 1);
    number.clamp(least, u64::from(n_buckets::<P>() - 1)) as u32
}

/// The priority that none in the bucket exceeds.
pub(super) fn upper_bound<P: StoredPriority>(bucket: u32) -> f64 {
    if bucket == n_buckets::<P>() - 1 {
        return f64::INFINITY;
    }
    f64::from_bits((u64::from(bucket) + lowest::<P>()) << (52 - P::BITS))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Link<P> {
    /// Places in `links`.
    pub previous: u32,
    pub next: u32,
    /// `P::NONE` if and only if the key is not queued.
    pub stored: P,
}

#[derive(Clone, Debug)]
pub(super) struct BucketLists<P> {
    /// First a head for each bucket, then the extra ones, then a link for each key, in the ring of its head; in a ring of its
    /// own if it is not queued.
    pub links: Vec<Link<P>>,
    /// Bit `b` is set if bucket `b` has a key, and no bit above `top`; a bucket that has become empty is noticed when it is
    /// next looked at.
    filled: Vec<u64>,
    /// Bit `w` is set if `filled[w]` is not 0.
    words: u128,
    /// No bucket above this one has a key.
    top: u32,
    pub len: usize,
}

impl<P: StoredPriority> BucketLists<P> {
    const N_HEADS: u32 = n_buckets::<P>() + P::EXTRA_HEADS;

    pub fn new() -> Self {
        let n = n_buckets::<P>() as usize;
        let mut lists =
            Self { links: Vec::new(), filled: vec![0; n / 64], words: 0, top: NOT_QUEUED, len: 0 };
        lists.grow(0);
        lists
    }

    pub fn grow(&mut self, n_keys: usize) {
        for place in self.links.len()..n_keys + Self::N_HEADS as usize {
            self.links.push(Link { previous: place as u32, next: place as u32, stored: P::NONE });
        }
    }

    /// The place of a key in `links`.
    #[inline(always)]
    pub fn place(key: u32) -> u32 {
        key + Self::N_HEADS
    }

    /// The key at a place; any number for a head.
    #[inline(always)]
    pub fn key(place: u32) -> u32 {
        place.wrapping_sub(Self::N_HEADS)
    }

    #[inline(always)]
    pub fn link(&self, key: u32) -> Link<P> {
        self.links[Self::place(key) as usize]
    }

    /// The priority of a key, as far as it is known; `None` if it is not queued.
    pub fn priority(&self, key: u32) -> Option<f64> {
        let stored = self.links.get(key as usize + Self::N_HEADS as usize)?.stored;
        (stored.bucket() != NOT_QUEUED).then(|| stored.upper_bound())
    }

    #[inline(always)]
    fn unlink(&mut self, link: Link<P>) {
        self.links[link.previous as usize].next = link.next;
        self.links[link.next as usize].previous = link.previous;
    }

    /// Moves a key whose link is given to a head's ring, in front. Returns whether the ring was empty.
    #[inline(always)]
    pub fn relink(&mut self, key: u32, link: Link<P>, head: u32, stored: P) -> bool {
        let place = Self::place(key);
        self.len += usize::from(link.stored.bucket() == NOT_QUEUED);
        self.unlink(link);
        let first = self.links[head as usize].next;
        self.links[head as usize].next = place;
        self.links[first as usize].previous = place;
        self.links[place as usize] = Link { previous: head, next: first, stored };
        first == head
    }

    /// Takes a key that is queued out of its ring.
    #[inline]
    pub fn take_out(&mut self, key: u32) {
        let place = Self::place(key);
        let link = self.links[place as usize];
        self.unlink(link);
        self.links[place as usize] = Link { previous: place, next: place, stored: P::NONE };
        self.len -= 1;
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
    pub fn is_ring_empty(&self, head: u32) -> bool {
        self.links[head as usize].next == head
    }

    #[inline(always)]
    fn is_empty(&self, bucket: u32) -> bool {
        let head = &self.links[bucket as usize];
        head.next == bucket && head.stored.is_plain_head()
    }

    /// The highest bucket that is not empty; NOT_QUEUED if there is none.
    #[inline]
    pub fn highest(&self) -> u32 {
        if self.is_empty(self.top) { self.highest_below(self.top) } else { self.top }
    }

    /// The highest bucket below one that is not empty; NOT_QUEUED if there is none.
    #[cold]
    #[inline(never)]
    pub fn highest_below(&self, bucket: u32) -> u32 {
        let mut words = self.words & (u128::MAX >> (127 - bucket / 64));
        while words != 0 {
            let word = 127 - words.leading_zeros();
            let mut bits = self.filled[word as usize];
            if word == bucket / 64 {
                bits &= (1 << (bucket % 64)) - 1;
            }
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
        NOT_QUEUED
    }

    /// The same as [`Self::highest`], and forgets what was noted of the buckets above, which are empty.
    #[inline]
    pub fn settle(&mut self) -> u32 {
        if self.is_empty(self.top) {
            let bucket = self.highest_below(self.top);
            let word = bucket / 64;
            self.filled[word as usize] &= u64::MAX >> (63 - bucket % 64);
            self.words &= u128::MAX >> (127 - word);
            self.top = bucket;
        }
        self.top
    }

    /// The keys of a ring, the last one in first.
    pub fn ring(&self, head: u32) -> impl Iterator<Item = u32> {
        let mut place = head;
        std::iter::from_fn(move || {
            place = self.links[place as usize].next;
            (place != head).then(|| Self::key(place))
        })
    }

    /// All keys that are queued, in the order of their numbers.
    pub fn queued(&self) -> impl Iterator<Item = (u32, P)> {
        let keys = self.links.iter().skip(Self::N_HEADS as usize).enumerate();
        keys.map(|(key, link)| (key as u32, link.stored)).filter(|(_, stored)| stored.bucket() != NOT_QUEUED)
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.links[..])
    }
}
