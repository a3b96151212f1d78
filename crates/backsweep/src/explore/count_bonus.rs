//! β R / √n: the bonus that shrinks as the standard error of a mean does (MBIE-EB: Strehl & Littman, *An analysis of
//! model-based interval estimation for Markov decision processes*, 2008).

/// The bonus after `n` visits; `n` may be a fraction, above 0.
#[inline]
pub(super) fn bonus(beta: f64, range: f64, n: f64) -> f64 {
    beta * range / n.sqrt()
}
