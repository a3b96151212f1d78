//! The states to back up, taken in a fixed order, round and round.
//!
//! Largest change first took 200 to 800 backups per state that moved, since a state near the source is backed up again for
//! every small change around it; a fixed order by value lets changes gather before they are passed on (3 to 10).

/// A set of states with a place each; taken in ascending order of places, then from the start again.
pub(crate) struct Queue {
    /// The place of each state.
    place: Vec<u32>,
    /// The state at each place.
    order: Vec<u32>,
    /// One bit per place.
    bits: Vec<u64>,
    /// Where to go on looking.
    next: usize,
    len: usize,
}

impl Queue {
    /// An empty queue; `order` lists every state once.
    pub fn new(order: Vec<u32>) -> Self {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, &state)| place[state as usize] = i as u32);
        Self { bits: vec![0; order.len().div_ceil(64)], place, order, next: 0, len: 0 }
    }

    pub fn push(&mut self, state: usize) {
        let place = self.place[state] as usize;
        let bit = 1 << (place % 64);
        self.len += usize::from(self.bits[place / 64] & bit == 0);
        self.bits[place / 64] |= bit;
    }

    pub fn pop(&mut self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        loop {
            let word = self.bits[self.next / 64] >> (self.next % 64);
            if word == 0 {
                self.next = (self.next / 64 + 1) * 64;
                self.next = if self.next / 64 < self.bits.len() { self.next } else { 0 };
                continue;
            }
            let place = self.next + word.trailing_zeros() as usize;
            self.bits[place / 64] &= !(1 << (place % 64));
            self.len -= 1;
            // A state that its own backup disturbs comes back at once.
            self.next = place;
            return Some(self.order[place] as usize);
        }
    }

    pub fn clear(&mut self) {
        self.bits.fill(0);
        self.len = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
