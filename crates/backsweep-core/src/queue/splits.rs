//! Crowds in the exact queue: where many priorities are equal or nearly so, the highest bucket is
//! *split*.
//!
//! In a known model all rewards may be equal. Then the ring of the highest bucket is divided by the
//! next six bits in which its keys differ, again and again until few are left to scan. Every key
//! has its place in a total order (priority, then lowest key) whose bits never run out, so what is
//! popped does not depend on how keys are kept. A split moves each key of the ring once, in pieces
//! if the caller may have to stop.

use super::{LOWEST, NO_PRIORITY, PriorityQueue, relink};

/// Rings that one ring is split into: one for each value of six bits.
const RINGS_PER_SPLIT: u32 = 64;
/// The most splits at any one time. Only the highest ring is ever split, so each lies within the
/// one before or above it, and few are in use. With none left, a ring of any length is scanned.
const MAX_SPLITS: u32 = 16;

/// A key's place in the total order: by priority, then the lowest first.
fn rank(place: u32, priority: f64) -> u128 {
    u128::from(priority.to_bits()) << 32 | u128::from(!place)
}

/// A ring that was split. Its keys are in 64 rings by the six bits of their rank from `shift` on;
/// those still in it are yet to be moved.
#[derive(Clone, Debug)]
pub(super) struct Split {
    shift: u32,
    /// The bits above those six in the keys that were there. Keys that come later and differ
    /// there go to the first or the last ring.
    prefix: u128,
    /// Bit `i` is set if ring `i` has had a key since it was last found empty.
    filled: u64,
    /// The bits that are set in the rank of any key that was put in each ring, and those that are
    /// set in all of them.
    masks: Box<[(u128, u128); RINGS_PER_SPLIT as usize]>,
}

impl Split {
    /// The most keys that are scanned to find the highest of a ring; a longer ring is split.
    pub const MAX_SCANNED_KEYS: u32 = 40;
    /// The heads of all rings of all splits.
    pub const N_HEADS: u32 = RINGS_PER_SPLIT * MAX_SPLITS;
    pub const BYTES: usize = size_of::<Self>() + size_of::<[(u128, u128); RINGS_PER_SPLIT as usize]>();
}

impl PriorityQueue {
    /// The number of a head's split.
    #[inline(always)]
    pub(super) fn split_of(&self, head: u32) -> Option<usize> {
        if self.splits.is_empty() {
            return None; // nearly always, and known without looking at the head
        }
        self.noted_split(head)
    }

    #[cold]
    #[inline(never)]
    fn noted_split(&self, head: u32) -> Option<usize> {
        (self.links[head as usize].priority as usize).checked_sub(1)
    }

    /// The first of the 64 heads of a split.
    fn heads(&self, split: usize) -> u32 {
        self.n_buckets + RINGS_PER_SPLIT * split as u32
    }

    /// As [`set`](Self::set), in an outermost bucket or while some bucket is split.
    #[cold]
    #[inline(never)]
    pub(super) fn set_elsewhere(&mut self, key: u32, priority: f64) {
        let place = key + self.n_heads;
        let link = self.links[place as usize];
        let stays = (link.priority.to_bits() ^ priority.to_bits()) >> self.shift == 0;
        if stays && self.splits.is_empty() {
            self.links[place as usize].priority = priority;
            return;
        }
        self.len += usize::from(link.priority < 0.0);
        let bucket = self.bucket(priority);
        if self.split_of(bucket).is_some() {
            self.put_in_split(place, priority, bucket);
        } else {
            self.put_in_bucket(place, link, bucket, priority);
        }
    }

