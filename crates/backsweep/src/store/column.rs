//! A column of numbers that are all 0 most of the time.

/// Numbers by index, 0 unless set. It takes memory only up to the last one that was ever set to anything else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column(Vec<f64>);

impl Column {
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        self.0.get(i).copied().unwrap_or(0.0)
    }

    #[inline]
    pub fn set(&mut self, i: usize, number: f64) {
        match self.0.get_mut(i) {
            Some(place) => *place = number,
            None if number == 0.0 => {}
            None => {
                self.0.resize(i + 1, 0.0);
                self.0[i] = number;
            }
        }
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
        size_of_val(&self.0[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_zero_takes_memory() {
        let mut column = Column::default();
        column.set(1 << 20, 0.0);
        assert_eq!((column.bytes(), column.get(1 << 20)), (0, 0.0));
        column.set(700, 2.0);
        column.rename(700, 3);
        assert_eq!((column.get(3), column.get(700), column.get(701)), (2.0, 0.0, 0.0));
        assert_eq!(column.to_vec(5), [0.0, 0.0, 0.0, 2.0, 0.0]);
        assert!(column.to_vec(3).is_empty());
    }
}
