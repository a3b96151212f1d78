//! Sums of products in twice the precision of a double, with their rounding errors accounted for.
//!
//! A solver rounds a row's sum to half a unit in the last place at best. A check that rounds as coarsely could not confirm what
//! a careful solver proves, so everything that a proof rests on is summed here in about 106 bits.

/// No operation of [`Wide`] has a larger relative error (Joldes, Muller and Popescu 2017: at most 15 u² with u = 2⁻⁵³).
pub const WIDE_EPS: f64 = 1.0 / (1u128 << 100) as f64;

/// No product loses more than this by underflow.
const TINY: f64 = 1e-280;

/// A number as the sum of two doubles that do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wide {
    pub hi: f64,
    pub lo: f64,
}

impl Wide {
    /// The exact sum of two doubles (Knuth).
    pub fn sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let part = hi - a;
        Self { hi, lo: (a - (hi - part)) + (b - part) }
    }

    /// The exact product of two doubles (Dekker), apart from underflow.
    fn product(a: f64, b: f64) -> Self {
        let split = |x: f64| {
            let big = 134_217_729.0 * x;
            let high = big - (big - x);
            (high, x - high)
        };
        let hi = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        let lo = a2 * b2 - (((hi - a1 * b1) - a2 * b1) - a1 * b2);
        // Where splitting overflows, the product is as coarse as a double's; such sizes are refused as rewards.
        Self { hi, lo: if lo.is_finite() { lo } else { 0.0 } }
    }

    pub fn plus(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.hi, other.hi), Self::sum(self.lo, other.lo));
        let carried = Self::sum(high.hi, high.lo + low.hi);
        Self::sum(carried.hi, carried.lo + low.lo)
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(Self { hi: -other.hi, lo: -other.lo })
    }

    pub fn times(self, other: Self) -> Self {
        let high = Self::product(self.hi, other.hi);
        Self::sum(high.hi, high.lo + (self.hi * other.lo + self.lo * other.hi))
    }

    pub fn over(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self.minus(other.times(first.into()));
        let second = rest.hi / other.hi;
        let rest = rest.minus(other.times(second.into()));
        Self::sum(first, second).plus((rest.hi / other.hi).into())
    }

    /// An interval that holds every number within `error` of this one.
    pub fn within(self, error: f64) -> Interval {
        if self.lo == 0.0 && error == 0.0 {
            return Interval::point(self.hi);
        }
        let (lo, hi) = ((self.lo - error).next_down(), (self.lo + error).next_up());
        Interval { lo: (self.hi + lo).next_down(), hi: (self.hi + hi).next_up() }
    }
}

impl From<f64> for Wide {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

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

    /// The exact sum lies within. Ends that are exact stay so.
    pub fn plus(self, other: Self) -> Self {
        let (lo, hi) = (Wide::sum(self.lo, other.lo), Wide::sum(self.hi, other.hi));
        Self {
            lo: if lo.lo == 0.0 { lo.hi } else { lo.hi.next_down() },
            hi: if hi.lo == 0.0 { hi.hi } else { hi.hi.next_up() },
        }
    }

    /// Exact 0 stays exact.
    pub fn is_zero(self) -> bool {
        self.lo == 0.0 && self.hi == 0.0
    }

    pub fn middle(self) -> f64 {
        self.lo + (self.hi - self.lo) / 2.0
    }
}

impl std::ops::Neg for Interval {
    type Output = Self;

    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

/// A sum of products under construction.
#[derive(Clone, Copy, Default)]
pub struct RowSum {
    sum: Wide,
    /// The sum of absolute values: no partial sum is larger.
    size: f64,
    n: f64,
}

impl RowSum {
    pub fn add(&mut self, p: f64, v: impl Into<Wide>) {
        self.add_wide(p.into(), v.into());
    }

    pub fn add_wide(&mut self, p: Wide, v: Wide) {
        let product = p.times(v);
        self.sum = self.sum.plus(product);
        self.size += product.hi.abs();
        self.n += 1.0;
    }

    /// Takes an error of the last term into account that is as large as the rounding of a number of this size.
    pub fn blur(&mut self, size: f64) {
        self.size += size.abs();
    }

    pub fn size(&self) -> f64 {
        (self.n + 1.0) * self.size
    }

    pub fn wide(&self) -> Wide {
        self.sum
    }

    /// A bound on the distance of the exact sum.
    pub fn error(&self) -> f64 {
        // The exact sum of nothing, and of zeros, is 0; a product that is not may have vanished.
        if self.n == 0.0 { 0.0 } else { (self.n + 8.0) * WIDE_EPS * self.size * 1.01 + self.n * TINY }
    }

    /// The interval of the exact sum.
    pub fn interval(&self) -> Interval {
        self.sum.within(self.error())
    }

    /// The interval of the exact sum divided by a number around 1 that is known as well as the sum of a row is.
    pub fn over(&self, scale: Wide) -> Interval {
        if scale == Wide::from(1.0) {
            return self.interval();
        }
        let size = 1.01 * (self.sum.hi.abs() + self.size);
        self.sum.over(scale).within(1.01 * self.error() + (self.n + 8.0) * WIDE_EPS * size)
    }
}

/// The divisor of the probabilities of a row: their sum if the row does not end the episode, for then they stand for
/// numbers that sum to 1. And what is missing from 1.
pub fn scale_and_missing(probabilities: &[f64], ends: bool) -> (Wide, Wide) {
    let mut sum = RowSum::default();
    probabilities.iter().for_each(|&p| sum.add(p, 1.0));
    if ends { (1.0.into(), Wide::from(1.0).minus(sum.wide())) } else { (sum.wide(), Wide::default()) }
}
