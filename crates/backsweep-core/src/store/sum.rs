//! Sums that can be undone: adding a number and undoing it leaves no trace.

/// A sum in two numbers, the second being what the first rounded away (double-double), and a bound on what both rounded
/// away: 0 as long as every addition was exact, as for all whole numbers. Relative error of an addition: 2⁻¹⁰⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    /// The sum, rounded.
    pub high: f64,
    /// The rounding error of `high`, at most half a unit in its last place.
    pub low: f64,
    /// A bound on the distance of `high` + `low` from the exact sum of all that was ever added.
    pub lost: f64,
}

impl Sum {
    pub const fn new(number: f64) -> Self {
        Self { high: number, low: 0.0, lost: 0.0 }
    }

    /// The sum whose first number is stored apart from the rest.
    #[inline]
    pub fn with_rest(high: f64, [low, lost]: [f64; 2]) -> Self {
        Self { high, low, lost }
    }

    /// The parts that are stored apart from the first number.
    #[inline]
    pub fn rest(self) -> [f64; 2] {
        [self.low, self.lost]
    }

    /// Returns whether the exact sum may be 0.
    #[inline]
    pub fn may_be_zero(self) -> bool {
        self.high.abs() <= 2.0 * self.lost
    }

    /// This plus a number.
    #[inline]
    #[must_use]
    pub fn plus(self, number: f64) -> Self {
        let (high, error) = two_sum(self.high, number);
        if error == 0.0 && self.low == 0.0 {
            return Self { high, ..self }; // as for all whole numbers
        }
        let (rest, lost) = two_sum(error, self.low);
        let (high, low) = two_sum(high, rest);
        Self { high, low, lost: self.lost + lost.abs() }
    }

    /// This plus a product, which is not rounded either.
    #[inline]
    #[must_use]
    pub fn plus_product(self, a: f64, b: f64) -> Self {
        let product = a * b;
        if a.abs() == 1.0 {
            return self.plus(product); // not worth a call of the library's fused multiply-add
        }
        let sum = self.plus(product).plus(a.mul_add(b, -product));
        // What a smaller product rounds away is below the smallest number.
        let is_tiny = product.abs() < f64::MIN_POSITIVE / f64::EPSILON && b != 0.0;
        Self { lost: sum.lost + if is_tiny { f64::MIN_POSITIVE } else { 0.0 }, ..sum }
    }

    /// This times a factor from 0 to 1.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let (high, low) = (self.high * factor, self.low * factor);
        let is_power_of_two = factor.to_bits() << 12 == 0;
        let rounded = if is_power_of_two { 0.0 } else { high.abs() * f64::EPSILON };
        Self { high, low, lost: self.lost * factor + rounded }
    }
}

/// a + b, and what that rounds away.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}
