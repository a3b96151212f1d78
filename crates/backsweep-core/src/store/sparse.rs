//! A column of numbers that are nearly all 0.

/// Numbers by index, 0 unless set. A range of indices takes memory once it has a number other than
/// 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse {
    stretches: Vec<Option<Box<[f64; ITEMS_PER_STRETCH]>>>,
}

const ITEMS_PER_STRETCH: usize = 512;

impl Sparse {
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        match self.stretches.get(i / ITEMS_PER_STRETCH) {
            Some(Some(stretch)) => stretch[i % ITEMS_PER_STRETCH],
            _ => 0.0,
        }
    }

    #[inline]
    pub fn set(&mut self, i: usize, number: f64) {
        if let Some(Some(stretch)) = self.stretches.get_mut(i / ITEMS_PER_STRETCH) {
            stretch[i % ITEMS_PER_STRETCH] = number;
        } else if number != 0.0 {
            self.add(i, number);
        }
    }

    #[cold]
    fn add(&mut self, i: usize, number: f64) {
        if self.stretches.len() <= i / ITEMS_PER_STRETCH {
            self.stretches.resize(i / ITEMS_PER_STRETCH + 1, None);
        }
        self.stretches[i / ITEMS_PER_STRETCH].get_or_insert_with(|| Box::new([0.0; ITEMS_PER_STRETCH]))
            [i % ITEMS_PER_STRETCH] = number;
    }

    /// Sets `to` to the number at `from`, and that to 0.
    pub fn rename(&mut self, from: usize, to: usize) {
        self.set(to, self.get(from));
        self.set(from, 0.0);
    }

    /// The first `n` numbers; none if all of them are 0.
    pub fn to_vec(&self, n: usize) -> Vec<f64> {
        let numbers: Vec<f64> = (0..n).map(|i| self.get(i)).collect();
        if numbers.iter().all(|&number| number == 0.0) { Vec::new() } else { numbers }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.stretches[..])
            + self.stretches.iter().flatten().count() * ITEMS_PER_STRETCH * size_of::<f64>()
    }
}
