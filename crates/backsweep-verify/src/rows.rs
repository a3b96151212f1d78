//! Sums of products with their rounding errors accounted for.

/// The relative error of one rounding is at most half of this; what is computed with it is therefore an upper bound even
/// after its own rounding.
const EPS: f64 = f64::EPSILON;

/// An interval that holds the exact result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub lo: f64,
    pub hi: f64,
}

impl Interval {
    pub fn point(value: f64) -> Self {
        Self { lo: value, hi: value }
    }

    /// The exact sum lies within.
    pub fn plus(self, other: Self) -> Self {
        Self { lo: (self.lo + other.lo).next_down(), hi: (self.hi + other.hi).next_up() }
    }

    /// The exact product with a number ≥ 0 lies within.
    pub fn times(self, factor: f64) -> Self {
        Self { lo: (self.lo * factor).next_down(), hi: (self.hi * factor).next_up() }
    }

    /// Exact 0 stays exact.
    pub fn is_zero(self) -> bool {
        self.lo == 0.0 && self.hi == 0.0
    }
}

impl std::ops::Neg for Interval {
    type Output = Self;

    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

/// A sum of products under construction. The exact sum of n products is within `(n + k) EPS Σ|p v|` of the computed one,
/// where each factor p may itself be off by a relative `k EPS / 2`; underflow adds less than 1e-300.
#[derive(Clone, Copy, Default)]
pub struct RowSum {
    sum: f64,
    size: f64,
    n: f64,
}

impl RowSum {
    pub fn add(&mut self, p: f64, v: f64) {
        let product = p * v;
        self.sum += product;
        self.size += product.abs();
        self.n += 1.0;
    }

    /// The interval of the exact sum.
    pub fn interval(&self, k: f64) -> Interval {
        if self.size == 0.0 {
            // Every product is exactly 0, or so small that it vanished.
            let tiny = if self.n == 0.0 { 0.0 } else { 1e-300 };
            return Interval { lo: -tiny, hi: tiny };
        }
        let error = (self.n + k + 4.0) * EPS * self.size + 1e-300;
        Interval { lo: (self.sum - error).next_down(), hi: (self.sum + error).next_up() }
    }
}

/// How far a probability that was divided by the sum of its row of n may be off, in units of half EPS.
pub fn divided(n: usize) -> f64 {
    n as f64 + 4.0
}