    /// Moves a key to the ring below a head that was split.
    #[inline(never)]
    pub(super) fn put_in_split(&mut self, place: u32, priority: f64, mut head: u32) {
        let rank = rank(place, priority);
        while let Some(number) = self.split_of(head) {
            let split = &mut self.splits[number];
            let i = match (rank >> split.shift >> 6).cmp(&split.prefix) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => (rank >> split.shift) as u32 % RINGS_PER_SPLIT,
                std::cmp::Ordering::Greater => RINGS_PER_SPLIT - 1,
            };
            split.filled |= 1 << i;
            let (any, all) = &mut split.masks[i as usize];
            (*any, *all) = (*any | rank, *all & rank);
            head = self.heads(number) + i;
        }
        let link = self.links[place as usize];
        relink(&mut self.links, place, link, head, priority);
    }

    /// The rings of a split that have had a key, the highest first.
    fn rings(&self, split: usize) -> impl Iterator<Item = u32> {
        let mut filled = self.splits[split].filled;
        std::iter::from_fn(move || {
            let i = 63u32.checked_sub(filled.leading_zeros())?;
            filled ^= 1 << i;
            Some(self.heads(split) + i)
        })
    }

    /// The next lower ring of the same split that has had a key.
    #[cold]
    pub(super) fn ring_below(&self, ring: u32) -> Option<u32> {
        let (split, i) =
            ((ring - self.n_buckets) / RINGS_PER_SPLIT, (ring - self.n_buckets) % RINGS_PER_SPLIT);
        let filled = self.splits[split as usize].filled & ((1 << i) - 1);
        Some(self.heads(split as usize) + 63u32.checked_sub(filled.leading_zeros())?)
    }

    /// The highest ring of a split that is not empty or was split itself.
    #[cold]
    pub(super) fn highest_in(&self, split: usize) -> Option<u32> {
        self.rings(split).find(|&head| !self.is_empty_ring(head))
    }

    /// The place of the highest key. Moves up to `limit` keys to find it; `None` if more must be
    /// moved.
    #[cold]
    #[inline(never)]
    pub(super) fn best_of_crowd(&mut self, mut limit: usize) -> Option<u32> {
        loop {
            let mut head = self.settle();
            while let Some(split) = self.split_of(head) {
                while self.links[head as usize].next != head {
                    limit = limit.checked_sub(1)?;
                    let place = self.links[head as usize].next;
                    self.put_in_split(place, self.links[place as usize].priority, head);
                }
                match self.highest_in(split) {
                    Some(highest) => {
                        self.splits[split].filled &= u64::MAX >> (63 - (highest - self.heads(split)));
                        head = highest;
                    }
                    None => {
                        // It is the last one: all others lie below it.
                        self.splits.truncate(split);
                        if self.splits.is_empty() {
                            self.n_plain = u64::from(self.n_buckets);
                        }
                        self.links[head as usize].priority = NO_PRIORITY;
                        head = self.settle();
                    }
                }
            }
            if self.splits.len() == MAX_SPLITS as usize {
                return self.scan(head, u32::MAX);
            }
            let best = self.scan(head, Split::MAX_SCANNED_KEYS);
            if best.is_some() {
                return best;
            }
            self.split(head);
        }
    }

    /// Splits a ring by the highest six bits in which its keys differ. Moves none of them yet.
    fn split(&mut self, head: u32) {
        let (any, all) = match head.checked_sub(self.n_buckets) {
            Some(i) => self.splits[(i / RINGS_PER_SPLIT) as usize].masks[(i % RINGS_PER_SPLIT) as usize],
            // Of the keys of a bucket it is known that they agree in what makes it one; those of
            // the outermost need not.
            None if head == LOWEST || head == self.n_buckets - 1 => (u128::MAX >> 33, 0),
            None => (u128::MAX >> (128 - 32 - self.shift), 0),
        };
        let shift = (127 - (any ^ all).leading_zeros()).saturating_sub(5);
        let first = self.links[head as usize].next;
        let prefix = rank(first, self.links[first as usize].priority) >> shift >> 6;
        // No key is in a ring yet: no bits are set in any and all in all.
        let masks = Box::new([(0, u128::MAX); RINGS_PER_SPLIT as usize]);
        self.splits.push(Split { shift, prefix, filled: 0, masks });
        self.n_plain = 0;
        self.links[head as usize].priority = self.splits.len() as f64;
    }

    /// Index of the highest key in the ring or any of its splits; the head's own index if both are
    /// empty.
    pub(super) fn best_below(&self, head: u32) -> u32 {
        let own = self.scan(head, u32::MAX);
        let below = self.split_of(head).and_then(|split| {
            self.rings(split).map(|ring| self.best_below(ring)).find(|&place| place >= self.n_heads)
        });
        let places = own.into_iter().chain(below).filter(|&place| place >= self.n_heads);
        places.max_by_key(|&place| rank(place, self.links[place as usize].priority)).unwrap_or(head)
    }
}
