//! Many short lists in one piece of memory.
//!
//! Each takes a power of two of places, four at least; with items of 16 bytes these are whole cache lines. Against a `Vec` for each list:
//! 8 bytes instead of 24 for where it stands, none for the allocator, and one line instead of two for a list of four.

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
        if self.len == 0 { 0 } else { (self.len as usize).next_power_of_two().max(LEAST) }
    }
}

/// The lists.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    spans: Vec<Span>,
    /// All places, after `front` places that are not used, so that lists begin where cache lines do.
    places: Vec<T>,
    front: usize,
    /// `free[k]` are places of 2ᵏ in a row that a list has left.
    free: [Vec<u32>; 33],
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { spans: Vec::new(), places: Vec::new(), front: 0, free: [const { Vec::new() }; 33] }
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
            let to = self.room_for((len * 2).max(LEAST));
            let (from, begin) = (self.begin(span), self.begin(to));
            self.places.copy_within(from..from + len, begin);
            self.leave(span);
            self.spans[i].first = to.first;
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

    fn leave(&mut self, span: Span) {
        if span.len > 0 {
            self.free[span.room().trailing_zeros() as usize].push(span.first);
        }
    }

    /// So many places in a row, a power of two.
    fn room_for(&mut self, n: usize) -> Span {
        if let Some(first) = self.free[n.trailing_zeros() as usize].pop() {
            return Span { first, len: 0 };
        }
        if self.places.len() + n > self.places.capacity() {
            self.move_all((self.places.len() * 2).max(64 * LEAST).max(self.places.len() + n));
        }
        let first = (self.places.len() - self.front) / LEAST;
        self.places.resize(self.places.len() + n, T::default());
        Span { first: first as u32, len: 0 }
    }

    /// Moves all places to where there is room for at least so many.
    fn move_all(&mut self, room: usize) {
        let mut places = Vec::<T>::with_capacity(room + LEAST);
        let front = places.as_ptr().align_offset(64).min(LEAST);
        places.resize(front, T::default());
        places.extend_from_slice(&self.places[self.front..]);
        (self.places, self.front) = (places, front);
    }

    /// Bytes in use, unfilled and free places included.
    pub fn bytes(&self) -> usize {
        let free: usize = self.free.iter().map(|free| size_of_val(&free[..])).sum();
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
        let longest: usize = expected.iter().map(|list| list.len().next_power_of_two().max(LEAST)).sum();
        assert!(lists.places.len() < 4 * longest, "{} places for {longest}", lists.places.len());
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
