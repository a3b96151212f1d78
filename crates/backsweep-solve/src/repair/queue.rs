//! The states to back up, taken in a fixed order, window by window.
//!
//! Taking the largest change first needs hundreds of backups per changed state, since a state near the source is backed up
//! again for every small change around it; a fixed order by value lets changes accumulate before they are passed on. An arc
//! back to a place already passed would wait for the next round, while everything beyond is computed from a value about to
//! change; therefore a window of places is emptied before the next begins (one wall of a 500 x 500 maze: a quarter of the
//! backups).

/// A set of states with a place each; taken in ascending order of places, wrapping around after the last.
pub(crate) struct Queue {
    /// The place of each state.
    place: Vec<u32>,
    /// The state at each place.
    order: Vec<u32>,
    /// One bit per place.
    bits: Vec<u64>,
    /// Where the search continues.
    next: usize,
    len: usize,
    /// The first word of the window being emptied.
    window: usize,
    /// True if the window got states at places already passed.
    again: bool,
    /// Words per window.
    size: usize,
}

impl Queue {
    /// An empty queue; `order` lists every state once, `window` is how many places to empty before going on.
    pub fn new(order: Vec<u32>, window: usize) -> Self {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, &state)| place[state as usize] = i as u32);
        Self {
            bits: vec![0; order.len().div_ceil(64)],
            place,
            order,
            next: 0,
            len: 0,
            window: 0,
            again: false,
            size: window.div_ceil(64).max(1),
        }
    }

    pub fn push(&mut self, state: usize) {
        let place = self.place[state] as usize;
        let bit = 1 << (place % 64);
        self.len += usize::from(self.bits[place / 64] & bit == 0);
        self.bits[place / 64] |= bit;
        self.again |= place < self.next && place / 64 >= self.window;
    }

    pub fn pop(&mut self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        loop {
            let word = self.bits[self.next / 64] >> (self.next % 64);
            if word == 0 {
                self.advance();
                continue;
            }
            let place = self.next + word.trailing_zeros() as usize;
            self.bits[place / 64] &= !(1 << (place % 64));
            self.len -= 1;
            // A state disturbed by its own backup is queued again at once.
            self.next = place;
            return Some(self.order[place] as usize);
        }
    }

    /// Goes to the next word: of the window, of the window again, or of the one after it, half of which overlaps.
    fn advance(&mut self) {
        let word = self.next / 64 + 1;
        if word < self.bits.len().min(self.window + self.size) {
            self.next = word * 64;
            return;
        }
        if !self.again {
            self.window += self.size.div_ceil(2);
            if self.window + self.size / 2 >= self.bits.len() {
                self.window = 0;
            }
        }
        self.again = false;
        self.next = self.window * 64;
    }

    /// The number of states.
    pub fn n_places(&self) -> usize {
        self.order.len()
    }

    pub fn clear(&mut self) {
        self.bits.fill(0);
        self.len = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
