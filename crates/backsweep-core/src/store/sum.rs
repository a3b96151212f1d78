//! Sums that can be undone: adding a number and taking it back leaves no trace.

/// A sum in two numbers, the second being what the first rounded away (double-double). Relative
/// error of an addition: 2⁻¹⁰⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    /// The sum, rounded.
    pub high: f64,
    /// What `high` lacks, at most half a unit in its last place.
    pub low: f64,
}

impl Sum {
    pub const fn new(number: f64) -> Self {
        Self { high: number, low: 0.0 }
    }

    /// This plus a number.
    #[inline]
    #[must_use]
    pub fn plus(self, number: f64) -> Self {
        let (high, error) = two_sum(self.high, number);
        if error == 0.0 && self.low == 0.0 {
            return Self::new(high); // as for all whole numbers
        }
        let (high, low) = two_sum(high, error + self.low);
        Self { high, low }
    }

    /// This plus a product, which is not rounded either.
    #[inline]
    #[must_use]
    pub fn plus_product(self, a: f64, b: f64) -> Self {
        let product = a * b;
        if a.abs() == 1.0 {
            return self.plus(product); // not worth a call of the library's fused multiply-add
        }
        self.plus(product).plus(a.mul_add(b, -product))
    }
}

/// a + b, and what that rounds away.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}
