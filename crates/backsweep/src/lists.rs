//! Many short lists in one piece of memory.
//!
//! Each takes a power of two of places, four at least; with items of 16 bytes these are whole cache lines. What a list leaves when it
//! grows is joined with its free neighbour (a buddy system), so that lists which grow together leave no gaps. Against a `Vec` for each
//! list: 8 bytes instead of 24 for where it stands, none for the allocator, and one line instead of two for a list of four.

use crate::prefetch::{prefetch, prefetch_row};

/// The fewest places of a list that is not empty.
const LEAST: usize = 4;

/// Where a list stands.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Its first place is `LEAST * first` places after those in front of all lists.
    first: u32,
    len: u32,
}

impl Span {
    /// How many places it has.
    #[inline]
    fn room(self) -> usize {
        if self.len == 0 { 0 } else { LEAST << self.order() }
    }

    /// The size of its places: `LEAST << order`. It is not empty.
    #[inline]
    fn order(self) -> usize {
        (self.len as usize).div_ceil(LEAST).next_power_of_two().trailing_zeros() as usize
    }
}

/// The lists.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    spans: Vec<Span>,
    /// All places, after `front` places that are not used, so that lists begin where cache lines do.
    places: Vec<T>,
    front: usize,
    /// `free[k]` holds pieces of `LEAST << k` places that belong to no list.
    free: [Free; ORDERS],
}

/// How many sizes of pieces there are: the largest is more than memory holds.
const ORDERS: usize = 32;

/// Free pieces of one size, each beginning at a multiple of its size.
#[derive(Clone, Debug, Default)]
struct Free {
    /// Where pieces begin that were free once, in units of `LEAST` places.
    pieces: Vec<u32>,
    /// Bit `i` is set if piece `i` of this size is free now.
    now: Vec<u64>,
}

impl Free {
    fn is_free(&self, piece: usize) -> bool {
        self.now.get(piece / 64).is_some_and(|word| word >> (piece % 64) & 1 == 1)
    }

    fn mark(&mut self, piece: usize, is_free: bool) {
        if self.now.len() <= piece / 64 {
            self.now.resize(piece / 64 + 1, 0);
        }
        self.now[piece / 64] &= !(1 << (piece % 64));
        self.now[piece / 64] |= u64::from(is_free) << (piece % 64);
    }
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { spans: Vec::new(), places: Vec::new(), front: 0, free: Default::default() }
    }
}

impl<T: Copy + Default> Lists<T> {
    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    #[inline(always)]
    fn begin(&self, span: Span) -> usize {
        self.front + span.first as usize * LEAST
    }

    /// List `i`, which exists.
    #[inline(always)]
    pub fn get(&self, i: usize) -> &[T] {
        let span = self.spans[i];
        &self.places[self.begin(span)..][..span.len as usize]
    }

    /// List `i`, which exists.
    #[inline(always)]
    pub fn get_mut(&mut self, i: usize) -> &mut [T] {
        let span = self.spans[i];
        let begin = self.begin(span);
        &mut self.places[begin..][..span.len as usize]
    }

    /// Asks for where four lists stand, which need not exist.
    #[inline(always)]
    pub fn prefetch(&self, first: usize) {
        prefetch_row(&self.spans, first);
    }

    /// Asks for the first eight items of some lists, if they exist.
    #[inline(always)]
    pub fn prefetch_items(&self, lists: std::ops::Range<usize>) {
        for &span in self.spans.get(lists).unwrap_or(&[]) {
            prefetch(&self.places, self.begin(span));
            prefetch(&self.places, self.begin(span) + LEAST);
        }
    }

    /// Adds an empty list.
    pub fn add(&mut self) {
        self.spans.push(Span { first: 0, len: 0 });
    }

    /// Puts an item at the end of list `i`, which exists.
    pub fn push(&mut self, i: usize, item: T) {
        let span = self.spans[i];
        let len = span.len as usize;
        if len == span.room() {
            let first = self.take(Span { len: span.len + 1, ..span }.order());
            let (from, begin) = (self.begin(span), self.begin(Span { first, ..span }));
            self.places.copy_within(from..from + len, begin);
            self.leave(span);
            self.spans[i].first = first;
        }
        self.spans[i].len += 1;
        let place = self.begin(self.spans[i]) + len;
        self.places[place] = item;
    }

    /// Takes all items out of list `i`, which exists.
    pub fn clear(&mut self, i: usize) {
        let span = std::mem::replace(&mut self.spans[i], Span { first: 0, len: 0 });
        self.leave(span);
    }

    /// Frees the places of a list.
    fn leave(&mut self, span: Span) {
        if span.len > 0 {
            self.give_back(span.first, span.order());
        }
    }

