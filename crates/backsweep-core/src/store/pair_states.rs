//! Which state a pair belongs to: looked up once for every small backup that changes a state's
//! value.
//!
//! While all states have equally many actions and are in order, the answer is one multiplication
//! and nothing is stored; after that, a table of 4 bytes per pair is built. Reading the state from
//! the pair's row would cost a line of cold memory.

use super::NONE;

/// The states of all pairs, by slot. Slot 0, which belongs to no pair, counts as one of state 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairStates {
    /// ⌊(2⁶⁴ − 1) / n⌋ while every state has n > 0 actions and pair p belongs to state ⌊p / n⌋.
    reciprocal: u64,
    /// The state of each slot, NONE for the old ids of moved pairs; empty while `reciprocal` is in
    /// use.
    table: Vec<u32>,
}

fn reciprocal(n_actions: usize) -> u64 {
    u64::MAX.checked_div(n_actions as u64).unwrap_or(0)
}

impl PairStates {
    /// The state of a slot that exists; NONE for the old id of a moved pair.
    ///
    /// Exact: with r = reciprocal and slot = p + 1, slot · r / 2⁶⁴ falls short of (p + 1) / n by
    /// less than 2⁻³², and (p + 1) / n rounded up less 1 is ⌊p / n⌋; no multiple of 1 / n lies that
    /// close below.
    #[inline(always)]
    pub fn of_slot(&self, slot: usize) -> u32 {
        if self.table.is_empty() {
            ((slot as u128 * u128::from(self.reciprocal)) >> 64) as u32
        } else {
            self.table[slot]
        }
    }

    /// Adds a new state, whose pairs follow all others.
    pub fn push(&mut self, state: u32, first_pair: usize, n_actions: usize) {
        if self.table.is_empty() {
            if state == 0 && n_actions > 0 {
                self.reciprocal = reciprocal(n_actions);
            }
            if self.reciprocal == reciprocal(n_actions) && n_actions > 0 {
                return;
            }
            self.make_table(first_pair);
        }
        self.table.resize(1 + first_pair + n_actions, state);
    }

    /// Switches to a table.
    fn make_table(&mut self, n_pairs: usize) {
        if self.table.is_empty() {
            self.table = (0..=n_pairs).map(|slot| self.of_slot(slot)).collect();
        }
    }

    /// Marks the pairs `from..from + n` as unowned and appends `n + 1` pairs, or one if `n` is 0,
    /// that belong to `state`.
    pub fn move_pairs(&mut self, state: u32, from: usize, n: usize, n_pairs: usize) {
        self.make_table(n_pairs);
        self.table[1 + from..1 + from + n].fill(NONE);
        self.table.resize(1 + n_pairs + n + 1, state);
    }

    /// From the states of all pairs.
    pub fn from_states(states: &[u32], n_states: usize) -> Self {
        let n_actions = states.len() / n_states.max(1);
        let is_even = |(pair, &state): (usize, &u32)| state as usize == pair / n_actions;
        if n_actions > 0 && states.len() == n_states * n_actions && states.iter().enumerate().all(is_even) {
            return Self { reciprocal: reciprocal(n_actions), table: Vec::new() };
        }
        Self { reciprocal: 0, table: std::iter::once(0).chain(states.iter().copied()).collect() }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.table[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reciprocal_divides_exactly() {
        for n in (1..40).chain([1000, 65_537, 1 << 20, u32::MAX as usize - 2]) {
            let states = PairStates { reciprocal: reciprocal(n), table: Vec::new() };
            let n = n as u64;
            let near = |k: u64| [(k * n).wrapping_sub(1), k * n, k * n + 1];
            let ks =
                (0..200).chain((0..200).map(|i| u64::from(u32::MAX) / n - i.min(u64::from(u32::MAX) / n)));
            for pair in ks.flat_map(near).filter(|&pair| pair < u64::from(u32::MAX)) {
                assert_eq!(
                    u64::from(states.of_slot(1 + pair as usize)),
                    pair / n,
                    "pair {pair} of {n} actions"
                );
            }
        }
    }
}
