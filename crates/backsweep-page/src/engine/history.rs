//! A curve of any length in bounded memory.

/// The most points that are kept; merging leaves half as many.
pub const MAX_POINTS: usize = 256;

/// Means over equally long intervals of a series. When there are too many, neighbors are merged.
#[derive(Clone, Debug)]
pub struct History {
    /// The mean of each full interval.
    means: Vec<f32>,
    /// The size of an interval.
    stride: u64,
    /// The sum and count of the interval not yet full.
    sum: f64,
    n: u64,
}

impl History {
    /// A series whose intervals start with this many numbers each.
    pub fn new(stride: u64) -> Self {
        Self { means: Vec::with_capacity(MAX_POINTS), stride, sum: 0.0, n: 0 }
    }

    /// Adds a number.
    #[inline]
    pub fn push(&mut self, number: f64) {
        self.sum += number;
        self.n += 1;
        if self.n == self.stride {
            self.close();
        }
    }

    fn close(&mut self) {
        self.means.push((self.sum / self.stride as f64) as f32);
        (self.sum, self.n) = (0.0, 0);
        if self.means.len() == MAX_POINTS {
            self.means = self.means.chunks_exact(2).map(|two| (two[0] + two[1]) / 2.0).collect();
            self.stride *= 2;
        }
    }

    /// The mean of each full interval.
    pub fn means(&self) -> &[f32] {
        &self.means
    }

    /// Returns how many numbers each mean covers.
    pub fn stride(&self) -> u64 {
        self.stride
    }
}
