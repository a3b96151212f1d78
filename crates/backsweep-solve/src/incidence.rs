//! The inverse of compressed rows: which rows lead to each state.

use std::ops::Range;

/// The rows that lead to each state, in their order; a row with two arcs to a state comes twice.
pub(crate) struct Incidence<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Incidence<T> {
    /// Inverts rows given by their ranges of `targets`; `item` makes an entry of the number of a row and that of an arc.
    pub fn new(
        n_states: usize,
        targets: &[u32],
        rows: impl Iterator<Item = Range<usize>>,
        item: impl Fn(usize, usize) -> T,
    ) -> Self {
        let mut starts = vec![0_u32; n_states + 2];
        targets.iter().for_each(|&target| starts[target as usize + 2] += 1);
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        // `starts[t + 1]` is where the next entry of t goes, and ends up where those of t + 1 begin.
        let mut items = vec![T::default(); targets.len()];
        for (row, arcs) in rows.enumerate() {
            for arc in arcs {
                let place = &mut starts[targets[arc] as usize + 1];
                items[*place as usize] = item(row, arc);
                *place += 1;
            }
        }
        Self { starts, items }
    }

    pub fn of(&self, state: usize) -> &[T] {
        &self.items[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    pub fn of_mut(&mut self, state: usize) -> &mut [T] {
        &mut self.items[self.starts[state] as usize..self.starts[state + 1] as usize]
    }
}
