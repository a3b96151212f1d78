//! β R / (1 + n): the bonus that shrinks as the mean of a posterior moves (BEB: Kolter & Ng, *Near-Bayesian exploration in
//! polynomial time*, 2009).

/// The bonus after `n` visits.
#[inline]
pub(super) fn bonus(beta: f64, range: f64, n: f64) -> f64 {
    beta * range / (1.0 + n)
}