    /// Frees a piece, and joins it with its neighbour as often as that is free.
    fn give_back(&mut self, mut first: u32, mut order: usize) {
        while order + 1 < ORDERS {
            let neighbour = first >> order ^ 1;
            if !self.free[order].is_free(neighbour as usize) {
                break;
            }
            self.free[order].mark(neighbour as usize, false);
            first = first.min(neighbour << order);
            order += 1;
        }
        self.free[order].mark((first >> order) as usize, true);
        self.free[order].pieces.push(first);
    }

    /// Takes a piece that is free, a part of a larger one, or a new one at the end; returns where it begins.
    fn take(&mut self, order: usize) -> u32 {
        for larger in order..ORDERS {
            while let Some(first) = self.free[larger].pieces.pop() {
                let piece = (first >> larger) as usize;
                // Others were joined with a neighbour meanwhile, or are listed twice.
                if self.free[larger].is_free(piece) {
                    self.free[larger].mark(piece, false);
                    for part in (order..larger).rev() {
                        self.give_back(first + (1 << part), part);
                    }
                    return first;
                }
            }
        }
        // What lies before the next multiple of the size is free for smaller lists.
        let size = 1 << order;
        let mut end = ((self.places.len() - self.front) / LEAST) as u32;
        self.extend((end.next_multiple_of(size) + size - end) as usize * LEAST);
        while !end.is_multiple_of(size) {
            let part = end.trailing_zeros() as usize;
            self.give_back(end, part);
            end += 1 << part;
        }
        end
    }

    /// Adds so many places. They stay where cache lines begin.
    fn extend(&mut self, n: usize) {
        let len = self.places.len() - self.front;
        self.places.reserve(n + LEAST);
        let front = self.places.as_ptr().align_offset(64).min(LEAST);
        if front != self.front {
            // They were moved to where lines begin elsewhere.
            self.places.resize(self.places.len().max(front + len), T::default());
            self.places.copy_within(self.front..self.front + len, front);
            self.front = front;
        }
        self.places.resize(front + len + n, T::default());
    }

    /// Bytes in use, unfilled and free places included.
    pub fn bytes(&self) -> usize {
        let free: usize =
            self.free.iter().map(|free| size_of_val(&free.pieces[..]) + size_of_val(&free.now[..])).sum();
        size_of_val(&self.spans[..]) + size_of_val(&self.places[..]) + free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn lists_hold_what_was_put_in_whatever_the_order() {
        let mut random = Random::from_seed(1);
        let mut lists = Lists::<u64>::default();
        let mut expected: Vec<Vec<u64>> = Vec::new();
        for step in 0..60_000 {
            let i = random.below(200) as usize;
            if i >= expected.len() {
                lists.add();
                expected.push(Vec::new());
            } else if random.below(150) == 0 {
                lists.clear(i);
                expected[i].clear();
            } else {
                // Some lists grow long.
                let i = if random.below(2) == 0 { i % 3 } else { i };
                lists.push(i, step);
                expected[i].push(step);
            }
            if step % 1000 == 0 {
                assert_eq!(lists.len(), expected.len());
                for (i, expected) in expected.iter().enumerate() {
                    assert_eq!(lists.get(i), expected);
                    assert_eq!(lists.get_mut(i), expected);
                }
            }
            lists.prefetch(i);
            lists.prefetch_items(i..i + 4);
        }
        // Places that are left are taken again.
        let needed: usize = expected.iter().map(|list| list.len().next_power_of_two().max(LEAST)).sum();
        assert!(lists.places.len() < 2 * needed, "{} places for {needed}", lists.places.len());
        for i in 0..expected.len() {
            lists.clear(i);
        }
        let free: usize = lists
            .free
            .iter()
            .enumerate()
            .map(|(k, free)| free.now.iter().map(|word| word.count_ones() as usize).sum::<usize>() << k)
            .sum();
        assert_eq!(free * LEAST + lists.front, lists.places.len(), "every place is free once");
    }

    #[test]
    fn lists_that_grow_together_leave_no_gaps() {
        for n_items in [1, 4, 5, 9, 16, 17, 40] {
            let mut lists = Lists::<[u64; 2]>::default();
            for _ in 0..1000 {
                lists.add();
            }
            for item in 0..n_items {
                for i in 0..1000 {
                    lists.push(i, [item; 2]);
                }
            }
            let needed = 1000 * (n_items as usize).next_power_of_two().max(LEAST);
            let places = lists.places.len();
            assert!(places <= needed * 5 / 4, "{n_items} items: {places} places for {needed}");
            assert!((0..1000).all(|i| lists.get(i).len() == n_items as usize));
            assert!(lists.get(7).iter().enumerate().all(|(k, item)| item[0] == k as u64));
        }
    }

    #[test]
    fn lists_begin_where_cache_lines_do() {
        let mut lists = Lists::<[u64; 2]>::default();
        for i in 0..1000 {
            lists.add();
            for _ in 0..=i % 9 {
                lists.push(i, [i as u64; 2]);
            }
        }
        for i in 0..1000 {
            assert_eq!(lists.get(i).as_ptr() as usize % 64, 0);
        }
    }
}
