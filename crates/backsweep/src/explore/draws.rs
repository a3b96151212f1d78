//! Draws from the distributions that the posterior needs.

use crate::Random;
use crate::planner::MIN_WEIGHT;

/// From the exponential distribution with mean 1; above 0.
#[inline]
pub(super) fn exponential(random: &mut Random) -> f64 {
    (-(1.0 - random.unit()).ln()).max(MIN_WEIGHT)
}

/// From the normal distribution with mean 0 and variance 1 (Marsaglia's polar method; the second draw is dropped, so that
/// only the generator has state).
pub(super) fn normal(random: &mut Random) -> f64 {
    loop {
        let (x, y) = (2.0 * random.unit() - 1.0, 2.0 * random.unit() - 1.0);
        let s = x * x + y * y;
        if s < 1.0 && s > 0.0 {
            return x * (-2.0 * s.ln() / s).sqrt();
        }
    }
}

/// From the gamma distribution of this shape, 0 or more, and scale 1 (Marsaglia & Tsang 2000). A sum of n exponential draws
/// has shape n, and gamma draws divided by their sum are a draw from the Dirichlet distribution of their shapes.
pub(super) fn gamma(random: &mut Random, shape: f64) -> f64 {
    if shape <= 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        return gamma(random, shape + 1.0) * (1.0 - random.unit()).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - random.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}
